#pragma once
#include <utility>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// One edge of a surface and the half-edges along it. Half-edge 3 t + s runs from corner s of triangle t to the next.
struct SurfaceEdge {
    int a, b;                          ///< vertices, a < b
    std::vector<int>::size_type first; ///< of its half-edges in SurfaceTopology::half_edges
    int count; ///< how many: 1 on the boundary, 2 inside, more where the surface is not manifold
};

/// How the triangles of a surface hang together. Triangles with a repeated corner are left out of it.
struct SurfaceTopology {
    std::vector<SurfaceEdge> edges; ///< sorted by a, then b
    std::vector<int> half_edges;    ///< edge by edge
    std::vector<int> component;     ///< of each vertex, numbered from 0 by their first vertices; -1: unused
    int component_count = 0;
    std::vector<int> fans;       ///< of each vertex: groups of triangles around it that are joined by edges
    std::vector<bool> one_sided; ///< of each component: cannot be oriented
};
SurfaceTopology surface_topology(const Triangles& triangles, Index vertex_count);

} // namespace lithe
