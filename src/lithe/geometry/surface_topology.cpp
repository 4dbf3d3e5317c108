#include "lithe/geometry/surface_topology.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace lithe {
namespace {

/// Disjoint sets; each member knows whether it is turned round with respect to its root.
class SignedSets {
public:
    explicit SignedSets(std::size_t count) : parent_(count), turned_(count, 0)
    {
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    struct Root {
        int root;
        int turned;
    };
    Root find(int i)
    {
        int turned = 0;
        while (parent(i) != i) { // halve the path on the way
            const int up = parent(i);
            turned_[at(i)] = static_cast<char>(turned_[at(i)] ^ turned_[at(up)]);
            parent_[at(i)] = parent(up);
            turned ^= turned_[at(i)];
            i = parent(i);
        }
        return {i, turned};
    }
    /// Joins the sets of i and j, which are turned to each other if `turned`. False: that contradicts what is known.
    bool join(int i, int j, int turned)
    {
        const Root a = find(i), b = find(j);
        if (a.root == b.root) return (a.turned ^ b.turned) == turned;
        const int low = std::min(a.root, b.root), high = std::max(a.root, b.root);
        parent_[at(high)] = low;
        turned_[at(high)] = static_cast<char>(a.turned ^ b.turned ^ turned);
        return true;
    }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    int parent(int i) const { return parent_[at(i)]; }
    std::vector<int> parent_;
    std::vector<char> turned_;
};

/// The corner of h's triangle at vertex v, which is one of h's ends; corners are numbered like half-edges.
int corner_at(const Triangles& triangles, int h, int v)
{
    return half_edge_from(triangles, h) == v ? h : h - h % 3 + (h + 1) % 3;
}

void number_components(const Triangles& triangles, Index vertex_count, SurfaceTopology& topology)
{
    SignedSets sets(static_cast<std::size_t>(vertex_count));
    std::vector<char> used(static_cast<std::size_t>(vertex_count), 0);
    for (Index t = 0; t < triangles.cols(); ++t)
        for (int k = 0; k < 3; ++k) {
            used[static_cast<std::size_t>(triangles(k, t))] = 1;
            sets.join(triangles(0, t), triangles(k, t), 0);
        }
    topology.component.assign(static_cast<std::size_t>(vertex_count), -1);
    for (int v = 0; v < vertex_count; ++v) { // a root is the first of its set
        if (!used[static_cast<std::size_t>(v)]) continue;
        const int root = sets.find(v).root;
        topology.component[static_cast<std::size_t>(v)] =
            root == v ? topology.component_count++ : topology.component[static_cast<std::size_t>(root)];
    }
}

void count_fans(const Triangles& triangles, Index vertex_count, SurfaceTopology& topology)
{
    SignedSets corners(static_cast<std::size_t>(triangles.size()));
    std::vector<char> used(static_cast<std::size_t>(triangles.size()), 0);
    for (const SurfaceEdge& edge : topology.edges)
        for (int i = 0; i < edge.count; ++i)
            for (const int v : {edge.a, edge.b}) {
                const int first = corner_at(triangles, topology.half_edges[edge.first], v);
                const int other =
                    corner_at(triangles, topology.half_edges[edge.first + static_cast<std::size_t>(i)], v);
                corners.join(first, other, 0);
                used[static_cast<std::size_t>(other)] = 1;
            }
    topology.fans.assign(static_cast<std::size_t>(vertex_count), 0);
    for (int c = 0; c < static_cast<int>(triangles.size()); ++c)
        if (used[static_cast<std::size_t>(c)] && corners.find(c).root == c)
            ++topology.fans[static_cast<std::size_t>(half_edge_from(triangles, c))];
}

void find_one_sided(const Triangles& triangles, SurfaceTopology& topology)
{
    topology.one_sided.assign(static_cast<std::size_t>(topology.component_count), false);
    SignedSets sides(static_cast<std::size_t>(triangles.cols()));
    for (const SurfaceEdge& edge : topology.edges) {
        if (edge.count != 2) continue;
        const int h = topology.half_edges[edge.first], g = topology.half_edges[edge.first + 1];
        const int turned = half_edge_from(triangles, h) ==
                           half_edge_from(triangles, g); // neighbours should run opposite ways
        if (!sides.join(h / 3, g / 3, turned))
            topology
                .one_sided[static_cast<std::size_t>(topology.component[static_cast<std::size_t>(edge.a)])] =
                true;
    }
}

} // namespace

SurfaceTopology surface_topology(const Triangles& triangles, Index vertex_count)
{
    SurfaceTopology topology;
    static_cast<SurfaceEdges&>(topology) = surface_edges(triangles);
    number_components(triangles, vertex_count, topology);
    count_fans(triangles, vertex_count, topology);
    find_one_sided(triangles, topology);
    return topology;
}

} // namespace lithe
