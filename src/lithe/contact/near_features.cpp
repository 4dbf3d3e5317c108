#include "lithe/contact/near_features.hpp"

#include <algorithm>

namespace lithe {
namespace {

void begin(const CollisionSurface& surface, NearFeatures& near)
{
    near.vertices.clear();
    near.edges.clear();
    near.has_vertex.assign(static_cast<std::size_t>(surface.vertex_count()), 0);
    near.has_edge.assign(surface.edges.size(), 0);
}

void add_new(int i, std::vector<char>& has, std::vector<int>& list)
{
    if (i < 0 || has[static_cast<std::size_t>(i)]) return;
    has[static_cast<std::size_t>(i)] = 1;
    list.push_back(i);
}

/// Whether the plane of triangle j of `b` keeps triangle i of `a` more than `reach` away, seen from b's drift.
bool plane_parts(const SweptSurface& a, int i, const SweptSurface& b, int j, double reach)
{
    const SweptSurface::Slab& slab = b.slab(j);
    const double drift = slab.normal.dot(b.drift());
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (const int v : a.surface().triangles.col(i)) {
        const double from = slab.normal.dot(a.start.col(v)), to = slab.normal.dot(a.end.col(v)) - drift;
        lowest = std::min({lowest, from, to});
        highest = std::max({highest, from, to});
    }
    return slab.misses(lowest, highest, reach);
}

/// Sorts the pairs by the triangles of one side, and takes these triangles in.
void take(const CollisionSurface& surface, const std::vector<std::array<int, 2>>& pairs, std::size_t side,
          NearFeatures& near)
{
    begin(surface, near);
    near.start.assign(static_cast<std::size_t>(surface.triangles.cols()) + 2, 0);
    for (const auto& pair : pairs) ++near.start[static_cast<std::size_t>(pair[side]) + 2];
    for (std::size_t t = 2; t < near.start.size(); ++t) {
        if (near.start[t] > 0) {
            const auto triangle = static_cast<Index>(t - 2);
            for (const int v : surface.triangles.col(triangle)) add_new(v, near.has_vertex, near.vertices);
            for (const int e : surface.triangle_edges.col(triangle)) add_new(e, near.has_edge, near.edges);
        }
        near.start[t] += near.start[t - 1];
    }
    near.others.resize(pairs.size());
    for (const auto& pair : pairs) // from start[t + 1], which ends as that of the next
        near.others[static_cast<std::size_t>(near.start[static_cast<std::size_t>(pair[side]) + 1]++)] =
            pair[1 - side];
}

} // namespace

void add_vertex(int vertex, NearFeatures& near)
{
    add_new(vertex, near.has_vertex, near.vertices);
}

/// Seen from b's drift, triangles of `a` go the difference of the drifts besides what they do in their own.
void find_near(const SweptSurface& a, const SweptSurface& b, double reach, NearPair& near)
{
    near.triangles.clear();
    a.tree().for_each_pair(b.tree(), a.drift() - b.drift(), reach, [&](int i, int j) {
        if (!plane_parts(a, i, b, j, reach) && !plane_parts(b, j, a, i, reach))
            near.triangles.push_back({i, j});
    });
    take(a.surface(), near.triangles, 0, near.a);
    take(b.surface(), near.triangles, 1, near.b);
    if (!near.triangles.empty()) return;
    if (b.start_box().contains(a.start_box()))
        for (const int v : a.surface().points) add_vertex(v, near.a);
    if (a.start_box().contains(b.start_box()))
        for (const int v : b.surface().points) add_vertex(v, near.b);
}

} // namespace lithe
