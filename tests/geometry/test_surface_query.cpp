#include "lithe/geometry/surface_query.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/winding_number.hpp"
#include "support/surfaces.hpp"

using namespace lithe;
using test::corner;

namespace {

/// The distance by brute force, from a method that shares nothing with ours: the foot of the perpendicular when it
/// lies inside, else the nearest of three segments.
double plain_distance(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const auto to_segment = [&](const Vec3& u, const Vec3& v) {
        const double l2 = (v - u).squaredNorm();
        const double s = l2 > 0.0 ? std::clamp((p - u).dot(v - u) / l2, 0.0, 1.0) : 0.0;
        return (p - u - s * (v - u)).norm();
    };
    const double edges = std::min({to_segment(a, b), to_segment(b, c), to_segment(c, a)});
    const Vec3 n = (b - a).cross(c - a);
    if (n.norm() == 0.0) return edges;
    const bool above = n.dot((b - a).cross(p - a)) >= 0.0 && n.dot((c - b).cross(p - b)) >= 0.0 &&
                       n.dot((a - c).cross(p - c)) >= 0.0;
    return above ? std::min(edges, std::abs(n.dot(p - a)) / n.norm()) : edges;
}

double brute_distance(const TriangleMesh& mesh, const Vec3& p)
{
    double best = INFINITY;
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        best = std::min(best, plain_distance(p, corner(mesh, t, 0), corner(mesh, t, 1), corner(mesh, t, 2)));
    return best;
}

double exact_winding(const TriangleMesh& mesh, const Vec3& p)
{
    double sum = 0.0;
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        sum += solid_angle(p, corner(mesh, t, 0), corner(mesh, t, 1), corner(mesh, t, 2));
    return sum / (4.0 * M_PI);
}

/// First hit by solving a 3x3 system per triangle.
double brute_ray(const TriangleMesh& mesh, const Vec3& o, const Vec3& d)
{
    double best = INFINITY;
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const Vec3 a = corner(mesh, t, 0);
        Mat3 A;
        A << corner(mesh, t, 1) - a, corner(mesh, t, 2) - a, -d;
        const Vec3 x = A.fullPivLu().solve(o - a);
        if (x[0] >= 0.0 && x[1] >= 0.0 && x[0] + x[1] <= 1.0 && x[2] >= 0.0) best = std::min(best, x[2]);
    }
    return best;
}

TriangleMesh moved(TriangleMesh mesh, double scale, const Vec3& by)
{
    mesh.vertices = ((mesh.vertices * scale).colwise() + by).eval();
    return mesh;
}

void expect_consistent(const TriangleMesh& mesh, const Vec3& p, const ClosestPoint& found)
{
    const double size = bounds(mesh.vertices).diagonal().norm() + p.norm();
    const Vec3 at = found.barycentric[0] * corner(mesh, found.triangle, 0) +
                    found.barycentric[1] * corner(mesh, found.triangle, 1) +
                    found.barycentric[2] * corner(mesh, found.triangle, 2);
    EXPECT_LE((at - found.point).norm(), 1e-14 * size);
    EXPECT_NEAR((p - found.point).norm(), found.distance, 1e-14 * size);
    EXPECT_GE(found.barycentric.minCoeff(), -1e-15);
    EXPECT_NEAR(found.barycentric.sum(), 1.0, 1e-14);
}

} // namespace

TEST(SurfaceQuery, ClosestPointAgreesWithBruteForce)
{
    Random random(1);
    for (const TriangleMesh& mesh : {test::sphere_surface(8), test::triangle_soup(300, 0.3, 2),
                                     moved(test::sphere_surface(6), 1e-3, Vec3(7, -3, 5)),
                                     moved(test::triangle_soup(200, 0.1, 3), 1e4, Vec3(0, 1e3, 0))}) {
        const SurfaceQuery query(mesh);
        const Box3 box = bounds(mesh.vertices);
        for (int i = 0; i < 1000; ++i) {
            const double reach = i % 4 == 0 ? 10.0 : 1.2;
            const Vec3 p = box.center() + test::random_point(random, -reach, reach).cwiseProduct(box.sizes());
            const ClosestPoint found = query.closest_point(p);
            const double expected = brute_distance(mesh, p);
            EXPECT_NEAR(found.distance, expected, 1e-12 * (expected + box.diagonal().norm()));
            expect_consistent(mesh, p, found);
        }
    }
}

