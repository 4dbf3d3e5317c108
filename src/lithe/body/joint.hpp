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

/// A joint as it is asked for, in the world as it is now.
struct JointOptions {
    JointKind kind = JointKind::Ball;
    Vec3 place = Vec3::Zero(); ///< [m]
    Vec3 axis = Vec3::UnitX(); ///< of a hinge
    double size = 0.1;         ///< distance of its points, > 0 [m]
    double stiffness =
        std::numeric_limits<double>::infinity(); ///< of a soft joint, per point [N/m]; hard when infinite
    double damping = 0.0;                        ///< of a soft joint, per point [N s/m]
    double strength = std::numeric_limits<double>::infinity(); ///< force at which it breaks [N]
};

} // namespace lithe
