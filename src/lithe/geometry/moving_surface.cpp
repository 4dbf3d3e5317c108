#include "lithe/geometry/moving_surface.hpp"

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

Vec3 corner(const TriangleMesh& mesh, int triangle, int k)
{
    return mesh.vertices.col(mesh.triangles(k, triangle));
}

/// The point of a triangle by its barycentric weights.
Vec3 point_in(const TriangleMesh& mesh, const ClosestPoint& at)
{
    Vec3 out = Vec3::Zero();
    for (int k = 0; k < 3; ++k) out += at.barycentric[k] * corner(mesh, at.triangle, k);
    return out;
}

Vec3 triangle_normal(const TriangleMesh& mesh, int t)
{
    const Vec3 a = corner(mesh, t, 0);
    const Vec3 n = (corner(mesh, t, 1) - a).cross(corner(mesh, t, 2) - a);
    const double length = n.norm();
    return length > 0.0 ? Vec3(n / length) : Vec3::UnitY();
}

} // namespace

MovingSurface::MovingSurface(const TriangleMesh& rest)
    : rest_(rest), queries_{Posed{SurfaceQuery(rest), bounds(rest.vertices)},
                            Posed{SurfaceQuery(rest), bounds(rest.vertices)}}
{
}

void MovingSurface::place(StepEnd end, const Points& vertices)
{
    LITHE_ASSERT(vertices.cols() == rest_.mesh().vertex_count());
    Posed& posed = queries_[end == StepEnd::Start ? 0 : 1];
    posed.query = SurfaceQuery({.vertices = vertices, .triangles = rest_.mesh().triangles, .fields = {}});
    posed.box = bounds(vertices);
}

SignedDistance MovingSurface::signed_distance(StepEnd end, const Vec3& p) const
{
    const Posed& at = posed(end);
    if (!at.box.contains(p)) {
        const Vec3 out = p - p.cwiseMax(at.box.min()).cwiseMin(at.box.max());
        return {out.norm(), out.normalized()};
    }
    const double side = at.query.inside(p) ? -1.0 : 1.0;
    const ClosestPoint closest = at.query.closest_point(p);
    // On the surface itself the way to it has no direction.
    if (closest.distance < 1e-12 * at.box.diagonal().norm())
        return {side * closest.distance, triangle_normal(at.query.mesh(), closest.triangle)};
    return {side * closest.distance, side * (p - closest.point) / closest.distance};
}

bool MovingSurface::may_touch(StepEnd end, const Vec3& p, double radius) const
{
    const Posed& at = posed(end);
    if (!(at.box.exteriorDistance(p) <= radius)) return false;
    return at.query.closest_point(p, radius).has_value() || at.query.inside(p);
}

Vec3 MovingSurface::material_at(StepEnd end, const Vec3& p) const
{
    return point_in(rest_.mesh(), posed(end).query.closest_point(p));
}

Vec3 MovingSurface::place_of(StepEnd end, const Vec3& X) const
{
    return point_in(surface(end), rest_.closest_point(X));
}

Vec3 MovingSurface::normal_of(StepEnd end, const Vec3& X) const
{
    return triangle_normal(surface(end), rest_.closest_point(X).triangle);
}

} // namespace lithe
