#include "lithe/world/contact_rules.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {

void ContactRules::set_filter(BodyId id, const CollisionFilter& filter)
{
    if (filters_.size() <= id.index) filters_.resize(id.index + std::size_t{1});
    filters_[id.index] = filter;
}

void ContactRules::set_pair(BodyId a, BodyId b, const PairRule& rule)
{
    if (rule.friction && !(*rule.friction >= 0.0 && std::isfinite(*rule.friction)))
        throw InputError(fmt::format(
            "the friction between two bodies is {}: it must be at least 0 and finite", *rule.friction));
    if (rule.restitution && !(*rule.restitution >= 0.0 && *rule.restitution <= 1.0))
        throw InputError(fmt::format("the restitution between two bodies is {}: it must lie in [0, 1]",
                                     *rule.restitution));
    pairs_[key(a, b)] = rule;
}

void ContactRules::remove(BodyId id)
{
    if (id.index < filters_.size()) filters_[id.index] = {};
    std::erase_if(pairs_, [&](const auto& pair) {
        return pair.first.first == id.index || pair.first.second == id.index;
    });
}

const CollisionFilter& ContactRules::filter(BodyId id) const
{
    static constexpr CollisionFilter all = {};
    return id.index < filters_.size() ? filters_[id.index] : all;
}

bool ContactRules::meet(BodyId a, BodyId b) const
{
    if (empty()) return true;
    if (const auto rule = pairs_.find(key(a, b)); rule != pairs_.end() && !rule->second.collides)
        return false;
    const CollisionFilter &of_a = filter(a), &of_b = filter(b);
    return (of_a.groups & of_b.meets) != 0 && (of_b.groups & of_a.meets) != 0;
}

ContactLaw ContactRules::law(BodyId a, BodyId b, const ContactLaw& usual) const
{
    if (pairs_.empty()) return usual;
    const auto rule = pairs_.find(key(a, b));
    if (rule == pairs_.end()) return usual;
    return {.friction = rule->second.friction.value_or(usual.friction),
            .restitution = rule->second.restitution.value_or(usual.restitution)};
}

} // namespace lithe