TEST(SurfaceQuery, ClosestPointOnTheSurfaceItselfIsThere)
{
    const TriangleMesh mesh = test::sphere_surface(6);
    const SurfaceQuery query(mesh);
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        EXPECT_EQ(query.closest_point(mesh.vertices.col(v)).distance, 0.0);
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const Vec3 centroid = (corner(mesh, t, 0) + corner(mesh, t, 1) + corner(mesh, t, 2)) / 3.0;
        const ClosestPoint found = query.closest_point(centroid);
        EXPECT_LE(found.distance, 1e-15);
        EXPECT_EQ(found.triangle, t);
    }
}

TEST(SurfaceQuery, DistanceLimitFindsNothingBeyondAndTheSameWithin)
{
    const SurfaceQuery query(test::sphere_surface(8));
    Random random(4);
    for (int i = 0; i < 500; ++i) {
        const Vec3 p = test::random_point(random, -2.0, 2.0);
        const ClosestPoint free = query.closest_point(p);
        EXPECT_FALSE(query.closest_point(p, free.distance * 0.999).has_value());
        const auto near = query.closest_point(p, free.distance * 1.001);
        ASSERT_TRUE(near.has_value());
        EXPECT_EQ(near->triangle, free.triangle);
        EXPECT_EQ(near->distance, free.distance);
    }
}

TEST(SurfaceQuery, FarPointsAreStillExact)
{
    const TriangleMesh mesh = test::sphere_surface(6);
    const SurfaceQuery query(mesh);
    Random random(5);
    for (const double far : {1e3, 1e5, 1e9, 1e25}) {
        const Vec3 p = far * test::random_point(random, -1.0, 1.0);
        EXPECT_NEAR(query.closest_point(p).distance, brute_distance(mesh, p), 1e-12 * far);
        EXPECT_FALSE(query.inside(p));
        if (far > 1e9) continue; // the surface is below the rounding of a ray from there
        const auto hit = query.cast_ray(p, -p);
        ASSERT_TRUE(hit.has_value()) << far;
        EXPECT_NEAR(hit->t, 1.0, 1e-2);
    }
}

TEST(SurfaceQuery, DegenerateTrianglesGiveNumbers)
{
    TriangleMesh mesh = test::unit_cube();
    const Index n = mesh.triangle_count();
    const int v = static_cast<int>(mesh.vertex_count());
    mesh.vertices.conservativeResize(3, v + 4);
    mesh.vertices.col(v) = Vec3(3, 0, 0);     // a point,
    mesh.vertices.col(v + 1) = Vec3(0, 3, 0); // a segment,
    mesh.vertices.col(v + 2) = Vec3(0, 3, 1);
    mesh.vertices.col(v + 3) = Vec3(1e-13, 3, 0.5); // and a needle
    mesh.triangles.conservativeResize(3, n + 4);
    mesh.triangles.col(n) << v, v, v;
    mesh.triangles.col(n + 1) << v + 1, v + 2, v + 1;
    mesh.triangles.col(n + 2) << v + 1, v + 2, v + 3;
    mesh.triangles.col(n + 3) << v + 2, v + 2, v + 1;
    const SurfaceQuery query(mesh);
    EXPECT_DOUBLE_EQ(query.closest_point(Vec3(4, 0, 0)).distance, 1.0);
    EXPECT_DOUBLE_EQ(query.closest_point(Vec3(0, 5, 0.5)).distance, 2.0);
    EXPECT_DOUBLE_EQ(query.signed_distance(Vec3(0.5, 0.5, 0.25)), -0.25);
    Random random(6);
    for (int i = 0; i < 2000; ++i) {
        const Vec3 p = test::random_point(random, -1.0, 4.0);
        EXPECT_NEAR(query.closest_point(p).distance, brute_distance(mesh, p), 1e-12);
        EXPECT_NEAR(query.winding_number(p), exact_winding(mesh, p), 3e-3);
        const auto hit = query.cast_ray(p, Vec3(0.5, 0.5, 0.5) - p);
        EXPECT_TRUE(hit.has_value() && std::isfinite(hit->t));
    }
    for (int k = 0; k < v + 4;
         ++k) { // at the corners themselves nothing is defined, but everything is finite
        EXPECT_TRUE(std::isfinite(query.winding_number(mesh.vertices.col(k))));
        EXPECT_EQ(query.signed_distance(mesh.vertices.col(k)), 0.0);
    }
}

