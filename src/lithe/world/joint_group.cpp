#include "lithe/world/joint_group.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {
namespace {

/// As a share of the size of the smallest body: points that are farther apart cannot meet.
constexpr double most_stretch = 1e-6;

} // namespace

void JointGroup::begin()
{
    bodies_.clear();
    points_.clear();
    hard_.clear();
    may_break_ = false;
    size_ = std::numeric_limits<double>::infinity();
}

int JointGroup::add(Body& body, double size)
{
    bodies_.push_back(&body);
    if (size > 0.0) size_ = std::min(size_, size);
    return static_cast<int>(bodies_.size()) - 1;
}

void JointGroup::add(HeldPoint& point, bool breaks)
{
    may_break_ = may_break_ || breaks;
    points_.push_back(&point);
    if (point.hard()) hard_.push_back(&point);
}

void JointGroup::place()
{
    stretch_ = 0.0;
    for (HeldPoint* point : points_)
        for (HeldPoint::Side* side : {&point->a, &point->b})
            if (!side->led())
                side->start = bodies_[static_cast<std::size_t>(side->in_group)]->motion(side->point).position;
    for (const HeldPoint* point : hard_) stretch_ = std::max(stretch_, point->stretch().norm());
}

/// The hard joints alone, each with the velocity that its sides have relative to each other.
void JointGroup::couple(ResponseKind kind)
{
    coupling_.begin(bodies_);
    for (HeldPoint* point : hard_)
        for (HeldPoint::Side* side : {&point->a, &point->b})
            if (!side->led()) side->touch = coupling_.add(side->in_group, {side->point, point->middle()});
    coupling_.join(kind);
    const auto velocity = [&](const HeldPoint::Side& side, double sign) -> Vec3 {
        return side.led() ? side.led_velocity : coupling_.couple(side.in_group, side.touch, sign);
    };
    for (const HeldPoint* point : hard_) {
        coupling_.problem.add_joint({});
        const Vec3 u = velocity(point->a, 1.0) - velocity(point->b, -1.0);
        coupling_.problem.joints.back().velocity = u;
    }
    coupling_.prepare();
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
    gaps_.clear();
    for (const HeldPoint* point : hard_) {
        gaps_.push_back(end(point->a) - end(point->b));
        largest = std::max(largest, gaps_.back().squaredNorm());
    }
    return std::sqrt(largest);
}

/// Impulses that would take away these distances in the step.
void JointGroup::close(const std::vector<Vec3>& gaps, double h)
{
    for (std::size_t k = 0; k < gaps.size(); ++k) coupling_.problem.joints[k].velocity = gaps[k] / h;
    (void)coupling_.solve_again({.joint_passes = 1});
    (void)coupling_.hand_out();
}

/// The matrix is that of the start of the step, and every round takes away all but a few percent: what the joints'
/// regularisation leaves is less. Where that does not work, the points cannot meet, and impulses that try bring energy: they
/// are taken back.
double JointGroup::meet(double h, double enough)
{
    if (hard_.empty()) return 0.0;
    constexpr int most_rounds = 10;
    const double first = find_gaps(h);
    double gap = first;
    closed_.assign(hard_.size(), Vec3::Zero());
    for (int round = 0; round < most_rounds && gap > enough * size_; ++round) {
        if (round == 0) couple(ResponseKind::Implicit);
        for (std::size_t k = 0; k < gaps_.size(); ++k) closed_[k] += gaps_[k];
        const double before = gap;
        close(gaps_, h);
        gap = find_gaps(h);
        if (gap < 0.5 * before) continue;
        if (gap <= most_stretch * size_) break;
        for (Vec3& closed : closed_) closed = -closed;
        close(closed_, h);
        return first;
    }
    return gap;
}

void JointGroup::settle()
{
    if (hard_.empty()) return;
    place();
    couple(ResponseKind::Bare);
    (void)coupling_.solve_again({});
    (void)coupling_.hand_out();
}

} // namespace lithe
