#pragma once
#include <algorithm>

#include "lithe/body/body.hpp"
#include "lithe/body/joint.hpp"
#include "lithe/contact/impulse_solver.hpp"

namespace lithe {

using JointId = Id<struct JointTag>;

/// Joints of a world, as constraints of its steps. Points of two bodies are led to meet at the end of the step, by the same
/// impulses that keep bodies from passing through each other; Newton's method on where the bodies really end takes what straight
/// ways leave (pre-stabilisation), and after the step their velocities are made equal (post-stabilisation).
class JointStage {
public:
    /// Throws InputError for numbers that are not possible and for bodies that no joint can hold. `body` finds bodies.
    template <class Find>
    JointId add(const JointModel& model, const Find& body)
    {
        return insert(model, body(model.a), body(model.b));
    }
    void remove(JointId id) { joints_.erase(id); }
    bool contains(JointId id) const { return joints_.contains(id); } ///< false once it has broken
    /// Those of a body that goes.
    void remove_body(BodyId id);
    bool empty() const { return joints_.size() == 0; }
    /// Which of them still hold. `restore` removes those that did not; throws InputError for one that is not here.
    void save(StateWriter& out) const;
    void restore(StateReader& in);

    // for the step: `bodies` and `number_of(id)` say which is which
    template <class NumberOf>
    void begin(std::span<Body* const> bodies, const NumberOf& number_of, double h);
    bool hold_together(int a, int b) const
    {
        return std::ranges::binary_search(held_, std::pair(std::min(a, b), std::max(a, b)));
    }
    /// Adds the points of the joints to those that each body is asked about.
    void add_touches(std::vector<std::vector<Touch>>& touches);
    /// Adds the joints to a problem whose bodies have joined with these touches.
    void add_constraints(ResponseKind kind, ImpulseProblem& problem);
    /// Of the problem that was solved last: joints that were too weak for their impulses are gone afterwards.
    void break_weak(const ImpulseProblem& problem);

    /// Brings the predictions of the points together. Returns the largest distance that is left. [m]
    double meet();
    /// Makes the velocities of the points equal, after the step.
    void settle();

private:
    struct Point {
        BodyPoint a, b;
    };
    struct Joint {
        JointModel model;
        std::vector<Point> points;
    };
    /// A point of a joint in the step at hand.
    struct Active {
        JointId joint;
        int a, b; ///< numbers of bodies
        BodyPoint at_a, at_b;
        double stiffness, damping;
        std::size_t touch_a = 0, touch_b = 0;
        bool hard() const { return stiffness == std::numeric_limits<double>::infinity(); }
    };
    JointId insert(const JointModel& model, Body& a, Body& b);
    Body& body(int number) const { return *bodies_[static_cast<std::size_t>(number)]; }
    /// Over the step, for bodies that nothing moves.
    Vec3 led_velocity(int number, const BodyPoint& point) const;
    template <class Velocity>
    void solve_alone(ResponseKind kind, const Velocity& velocity);

    IdMap<JointTag, Joint> joints_;
    std::span<Body* const> bodies_;
    std::vector<Active> active_;
    std::vector<std::pair<int, int>> held_; ///< bodies that a joint holds together, sorted
    double h_ = 0.0;
    std::size_t first_ = 0; ///< of the joints in the problem

    ImpulseProblem problem_;
    ImpulseSolver solver_;
    std::vector<std::vector<Touch>> touches_;
    std::vector<std::pair<int, int>> movers_;
};

template <class NumberOf>
void JointStage::begin(std::span<Body* const> bodies, const NumberOf& number_of, double h)
{
    bodies_ = bodies;
    h_ = h;
    active_.clear();
    joints_.for_each([&](JointId id, const Joint& joint) {
        for (const Point& point : joint.points)
            active_.push_back({id, number_of(joint.model.a), number_of(joint.model.b), point.a, point.b,
                               joint.model.stiffness, joint.model.damping});
    });
    held_.clear();
    for (const Active& joint : active_)
        held_.emplace_back(std::min(joint.a, joint.b), std::max(joint.a, joint.b));
    std::ranges::sort(held_);
}

} // namespace lithe
