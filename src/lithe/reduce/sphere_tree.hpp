#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

// A binary hierarchy over items at rest, as those need it that know its spheres only when they are asked.

/// The nodes lie in depth-first order.
struct TreeNode {
    int begin = 0, end = 0; ///< of its items
    int skip = 0;           ///< the next node that is not below this one
    bool leaf = false;
};

/// Appends the nodes over items from `begin` to `end`, which it sorts: split in the middle of the longest side, at most
/// `leaf_size` to a leaf. `Node` is a TreeNode. The same items give the same tree.
template <class Node>
void add_tree(const Points& rest, int begin, int end, Index leaf_size, std::vector<int>& items,
              std::vector<Node>& nodes)
{
    const std::size_t node = nodes.size();
    nodes.emplace_back();
    nodes[node].begin = begin;
    nodes[node].end = end;
    nodes[node].leaf = end - begin <= leaf_size;
    if (!nodes[node].leaf) {
        Box3 box;
        for (int i = begin; i < end; ++i) box.extend(rest.col(items[static_cast<std::size_t>(i)]));
        Index axis = 0;
        box.sizes().maxCoeff(&axis);
        const int middle = begin + (end - begin) / 2;
        std::nth_element(
            items.begin() + begin, items.begin() + middle, items.begin() + end,
            [&](int a, int b) { return std::pair(rest(axis, a), a) < std::pair(rest(axis, b), b); });
        add_tree(rest, begin, middle, leaf_size, items, nodes);
        add_tree(rest, middle, end, leaf_size, items, nodes);
    }
    nodes[node].skip = static_cast<int>(nodes.size());
}

/// Goes down where keep(node) is true, by its number, and calls leaf(items) where it ends. Returns the number of nodes
/// looked at.
template <class Node, class Keep, class Leaf>
Index visit_tree(const std::vector<Node>& nodes, const std::vector<int>& items, Keep&& keep, Leaf&& leaf)
{
    Index looked_at = 0;
    for (std::size_t node = 0; node < nodes.size();) {
        const TreeNode& at = nodes[node];
        ++looked_at;
        const bool kept = keep(node);
        if (kept && at.leaf)
            leaf(std::span<const int>(items).subspan(static_cast<std::size_t>(at.begin),
                                                     static_cast<std::size_t>(at.end - at.begin)));
        node = kept ? node + 1 : static_cast<std::size_t>(at.skip); // depth first
    }
    return looked_at;
}

} // namespace lithe
