#include "lithe/world/joint_angle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lithe {
namespace {

/// Of what is beyond a limit, a step takes away this share.
constexpr double recovery = 0.2;
/// Limits that are farther away than this, and than twice the way of the step, are left out. [rad]
constexpr double reach = 0.5;

double wrapped(double angle)
{
    return std::remainder(angle, 2.0 * std::numbers::pi);
}

/// The part of d that a torque about n can use.
Vec3 part_across(const Vec3& n, const Vec3& d)
{
    return n.isZero(0.0) ? d : Vec3(d - n.dot(d) / n.squaredNorm() * n);
}

/// With u the velocity of the end of an arm d against that of its beginning, lever . u is omega . n for d across n.
Vec3 lever(const Vec3& n, const Vec3& d)
{
    return n.cross(d) / d.squaredNorm();
}

/// Columns: across, across, along.
Mat3 frame_of(const Vec3& origin, const Vec3& axis, const Vec3& side)
{
    Mat3 R;
    R.col(2) = (axis - origin).normalized();
    R.col(0) = part_across(R.col(2), side - origin).normalized();
    R.col(1) = R.col(2).cross(R.col(0));
    return R;
}

JointTurn turn_between(const Mat3& R_a, const Mat3& R_b)
{
    const Quat q(Mat3(R_a.transpose() * R_b));
    const Vec3 z_a = R_a.col(2), z_b = R_b.col(2);
    return {.twist = wrapped(2.0 * std::atan2(q.z(), q.w())),
            .swing = std::atan2(z_a.cross(z_b).norm(), z_a.dot(z_b))};
}

} // namespace

JointAxes attach_axes(Body& body, const Vec3& place, const Vec3& axis, double distance)
{
    const Vec3 z = axis.normalized();
    return {body.attach(place), body.attach(place + distance * z),
            body.attach(place + distance * z.unitOrthogonal())};
}

JointTurn joint_turn(const Body& a, const JointAxes& axes_a, const Body& b, const JointAxes& axes_b)
{
    const auto frame = [](const Body& body, const JointAxes& axes) {
        const auto x = [&](const BodyPoint& point) { return body.motion(point).position; };
        return frame_of(x(axes.origin), x(axes.axis), x(axes.side));
    };
    return turn_between(frame(a, axes_a), frame(b, axes_b));
}

Vec3 JointAngle::Placed::across(const Vec3& n, Arm arm) const
{
    return part_across(n, at(arm).x - origin.x);
}

void JointAngle::place(std::span<Body* const> bodies, double h, Placed& side)
{
    Body& body = *bodies[static_cast<std::size_t>(side.body)];
    const auto set = [&](const BodyPoint& point, Point& out) {
        const PointMotion motion = body.motion(point);
        out.x = motion.position;
        const bool goes = side.led && !body.asleep();
        out.v = goes ? Vec3((body.predicted(point) - motion.position) / h) : motion.velocity;
    };
    set(side.axes.origin, side.origin);
    set(side.axes.axis, side.axis);
    set(side.axes.side, side.side);
}

/// The rates of twist and swing are those of the spin of b against a about
///   (z_a + z_b) / (1 + z_a . z_b)  and  z_a x z_b / |z_a x z_b|.
void JointAngle::find_axes()
{
    const Vec3 z_a = a_.direction(), z_b = b_.direction();
    const double half = 1.0 + z_a.dot(z_b);
    twist_axis_ = half > 1e-3 ? Vec3((z_a + z_b) / half) : Vec3(Vec3::Zero());
    swing_axis_ = z_a.cross(z_b);
    if (swing_axis_.norm() < 1e-6) // still straight: as it is about to swing
        swing_axis_ = z_a.cross(Vec3((b_.axis.v - b_.origin.v) - (a_.axis.v - a_.origin.v)));
    if (!swing_axis_.isZero(0.0)) swing_axis_.normalize();
}

