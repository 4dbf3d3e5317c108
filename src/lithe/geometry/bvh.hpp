#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/float_box.hpp"

namespace lithe {

/// A hierarchy of boxes over items that are boxes themselves (triangles, tets, bodies): finds those that meet a
/// box, a point or each other without looking at all. For surfaces that do not move, SurfaceQuery is faster.
///
/// Binary, one item per leaf, built by binned surface-area heuristic [Wal07]; the nodes lie in one array in
/// depth-first order, their boxes in single precision, and an item is found by its own box, exactly. The same items give
/// the same tree, whatever the number of threads. Items are known by their index.
class Bvh {
public:
    Bvh() = default;
    explicit Bvh(std::span<const Box3> items);

    /// Takes new boxes for the same items and keeps the tree: fast and without allocation, for items that have moved
    /// a little since the tree was built. Queries stay right however far they have moved, but get slower.
    void refit(std::span<const Box3> items);

    Index item_count() const { return static_cast<Index>(items_.size()); }
    /// Around all items.
    const Box3& box() const { return box_; }
    /// Expected cost of a query relative to one leaf, by the surface-area heuristic: a tree whose cost has doubled
    /// since it was built is worth building anew.
    double cost() const;

    /// f(item) for each item whose box meets `box` (touching counts), in no particular but always the same order.
    template <class F>
    void for_each_overlap(const Box3& box, F&& f) const;

    /// Visits items by the distance of their boxes from p, nearest first as far as cheaply possible, as long as they
    /// are within the bound: `bound2 = f(item, bound2)` with squared distances, starting at `bound2`.
    template <class F>
    void for_each_near(const Vec3& p, double bound2, F&& f) const;

    /// f(i, j), i < j, for each pair of items whose boxes meet.
    template <class F>
    void for_each_self_pair(F&& f) const;

    /// Items that lie together, at most so many: each of them is in one pack, which the same items keep.
    static constexpr int pack_size = 8;
    int pack_count() const { return static_cast<int>(pack_start_.size()) - 1; }
    std::span<const int> pack(int i) const
    {
        const int begin = pack_start_[static_cast<std::size_t>(i)],
                  end = pack_start_[static_cast<std::size_t>(i) + 1];
        return std::span(pack_items_)
            .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }
    /// f(p, q) for each pack p of this, whose items go along `way`, and q of `other` with boxes that come nearer than `reach` [m], and
    /// for some that do not by the rounding of single precision.
    template <class F>
    void for_each_pack_pair(const Bvh& other, const Vec3& way, double reach, F&& f) const;

    /// The pairs (i, j), i < j, whose boxes meet and for which `keep(i, j)` is true, sorted. On all threads.
    template <class Keep>
    std::vector<std::pair<int, int>> collect_self_pairs(const Keep& keep) const;

private:
    struct Node {
        FloatBox box;
        int right; ///< the second child; the first is the next node. -1: a leaf
        int item;
        int pack = -1; ///< that holds just what is below; -1: none does
        bool is_leaf() const { return right < 0; }
        bool is_pack() const { return pack >= 0; }
    };
    struct NodePair {
        int a, b; ///< equal: the node against itself
    };
    static constexpr int max_depth = 96;
    static bool boxes_meet(const FloatBox& a, const FloatBox& b) { return meet(a, b); }
    const Box3& item(int i) const { return items_[static_cast<std::size_t>(i)]; }

    struct Builder;
    template <class F>
    void self_pairs(NodePair pair, F& f) const;
    using Ends = bool (Node::*)() const;
    template <Ends ends, class Meet, class F>
    static void cross_pairs(const std::vector<Node>& a, int i, const std::vector<Node>& b, int j,
                            const Meet& meet, F& f);
    void find_packs();
    std::vector<NodePair> self_pair_tasks() const;

