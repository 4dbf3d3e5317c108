#include "lithe/geometry/surface_query.hpp"

#include <embree3/rtcore.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/winding_number.hpp"

namespace lithe {
namespace {

/// Embree sees coordinates scaled to [-1, 1] and rounded to float (6e-8). Boxes are widened by this much, so that
/// no triangle is missed through the rounding of boxes, points, origins or directions.
constexpr double slack = 2e-6;
/// Points farther from the centre than this many sizes are too coarse as floats to tell triangles apart.
constexpr double far_away = 1e4;

struct Corners {
    Vec3 a, b, c;
};

struct Segment {
    double s; ///< the nearest point is a + s (b - a), s in [0, 1]
    double distance2;
};

Segment closest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b)
{
    const Vec3 ab = b - a;
    const double length2 = ab.squaredNorm();
    const double s = length2 > 0.0 ? std::clamp((p - a).dot(ab) / length2, 0.0, 1.0) : 0.0;
    return {s, (p - (a + s * ab)).squaredNorm()};
}

/// A point of a triangle by its barycentric coordinates, a = 1 - v - w.
struct TrianglePoint {
    double v, w;
    double distance2;
};

TrianglePoint closest_on_edges(const Vec3& p, const Corners& t)
{
    const Segment ab = closest_on_segment(p, t.a, t.b), bc = closest_on_segment(p, t.b, t.c),
                  ca = closest_on_segment(p, t.c, t.a);
    if (ab.distance2 <= bc.distance2 && ab.distance2 <= ca.distance2) return {ab.s, 0.0, ab.distance2};
    if (bc.distance2 <= ca.distance2) return {1.0 - bc.s, bc.s, bc.distance2};
    return {0.0, 1.0 - ca.s, ca.distance2};
}

/// By the Voronoi regions of the triangle's features.  [Eri05]
/// Differs: where the triangle is so thin that the region test drowns in rounding, its edges are looked at too.
TrianglePoint closest_on_triangle(const Vec3& p, const Corners& t)
{
    const Vec3 ab = t.b - t.a, ac = t.c - t.a, ap = p - t.a;
    const auto at = [&](double v, double w) {
        return TrianglePoint{v, w, (ap - v * ab - w * ac).squaredNorm()};
    };
    const double d1 = ab.dot(ap), d2 = ac.dot(ap);
    if (d1 <= 0.0 && d2 <= 0.0) return at(0.0, 0.0);
    const Vec3 bp = p - t.b;
    const double d3 = ab.dot(bp), d4 = ac.dot(bp);
    if (d3 >= 0.0 && d4 <= d3) return at(1.0, 0.0);
    const Vec3 cp = p - t.c;
    const double d5 = ab.dot(cp), d6 = ac.dot(cp);
    if (d6 >= 0.0 && d5 <= d6) return at(0.0, 1.0);

    const double area2 = ab.cross(ac).squaredNorm(), longest2 = std::max(ab.squaredNorm(), ac.squaredNorm());
    const bool thin = area2 <= 1e-8 * longest2 * longest2; // height below 1e-4 of the length
    if (thin && area2 <= 1e-20 * longest2 * longest2) return closest_on_edges(p, t);

    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    TrianglePoint best;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0)
        best = at(d1 / (d1 - d3), 0.0);
    else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0)
        best = at(0.0, d2 / (d2 - d6));
    else if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        const double s = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        best = at(1.0 - s, s);
    } else {
        const double sum = va + vb + vc;
        best = at(std::max(vb, 0.0) / sum, std::max(vc, 0.0) / sum);
    }
    if (!thin && std::isfinite(best.distance2)) return best;
    const TrianglePoint edge = closest_on_edges(p, t);
    return best.distance2 < edge.distance2 ? best : edge;
}

/// The nearest triangle so far. Ties go to the first triangle, so that the order of the visits does not matter.
struct Nearest {
    double distance2;
    int triangle = -1;
    TrianglePoint at = {};

    bool offer(int t, const TrianglePoint& candidate)
    {
        const double d2 = candidate.distance2;
        if (d2 > distance2 || (d2 == distance2 && triangle >= 0 && t > triangle)) return false;
        distance2 = d2;
        triangle = t;
        at = candidate;
        return true;
    }
};

/// A ray sheared so that it runs along z: two triangles that share an edge compute the same numbers for it.  [WBW13]
struct ShearedRay {
    Vec3 origin;
    int kx, ky, kz;
    double sx, sy, sz;

