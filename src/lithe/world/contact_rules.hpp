#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lithe/body/body.hpp"

namespace lithe {

/// Which bodies a body collides with, by groups of one bit each. Two bodies collide when each of them meets a group of the other.
struct CollisionFilter {
    std::uint64_t groups = 1;                ///< that it belongs to
    std::uint64_t meets = ~std::uint64_t{0}; ///< groups that it collides with
};

/// What holds between two bodies, in place of what their surfaces and filters say.
struct PairRule {
    std::optional<double> friction = {};    ///< Coulomb's coefficient between them, >= 0
    std::optional<double> restitution = {}; ///< in [0, 1]
    bool collides = true;                   ///< false: they pass through each other
};

/// Who collides with whom, and how. Part of a world's making: it is not saved with the state.
class ContactRules {
public:
    void set_filter(BodyId id, const CollisionFilter& filter);
    /// The order of the two does not matter. Throws InputError for numbers that are not possible.
    void set_pair(BodyId a, BodyId b, const PairRule& rule);
    /// A body that goes takes its rules with it.
    void remove(BodyId id);

    bool empty() const { return filters_.empty() && pairs_.empty(); }
    bool meet(BodyId a, BodyId b) const;
    /// `usual` is what their surfaces make of it.
    ContactLaw law(BodyId a, BodyId b, const ContactLaw& usual) const;

private:
    using Key = std::pair<std::uint32_t, std::uint32_t>; ///< slots, the smaller first
    static Key key(BodyId a, BodyId b) { return std::minmax(a.index, b.index); }
    const CollisionFilter& filter(BodyId id) const;

    std::vector<CollisionFilter> filters_; ///< by slot
    std::map<Key, PairRule> pairs_;
};

} // namespace lithe
