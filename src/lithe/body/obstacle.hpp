#pragma once
#include <cstdint>

#include "lithe/geometry/rigid_shape.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

/// A rigid solid that bodies touch, over one step. Between the ends of the step it moves evenly.
struct Obstacle {
    std::uint64_t key = 0; ///< the same for the same obstacle from step to step: friction remembers by it
    const RigidShape* shape = nullptr;
    RigidPose pose_0, pose_1; ///< at the start and at the end of the step
    double friction = 0.5;    ///< Coulomb's coefficient of its surface, >= 0
};

/// Coulomb's coefficient between two surfaces.
inline double combined_friction(double a, double b)
{
    return std::sqrt(a * b);
}

} // namespace lithe
