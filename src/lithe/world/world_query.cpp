// The questions that World answers about where bodies are.
#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/geometry/ray.hpp"
#include "lithe/world/world.hpp"

namespace lithe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Where a ray enters a box, 0 inside; infinite when it misses it.
double entry(const Ray& ray, const Box3& box)
{
    const auto [first, last] = clipped(box, ray);
    return first <= last ? first : infinity;
}

/// The distance from a convex solid along a ray is convex, so Newton's method from outside never passes the surface.
std::optional<double> enter_convex(const Obstacle& obstacle, const Ray& ray, double t_max)
{
    constexpr int most_iterations = 60;
    double t = 0.0;
    for (int i = 0; i < most_iterations; ++i) {
        const SignedDistance at = signed_distance(obstacle, StepEnd::Start, ray.at(t));
        if (at.distance <= 1e-12 * (1.0 + t)) return t;
        const double slope = at.normal.dot(ray.direction);
        if (!(slope < 0.0)) return {};
        t -= at.distance / slope;
        if (!(t <= t_max)) return {};
    }
    return t;
}

/// Goes as far as the distance says that nothing is in the way, until it changes its sign.
std::optional<double> march(const Obstacle& obstacle, const Ray& ray, double t_max)
{
    constexpr int most_steps = 10000;
    constexpr double enough = 1e-9, share = 0.9; // distances between the nodes of a field are not exact
    const auto distance = [&](double t) {
        return signed_distance(obstacle, StepEnd::Start, ray.at(t)).distance;
    };
    const bool inside = distance(0.0) < 0.0;
    double t = 0.0, before = 0.0;
    for (int i = 0; i < most_steps && t <= t_max; ++i) {
        const double d = distance(t);
        if ((d < 0.0) != inside) { // halves the last step
            while (t - before > enough) {
                const double middle = 0.5 * (before + t);
                ((distance(middle) < 0.0) == inside ? before : t) = middle;
            }
            return t;
        }
        before = t;
        t += std::max(share * std::abs(d), 1e-5 * (1.0 + t));
    }
    return {};
}

std::optional<double> meet(const Obstacle& obstacle, const Ray& ray, double t_max)
{
    const bool convex = !std::holds_alternative<FieldShape>(*obstacle.shape);
    if (convex && signed_distance(obstacle, StepEnd::Start, ray.origin).distance >= 0.0)
        return enter_convex(obstacle, ray, t_max);
    return march(obstacle, ray, t_max);
}

/// The point of the surface that a body shows which is nearest to a place; of none, triangle -1.
BodyPoint shown_point(const Body& body, const Vec3& place)
{
    Published now;
    body.publish(now);
    const Points x = surface_in_world(body.shown(), now);
    const Triangles& triangles = body.shown().surface.triangles;
    BodyPoint out{.triangle = -1};
    double nearest = infinity;
    for (Index t = 0; t < triangles.cols(); ++t) {
        const ClosestPoint closest = closest_point_on_triangle(
            place, x.col(triangles(0, t)), x.col(triangles(1, t)), x.col(triangles(2, t)));
        if (closest.distance >= nearest) continue;
        nearest = closest.distance;
        out = {static_cast<int>(t), closest.barycentric, BodySurface::Shown};
    }
    return out;
}

BodyPoint collision_point(int triangle, const Vec3& weights)
{
    return {triangle, weights, BodySurface::Collision};
}

} // namespace

/// Of obstacles where they are now; those that deform as surfaces.
World::Solid World::solid_of(Body& body)
{
    Solid out{.obstacle = body.obstacle(t_, 1.0), .surface = nullptr};
    if (!out.obstacle) {
        out.surface = body.sweep();
    } else if (out.obstacle->surface) {
        query_surface_ = make_collision_surface(out.obstacle->surface->surface(StepEnd::Start));
        query_swept_ = SweptSurface(query_surface_);
        out.surface = &query_swept_;
    }
    return out;
}

std::optional<SurfaceHit> World::cast_ray(const Vec3& origin, const Vec3& direction, double max_distance)
{
    if (!origin.allFinite() || !direction.allFinite() || !(direction.norm() > 0.0))
        throw InputError(
            "a ray needs an origin and a direction that are finite, and a direction other than zero");
    const Ray ray{origin, direction.normalized()};
    std::optional<SurfaceHit> best;
    double t_max = max_distance;
    bodies_.for_each([&](BodyId id, const auto& body) {
        const bool is_body = body->collides() != Collides::Nowhere;
        if (is_body && !(entry(ray, body->swept_bounds()) <= t_max)) return;
        const Solid solid = solid_of(*body);
        if (solid.surface) {
            const auto hit = lithe::cast_ray(*solid.surface, ray.origin, ray.direction, t_max);
            if (!hit || (best && hit->t >= t_max)) return;
            t_max = hit->t;
            best = SurfaceHit{id, collision_point(hit->triangle, hit->barycentric), ray.at(hit->t),
                              start_normal(*solid.surface, hit->triangle), hit->t};
        } else if (solid.obstacle) {
            const std::optional<double> t = meet(*solid.obstacle, ray, t_max);
            if (!t || *t > t_max || (best && *t == t_max)) return;
            t_max = *t;
            best = SurfaceHit{
                id, {}, ray.at(*t), signed_distance(*solid.obstacle, StepEnd::Start, ray.at(*t)).normal, *t};
        }
    });
    if (best && bodies_[best->body]->collides() == Collides::Nowhere)
        best->point = shown_point(*bodies_[best->body], best->position);
    return best;
}

std::optional<SurfaceHit> World::closest_point(const Vec3& place, double max_distance)
{
    if (!place.allFinite()) throw InputError("the place to find the nearest surface of is not finite");
    std::optional<SurfaceHit> best;
    double nearest = max_distance;
    bodies_.for_each([&](BodyId id, const auto& body) {
        const bool is_body = body->collides() != Collides::Nowhere;
        if (is_body && !(body->swept_bounds().exteriorDistance(place) <= nearest)) return;
        const Solid solid = solid_of(*body);
        if (solid.surface) {
            const auto closest = lithe::closest_point(*solid.surface, place, nearest);
            if (!closest || (best && closest->distance >= nearest)) return;
            const bool within = solid.surface->surface().closed && inside(*solid.surface, place, *closest);
            nearest = closest->distance;
            best = SurfaceHit{id, collision_point(closest->triangle, closest->barycentric), closest->point,
                              start_normal(*solid.surface, closest->triangle),
                              within ? -closest->distance : closest->distance};
        } else if (solid.obstacle) {
            const SignedDistance at = signed_distance(*solid.obstacle, StepEnd::Start, place);
            if (std::abs(at.distance) > nearest || (best && std::abs(at.distance) == nearest)) return;
            nearest = std::abs(at.distance);
            best = SurfaceHit{id, {}, place - at.distance * at.normal, at.normal, at.distance};
        }
    });
    if (best && bodies_[best->body]->collides() == Collides::Nowhere)
        best->point = shown_point(*bodies_[best->body], best->position);
    return best;
}

} // namespace lithe
