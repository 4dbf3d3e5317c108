#include "lithe/world/contact_events.hpp"

#include <algorithm>
#include <tuple>

namespace lithe {
namespace {

auto order_of(const auto& pair)
{
    return std::tuple(pair.a.index, pair.b.index);
}

/// Makes one of the pushes of a pair.
void merge(const ContactEvent& more, ContactEvent& sum)
{
    const Vec3 impulse = sum.impulse + more.impulse;
    const double speed = std::max(sum.speed, more.speed);
    if (more.depth > sum.depth) sum = more;
    sum.impulse = impulse;
    sum.speed = speed;
}

} // namespace

void ContactEvents::add(const ContactEvent& push)
{
    pushes_.push_back(push);
    ContactEvent& event = pushes_.back();
    if (event.a.index <= event.b.index) return;
    std::swap(event.a, event.b);
    event.impulse = -event.impulse;
    event.normal = -event.normal;
}

void ContactEvents::close(const std::function<bool(BodyId, BodyId)>& sleeps)
{
    // the pushes of a pair in the order in which they came: sums are the same for any number of threads
    events_.clear();
    for (const ContactEvent& push : pushes_) {
        const auto at = std::ranges::lower_bound(events_, order_of(push), {}, order_of<ContactEvent>);
        if (at != events_.end() && order_of(*at) == order_of(push))
            merge(push, *at);
        else
            events_.insert(at, push);
    }
    pushes_.clear();

    before_.swap(touching_);
    touching_.clear();
    const std::size_t pushing = events_.size();
    for (std::size_t k = 0; k < pushing; ++k) {
        const bool went_on = std::ranges::binary_search(before_, order_of(events_[k]), {}, order_of<Pair>);
        events_[k].phase = went_on ? ContactPhase::Stay : ContactPhase::Begin;
        touching_.push_back({events_[k].a, events_[k].b});
    }
    for (const Pair& pair : before_) {
        const auto now = std::span(events_).first(pushing);
        if (std::ranges::binary_search(now, order_of(pair), {}, order_of<ContactEvent>)) continue;
        if (sleeps(pair.a, pair.b))
            touching_.push_back(pair);
        else
            events_.push_back({.a = pair.a, .b = pair.b, .phase = ContactPhase::End});
    }
    std::ranges::sort(touching_, {}, order_of<Pair>);
    std::ranges::sort(events_, {}, order_of<ContactEvent>);
}

void ContactEvents::set_touching(std::vector<Pair> pairs)
{
    clear();
    touching_ = std::move(pairs);
    std::ranges::sort(touching_, {}, order_of<Pair>);
}

void ContactEvents::remove(BodyId id)
{
    const auto is_of = [&](const auto& pair) { return pair.a == id || pair.b == id; };
    std::erase_if(touching_, is_of);
    std::erase_if(events_, is_of);
}

void ContactEvents::clear()
{
    pushes_.clear();
    events_.clear();
    touching_.clear();
}

} // namespace lithe
