#include "lithe/world/sleep_stage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"

namespace lithe {

SleepStage::SleepStage(const SleepOptions& options) : options_(options)
{
    (void)require_positive("the speed of bodies that fall asleep", options.speed);
    (void)require_positive("the time before bodies fall asleep", options.seconds);
}

void SleepStage::add(BodyId id, const Body& body)
{
    if (rests_.size() <= id.index) rests_.resize(id.index + std::size_t{1});
    const Box3 box = body.freedoms() > 0 ? body.swept_bounds() : Box3();
    rests_[id.index] = {.size = box.isEmpty() ? 0.0 : box.diagonal().norm()};
}

void SleepStage::end_step(const Step& step)
{
    if (!options_.enabled) return;
    const std::size_t count = step.bodies.size();
    const auto moves = [&](std::size_t i) { return step.bodies[i]->freedoms() > 0; };
    islands_.reset(static_cast<int>(count));
    for (const auto& [a, b] : step.links)
        if (moves(static_cast<std::size_t>(a)) && moves(static_cast<std::size_t>(b))) islands_.join(a, b);

    // an island has been quiet for as long as the body of it that moved last
    quiet_.assign(count, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < count; ++i) {
        if (!moves(i)) continue;
        Rest& rest = rests_[step.order.ids()[i].index];
        const bool slow = step.bodies[i]->speed() < options_.speed * std::sqrt(step.gravity * rest.size);
        rest.quiet = slow ? rest.quiet + step.h : 0.0;
        rest.island = {};
        double& island = quiet_[static_cast<std::size_t>(islands_.root(static_cast<int>(i)))];
        island = std::min(island, rest.quiet);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (!moves(i)) continue;
        const auto root = static_cast<std::size_t>(islands_.root(static_cast<int>(i)));
        if (quiet_[root] < options_.seconds) continue;
        rests_[step.order.ids()[i].index].island = step.order.ids()[root];
        step.bodies[i]->set_asleep(true);
    }
}

void SleepStage::island_of(BodyId id, const BodyOrder& order, std::vector<BodyId>& out) const
{
    out.clear();
    const BodyId island = rest(id).island;
    if (!island.valid()) return;
    for (const BodyId other : order.ids())
        if (rest(other).island == island) out.push_back(other);
}

void SleepStage::disturb(BodyId id)
{
    rests_[id.index].quiet = 0.0;
    rests_[id.index].island = {};
}

void SleepStage::save(const BodyOrder& order, StateWriter& out) const
{
    for (const BodyId id : order.ids()) {
        out.write(rest(id).quiet);
        order.write(rest(id).island.valid() ? rest(id).island : id, out);
    }
}

void SleepStage::restore(const BodyOrder& order, StateReader& in)
{
    for (const BodyId id : order.ids()) {
        Rest& now = rests_[id.index];
        now.quiet = in.read_number();
        now.island = order.read(in);
    }
}

} // namespace lithe
