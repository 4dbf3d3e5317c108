#pragma once
#include "lithe/body/joint.hpp"
#include "lithe/world/coupling.hpp"

namespace lithe {

/// Axes in the material of a body, at a joint: three points of it.
struct JointAxes {
    BodyPoint origin, axis, side;
};
/// Of a body, along `axis` and across it, at a distance.
JointAxes attach_axes(Body& body, const Vec3& place, const Vec3& axis, double distance);

/// How two bodies are turned against each other at a joint: by the twist of b about the axis and the swing of its axis, both
/// zero where the axes of both bodies fall together. [rad]
struct JointTurn {
    double twist; ///< in [-pi, pi]
    double swing; ///< in [0, pi]
};
JointTurn joint_turn(const Body& a, const JointAxes& axes_a, const Body& b, const JointAxes& axes_b);

/// The angles of a joint as constraints of a step: limits and a motor. Each is a row of the impulse problem, whose impulse is a
/// torque on b and its opposite on a. A torque is a pair of opposite forces at two points of a body; they turn it alike wherever they
/// act, so every body has a pair of its own.
class JointAngle {
public:
    /// One of the bodies, by its number.
    struct Side {
        int body;
        JointAxes axes;
        bool led; ///< nothing moves it
    };
    JointAngle(const Side& a, const Side& b) : a_{a}, b_{b} {}

    /// Where the sides are now, with how fast those that are led go over a step of h; the rows that matter in it.
    void place(std::span<Body* const> bodies, const JointLimits& limits, const JointMotor& motor, double h);
    void add_touches(Coupling& coupling);
    /// Adds the rows to a problem of implicit response; what they were given in this step before counts.
    void add_limits(Coupling& coupling);
    /// From that problem, once it is solved.
    void take_impulses(const ImpulseProblem& problem);

private:
    enum class Arm { Axis, Side };
    struct Point {
        Vec3 x = Vec3::Zero(), v = Vec3::Zero(); ///< [m], [m/s]
        std::size_t touch = 0;
    };
    struct Placed : Side {
        Point origin = {}, axis = {}, side = {};
        Point& at(Arm arm) { return arm == Arm::Axis ? axis : side; }
        const Point& at(Arm arm) const { return arm == Arm::Axis ? axis : side; }
        Vec3 direction() const { return (axis.x - origin.x).normalized(); }
        /// Of an arm, where it is across n.
        Vec3 across(const Vec3& n, Arm arm) const;
    };
    /// The impulse of `limit` turns b about n, by the arm.
    struct Row {
        Vec3 n;
        Arm arm;
        ImpulseLimit limit; ///< its velocity: what has to be added to that of the row
        double given = 0.0; ///< impulses of this step
    };
    void place(std::span<Body* const> bodies, double h, Placed& side);
    void find_axes();
    void add_bound(const Vec3& n, Arm arm, double gap, double h);
    void add_motor(const JointMotor& motor, const JointLimits& limits, double twist, double h);
    /// At which b turns about n against a now.
    double speed(const Vec3& n, Arm arm) const;

    Placed a_, b_;
    Vec3 twist_axis_ = Vec3::Zero(), swing_axis_ = Vec3::Zero(); ///< zero where there is none
    std::vector<Row> rows_;
    std::size_t first_ = 0; ///< of its rows in the problem
};

} // namespace lithe
