#include "lithe/geometry/half_edges.hpp"

#include <algorithm>

namespace lithe {
namespace {

bool repeats_a_corner(const Triangles& triangles, int t)
{
    const auto v = triangles.col(t);
    return v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
}

} // namespace

SurfaceEdges surface_edges(const Triangles& triangles)
{
    struct Use {
        std::uint64_t key;
        int half_edge;
    };
    std::vector<Use> uses;
    uses.reserve(static_cast<std::size_t>(triangles.size()));
    for (int t = 0; t < triangles.cols(); ++t) {
        if (repeats_a_corner(triangles, t)) continue;
        for (int h = 3 * t; h < 3 * t + 3; ++h)
            uses.push_back({edge_key(half_edge_from(triangles, h), half_edge_to(triangles, h)), h});
    }
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
        return a.key != b.key ? a.key < b.key : a.half_edge < b.half_edge;
    });

    SurfaceEdges result;
    result.half_edges.reserve(uses.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (i == 0 || uses[i].key != uses[i - 1].key)
            result.edges.push_back(
                {static_cast<int>(uses[i].key >> 32), static_cast<int>(uses[i].key & 0xffffffffu), i, 0});
        ++result.edges.back().count;
        result.half_edges.push_back(uses[i].half_edge);
    }
    return result;
}

std::vector<int> half_edge_twins(const Triangles& triangles)
{
    std::vector<int> twins(static_cast<std::size_t>(3 * triangles.cols()), non_manifold_edge);
    const SurfaceEdges all = surface_edges(triangles);
    for (const SurfaceEdge& edge : all.edges) {
        const int h = all.half_edges[edge.first];
        if (edge.count == 1) twins[h] = border_edge;
        if (edge.count != 2) continue;
        const int g = all.half_edges[edge.first + 1];
        twins[h] = g;
        twins[g] = h;
    }
    return twins;
}

EdgeCensus count_edges(const Triangles& triangles)
{
    EdgeCensus census;
    const SurfaceEdges all = surface_edges(triangles);
    for (const SurfaceEdge& edge : all.edges) {
        ++census.edges;
        if (edge.count == 1) ++census.border;
        if (edge.count > 2) ++census.non_manifold;
        if (edge.count != 2) continue;
        const int h = all.half_edges[edge.first], g = all.half_edges[edge.first + 1];
        if (half_edge_from(triangles, h) == half_edge_from(triangles, g)) ++census.inconsistent;
    }
    return census;
}

} // namespace lithe