    ShearedRay(const Vec3& o, const Vec3& d) : origin(o)
    {
        d.cwiseAbs().maxCoeff(&kz);
        kx = (kz + 1) % 3;
        ky = (kx + 1) % 3;
        sx = d[kx] / d[kz];
        sy = d[ky] / d[kz];
        sz = 1.0 / d[kz];
    }
    Vec3 shear(const Vec3& p) const
    {
        const Vec3 r = p - origin;
        return {r[kx] - sx * r[kz], r[ky] - sy * r[kz], sz * r[kz]};
    }
    /// t and barycentric coordinates, or t = NaN for a miss. A ray inside the plane of the triangle misses it.
    RayHit meet(const Corners& t) const
    {
        const Vec3 a = shear(t.a), b = shear(t.b), c = shear(t.c);
        const double u = c[0] * b[1] - c[1] * b[0], v = a[0] * c[1] - a[1] * c[0],
                     w = b[0] * a[1] - b[1] * a[0];
        const double sum = u + v + w;
        const bool mixed = (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0);
        if (mixed || sum == 0.0) return {std::nan(""), 0, Vec3::Zero()};
        const Vec3 barycentric = Vec3(u, v, w) / sum;
        return {barycentric[0] * a[2] + barycentric[1] * b[2] + barycentric[2] * c[2], 0, barycentric};
    }
};

const TriangleMesh& checked(const TriangleMesh& mesh)
{
    if (mesh.triangle_count() == 0) throw InputError("the surface has no triangles");
    if (!mesh.vertices.allFinite()) throw InputError("the surface has a coordinate that is not finite");
    if (mesh.triangles.minCoeff() < 0 || mesh.triangles.maxCoeff() >= mesh.vertex_count())
        throw InputError(fmt::format("the surface has a triangle with a corner outside its {} vertices",
                                     mesh.vertex_count()));
    return mesh;
}

void require_finite(const char* name, const Vec3& p)
{
    if (!p.allFinite())
        throw InputError(fmt::format("{} = ({}, {}, {}) must be finite", name, p[0], p[1], p[2]));
}

} // namespace

ClosestPoint closest_point_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const TrianglePoint at = closest_on_triangle(p, {a, b, c});
    return {a + at.v * (b - a) + at.w * (c - a), std::sqrt(at.distance2), 0,
            Vec3(1.0 - at.v - at.w, at.v, at.w)};
}

struct SurfaceQuery::Impl {
    TriangleMesh mesh;
    WindingNumber winding;
    std::vector<Corners> corners; ///< a cache line or two per triangle, in the mesh's own coordinates
    Vec3 center;
    double scale; ///< [1/m]: (x - center) * scale lies in [-1, 1]
    RTCDevice device = nullptr;
    RTCScene scene = nullptr;

