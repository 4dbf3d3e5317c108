#pragma once
#include <span>

#include "lithe/geometry/control_lattice.hpp"

namespace lithe {

/// A face of a cell by the numbers of its corners in the cell, counter-clockwise from outside; triangles end in -1.
using LatticeFace = std::array<int, 4>;

/// How the corners of a kind of cell hang together.
struct LatticeCellTopology {
    int corner_count;
    std::span<const std::array<int, 2>> edges;
    std::span<const LatticeFace> faces;
    /// Of each corner, the three that edges join it to, so that  det[e1 - v, e2 - v, e3 - v] > 0.
    std::span<const std::array<int, 3>> neighbours;
};

const LatticeCellTopology& topology(LatticeCellKind kind);

inline int face_size(const LatticeFace& face)
{
    return face[3] < 0 ? 3 : 4;
}

/// A face of the lattice by its vertices, whatever cell it is seen from: rising, triangles end in -1.
LatticeFace face_key(const LatticeCell& cell, const LatticeFace& face);
/// An edge by its vertices, rising.
std::array<int, 2> edge_key(int a, int b);

} // namespace lithe
