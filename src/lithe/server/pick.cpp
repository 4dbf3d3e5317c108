#include "lithe/server/pick.hpp"

namespace lithe {

std::optional<double> first_crossing(const Ray& ray, const Points& x, const Triangles& triangles)
{
    std::optional<double> nearest;
    for (Index f = 0; f < triangles.cols(); ++f) {
        const std::optional<RayHit> hit =
            hit_triangle(ray, x.col(triangles(0, f)), x.col(triangles(1, f)), x.col(triangles(2, f)));
        if (hit && hit->t > 0.0 && (!nearest || hit->t < *nearest)) nearest = hit->t;
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
        found = {id, ray.at(*s)};
    }
    if (found && world.body(found->body).freedoms() == 0 && !world.body(found->body).asleep()) found.reset();
    return found;
}

} // namespace lithe