    explicit Impl(TriangleMesh surface) : mesh(std::move(surface)), winding(checked(mesh))
    {
        const Box3 box = bounds(mesh.vertices);
        const double size = 0.5 * box.sizes().maxCoeff();
        center = box.center();
        scale = size > 0.0 ? 1.0 / size : 1.0;
        corners.resize(static_cast<std::size_t>(mesh.triangle_count()));
        for (Index t = 0; t < mesh.triangle_count(); ++t) {
            const auto v = mesh.triangles.col(t);
            corners[t] = {mesh.vertices.col(v[0]), mesh.vertices.col(v[1]), mesh.vertices.col(v[2])};
        }
        build_scene();
    }
    ~Impl() { release(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void release()
    {
        if (scene) rtcReleaseScene(scene);
        if (device) rtcReleaseDevice(device);
    }

    /// Triangles enter as user geometry: Embree sorts their boxes, we do the arithmetic.
    void build_scene()
    {
        device = rtcNewDevice("ignore_config_files=1");
        LITHE_ASSERT(device != nullptr);
        scene = rtcNewScene(device);
        rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
        rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_MEDIUM);
        RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
        rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(corners.size()));
        rtcSetGeometryUserData(geometry, this);
        rtcSetGeometryBoundsFunction(geometry, &Impl::bound, nullptr);
        rtcSetGeometryIntersectFunction(geometry, &Impl::intersect);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene, geometry);
        rtcReleaseGeometry(geometry);
        rtcCommitScene(scene);
        if (rtcGetDeviceError(device) == RTC_ERROR_NONE) return;
        release();
        throw std::bad_alloc(); // the one way in which a scene of our making fails
    }

    Vec3 normalised(const Vec3& p) const { return (p - center) * scale; }

    static void bound(const RTCBoundsFunctionArguments* args)
    {
        const Impl& self = *static_cast<const Impl*>(args->geometryUserPtr);
        const Corners& t = self.corners[args->primID];
        const Vec3 lo = self.normalised(t.a.cwiseMin(t.b).cwiseMin(t.c)) - Vec3::Constant(slack);
        const Vec3 hi = self.normalised(t.a.cwiseMax(t.b).cwiseMax(t.c)) + Vec3::Constant(slack);
        RTCBounds& box = *args->bounds_o;
        box.lower_x = static_cast<float>(lo[0]);
        box.lower_y = static_cast<float>(lo[1]);
        box.lower_z = static_cast<float>(lo[2]);
        box.upper_x = static_cast<float>(hi[0]);
        box.upper_y = static_cast<float>(hi[1]);
        box.upper_z = static_cast<float>(hi[2]);
    }

    // --- closest point ---

    struct PointVisit {
        const Impl* self;
        Vec3 p;
        double margin; ///< what the rounding of p can hide, scaled
        Nearest nearest;
    };

    static float widened(double radius, double margin)
    {
        return static_cast<float>(radius * (1.0 + 1e-6) + margin);
    }

    static bool visit(RTCPointQueryFunctionArguments* args)
    {
        PointVisit& visit = *static_cast<PointVisit*>(args->userPtr);
        const int t = static_cast<int>(args->primID);
        if (!visit.nearest.offer(t, closest_on_triangle(visit.p, visit.self->corners[args->primID])))
            return false;
        args->query->radius = widened(std::sqrt(visit.nearest.distance2) * visit.self->scale, visit.margin);
        return true;
    }

    /// The nearest triangle within `radius` (which may be infinite); -1 when there is none.
    Nearest nearest(const Vec3& p, double radius) const
    {
        const Vec3 q = normalised(p);
        const double reach = q.cwiseAbs().maxCoeff();
        if (!(reach < far_away)) return nearest_of_all(p, radius);
        PointVisit visitor{this, p, 1e-6 * (1.0 + reach), {radius * radius}};
        RTCPointQuery query;
        query.x = static_cast<float>(q[0]);
        query.y = static_cast<float>(q[1]);
        query.z = static_cast<float>(q[2]);
        query.time = 0.0f;
        query.radius = widened(radius * scale, visitor.margin);
        RTCPointQueryContext context;
        rtcInitPointQueryContext(&context);
        rtcPointQuery(scene, &query, &context, &Impl::visit, &visitor);
        return visitor.nearest;
    }

    Nearest nearest_of_all(const Vec3& p, double radius) const
    {
        Nearest nearest{radius * radius};
        for (std::size_t t = 0; t < corners.size(); ++t)
            nearest.offer(static_cast<int>(t), closest_on_triangle(p, corners[t]));
        return nearest;
    }

    ClosestPoint describe(const Nearest& nearest) const
    {
        const Corners& t = corners[nearest.triangle];
        const auto [v, w, d2] = nearest.at;
        return {t.a + v * (t.b - t.a) + w * (t.c - t.a), std::sqrt(d2), nearest.triangle,
                Vec3(1.0 - v - w, v, w)};
    }

    // --- rays ---

    struct RayVisit {
        RTCIntersectContext context; ///< first, so that Embree's pointer to it is a pointer to this
        const Impl* self;
        ShearedRay ray;
        RayHit best;
        double t_start; ///< where Embree's ray begins
        double per_t;   ///< length of one t, scaled
    };

    static void intersect(const RTCIntersectFunctionNArguments* args)
    {
        if (args->valid[0] == 0) return;
        RayVisit& visit = *reinterpret_cast<RayVisit*>(args->context);
        const int triangle = static_cast<int>(args->primID);
        RayHit hit = visit.ray.meet(visit.self->corners[args->primID]);
        const bool nearer =
            hit.t < visit.best.t ||
            (hit.t == visit.best.t && (visit.best.triangle < 0 || triangle < visit.best.triangle));
        if (!(hit.t >= 0.0) || !nearer) return;
        hit.triangle = triangle;
        visit.best = hit;
        RTCRayHit& out = *reinterpret_cast<RTCRayHit*>(args->rayhit);
        out.ray.tfar = std::min(out.ray.tfar, widened((hit.t - visit.t_start) * visit.per_t, slack));
        out.hit.geomID = args->geomID;
        out.hit.primID = args->primID;
    }

    std::optional<RayHit> cast(const Vec3& origin, const Vec3& direction, double t_max) const
    {
        // the part of the ray inside the box, so that Embree's floats stay near 1
        const double per_t = direction.norm() * scale;
        const Vec3 o = normalised(origin), d = direction * scale;
        double t0 = 0.0, t1 = t_max;
        for (int k = 0; k < 3; ++k) {
            const double wall = 1.0 + 4.0 * slack;
            if (d[k] == 0.0) {
                if (std::abs(o[k]) > wall) return std::nullopt;
                continue;
            }
            const double a = (-wall - o[k]) / d[k], b = (wall - o[k]) / d[k];
            t0 = std::max(t0, std::min(a, b));
            t1 = std::min(t1, std::max(a, b));
        }
        if (!(t0 <= t1 + slack / per_t)) return std::nullopt;

        RayVisit visitor{{}, this, ShearedRay(origin, direction), {t_max, -1, Vec3::Zero()}, t0, per_t};
        rtcInitIntersectContext(&visitor.context);
        const Vec3 start = o + t0 * d, along = direction.normalized();
        RTCRayHit ray = {};
        ray.ray.org_x = static_cast<float>(start[0]);
        ray.ray.org_y = static_cast<float>(start[1]);
        ray.ray.org_z = static_cast<float>(start[2]);
        ray.ray.dir_x = static_cast<float>(along[0]);
        ray.ray.dir_y = static_cast<float>(along[1]);
        ray.ray.dir_z = static_cast<float>(along[2]);
        ray.ray.tfar = widened((t1 - t0) * per_t, 2.0 * slack);
        ray.ray.mask = ~0u;
        ray.hit.geomID = ray.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        rtcIntersect1(scene, &visitor.context, &ray);
        if (visitor.best.triangle < 0) return std::nullopt;
        return visitor.best;
    }
};

