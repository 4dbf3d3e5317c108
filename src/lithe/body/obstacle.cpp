#include "lithe/body/obstacle.hpp"

namespace lithe {

SignedDistance signed_distance(const Obstacle& obstacle, StepEnd end, const Vec3& x)
{
    const RigidPose& pose = obstacle.pose(end);
    const Vec3 p = pose.apply_inverse(x);
    const SignedDistance found =
        obstacle.surface ? obstacle.surface->signed_distance(end, p) : signed_distance(*obstacle.shape, p);
    return {found.distance, pose.rotation * found.normal};
}

bool may_touch(const Obstacle& obstacle, StepEnd end, const Vec3& x, double radius)
{
    const Vec3 p = obstacle.pose(end).apply_inverse(x);
    return obstacle.surface ? obstacle.surface->may_touch(end, p, radius)
                            : may_touch(*obstacle.shape, p, radius);
}

Vec3 material_at(const Obstacle& obstacle, StepEnd end, const Vec3& x)
{
    const Vec3 p = obstacle.pose(end).apply_inverse(x);
    return obstacle.surface ? obstacle.surface->material_at(end, p) : p;
}

Vec3 place_of(const Obstacle& obstacle, StepEnd end, const Vec3& material)
{
    return obstacle.pose(end).apply(obstacle.surface ? obstacle.surface->place_of(end, material) : material);
}

Vec3 carried_normal(const Obstacle& obstacle, const Vec3& x, const Vec3& normal)
{
    if (!obstacle.surface) return obstacle.pose_1.rotation * (obstacle.pose_0.rotation.conjugate() * normal);
    return obstacle.pose_1.rotation *
           obstacle.surface->normal_of(StepEnd::End, material_at(obstacle, StepEnd::Start, x));
}

} // namespace lithe
