#include "lithe/world/joint_stage.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// The points that hold: about `place`, so that they keep what the kind keeps.
std::vector<Vec3> places_of(const JointModel& model)
{
    const Vec3 axis = model.axis.normalized(), side = axis.unitOrthogonal();
    switch (model.kind) {
    case JointKind::Ball:
        return {model.place};
    case JointKind::Hinge:
        return {model.place + 0.5 * model.size * axis, model.place - 0.5 * model.size * axis};
    case JointKind::Weld:
        return {model.place + 0.5 * model.size * axis, model.place - 0.5 * model.size * axis,
                model.place + 0.5 * model.size * side};
    }
    return {};
}

void require_possible(const JointModel& model, const std::string& name)
{
    const auto fail = [&](std::string_view what) { throw InputError(fmt::format("{}: {}", name, what)); };
    if (!model.place.allFinite()) fail("its place is not finite");
    if (!(model.axis.norm() > 0.0) || !model.axis.allFinite()) fail("its axis has no direction");
    if (!(model.size > 0.0) || !std::isfinite(model.size)) fail("its size must be above 0 and finite");
    if (!(model.stiffness > 0.0)) fail("its stiffness must be above 0");
    if (!(model.damping >= 0.0) || !std::isfinite(model.damping))
        fail("its damping must be at least 0 and finite");
    if (!(model.strength > 0.0)) fail("its strength must be above 0");
}

} // namespace

JointId JointStage::insert(const JointModel& model, Body& a, Body& b)
{
    const std::string name = fmt::format("the joint between '{}' and '{}'", a.shown().name, b.shown().name);
    if (&a == &b) throw InputError(name + ": a body cannot be joined to itself");
    require_possible(model, name);
    Joint joint{.model = model, .points = {}};
    for (const Vec3& place : places_of(model)) joint.points.push_back({a.attach(place), b.attach(place)});
    return joints_.insert(std::move(joint));
}

void JointStage::remove_body(BodyId id)
{
    std::vector<JointId> gone;
    joints_.for_each([&](JointId joint, const Joint& held) {
        if (held.model.a == id || held.model.b == id) gone.push_back(joint);
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

void JointStage::add_touches(std::vector<std::vector<Touch>>& touches)
{
    for (Active& joint : active_) {
        const Vec3 place =
            0.5 * (body(joint.a).motion(joint.at_a).position + body(joint.b).motion(joint.at_b).position);
        const auto add = [&](int number, const BodyPoint& point) {
            std::vector<Touch>& of_body = touches[static_cast<std::size_t>(number)];
            of_body.push_back({point, place});
            return of_body.size() - 1;
        };
        joint.touch_a = add(joint.a, joint.at_a);
        joint.touch_b = add(joint.b, joint.at_b);
    }
}

Vec3 JointStage::led_velocity(int number, const BodyPoint& point) const
{
    return (body(number).predicted(point) - body(number).motion(point).position) / h_;
}

void JointStage::add_constraints(ResponseKind kind, ImpulseProblem& problem)
{
    first_ = problem.joints.size();
    for (const Active& joint : active_) {
        const auto j = static_cast<std::size_t>(problem.add_joint({}));
        const auto velocity = [&](int number, std::size_t touch, double sign,
                                  const BodyPoint& point) -> Vec3 {
            const Vec3 u = body(number).couple(touch, sign, problem);
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
        if (impulse.norm() / h_ > joints_[id].model.strength) joints_.erase(id);
        impulse.setZero();
    }
}

// ---- alone

/// velocity(joint) is what the points of a joint have to lose.
template <class Velocity>
void JointStage::solve_alone(ResponseKind kind, const Velocity& velocity)
{
    touches_.resize(bodies_.size());
    for (std::vector<Touch>& of_body : touches_) of_body.clear();
    add_touches(touches_);
    problem_.clear();
    movers_.assign(bodies_.size(), {0, 0});
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        movers_[i].first = problem_.body_count();
        if (!touches_[i].empty()) bodies_[i]->join(touches_[i], kind, problem_);
        movers_[i].second = problem_.body_count();
    }
    add_constraints(ResponseKind::Bare, problem_);
    for (std::size_t k = 0; k < active_.size(); ++k) velocity(active_[k], problem_.joints[k]);
    solver_.prepare(problem_);
    (void)solver_.solve(problem_, {});
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        for (int mover = movers_[i].first; mover < movers_[i].second; ++mover)
            (void)bodies_[i]->take(mover, solver_.change(mover));
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
