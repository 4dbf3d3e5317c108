#pragma once
#include <cstdint>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

// Half-edge h = 3 t + s of triangle t runs from its corner s to its corner (s + 1) % 3.

inline int half_edge_from(const Triangles& triangles, int h)
{
    return triangles(h % 3, h / 3);
}
inline int half_edge_to(const Triangles& triangles, int h)
{
    return triangles((h + 1) % 3, h / 3);
}
inline int half_edge_next(int h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}
inline int half_edge_previous(int h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}

/// One edge of a surface and the half-edges along it.
struct SurfaceEdge {
    int a, b;                          ///< vertices, a < b
    std::vector<int>::size_type first; ///< of its half-edges in SurfaceEdges::half_edges
    int count; ///< how many: 1 on the border, 2 inside, more where the surface is not manifold
};

struct SurfaceEdges {
    std::vector<SurfaceEdge> edges; ///< sorted by a, then b
    std::vector<int> half_edges;    ///< edge by edge, in the order of their triangles
};

/// All edges. Triangles with a repeated corner are left out: they have no area, and no sides.
SurfaceEdges surface_edges(const Triangles& triangles);

/// The same number for an edge and its reverse.
inline std::uint64_t edge_key(int a, int b)
{
    const auto lo = static_cast<std::uint32_t>(a < b ? a : b), hi = static_cast<std::uint32_t>(a < b ? b : a);
    return (static_cast<std::uint64_t>(lo) << 32) | hi;
}

constexpr int border_edge = -1; ///< no triangle on the other side
constexpr int non_manifold_edge =
    -2; ///< three triangles or more meet there, or its triangle repeats a corner

/// For each half-edge the one on the other side of its edge, or one of the two marks above.
/// Two triangles that run along their edge in the same direction (one of them turned round) are twins too.
std::vector<int> half_edge_twins(const Triangles& triangles);

/// What a surface is made of, as far as its triangles tell.
struct EdgeCensus {
    Index edges = 0;
    Index border = 0;       ///< edges of one triangle
    Index non_manifold = 0; ///< edges of three triangles or more
    Index inconsistent = 0; ///< edges whose two triangles disagree about the outside
    bool closed() const { return border == 0 && non_manifold == 0; }
};
EdgeCensus count_edges(const Triangles& triangles);

} // namespace lithe
