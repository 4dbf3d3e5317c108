#include "lithe/world/joint_stage.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/union_find.hpp"

namespace lithe {
namespace {

/// Joints that cannot meet become stiff: of their own response, and how much of their stretch a step takes.
constexpr double taut_compliance = 1e-5, taut_recovery = 0.5;

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

/// Of the constraint that was added last, the mean over its rows. [1/kg]
double response_of_last(const ConstraintRows& rows)
{
    const auto first = at(rows.first.back());
    if (first == rows.blocks.size()) return 0.0;
    const Index offset = rows.blocks[first].offset;
    const auto size = static_cast<Index>(rows.values.size()) - offset;
    return Eigen::Map<const VecX>(rows.values.data() + offset, size).squaredNorm() / rows.rows;
}

/// The points that hold: about `place`, so that they keep what the kind keeps.
std::vector<Vec3> places_of(const JointOptions& joint)
{
    const Vec3 axis = joint.axis.normalized(), side = axis.unitOrthogonal();
    switch (joint.kind) {
    case JointKind::Ball:
        return {joint.place};
    case JointKind::Hinge:
        return {joint.place + 0.5 * joint.size * axis, joint.place - 0.5 * joint.size * axis};
    case JointKind::Weld:
        return {joint.place + 0.5 * joint.size * axis, joint.place - 0.5 * joint.size * axis,
                joint.place + 0.5 * joint.size * side};
    }
    return {};
}

void require_possible(const JointOptions& joint, const std::string& name)
{
    const auto fail = [&](std::string_view what) { throw InputError(fmt::format("{}: {}", name, what)); };
    if (!joint.place.allFinite()) fail("its place is not finite");
    if (!(joint.axis.norm() > 0.0) || !joint.axis.allFinite()) fail("its axis has no direction");
    if (!(joint.size > 0.0) || !std::isfinite(joint.size)) fail("its size must be above 0 and finite");
    if (!(joint.stiffness > 0.0)) fail("its stiffness must be above 0");
    if (!(joint.damping >= 0.0) || !std::isfinite(joint.damping))
        fail("its damping must be at least 0 and finite");
    if (!(joint.strength > 0.0)) fail("its strength must be above 0");
}

bool has_limits(const JointOptions& joint)
{
    const JointLimits& limits = joint.limits;
    return std::isfinite(limits.lower) || std::isfinite(limits.upper) || std::isfinite(limits.cone);
}

void require_limits(const JointOptions& joint, const std::string& name)
{
    const auto fail = [&](std::string_view what) { throw InputError(fmt::format("{}: {}", name, what)); };
    const JointLimits& limits = joint.limits;
    const auto is_angle = [](double angle) {
        return std::abs(angle) <= std::numbers::pi || std::isinf(angle);
    };
    if (!is_angle(limits.lower) || !is_angle(limits.upper) || !(limits.lower <= limits.upper))
        fail("its limits must lie between -180 and 180 degrees, the lower one first");
    if (!is_angle(limits.cone) || !(limits.cone > 0.0)) fail("its cone must lie between 0 and 180 degrees");
    if (std::isfinite(limits.cone) && joint.kind != JointKind::Ball) fail("only a ball has a cone");
    if (has_limits(joint) && joint.kind == JointKind::Weld) fail("a weld does not turn, it has no limits");
}

void require_motor(JointKind kind, const JointMotor& motor, const std::string& name)
{
    const auto fail = [&](std::string_view what) { throw InputError(fmt::format("{}: {}", name, what)); };
    if (motor.goal == MotorGoal::None) return;
    if (kind != JointKind::Hinge) fail("a motor needs a hinge to turn");
    if (!std::isfinite(motor.target)) fail("the target of its motor is not finite");
    if (!(motor.torque > 0.0)) fail("the torque of its motor must be above 0");
    if (motor.goal == MotorGoal::Speed) return;
    if (!(motor.stiffness > 0.0) || !std::isfinite(motor.stiffness))
        fail("the stiffness of a motor that holds an angle must be above 0 and finite");
    if (!(motor.damping >= 0.0) || !std::isfinite(motor.damping))
        fail("the damping of its motor must be at least 0 and finite");
}

} // namespace

JointStage::JointStage(const JointStageOptions& options) : options_(options)
{
    (void)require_positive("gap", options.gap);
}

JointId JointStage::add(const End& a, const End& b, const JointOptions& options)
{
    const std::string name =
        fmt::format("the joint between '{}' and '{}'", a.body.shown().name, b.body.shown().name);
    if (a.id == b.id) throw InputError(name + ": a body cannot be joined to itself");
    require_possible(options, name);
    require_limits(options, name);
    require_motor(options.kind, options.motor, name);
    Joint joint{.a = a.id, .b = b.id, .options = options};
    for (const Vec3& place : places_of(options))
        joint.points.push_back({a.body.attach(place), b.body.attach(place)});
    if (options.kind == JointKind::Hinge || has_limits(options))
        joint.axes.emplace(attach_axes(a.body, options.place, options.axis, 0.5 * options.size),
                           attach_axes(b.body, options.place, options.axis, 0.5 * options.size));
    ++revision_;
    return joints_.insert(std::move(joint));
}

void JointStage::remove(JointId id)
{
    joints_.erase(id);
    ++revision_;
}

void JointStage::set_motor(JointId id, const JointMotor& motor)
{
    JointOptions& options = joints_[id].options;
    require_motor(options.kind, motor, "the joint of a motor");
    if ((motor.goal == MotorGoal::None) != (options.motor.goal == MotorGoal::None)) ++revision_;
    options.motor = motor;
}

void JointStage::remove_body(BodyId id)
{
    ++revision_;
    std::vector<JointId> gone;
    joints_.for_each([&](JointId joint, const Joint& held) {
        if (held.a == id || held.b == id) gone.push_back(joint);
    });
    for (const JointId joint : gone) remove(joint);
}

std::vector<JointId> JointStage::between(const BodyOrder& order) const
{
    std::vector<JointId> out;
    joints_.for_each([&](JointId id, const Joint& joint) {
        if (order.contains(joint.a) && order.contains(joint.b)) out.push_back(id);
    });
    return out;
}

void JointStage::save(const BodyOrder& order, StateWriter& out) const
{
    const std::vector<JointId> ids = between(order);
    std::vector<int> numbers;
    for (const JointId id : ids) numbers.push_back(static_cast<int>(id.index));
    out.write(numbers);
    for (const JointId id : ids) {
        const JointMotor& motor = joints_[id].options.motor;
        out.write(static_cast<std::int64_t>(motor.goal));
        for (const double value : {motor.target, motor.stiffness, motor.damping, motor.torque})
            out.write(value);
        for (const double value : joints_[id].force) out.write(value);
    }
}

void JointStage::restore(const BodyOrder& order, StateReader& in)
{
    std::vector<int> numbers;
    in.read(numbers);
    std::vector<JointId> broken, left;
    for (const JointId id : between(order)) {
        const bool holds = std::ranges::find(numbers, static_cast<int>(id.index)) != numbers.end();
        (holds ? left : broken).push_back(id);
    }
    if (left.size() != numbers.size())
        throw InputError("the saved state has joints that the world has not, or that have broken since");
    for (const JointId id : broken) remove(id);
    for (const JointId id : left) {
        JointMotor motor{.goal = static_cast<MotorGoal>(in.read_integer())};
        for (double* value : {&motor.target, &motor.stiffness, &motor.damping, &motor.torque})
            *value = in.read_number();
        set_motor(id, motor);
        for (double& value : joints_[id].force) value = in.read_number();
    }
}

// ---- what hangs together

/// Bodies and joints are those of the last step, and the same bodies are led.
bool JointStage::is_as_before(std::span<Body* const> bodies)
{
    is_led_.clear();
    for (const Body* body : bodies) is_led_.push_back(body->freedoms() == 0);
    return has_the_same(bodies) && is_led_ == was_led_;
}

bool JointStage::has_the_same(std::span<Body* const> bodies) const
{
    return last_revision_ == revision_ && std::ranges::equal(bodies, last_bodies_);
}

/// At rest, so that a run that goes on from a saved state has the same; zero for a body that shows nothing.
void JointStage::measure(std::span<Body* const> bodies)
{
    if (has_the_same(bodies)) return;
    sizes_.clear();
    for (const Body* body : bodies) {
        const Points& rest = body->shown().surface.vertices;
        sizes_.push_back(rest.cols() > 0 ? bounds(rest).diagonal().norm() : 0.0);
    }
}

void JointStage::begin(std::span<Body* const> bodies, std::span<const int> number_of, double h)
{
    bodies_ = bodies;
    h_ = h;
    if (!is_as_before(bodies)) {
        measure(bodies);
        gather(number_of);
        find_groups();
        last_revision_ = revision_;
        last_bodies_.assign(bodies.begin(), bodies.end());
        was_led_ = is_led_;
    }
    for (HeldPoint& point : points_) point.given.setZero();
    for (Brace& brace : braces_) brace.given.setZero();
    for (std::size_t g = 0; g < group_count_; ++g) groups_[g].begin_step();
    gaps_.assign(group_count_, 0.0);
    have_met_ = are_placed_ = knows_ways_ = false;
}

void JointStage::gather(std::span<const int> number_of)
{
    points_.clear();
    joint_of_.clear();
    braces_.clear();
    angles_.clear();
    joint_of_angle_.clear();
    point_of_angle_.clear();
    held_.clear();
    joints_.for_each([&](JointId id, const Joint& joint) {
        const int a = number_of[joint.a.index], b = number_of[joint.b.index];
        held_.emplace_back(std::min(a, b), std::max(a, b));
        for (const Joint::Point& point : joint.points)
            add_point(id, {a, point.a}, {b, point.b}, joint.options.stiffness, joint.options.damping);
        const bool is_held = !joint_of_.empty() && joint_of_.back() == id;
        if (is_held && joint.options.kind != JointKind::Weld && points_.back().hard())
            braces_.push_back({id, points_.size() - 1});
        const bool turns = has_limits(joint.options) || joint.options.motor.goal != MotorGoal::None;
        const bool is_a_led = is_led_[at(a)] != 0, is_b_led = is_led_[at(b)] != 0;
        if (!turns || (is_a_led && is_b_led)) return;
        angles_.push_back(JointAngle({a, joint.axes->first, is_a_led}, {b, joint.axes->second, is_b_led}));
        joint_of_angle_.push_back(id);
        point_of_angle_.push_back(points_.size() - 1);
    });
    std::ranges::sort(held_);
    for (int i = 0; i < static_cast<int>(bodies_.size()); ++i)
        for (const InnerJoint& inner : body(i).inner_joints())
            add_point({}, {i, inner.a}, {i, inner.b}, inner.stiffness, inner.damping);
}

/// Between bodies that are led there is nothing to do.
void JointStage::add_point(JointId joint, HeldPoint::Side a, HeldPoint::Side b, double stiffness,
                           double damping)
{
    if (is_led_[at(a.body)] && is_led_[at(b.body)]) return;
    points_.push_back({std::move(a), std::move(b), stiffness, damping, joint.valid()});
    joint_of_.push_back(joint);
}

void JointStage::find_groups()
{
    UnionFind sets(static_cast<int>(bodies_.size()));
    for (const HeldPoint& point : points_)
        if (!is_led_[at(point.a.body)] && !is_led_[at(point.b.body)]) sets.join(point.a.body, point.b.body);

    group_count_ = 0;
    std::vector<int> group_of(bodies_.size(), -1), in_group(bodies_.size(), -1);
    for (HeldPoint& point : points_) {
        int& group = group_of[at(sets.root(is_led_[at(point.a.body)] ? point.b.body : point.a.body))];
        if (group < 0) {
            group = static_cast<int>(group_count_++);
            if (groups_.size() < group_count_) groups_.emplace_back();
            groups_[at(group)].begin();
        }
        point.group = group;
        for (HeldPoint::Side* side : {&point.a, &point.b}) {
            if (is_led_[at(side->body)]) continue;
            int& number = in_group[at(side->body)];
            if (number < 0)
                number = groups_[at(group)].add(side->body, body(side->body), sizes_[at(side->body)]);
            side->in_group = number;
        }
        groups_[at(group)].add(point);
    }
}

/// Bodies that are led may belong to several groups, so they are asked beforehand; for their ways, once in a step.
void JointStage::lead_points()
{
    for (HeldPoint& point : points_)
        for (HeldPoint::Side* side : {&point.a, &point.b}) {
            if (!side->led()) continue;
            Body& leader = body(side->body);
            side->start = leader.motion(side->point).position;
            if (knows_ways_) continue;
            side->led_velocity = leader.asleep() ? Vec3(Vec3::Zero())
                                                 : Vec3((leader.predicted(side->point) - side->start) / h_);
        }
    knows_ways_ = true;
}

template <class F>
void JointStage::for_each_group(const F& f)
{
    parallel_for(static_cast<Index>(group_count_), 1, [&](Index g) { f(static_cast<std::size_t>(g)); });
}

void JointStage::place_points()
{
    if (are_placed_) return;
    lead_points();
    for_each_group([&](std::size_t g) { groups_[g].place(); });
    for (std::size_t k = 0; k < angles_.size(); ++k) {
        if (!joints_.contains(joint_of_angle_[k])) continue; // it has just broken
        const JointOptions& options = joints_[joint_of_angle_[k]].options;
        angles_[k].place(bodies_, options.limits, options.motor, h_);
    }
    are_placed_ = true;
}

// ---- as constraints of a problem

/// Which groups take part in the problem.
void JointStage::find_part(LoneJoints lone, const Coupling& coupling)
{
    takes_part_.assign(group_count_, 0);
    if (lone == LoneJoints::TakeIn)
        for (std::size_t g = 0; g < group_count_; ++g) takes_part_[g] = !groups_[g].meets_alone();
    for (const HeldPoint& point : points_)
        for (const HeldPoint::Side* side : {&point.a, &point.b})
            if (!side->led() && coupling.touches(side->body)) takes_part_[at_group(point)] = 1;
}

void JointStage::add_touches(LoneJoints lone, Coupling& coupling)
{
    place_points();
    find_part(lone, coupling);
    for (HeldPoint& point : points_)
        for (HeldPoint::Side* side : {&point.a, &point.b})
            if (takes_part_[at_group(point)] && !side->led())
                side->touch = coupling.add(side->body, {side->point, point.middle()});
    for (Brace& brace : braces_)
        if (takes_part(brace.point) && joints_.contains(brace.joint)) add_touches(brace, coupling);
    for (std::size_t k = 0; k < angles_.size(); ++k)
        if (takes_part(point_of_angle_[k])) angles_[k].add_touches(coupling);
}

/// Both sides feel a brace at one place, along the force that was between them.
void JointStage::add_touches(Brace& brace, Coupling& coupling)
{
    const HeldPoint& point = points_[brace.point];
    const Vec3 place =
        point.middle() + groups_[at(point.group)].size() * joints_[brace.joint].force.normalized();
    if (!point.a.led()) brace.touch_a = coupling.add(point.a.body, {point.a.point, place});
    if (!point.b.led()) brace.touch_b = coupling.add(point.b.body, {point.b.point, place});
}

/// Where a strong force goes through a joint of light bodies, they swing across it faster than steps can follow, and impulses
/// along the force of the start of the step drive them. With
///
///   s = h^2 |force| response / size,
///
/// about the square of the angle by which they swing on in a step, their turns against each other are damped by
/// h |force| size (1 + s/8)  from s = 0.2 on: as much as makes every swing stable.
void JointStage::add_constraint(Brace& brace, Coupling& coupling)
{
    const HeldPoint& point = points_[brace.point];
    const double response = responses_[brace.point], size = groups_[at(point.group)].size();
    const double s = h_ * h_ * joints_[brace.joint].force.norm() * response / size;
    if (!(s > 0.2)) return;
    const double compliance = response / (s * (1.0 + s / 8.0));
    brace.constraint = coupling.problem.add_joint({.compliance = compliance});
    const auto velocity_of = [&](const HeldPoint::Side& side, std::size_t touch, double sign) -> Vec3 {
        return side.led() ? side.led_velocity : coupling.couple(side.body, touch, sign);
    };
    const Vec3 u = velocity_of(point.a, brace.touch_a, 1.0) - velocity_of(point.b, brace.touch_b, -1.0);
    coupling.problem.joints.back().velocity = u + compliance * brace.given;
}

Vec3 JointStage::velocity(const HeldPoint::Side& side, double sign, ResponseKind kind,
                          Coupling& coupling) const
{
    if (!side.led()) return coupling.couple(side.body, side.touch, sign);
    return kind == ResponseKind::Places ? Vec3(Vec3::Zero()) : side.led_velocity;
}

void JointStage::add_constraints(ResponseKind kind, Coupling& coupling)
{
    ImpulseProblem& problem = coupling.problem;
    responses_.clear();
    for (HeldPoint& point : points_) {
        responses_.push_back(0.0);
        point.joint = -1;
        if (!takes_part_[at_group(point)]) continue;
        point.joint = problem.add_joint({});
        const Vec3 u = velocity(point.a, 1.0, kind, coupling) - velocity(point.b, -1.0, kind, coupling);
        problem.joints.back().velocity = u;
        responses_.back() = response_of_last(problem.joint_rows());
        if (kind == ResponseKind::Implicit) hold(point, problem);
    }
    if (kind != ResponseKind::Implicit) return;
    for (Brace& brace : braces_) {
        brace.constraint = -1;
        if (takes_part(brace.point) && joints_.contains(brace.joint)) add_constraint(brace, coupling);
    }
    for (std::size_t k = 0; k < angles_.size(); ++k)
        if (takes_part(point_of_angle_[k])) angles_[k].add_limits(coupling);
}

void JointStage::take_impulses(const ImpulseProblem& problem)
{
    for (HeldPoint& point : points_)
        if (point.joint >= 0) point.given += problem.joints[at(point.joint)].impulse;
    for (Brace& brace : braces_)
        if (brace.constraint >= 0) brace.given += problem.joints[at(brace.constraint)].impulse;
    for (std::size_t k = 0; k < angles_.size(); ++k)
        if (takes_part(point_of_angle_[k])) angles_[k].take_impulses(problem);
}

/// What the joint that was added last does about its stretch.
void JointStage::hold(const HeldPoint& point, ImpulseProblem& problem) const
{
    ImpulseJoint& joint = problem.joints.back();
    if (!point.hard()) {
        const SoftJoint soft = soft_joint(point.stiffness, point.damping, h_);
        joint.velocity += soft.stretch_rate * point.stretch() + soft.compliance * point.given;
        joint.compliance = soft.compliance;
    } else if (groups_[at(point.group)].taut()) {
        joint.compliance = taut_compliance * responses_.back();
        joint.velocity += taut_recovery / h_ * point.stretch() + joint.compliance * point.given;
    } else if (groups_[at_group(point)].has_met()) {
        joint.velocity = point.gap / h_; // along the ways as they are
    } else {
        joint.velocity += point.stretch() / h_;
    }
}

void JointStage::break_weak(const ImpulseProblem& problem)
{
    Vec3 impulse = Vec3::Zero();
    for (std::size_t k = 0; k < points_.size(); ++k) {
        const JointId id = joint_of_[k];
        if (!id.valid()) break; // inner joints come last, and never break
        impulse += problem.joints[at(points_[k].joint)].impulse;
        if (k + 1 < points_.size() && joint_of_[k + 1] == id) continue;
        joints_[id].force = impulse / h_;
        if (joints_[id].force.norm() > joints_[id].options.strength) remove(id);
        impulse.setZero();
    }
}

// ---- alone

void JointStage::meet_alone()
{
    for_each_group([&](std::size_t g) {
        if (takes_part_[g]) return;
        couplings_->lend([&](Coupling& own) { gaps_[g] = groups_[g].meet(h_, options_.gap, nullptr, own); });
    });
}

double JointStage::meet(Coupling& solved, std::vector<char>& changed)
{
    for_each_group([&](std::size_t g) {
        if (!takes_part_[g]) return;
        couplings_->lend([&](Coupling& own) { gaps_[g] = groups_[g].meet(h_, options_.gap, &solved, own); });
    });
    for (std::size_t g = 0; g < group_count_; ++g)
        if ((!have_met_ || takes_part_[g]) && groups_[g].was_moved())
            for (const int body : groups_[g].numbers()) changed[at(body)] = 1;
    have_met_ = true;
    return gaps_.empty() ? 0.0 : std::ranges::max(gaps_);
}

void JointStage::finish()
{
    are_placed_ = false;
    for (std::size_t g = 0; g < group_count_; ++g) groups_[g].displace();
}

void JointStage::displace()
{
    are_placed_ = false;
    for (std::size_t g = 0; g < group_count_; ++g)
        if (takes_part_[g]) groups_[g].displace();
}

void JointStage::settle()
{
    lead_points();
    for_each_group([&](std::size_t g) { couplings_->lend([&](Coupling& own) { groups_[g].settle(own); }); });
}

} // namespace lithe
