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

/// Of a's packs past those of b. The reach holds what rounding may do to a height: a few ulp of the numbers that it is made from.
PackWay pack_way(const SweptSurface& a, const SweptSurface& b, double reach)
{
    const Vec3 from = a.centre() - b.centre(), to = from + a.drift() - b.drift();
    const double largest =
        a.tree().box().diagonal().norm() + b.tree().box().diagonal().norm() + from.norm() + to.norm();
    return {from, to, reach + 1e-6 * (largest + reach)};
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
    const PackWay way = pack_way(a, b, reach);
    a.tree().for_each_pack_pair(b.tree(), a.drift() - b.drift(), reach,
                                [&](int p, int q) { a.pack(p).add_near(b.pack(q), way, near.triangles); });
    take(a.surface(), near.triangles, 0, near.a);
    take(b.surface(), near.triangles, 1, near.b);
    if (!near.triangles.empty()) return;
    if (b.start_box().contains(a.start_box()))
        for (const int v : a.surface().points) add_vertex(v, near.a);
    if (a.start_box().contains(b.start_box()))
        for (const int v : b.surface().points) add_vertex(v, near.b);
}

} // namespace lithe
