#include "lithe/world/joint_group.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lithe {
namespace {

/// As a share of the size of the smallest body: points that are farther apart cannot meet.
constexpr double most_stretch = 1e-6;

} // namespace

void JointGroup::begin()
{
    bodies_.clear();
    numbers_.clear();
    points_.clear();
    hard_.clear();
    is_plain_ = true;
    size_ = std::numeric_limits<double>::infinity();
}

int JointGroup::add(int number, Body& body, double size)
{
    bodies_.push_back(&body);
    numbers_.push_back(number);
    if (size > 0.0) size_ = std::min(size_, size);
    return static_cast<int>(bodies_.size()) - 1;
}

void JointGroup::add(HeldPoint& point)
{
    is_plain_ = is_plain_ && point.hard() && !point.of_joint;
    points_.push_back(&point);
    if (point.hard()) hard_.push_back(&point);
}

void JointGroup::place()
{
    if (is_placed_) return;
    is_placed_ = true;
    stretch_ = 0.0;
    for (HeldPoint* point : points_)
        for (HeldPoint::Side* side : {&point->a, &point->b})
            if (!side->led())
                side->start = bodies_[static_cast<std::size_t>(side->in_group)]->position(side->point);
    for (const HeldPoint* point : hard_) stretch_ = std::max(stretch_, point->stretch().norm());
}

/// The hard joints alone, each with the velocity that its sides have relative to each other.
void JointGroup::couple(Coupling& coupling, ResponseKind kind, double softness)
{
    coupling.begin(bodies_);
    for (HeldPoint* point : hard_)
        for (HeldPoint::Side* side : {&point->a, &point->b})
            if (!side->led()) side->touch = coupling.add(side->in_group, {side->point, point->middle()});
    coupling.join(kind);
    coupling.problem.softness = softness;
    const auto velocity = [&](const HeldPoint::Side& side, double sign) -> Vec3 {
        return side.led() ? side.led_velocity : coupling.couple(side.in_group, side.touch, sign);
    };
    for (const HeldPoint* point : hard_) {
        coupling.problem.add_joint({});
        const Vec3 u = velocity(point->a, 1.0) - velocity(point->b, -1.0);
        coupling.problem.joints.back().velocity = u;
    }
    coupling.prepare();
}

bool JointGroup::taut() const
{
    return stretch_ > most_stretch * size_;
}

double JointGroup::find_gaps(double h)
{
    const auto end = [&](const HeldPoint::Side& side) -> Vec3 {
        if (side.led()) return side.start + h * side.led_velocity;
        return bodies_[static_cast<std::size_t>(side.in_group)]->predicted(side.point);
    };
    double largest = 0.0;
    gaps_.resize(3 * static_cast<Index>(hard_.size()));
    for (std::size_t k = 0; k < hard_.size(); ++k) {
        HeldPoint& point = *hard_[k];
        point.gap = end(point.a) - end(point.b);
        gaps_.segment<3>(3 * static_cast<Index>(k)) = point.gap;
        largest = std::max(largest, point.gap.squaredNorm());
    }
    return std::sqrt(largest);
}

/// The matrix is that of the start of the step: a round takes away all but a share that grows with how far bodies turn in the
/// step. Mixed with the rounds before, gaps go to nothing all the same [And65]. Where they do not, the points cannot meet, and
/// impulses that try bring energy: they are taken back, and softer ones bring them as near as they come.
double JointGroup::meet(double h, double enough, Coupling* solved, Coupling& own)
{
    was_moved_ = false;
    if (hard_.empty()) return 0.0;
    constexpr int most_rounds = 40, patience = 10;
    constexpr double worth_it = 0.1, lost = 2.0; // of the first gap
    const double first = find_gaps(h);
    has_met_ = true;
    if (first <= enough * size_) return first;
    was_moved_ = true;
    if (!is_plain_) solved = nullptr; // it has more in it than hard points
    const Means means{h, solved, own};
    const double acceptable = std::max(worth_it * first, most_stretch * size_);
    if (!solved) couple(own, ResponseKind::Implicit);
    start_mixing();
    double gap = first, best = first;
    for (int round = 0, best_round = 0; round < std::min(most_rounds, best_round + patience); ++round) {
        close(means);
        gap = find_gaps(h);
        if (gap <= enough * size_ || gap > lost * first) break;
        if (gap >= best) continue;
        best = gap;
        best_round = round;
    }
    if (gap <= acceptable) return gap;
    closed_ = -closed_;
    give(closed_, means);
    has_met_ = false;
    return approach({h, nullptr, own});
}

void JointGroup::start_mixing()
{
    const Index size = gaps_.size();
    weights_.setOnes(size);
    memory_.resize(static_cast<std::size_t>(Mixing::room(size)));
    mixing_.start(size, weights_.data(), memory_.data());
    closed_.setZero(size);
}

/// One round.
void JointGroup::close(const Means& means)
{
    mixing_.before(closed_.data());
    closed_next_ = closed_ + gaps_;
    mixing_.after(closed_next_.data());
    closed_.swap(closed_next_);
    closed_next_ = closed_ - closed_next_;
    give(closed_next_, means);
}

/// Points that cannot meet come nearer by joints that give way: what hardly answers to impulses is left alone, so that they remain
/// small.
double JointGroup::approach(const Means& means)
{
    constexpr int most_rounds = 10;
    constexpr double softness = 0.03, worth_it = 0.8;
    double gap = find_gaps(means.h);
    couple(means.own, ResponseKind::Implicit, softness);
    for (int round = 0; round < most_rounds; ++round) {
        closed_ = gaps_;
        give(closed_, means);
        const double last = std::exchange(gap, find_gaps(means.h));
        if (gap > last) {
            closed_ = -closed_;
            give(closed_, means);
            return find_gaps(means.h);
        }
        if (gap > worth_it * last) break;
    }
    return gap;
}

/// Impulses that would take away these distances in the step if nothing turned.
void JointGroup::give(const VecX& distances, const Means& means)
{
    const auto velocity = [&](std::size_t k) -> Vec3 {
        return distances.segment<3>(3 * static_cast<Index>(k)) / means.h;
    };
    if (means.solved) {
        for (std::size_t k = 0; k < hard_.size(); ++k)
            means.solved->problem.joints[static_cast<std::size_t>(hard_[k]->joint)].velocity = velocity(k);
        return means.solved->act_alone(numbers_.front());
    }
    for (std::size_t k = 0; k < hard_.size(); ++k) means.own.problem.joints[k].velocity = velocity(k);
    (void)means.own.solve_again({.joint_passes = 1});
    (void)means.own.hand_out();
}

void JointGroup::settle(Coupling& own)
{
    if (hard_.empty()) return;
    place();
    couple(own, ResponseKind::Bare);
    (void)own.solve_again({.joint_passes = 2}); // the second for what regularisation leaves of the first
    (void)own.hand_out();
}

} // namespace lithe
