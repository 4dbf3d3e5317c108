#pragma once
#include <string>
#include <string_view>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// Throws InputError when a triangle names a vertex that is not there, a coordinate is not finite, or a field has
/// not one column per vertex.
void require_valid(const TriangleMesh& mesh);

/// "1 triangle", "3 triangles", "2 vertices".
std::string counted(Index count, std::string_view thing);

} // namespace lithe
