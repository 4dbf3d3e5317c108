#include "lithe/contact/broad_phase.hpp"

namespace lithe {

constexpr double worn_out = 1.5; ///< a tree that costs so much more than at first is built anew

void BroadPhase::update(std::span<const Box3> boxes)
{
    if (tree_.item_count() == static_cast<Index>(boxes.size())) {
        tree_.refit(boxes);
        if (tree_.cost() <= worn_out * cost_) return;
    }
    tree_ = Bvh(boxes);
    cost_ = tree_.cost();
}

} // namespace lithe
