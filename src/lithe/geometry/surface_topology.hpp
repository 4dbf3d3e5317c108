#pragma once
#include <vector>

#include "lithe/geometry/half_edges.hpp"

namespace lithe {

/// How the triangles of a surface hang together. Triangles with a repeated corner are left out of it.
struct SurfaceTopology : SurfaceEdges {
    std::vector<int> component; ///< of each vertex, numbered from 0 by their first vertices; -1: unused
    int component_count = 0;
    std::vector<int> fans;       ///< of each vertex: groups of triangles around it that are joined by edges
    std::vector<bool> one_sided; ///< of each component: cannot be oriented
};
SurfaceTopology surface_topology(const Triangles& triangles, Index vertex_count);

} // namespace lithe
