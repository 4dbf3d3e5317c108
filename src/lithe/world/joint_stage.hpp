#pragma once
#include <algorithm>

#include "lithe/body/joint.hpp"
#include "lithe/world/coupling.hpp"

namespace lithe {

using JointId = Id<struct JointTag>;

/// Joints of a world, as constraints of its steps. Points of two bodies are led to meet at the end of the step, by the same
/// impulses that keep bodies from passing through each other; Newton's method on where the bodies really end takes what straight
/// ways leave (pre-stabilisation), and after the step their velocities are made equal (post-stabilisation).
class JointStage {
public:
    /// A body by its id.
    struct End {
        BodyId id;
        Body& body;
    };
    /// Throws InputError for numbers that are not possible and for bodies that no joint can hold.
    JointId add(const End& a, const End& b, const JointOptions& options);
    void remove(JointId id) { joints_.erase(id); }
    bool contains(JointId id) const { return joints_.contains(id); } ///< false once it has broken
    /// Those of a body that goes.
    void remove_body(BodyId id);
    bool empty() const { return joints_.size() == 0; }
    /// Which of them still hold. `restore` removes those that did not; throws InputError for one that is not here.
    void save(StateWriter& out) const;
    void restore(StateReader& in);

    /// The step at hand: body `id` is bodies[number_of[id.index]].
    void begin(std::span<Body* const> bodies, std::span<const int> number_of, double h);
    bool hold_together(int a, int b) const
    {
        return std::ranges::binary_search(held_, std::pair(std::min(a, b), std::max(a, b)));
    }
    /// Adds the points of the joints.
    void add_touches(Coupling& coupling);
    /// Adds the joints to a problem that the bodies have joined.
    void add_constraints(ResponseKind kind, Coupling& coupling);
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
        BodyId a, b;
        JointOptions options;
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

    Coupling alone_; ///< of joints without contacts
};

} // namespace lithe
