#include "lithe/world/joint_stage.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

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

} // namespace

JointId JointStage::add(const End& a, const End& b, const JointOptions& options)
{
    const std::string name =
        fmt::format("the joint between '{}' and '{}'", a.body.shown().name, b.body.shown().name);
    if (a.id == b.id) throw InputError(name + ": a body cannot be joined to itself");
    require_possible(options, name);
    Joint joint{.a = a.id, .b = b.id, .options = options, .points = {}};
    for (const Vec3& place : places_of(options))
        joint.points.push_back({a.body.attach(place), b.body.attach(place)});
    return joints_.insert(std::move(joint));
}

void JointStage::remove_body(BodyId id)
{
    std::vector<JointId> gone;
    joints_.for_each([&](JointId joint, const Joint& held) {
        if (held.a == id || held.b == id) gone.push_back(joint);
    });
    for (const JointId joint : gone) joints_.erase(joint);
}

void JointStage::save(StateWriter& out) const
{
    std::vector<int> numbers;
    joints_.for_each([&](JointId id, const Joint&) { numbers.push_back(static_cast<int>(id.index)); });
    out.write(numbers);
}

void JointStage::restore(StateReader& in)
{
    std::vector<int> numbers;
    in.read(numbers);
    std::vector<JointId> broken;
    std::size_t found = 0;
    joints_.for_each([&](JointId id, const Joint&) {
        if (std::ranges::find(numbers, static_cast<int>(id.index)) == numbers.end())
            broken.push_back(id);
        else
            ++found;
    });
    if (found != numbers.size())
        throw InputError("the saved state has joints that the world has not, or that have broken since");
    for (const JointId id : broken) joints_.erase(id);
}

// ---- as constraints of a problem

void JointStage::begin(std::span<Body* const> bodies, std::span<const int> number_of, double h)
{
    bodies_ = bodies;
    h_ = h;
    active_.clear();
    held_.clear();
    joints_.for_each([&](JointId id, const Joint& joint) {
        const int a = number_of[joint.a.index], b = number_of[joint.b.index];
        held_.emplace_back(std::min(a, b), std::max(a, b));
        for (const Point& point : joint.points)
            active_.push_back({id, a, b, point.a, point.b, joint.options.stiffness, joint.options.damping});
    });
    std::ranges::sort(held_);
}

void JointStage::add_touches(Coupling& coupling)
{
    for (Active& joint : active_) {
        const Vec3 place =
            0.5 * (body(joint.a).motion(joint.at_a).position + body(joint.b).motion(joint.at_b).position);
        joint.touch_a = coupling.add(joint.a, {joint.at_a, place});
        joint.touch_b = coupling.add(joint.b, {joint.at_b, place});
    }
}

Vec3 JointStage::led_velocity(int number, const BodyPoint& point) const
{
    return (body(number).predicted(point) - body(number).motion(point).position) / h_;
}

void JointStage::add_constraints(ResponseKind kind, Coupling& coupling)
{
    ImpulseProblem& problem = coupling.problem;
    first_ = problem.joints.size();
    for (const Active& joint : active_) {
        const auto j = static_cast<std::size_t>(problem.add_joint({}));
        const auto velocity = [&](int number, std::size_t touch, double sign,
                                  const BodyPoint& point) -> Vec3 {
            const Vec3 u = coupling.couple(number, touch, sign);
            return body(number).freedoms() > 0 || kind == ResponseKind::Places ? u
                                                                               : led_velocity(number, point);
        };
        const Vec3 u = velocity(joint.a, joint.touch_a, 1.0, joint.at_a) -
                       velocity(joint.b, joint.touch_b, -1.0, joint.at_b);
        ImpulseJoint& out = problem.joints[j];
        out.velocity = u;
        if (kind != ResponseKind::Implicit) continue;
        const Vec3 stretch =
            body(joint.a).motion(joint.at_a).position - body(joint.b).motion(joint.at_b).position;
        if (joint.hard()) {
            out.velocity += stretch / h_;
        } else {
            const SoftJoint soft = soft_joint(joint.stiffness, joint.damping, h_);
            out.velocity += soft.stretch_rate * stretch;
            out.compliance = soft.compliance;
        }
    }
}

void JointStage::break_weak(const ImpulseProblem& problem)
{
    Vec3 impulse = Vec3::Zero();
    for (std::size_t k = 0; k < active_.size(); ++k) {
        impulse += problem.joints[first_ + k].impulse;
        const JointId id = active_[k].joint;
        if (k + 1 < active_.size() && active_[k + 1].joint == id) continue;
        if (impulse.norm() / h_ > joints_[id].options.strength) joints_.erase(id);
        impulse.setZero();
    }
}

// ---- alone

/// velocity(joint) is what the points of a joint have to lose.
template <class Velocity>
void JointStage::solve_alone(ResponseKind kind, const Velocity& velocity)
{
    alone_.begin(bodies_);
    add_touches(alone_);
    alone_.join(kind);
    add_constraints(ResponseKind::Bare, alone_);
    for (std::size_t k = 0; k < active_.size(); ++k) velocity(active_[k], alone_.problem.joints[k]);
    (void)alone_.solve({});
    (void)alone_.hand_out();
}

double JointStage::meet()
{
    constexpr int most_rounds = 10;
    constexpr double enough =
        1e-9; // of the way of a point in the step and of its distance from the origin, where digits end
    double largest = 0.0, before = 0.0;
    for (int round = 0; round <= most_rounds; ++round) {
        largest = 0.0;
        double scale = 0.0;
        for (const Active& joint : active_) {
            if (!joint.hard()) continue;
            const Vec3 a = body(joint.a).predicted(joint.at_a);
            largest = std::max(largest, (a - body(joint.b).predicted(joint.at_b)).norm());
            scale = std::max(scale, (a - body(joint.a).motion(joint.at_a).position).norm() + 1e-3 * a.norm());
        }
        const bool gains = round == 0 || largest < 0.9 * before; // a taut chain has no solution
        if (largest <= enough * scale || !gains || round == most_rounds) break;
        before = largest;
        solve_alone(ResponseKind::Implicit, [&](const Active& joint, ImpulseJoint& out) {
            if (!joint.hard()) {
                out.velocity.setZero();
                out.compliance = 1e12; // soft joints have had their say
                return;
            }
            out.velocity = (body(joint.a).predicted(joint.at_a) - body(joint.b).predicted(joint.at_b)) / h_;
        });
    }
    return largest;
}

void JointStage::settle()
{
    if (std::ranges::none_of(active_, &Active::hard)) return;
    solve_alone(ResponseKind::Bare, [](const Active& joint, ImpulseJoint& out) {
        if (joint.hard()) return;
        out.velocity.setZero();
        out.compliance = 1e12;
    });
}

} // namespace lithe
