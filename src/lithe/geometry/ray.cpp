#include "lithe/geometry/ray.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {

std::pair<double, double> clipped(const Box3& box, const Ray& ray, double t_max)
{
    const auto& [origin, direction] = ray;
    double enter = 0.0, leave = t_max;
    for (int axis = 0; axis < 3; ++axis) {
        if (direction[axis] == 0.0) {
            if (origin[axis] < box.min()[axis] || origin[axis] > box.max()[axis]) return {1.0, 0.0};
            continue;
        }
        const double t_0 = (box.min()[axis] - origin[axis]) / direction[axis];
        const double t_1 = (box.max()[axis] - origin[axis]) / direction[axis];
        enter = std::max(enter, std::min(t_0, t_1));
        leave = std::min(leave, std::max(t_0, t_1));
    }
    return {enter, leave};
}

std::optional<RayHit> hit_triangle(const Ray& ray, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const auto& [origin, direction] = ray;
    constexpr double slack = 1e-10;
    const Vec3 u = b - a, v = c - a, across = direction.cross(v);
    const double volume = u.dot(across);
    if (!(std::abs(volume) > 1e-14 * u.norm() * v.norm() * direction.norm())) return {};
    const Vec3 w = origin - a, turned = w.cross(u);
    const double beta = w.dot(across) / volume, gamma = direction.dot(turned) / volume;
    if (beta < -slack || gamma < -slack || beta + gamma > 1.0 + slack) return {};
    return RayHit{v.dot(turned) / volume, 0, Vec3(1.0 - beta - gamma, beta, gamma)};
}

} // namespace lithe
