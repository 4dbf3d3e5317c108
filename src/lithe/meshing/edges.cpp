#include "lithe/meshing/edges.hpp"

#include <algorithm>

namespace lithe {
namespace {

struct EdgeUse {
    std::uint64_t key;
    int half_edge;
};

/// All half-edges, those of one edge side by side, in the order of their triangles.
std::vector<EdgeUse> sorted_uses(const Triangles& triangles)
{
    std::vector<EdgeUse> uses(static_cast<std::size_t>(3 * triangles.cols()));
    for (int h = 0; h < static_cast<int>(uses.size()); ++h)
        uses[h] = {edge_key(half_edge_from(triangles, h), half_edge_to(triangles, h)), h};
    std::sort(uses.begin(), uses.end(), [](const EdgeUse& a, const EdgeUse& b) {
        return a.key != b.key ? a.key < b.key : a.half_edge < b.half_edge;
    });
    return uses;
}

/// Calls f(first, last) for the uses of each edge.
template <class F>
void for_each_edge(const std::vector<EdgeUse>& uses, const F& f)
{
    for (auto first = uses.begin(); first != uses.end();) {
        auto last = first + 1;
        while (last != uses.end() && last->key == first->key) ++last;
        f(first, last);
        first = last;
    }
}

} // namespace

std::vector<int> half_edge_twins(const Triangles& triangles)
{
    std::vector<int> twins(static_cast<std::size_t>(3 * triangles.cols()), border_edge);
    for_each_edge(sorted_uses(triangles), [&](auto first, auto last) {
        const int h = first->half_edge;
        const bool collapsed = half_edge_from(triangles, h) == half_edge_to(triangles, h);
        const bool same_triangle = last - first == 2 && h / 3 == first[1].half_edge / 3;
        if (collapsed || same_triangle || last - first > 2) {
            for (auto use = first; use != last; ++use) twins[use->half_edge] = non_manifold_edge;
        } else if (last - first == 2) {
            twins[h] = first[1].half_edge;
            twins[first[1].half_edge] = h;
        }
    });
    return twins;
}

EdgeCensus count_edges(const Triangles& triangles)
{
    EdgeCensus census;
    for_each_edge(sorted_uses(triangles), [&](auto first, auto last) {
        ++census.edges;
        if (last - first == 1) ++census.border;
        if (last - first > 2) ++census.non_manifold;
        if (last - first != 2) return;
        const int h = first->half_edge, g = first[1].half_edge;
        if (half_edge_from(triangles, h) == half_edge_from(triangles, g)) ++census.inconsistent;
    });
    return census;
}

} // namespace lithe