TEST(SurfaceQuery, RaysAgreeWithBruteForce)
{
    Random random(7);
    for (const TriangleMesh& mesh : {test::sphere_surface(6), test::triangle_soup(400, 0.2, 8),
                                     moved(test::triangle_soup(300, 0.2, 9), 1e-2, Vec3(1, 2, 3))}) {
        const SurfaceQuery query(mesh);
        const Box3 box = bounds(mesh.vertices);
        int hits = 0;
        for (int i = 0; i < 500; ++i) {
            const Vec3 o = box.center() + test::random_point(random, -1.0, 1.0).cwiseProduct(box.sizes());
            const Vec3 aim = box.center() + test::random_point(random, -0.5, 0.5).cwiseProduct(box.sizes());
            const Vec3 d = (aim - o) * random.uniform(0.1, 10.0);
            const double expected = brute_ray(mesh, o, d);
            const auto hit = query.cast_ray(o, d);
            ASSERT_EQ(hit.has_value(), std::isfinite(expected));
            if (!hit) continue;
            ++hits;
            EXPECT_NEAR(hit->t, expected, 1e-10 * (1.0 + expected));
            const Vec3 at = hit->barycentric[0] * corner(mesh, hit->triangle, 0) +
                            hit->barycentric[1] * corner(mesh, hit->triangle, 1) +
                            hit->barycentric[2] * corner(mesh, hit->triangle, 2);
            EXPECT_LE((at - (o + hit->t * d)).norm(), 1e-10 * box.diagonal().norm());
            EXPECT_FALSE(query.cast_ray(o, d, hit->t * (1.0 - 1e-9)).has_value());
            EXPECT_TRUE(query.cast_ray(o, d, hit->t).has_value());
        }
        EXPECT_GT(hits, 100);
    }
}

TEST(SurfaceQuery, RaysDoNotSlipThroughEdgesAndVertices)
{
    const TriangleMesh mesh = test::sphere_surface(10);
    const SurfaceQuery query(mesh);
    Random random(10);
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 0; k < 3; ++k) {
            const double s = random.uniform();
            const Vec3 on_edge = (1.0 - s) * corner(mesh, t, k) + s * corner(mesh, t, (k + 1) % 3);
            const Vec3 o = 0.3 * test::random_point(random, -1.0, 1.0);
            EXPECT_TRUE(query.cast_ray(o, on_edge - o).has_value());
            EXPECT_TRUE(query.cast_ray(o, corner(mesh, t, k) - o).has_value());
            EXPECT_TRUE(query.cast_ray(Vec3::Zero(), corner(mesh, t, k)).has_value());
        }
}

TEST(SurfaceQuery, WindingNumberIsTheSumOfSolidAngles)
{
    Random random(11);
    for (const TriangleMesh& mesh :
         {test::sphere_surface(20), test::torus_surface(60, 30, 1.0, 0.4), test::triangle_soup(3000, 0.1, 12),
          moved(test::sphere_surface(20), 1e3, Vec3(9, 9, 9))}) {
        const SurfaceQuery query(mesh);
        const Box3 box = bounds(mesh.vertices);
        double worst = 0.0;
        for (int i = 0; i < 1000; ++i) {
            const Vec3 p = box.center() + test::random_point(random, -0.8, 0.8).cwiseProduct(box.sizes());
            worst = std::max(worst, std::abs(query.winding_number(p) - exact_winding(mesh, p)));
        }
        EXPECT_LT(worst, 3e-3);
    }
}

TEST(SurfaceQuery, LargerAccuracyOfTheWindingNumberIsMoreAccurate)
{
    const TriangleMesh mesh = test::torus_surface(60, 30, 1.0, 0.4);
    Random random(13);
    double rough = 0.0, fine = 0.0;
    const WindingNumber w_rough(mesh, 1.5), w_fine(mesh, 6.0);
    for (int i = 0; i < 500; ++i) {
        const Vec3 p = test::random_point(random, -1.5, 1.5);
        const double exact = exact_winding(mesh, p);
        rough = std::max(rough, std::abs(w_rough(p) - exact));
        fine = std::max(fine, std::abs(w_fine(p) - exact));
    }
    EXPECT_LT(fine, 3e-5);
    EXPECT_GT(rough, 10.0 * fine);
    EXPECT_THROW(WindingNumber(mesh, 0.0), InputError);
}

TEST(SurfaceQuery, InsideIsRightJustBesideTheSurface)
{
    const TriangleMesh mesh = test::torus_surface(40, 20, 1.0, 0.4);
    const SurfaceQuery query(mesh);
    Random random(14);
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const Vec3 a = corner(mesh, t, 0), b = corner(mesh, t, 1), c = corner(mesh, t, 2);
        const Vec3 n = (b - a).cross(c - a).normalized();
        double u = random.uniform(), v = random.uniform();
        if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
        const Vec3 on = a + u * (b - a) + v * (c - a);
        for (const double off : {1e-2, 1e-6, 1e-11}) {
            EXPECT_FALSE(query.inside(on + off * n)) << off;
            EXPECT_TRUE(query.inside(on - off * n)) << off;
        }
    }
}