    std::vector<Node> nodes_;
    std::vector<Box3> items_;
    std::vector<int> pack_start_ = {0}, pack_items_;
    Box3 box_;
};

/// The boxes around the triangles or tets, made wider by `margin` [m] on all sides, into `boxes` (resized when needed).
void triangle_boxes(const Points& vertices, const Triangles& triangles, double margin,
                    std::vector<Box3>& boxes);
void tet_boxes(const Points& vertices, const Tets& tets, double margin, std::vector<Box3>& boxes);

template <class F>
void Bvh::for_each_overlap(const Box3& box, F&& f) const
{
    if (nodes_.empty()) return;
    std::array<int, max_depth> stack;
    int top = 0;
    stack[top++] = 0;
    const FloatBox probe = around(box);
    while (top > 0) {
        const int i = stack[--top];
        const Node& node = nodes_[static_cast<std::size_t>(i)];
        if (!meet(node.box, probe)) continue;
        if (node.right < 0) {
            if (item(node.item).intersects(box)) f(node.item);
        } else {
            stack[top++] = node.right;
            stack[top++] = i + 1;
        }
    }
}

template <class F>
void Bvh::for_each_near(const Vec3& p, double bound2, F&& f) const
{
    struct Entry {
        double distance2;
        int node;
    };
    if (nodes_.empty()) return;
    std::array<Entry, max_depth> stack;
    int top = 0;
    stack[top++] = {squared_distance(nodes_[0].box, p), 0};
    while (top > 0) {
        const Entry entry = stack[--top];
        if (entry.distance2 > bound2) continue;
        const Node& node = nodes_[static_cast<std::size_t>(entry.node)];
        if (node.right < 0) {
            bound2 = f(node.item, bound2);
            continue;
        }
        Entry first{squared_distance(nodes_[static_cast<std::size_t>(entry.node + 1)].box, p),
                    entry.node + 1};
        Entry second{squared_distance(nodes_[static_cast<std::size_t>(node.right)].box, p), node.right};
        if (second.distance2 < first.distance2) std::swap(first, second);
        stack[top++] = second;
        stack[top++] = first;
    }
}

/// f(p, q) for nodes that meet, both of which the walk ends at.
template <Bvh::Ends ends, class Meet, class F>
void Bvh::cross_pairs(const std::vector<Node>& a, int i, const std::vector<Node>& b, int j, const Meet& meet,
                      F& f)
{
    const Node& p = a[static_cast<std::size_t>(i)];
    const Node& q = b[static_cast<std::size_t>(j)];
    if (!meet(p.box, q.box)) return;
    const bool p_ends = (p.*ends)(), q_ends = (q.*ends)();
    if (p_ends && q_ends) {
        f(p, q);
    } else if (q_ends || (!p_ends && p.box.hi[3] >= q.box.hi[3])) { // open the larger
        cross_pairs<ends>(a, i + 1, b, j, meet, f);
        cross_pairs<ends>(a, p.right, b, j, meet, f);
    } else {
        cross_pairs<ends>(a, i, b, j + 1, meet, f);
        cross_pairs<ends>(a, i, b, q.right, meet, f);
    }
}

template <class F>
void Bvh::self_pairs(NodePair pair, F& f) const
{
    if (pair.a != pair.b) {
        auto sorted = [&](const Node& p, const Node& q) {
            if (item(p.item).intersects(item(q.item))) f(std::min(p.item, q.item), std::max(p.item, q.item));
        };
        cross_pairs<&Node::is_leaf>(nodes_, pair.a, nodes_, pair.b, boxes_meet, sorted);
        return;
    }
    const Node& node = nodes_[static_cast<std::size_t>(pair.a)];
    if (node.right < 0) return;
    self_pairs({pair.a + 1, pair.a + 1}, f);
    self_pairs({node.right, node.right}, f);
    self_pairs({pair.a + 1, node.right}, f);
}

template <class F>
void Bvh::for_each_self_pair(F&& f) const
{
    if (!nodes_.empty()) self_pairs({0, 0}, f);
}

template <class F>
void Bvh::for_each_pack_pair(const Bvh& other, const Vec3& way, double reach, F&& f) const
{
    if (nodes_.empty() || other.nodes_.empty()) return;
    const Vec3 down = way.cwiseMin(0.0).array() - reach, up = way.cwiseMax(0.0).array() + reach;
    // sums of floats are rounded too
    const double largest = std::max(box_.min().cwiseAbs().maxCoeff(), box_.max().cwiseAbs().maxCoeff());
    const double pad = 1e-6 * (largest + way.cwiseAbs().maxCoeff() + reach);
    const FloatBox more = around({down.array() - pad, up.array() + pad});
    const auto meet_on_way = [&](const FloatBox& a, const FloatBox& b) {
        FloatBox moved;
        _mm_store_ps(moved.lo, _mm_add_ps(_mm_load_ps(a.lo), _mm_load_ps(more.lo)));
        _mm_store_ps(moved.hi, _mm_add_ps(_mm_load_ps(a.hi), _mm_load_ps(more.hi)));
        return meet(moved, b);
    };
    auto packs = [&](const Node& p, const Node& q) { f(p.pack, q.pack); };
    cross_pairs<&Node::is_pack>(nodes_, 0, other.nodes_, 0, meet_on_way, packs);
}

template <class Keep>
std::vector<std::pair<int, int>> Bvh::collect_self_pairs(const Keep& keep) const
{
    const std::vector<NodePair> tasks = self_pair_tasks();
    std::vector<std::vector<std::pair<int, int>>> found(tasks.size());
    parallel_for(static_cast<std::ptrdiff_t>(tasks.size()), 1, [&](std::ptrdiff_t t) {
        auto collect = [&](int i, int j) {
            if (keep(i, j)) found[static_cast<std::size_t>(t)].emplace_back(i, j);
        };
        self_pairs(tasks[static_cast<std::size_t>(t)], collect);
    });
    std::vector<std::pair<int, int>> pairs;
    for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

} // namespace lithe
