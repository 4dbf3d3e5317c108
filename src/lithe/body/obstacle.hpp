#pragma once
#include <cmath>
#include <cstdint>

#include "lithe/geometry/moving_surface.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

/// A solid that bodies touch and that goes its own way, over one step: a rigid shape, or a surface that deforms; one of
/// the two. Both lie in a frame that moves.
struct Obstacle {
    std::uint64_t key = 0; ///< the same for the same obstacle from step to step: friction remembers by it
    int body = -1;         ///< its number among the bodies of the step
    const RigidShape* shape = nullptr;
    const MovingSurface* surface = nullptr;
    RigidPose pose_0, pose_1; ///< of its frame, at the start and at the end of the step
    double friction = 0.5;    ///< Coulomb's coefficient of its surface, >= 0

    const RigidPose& pose(StepEnd end) const { return end == StepEnd::Start ? pose_0 : pose_1; }
};

// Points x and normals are in the world.

/// Of a point from the obstacle. The distance of points far outside of a surface is a lower bound.
SignedDistance signed_distance(const Obstacle& obstacle, StepEnd end, const Vec3& x);
/// False only when a ball about x is clear of it.
bool may_touch(const Obstacle& obstacle, StepEnd end, const Vec3& x, double radius);
/// The obstacle's material at x: what does not change while x moves along with the obstacle.
Vec3 material_at(const Obstacle& obstacle, StepEnd end, const Vec3& x);
/// Where that material is.
Vec3 place_of(const Obstacle& obstacle, StepEnd end, const Vec3& material);
/// A normal of the start of the step at x, carried to its end.
Vec3 carried_normal(const Obstacle& obstacle, const Vec3& x, const Vec3& normal);

/// Coulomb's coefficient between two surfaces.
inline double combined_friction(double a, double b)
{
    return std::sqrt(a * b);
}

} // namespace lithe
