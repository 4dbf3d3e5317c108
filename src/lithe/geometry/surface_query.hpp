#pragma once
#include <limits>
#include <memory>
#include <optional>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct ClosestPoint {
    Vec3 point;
    double distance;  ///< [m], >= 0
    int triangle;     ///< of equally near triangles, the first
    Vec3 barycentric; ///< of `point` in the triangle: each in [0, 1], sum 1
};

struct RayHit {
    double t;         ///< the hit is origin + t direction, t >= 0
    int triangle;     ///< of triangles hit at the same t, the first
    Vec3 barycentric; ///< of the hit in the triangle
};

/// The point of triangle abc nearest to p; `triangle` is left 0. Triangles without area are segments or points.
ClosestPoint closest_point_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

/// Distances, rays and inside tests against one surface that does not move.
///
/// Embree finds candidates in single precision, in boxes made wide enough that none is missed; the answers are
/// computed in double precision from the mesh's own coordinates. Every const method may be called from any number
/// of threads, allocates nothing, and gives the same bits whatever their number.
///
/// The surface may be open, inverted in places, or cross itself: distances do not care, and `inside` goes by the
/// generalized winding number, which is 1 inside and 0 outside a closed surface and changes smoothly near holes.
class SurfaceQuery {
public:
    /// Throws InputError for a mesh without triangles, with an index out of range or with a coordinate that is
    /// not finite.
    explicit SurfaceQuery(TriangleMesh mesh);
    ~SurfaceQuery();
    SurfaceQuery(SurfaceQuery&&) noexcept;
    SurfaceQuery& operator=(SurfaceQuery&&) noexcept;

    ClosestPoint closest_point(const Vec3& p) const;
    /// Nothing when the surface is farther than `max_distance`; the nearer the limit, the faster.
    std::optional<ClosestPoint> closest_point(const Vec3& p, double max_distance) const;

    /// The first hit at 0 <= t <= t_max, from either side. `direction` need not have unit length. Rays through an
    /// edge or a vertex that triangles share never slip between them.
    std::optional<RayHit> cast_ray(const Vec3& origin, const Vec3& direction,
                                   double t_max = std::numeric_limits<double>::infinity()) const;

    /// How often the surface winds around p, within about 1e-3 (exact near the surface).  [BDS18]
    double winding_number(const Vec3& p) const;
    /// Winding number above 1/2: right for closed surfaces, sensible for those with holes, flipped faces,
    /// overlapping shells and self-intersections.
    bool inside(const Vec3& p) const;
    /// Distance to the surface, negative inside. [m]
    double signed_distance(const Vec3& p) const;

    const TriangleMesh& mesh() const;

private:
    struct Impl; ///< hides Embree
    std::unique_ptr<Impl> impl_;
};

/// signed_distance of every column, on all threads.
VecX signed_distances(const SurfaceQuery& query, const Points& points);

} // namespace lithe
