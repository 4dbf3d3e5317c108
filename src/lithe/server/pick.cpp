#include "lithe/server/pick.hpp"

#include <cmath>

namespace lithe {

std::optional<double> first_crossing(const Ray& ray, const Points& x, const Triangles& triangles)
{
    std::optional<double> nearest;
    for (Index f = 0; f < triangles.cols(); ++f) {
        // origin + s direction = a + u e1 + v e2, by Cramer's rule
        const Vec3 a = x.col(triangles(0, f));
        const Vec3 e1 = x.col(triangles(1, f)) - a, e2 = x.col(triangles(2, f)) - a;
        const Vec3 p = ray.direction.cross(e2);
        const double det = e1.dot(p);
        if (det == 0.0) continue;
        const Vec3 from_a = ray.origin - a;
        const double u = from_a.dot(p) / det;
        const Vec3 r = from_a.cross(e1);
        const double v = ray.direction.dot(r) / det;
        const double s = e2.dot(r) / det;
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && s > 0.0 && (!nearest || s < *nearest)) nearest = s;
    }
    return nearest;
}

std::optional<Picked> pick(const World& world, const Ray& ray)
{
    std::optional<Picked> found;
    double nearest = 0.0;
    for (const BodyId id : world.bodies()) {
        const Body& body = world.body(id);
        if (body.shown().surface.triangle_count() == 0) continue;
        Published now;
        body.publish(now);
        const auto s =
            first_crossing(ray, surface_in_world(body.shown(), now), body.shown().surface.triangles);
        if (!s || (found && *s >= nearest)) continue;
        nearest = *s;
        found = {id, ray.origin + *s * ray.direction};
    }
    if (found && world.body(found->body).freedoms() == 0 && !world.body(found->body).asleep()) found.reset();
    return found;
}

} // namespace lithe
