#pragma once
#include <limits>

#include "lithe/math/types.hpp"

namespace lithe {

/// How two bodies are held together.
enum class JointKind {
    Ball,  ///< at a point: they turn freely about it
    Hinge, ///< at two points of an axis: they turn about it
    Weld   ///< at three points: they move as one
};

/// How far b may turn against a, from where the joint was made. [rad]
struct JointLimits {
    double lower =
        -std::numeric_limits<double>::infinity(); ///< about the axis: of a hinge, or twist of a ball
    double upper =
        std::numeric_limits<double>::infinity(); ///< infinite without a limit, else both in [-pi, pi]
    double cone = std::numeric_limits<double>::infinity(); ///< of a ball: between the axes, in (0, pi]
};

enum class MotorGoal { None, Speed, Angle };

/// What turns b against a about the axis of a hinge.
struct JointMotor {
    MotorGoal goal = MotorGoal::None;
    double target = 0.0;                                     ///< [rad/s] or [rad], of an angle in [-pi, pi]
    double stiffness = 0.0;                                  ///< towards an angle, > 0 there [N m/rad]
    double damping = 0.0;                                    ///< on the way to an angle [N m s/rad]
    double torque = std::numeric_limits<double>::infinity(); ///< the largest, > 0 [N m]
};

/// A joint as it is asked for, in the world as it is now.
struct JointOptions {
    JointKind kind = JointKind::Ball;
    Vec3 place = Vec3::Zero(); ///< [m]
    Vec3 axis = Vec3::UnitX(); ///< of a hinge; of a ball with limits
    double size = 0.1;         ///< distance of its points, > 0 [m]
    double stiffness =
        std::numeric_limits<double>::infinity(); ///< of a soft joint, per point [N/m]; hard when infinite
    double damping = 0.0;                        ///< of a soft joint, per point [N s/m]
    double strength = std::numeric_limits<double>::infinity(); ///< force at which it breaks [N]
    JointLimits limits = {};
    JointMotor motor = {};
};

} // namespace lithe
