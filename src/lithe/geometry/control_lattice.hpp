#pragma once
#include <array>
#include <string>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// A convex cell each of whose vertices has three of its edges.
enum class LatticeCellKind { Tet, Prism, Hex };

/// Vertices in the order of a tet (0 1 2 3, positive volume), a prism (triangle 0 1 2, then 3 4 5 above it) or a hex
/// (x fastest: 0 1 2 3 below, 4 5 6 7 above); what a kind does not use is -1.
struct LatticeCell {
    LatticeCellKind kind = LatticeCellKind::Tet;
    std::array<int, 8> vertices = {-1, -1, -1, -1, -1, -1, -1, -1};
};

/// A bone as a chain of edges of the lattice, from its head to its tail.
struct LatticeBone {
    std::string name;
    std::vector<int> vertices; ///< head, ..., tail: neighbours are joined by an edge
};

/// Coarse cells around a body, whose edges contain the bones that drive it.
struct ControlLattice {
    std::vector<Vec3> vertices; ///< at rest [m]
    std::vector<LatticeCell> cells;
    std::vector<LatticeBone> bones;
};

} // namespace lithe
