#pragma once
#include <optional>

#include "lithe/geometry/control_lattice.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// What is wrong with a lattice, in one line; nothing when it is fit for use. In this order: corners that are not vertices or repeat,
/// cells that are turned inside out or not convex, faces that do not match in pairs, bones that are not chains of edges.
std::optional<std::string> first_fault(const ControlLattice& lattice);

/// The same, and then: a surface that is not strictly inside.
std::optional<std::string> first_fault(const ControlLattice& lattice, const TriangleMesh& surface);

/// The faces that belong to one cell only, outward; quads as two triangles. Keeps the numbers of the lattice's vertices.
TriangleMesh outer_surface(const ControlLattice& lattice);

} // namespace lithe