double JointAngle::speed(const Vec3& n, Arm arm) const
{
    const auto of = [&](const Placed& side) {
        return lever(n, side.across(n, arm)).dot(side.at(arm).v - side.origin.v);
    };
    return of(b_) - of(a_);
}

/// Keeps b from turning further against n than the gap. [rad]
void JointAngle::add_bound(const Vec3& n, Arm arm, double gap, double h)
{
    if (n.isZero(0.0) || gap > reach + 2.0 * h * std::abs(speed(n, arm))) return;
    rows_.push_back({n, arm, {.velocity = (gap > 0.0 ? gap : recovery * gap) / h}});
}

/// It wants nothing that the limits forbid: the two would push each other without end.
void JointAngle::add_motor(const JointMotor& motor, const JointLimits& limits, double twist, double h)
{
    if (motor.goal == MotorGoal::None || twist_axis_.isZero(0.0)) return;
    ImpulseLimit limit{.lower = -h * motor.torque, .upper = h * motor.torque};
    if (motor.goal == MotorGoal::Speed) {
        const double down = std::min(limits.lower - twist, 0.0), up = std::max(limits.upper - twist, 0.0);
        limit.velocity = -std::clamp(motor.target, down / h, up / h);
    } else {
        const SoftJoint soft = soft_joint(motor.stiffness, motor.damping, h);
        limit.velocity =
            soft.stretch_rate * wrapped(twist - std::clamp(motor.target, limits.lower, limits.upper));
        limit.compliance = soft.compliance;
    }
    rows_.push_back({twist_axis_, Arm::Side, limit});
}

void JointAngle::place(std::span<Body* const> bodies, const JointLimits& limits, const JointMotor& motor,
                       double h)
{
    place(bodies, h, a_);
    place(bodies, h, b_);
    find_axes();
    rows_.clear();
    const JointTurn now = turn_between(frame_of(a_.origin.x, a_.axis.x, a_.side.x),
                                       frame_of(b_.origin.x, b_.axis.x, b_.side.x));
    add_motor(motor, limits, now.twist, h);
    add_bound(twist_axis_, Arm::Side, now.twist - limits.lower, h);
    add_bound(-twist_axis_, Arm::Side, limits.upper - now.twist, h);
    add_bound(-swing_axis_, Arm::Axis, limits.cone - now.swing, h);
}

void JointAngle::add_touches(Coupling& coupling)
{
    const auto add = [&](Placed& side) {
        if (side.led || rows_.empty()) return;
        const Vec3& x = side.origin.x;
        side.origin.touch = coupling.add(side.body, {side.axes.origin, x});
        side.axis.touch = coupling.add(side.body, {side.axes.axis, x + side.across(swing_axis_, Arm::Axis)});
        side.side.touch = coupling.add(side.body, {side.axes.side, x + side.across(twist_axis_, Arm::Side)});
    };
    add(a_);
    add(b_);
}

void JointAngle::add_limits(Coupling& coupling)
{
    first_ = coupling.problem.limits.size();
    for (const Row& row : rows_) {
        ImpulseLimit left = row.limit;
        left.lower -= row.given;
        left.upper -= row.given;
        coupling.problem.add_limit(left);
        double velocity = row.limit.velocity + row.limit.compliance * row.given;
        const auto add = [&](const Placed& side, double sign) {
            const Point& end = side.at(row.arm);
            const Vec3 push = sign * lever(row.n, side.across(row.n, row.arm));
            if (side.led) {
                velocity += push.dot(end.v - side.origin.v);
                return;
            }
            velocity += coupling.couple_along(side.body, end.touch, push);
            velocity += coupling.couple_along(side.body, side.origin.touch, -push);
        };
        add(b_, 1.0);
        add(a_, -1.0);
        coupling.problem.limits.back().velocity = velocity;
    }
}

void JointAngle::take_impulses(const ImpulseProblem& problem)
{
    for (std::size_t k = 0; k < rows_.size(); ++k) rows_[k].given += problem.limits[first_ + k].impulse;
}

} // namespace lithe
