#pragma once
#include <span>
#include <vector>

#include "lithe/scene/scene.hpp"

namespace lithe {

/// The vertices that a selector means, rising. Throws InputError when there are none, with what would be near.
std::vector<int> select_vertices(const Selector& selector, const TetMesh& mesh);

/// The faces of the boundary between selected vertices, outward. Throws InputError when there are none.
Triangles select_faces(std::span<const int> vertices, const TetMesh& mesh);

/// The tets of a label, or those whose corners have that colour on average. Throws InputError when there are none.
std::vector<int> select_tets(const std::variant<int, ColorSelector>& part, const TetMesh& mesh);

/// The middle of the box around these vertices. [m]
Vec3 middle(std::span<const int> vertices, const TetMesh& mesh);

} // namespace lithe