TEST(SurfaceQuery, InsideOfBrokenSurfacesIsSensible)
{
    TriangleMesh sphere = test::sphere_surface(8);
    TriangleMesh holed = sphere; // one triangle in fifty is missing
    Index kept = 0;
    for (Index t = 0; t < sphere.triangle_count(); ++t)
        if (t % 50 != 0) holed.triangles.col(kept++) = sphere.triangles.col(t);
    holed.triangles.conservativeResize(3, kept);

    TriangleMesh shells = sphere; // the same sphere again, half a radius away
    const int n = static_cast<int>(sphere.vertex_count());
    shells.vertices.conservativeResize(3, 2 * n);
    shells.vertices.rightCols(n) = sphere.vertices.colwise() + Vec3(0.5, 0, 0);
    shells.triangles.conservativeResize(3, 2 * sphere.triangle_count());
    shells.triangles.rightCols(sphere.triangle_count()) = sphere.triangles.array() + n;

    const SurfaceQuery hole_query(holed), shell_query(shells);
    for (const double r : {0.0, 0.5, 0.8}) EXPECT_TRUE(hole_query.inside(Vec3(0, 0.6 * r, 0.8 * r)));
    EXPECT_FALSE(hole_query.inside(Vec3(0, 0.9, 0.9)));
    EXPECT_NEAR(shell_query.winding_number(Vec3(0.25, 0, 0)), 2.0, 5e-3);
    EXPECT_TRUE(shell_query.inside(Vec3(0.25, 0, 0)));
    EXPECT_TRUE(shell_query.inside(Vec3(-0.8, 0, 0)));
    EXPECT_FALSE(shell_query.inside(Vec3(-0.8, 0.8, 0)));
}

TEST(SurfaceQuery, SignedDistancesAreTheSameForAnyNumberOfThreads)
{
    const SurfaceQuery query(test::sphere_surface(30));
    Random random(15);
    Points points(3, 5000);
    for (Index i = 0; i < points.cols(); ++i) points.col(i) = test::random_point(random, -1.5, 1.5);
    const VecX all = signed_distances(query, points);
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        const SurfaceQuery again(query.mesh());
        EXPECT_EQ(signed_distances(again, points), all);
    }
    for (Index i = 0; i < 200; ++i)
        EXPECT_NEAR(all[i], points.col(i).norm() - 1.0, 2e-3); // flat triangles cut off 1e-3
}

TEST(SurfaceQuery, MovesAndKeepsItsMesh)
{
    SurfaceQuery first(test::unit_cube());
    SurfaceQuery second = std::move(first);
    EXPECT_EQ(second.mesh().triangle_count(), 12);
    EXPECT_DOUBLE_EQ(second.signed_distance(Vec3(0.5, 0.5, 0.9)), -(1.0 - 0.9));
    second = SurfaceQuery(test::sphere_surface(2));
    EXPECT_EQ(second.mesh().triangle_count(), 48);
}

TEST(SurfaceQuery, RefusesWhatItCannotAnswer)
{
    EXPECT_THROW(SurfaceQuery(TriangleMesh{}), InputError);
    TriangleMesh bad = test::unit_cube();
    bad.triangles(1, 3) = 8;
    EXPECT_THROW(SurfaceQuery{bad}, InputError);
    bad.triangles(1, 3) = -1;
    EXPECT_THROW(SurfaceQuery{bad}, InputError);
    bad = test::unit_cube();
    bad.vertices(0, 0) = std::nan("");
    EXPECT_THROW(SurfaceQuery{bad}, InputError);

    const SurfaceQuery query(test::unit_cube());
    const Vec3 nan(0, std::nan(""), 0), x = Vec3::UnitX();
    EXPECT_THROW(query.closest_point(nan), InputError);
    EXPECT_THROW(query.closest_point(x, -1.0), InputError);
    EXPECT_THROW(query.winding_number(nan), InputError);
    EXPECT_THROW(query.cast_ray(nan, x), InputError);
    EXPECT_THROW(query.cast_ray(x, nan), InputError);
    EXPECT_THROW(query.cast_ray(x, Vec3::Zero()), InputError);
    EXPECT_THROW(query.cast_ray(x, x, std::nan("")), InputError);
}
