#pragma once
#include <utility>

#include "lithe/geometry/bvh.hpp"

namespace lithe {

/// Finds the pairs of bodies whose boxes meet. Keeps its tree from step to step, as long as it serves.
class BroadPhase {
public:
    /// Takes the boxes of this step, one per body, by index; empty for bodies that touch nothing. Allocates only when
    /// their number has changed or they have moved far.
    void update(std::span<const Box3> boxes);

    /// The pairs (i, j), i < j, whose boxes meet (touching counts) and for which `keep(i, j)` is true, sorted, into
    /// `pairs`.
    template <class Keep>
    void find_pairs(const Keep& keep, std::vector<std::pair<int, int>>& pairs) const
    {
        pairs.clear();
        tree_.for_each_self_pair([&](int i, int j) {
            if (keep(i, j)) pairs.emplace_back(i, j);
        });
        std::sort(pairs.begin(), pairs.end());
    }

    /// The bodies whose boxes meet this one: for rays, picking, and shapes that are not bodies.
    const Bvh& tree() const { return tree_; }

private:
    Bvh tree_;
    double cost_ = 0.0; ///< of the tree when it was built
};

} // namespace lithe