SurfaceQuery::SurfaceQuery(TriangleMesh mesh) : impl_(std::make_unique<Impl>(std::move(mesh))) {}
SurfaceQuery::~SurfaceQuery() = default;
SurfaceQuery::SurfaceQuery(SurfaceQuery&&) noexcept = default;
SurfaceQuery& SurfaceQuery::operator=(SurfaceQuery&&) noexcept = default;

const TriangleMesh& SurfaceQuery::mesh() const
{
    return impl_->mesh;
}

ClosestPoint SurfaceQuery::closest_point(const Vec3& p) const
{
    require_finite("point", p);
    return impl_->describe(impl_->nearest(p, std::numeric_limits<double>::infinity()));
}

std::optional<ClosestPoint> SurfaceQuery::closest_point(const Vec3& p, double max_distance) const
{
    require_finite("point", p);
    if (!(max_distance >= 0.0))
        throw InputError(fmt::format("max_distance = {} must not be negative", max_distance));
    const Nearest nearest = impl_->nearest(p, max_distance);
    if (nearest.triangle < 0) return std::nullopt;
    return impl_->describe(nearest);
}

std::optional<RayHit> SurfaceQuery::cast_ray(const Vec3& origin, const Vec3& direction, double t_max) const
{
    require_finite("origin", origin);
    require_finite("direction", direction);
    if (direction.isZero(0.0)) throw InputError("direction = (0, 0, 0) points nowhere");
    if (!(t_max >= 0.0)) throw InputError(fmt::format("t_max = {} must not be negative", t_max));
    return impl_->cast(origin, direction, t_max);
}

double SurfaceQuery::winding_number(const Vec3& p) const
{
    require_finite("point", p);
    return impl_->winding(p);
}

bool SurfaceQuery::inside(const Vec3& p) const
{
    return winding_number(p) > 0.5;
}

double SurfaceQuery::signed_distance(const Vec3& p) const
{
    const double distance = closest_point(p).distance;
    return inside(p) ? -distance : distance;
}

VecX signed_distances(const SurfaceQuery& query, const Points& points)
{
    VecX distances(points.cols());
    parallel_blocks(points.cols(), 256, [&](Index begin, Index end) {
        double limit = std::numeric_limits<double>::infinity();
        for (Index i = begin; i < end; ++i) {
            const Vec3 p = points.col(i);
            // neighbours in the array are often neighbours in space: |d(p) - d(p')| <= |p - p'| narrows the search
            if (i > begin) {
                const double step = (p - points.col(i - 1)).norm(), last = std::abs(distances[i - 1]);
                limit = (last + step) * (1.0 + 1e-12) + std::numeric_limits<double>::min();
            }
            const std::optional<ClosestPoint> found = query.closest_point(p, limit);
            const double distance = (found ? *found : query.closest_point(p)).distance;
            distances[i] = query.inside(p) ? -distance : distance;
        }
    });
    return distances;
}

} // namespace lithe
