#include "lithe/contact/collision_surface.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/geometry/winding_number.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// A torus that is bent, turned and on its way.
struct Bent {
    CollisionSurface surface = make_collision_surface(make_torus(1.0, 0.35, 0.15));
    SweptSurface swept{surface};

    Bent()
    {
        Random random(1);
        const Mat3 R = random_rotation(random);
        for (Index i = 0; i < surface.rest.cols(); ++i) {
            const Vec3 X = surface.rest.col(i);
            swept.start.col(i) =
                R * (X + Vec3(0.2 * X.y() * X.z(), 0.3 * X.x() * X.x(), 0.0)) + Vec3(5, 6, 7);
        }
        swept.end = swept.start.colwise() + Vec3(3.0, -1.0, 2.0);
        swept.update();
    }
};

} // namespace

TEST(CollisionSurface, KnowsItsEdgesAndNeighbours)
{
    const CollisionSurface box = make_collision_surface(make_box(Vec3::Ones(), 0.25));
    EXPECT_TRUE(box.closed);
    EXPECT_EQ(box.points.size(), 98u);
    EXPECT_EQ(box.edges.size(), static_cast<std::size_t>(box.triangles.cols() * 3 / 2));
    int sharp = 0;
    for (const CollisionEdge& edge : box.edges) sharp += edge.sharp;
    EXPECT_EQ(sharp, 48); // twelve edges of four pieces; faces are flat
    for (std::size_t e = 0; e < box.edges.size(); ++e)
        for (const int t : box.edges[e].triangles)
            EXPECT_TRUE((box.triangle_edges.col(t).array() == static_cast<int>(e)).any());
    for (int v = 0; v < box.vertex_count(); ++v) EXPECT_EQ(box.fan(v).size(), box.ring(v).size());

    TriangleMesh open = make_box(Vec3::Ones(), 1.0);
    open.triangles.conservativeResize(3, open.triangles.cols() - 1);
    EXPECT_FALSE(make_collision_surface(open).closed);
}

// A groove does not meet edges of others, a ridge does: around the hole of a torus edges along its axis lie in a
// groove, outside on a ridge.
TEST(CollisionSurface, OnlyOutwardEdgesAreSharp)
{
    const CollisionSurface surface = make_collision_surface(make_torus(1.0, 0.2, 0.1));
    int grooves = 0, ridges = 0;
    for (const CollisionEdge& edge : surface.edges) {
        const Vec3 a = surface.rest.col(edge.a), b = surface.rest.col(edge.b), m = 0.5 * (a + b);
        const double r = std::hypot(m.x(), m.z());
        if (std::abs((b - a).normalized().y()) < 0.95) continue;
        (r > 1.0 ? ridges : grooves) += 1;
        EXPECT_EQ(edge.sharp, r > 1.0) << a.transpose() << " to " << b.transpose();
    }
    EXPECT_GT(grooves, 10);
    EXPECT_GT(ridges, 10);
}

TEST(CollisionSurface, RefusesWhatIsNoSurface)
{
    const TriangleMesh box = make_box(Vec3::Ones(), 1.0);
    EXPECT_THROW((void)make_collision_surface(TriangleMesh{}), InputError);
    EXPECT_THROW((void)make_collision_surface(box, -1.0), InputError);
    TriangleMesh bad = box;
    bad.triangles(0, 0) = 8;
    EXPECT_THROW((void)make_collision_surface(bad), InputError);
    bad = box;
    bad.vertices(1, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW((void)make_collision_surface(bad), InputError);
}

TEST(CollisionSurface, OfRigidShapes)
{
    EXPECT_FALSE(collision_surface_of(PlaneShape{}));
    const auto box = collision_surface_of(BoxShape{Vec3(1, 2, 3)});
    EXPECT_EQ(box->vertex_count(), 8);
    EXPECT_LT((Box3(bounds(box->rest)).sizes() - Vec3(1, 2, 3)).norm(), 1e-12);
    const auto cylinder = collision_surface_of(CylinderShape{0.5, 2.0});
    EXPECT_TRUE(cylinder->closed);
    const double pi = 3.141592653589793;
    EXPECT_NEAR(volume(TriangleMesh{cylinder->rest, cylinder->triangles}), pi * 0.25 * 2.0, 0.002 * pi);
    EXPECT_EQ(collision_surface_of(SphereShape{0.5})->thickness, 0.5);
    EXPECT_EQ(collision_surface_of(CapsuleShape{0.5, 1.0})->edges.size(), 1u);
    EXPECT_THROW((void)collision_surface_of(SphereShape{0.0}), InputError);
}

/// Folds turn normals at the nearest point away: a point far outside must not be taken for one inside, or bodies leap.
TEST(SweptSurface, KnowsItsOutsideWhereItIsFolded)
{
    const CollisionSurface ball = make_collision_surface(make_sphere(1.0, 0.25));
    SweptSurface folded(ball);
    Random random(11);
    int misled = 0, outside_points = 0;
    for (int trial = 0; trial < 20; ++trial) {
        folded.start = ball.rest + 0.25 * random_matrix(random, 3, ball.rest.cols());
        folded.end = folded.start;
        folded.update();
        const WindingNumber winding({folded.start, ball.triangles}, 10.0);
        for (int i = 0; i < 200; ++i) {
            const Vec3 p = 1.4 * random_vector(random, 3);
            const ClosestPoint closest = *closest_point(folded, p);
            if (winding(p) > 0.1) continue;
            ++outside_points;
            EXPECT_FALSE(inside(folded, p, closest)) << p.transpose();
            EXPECT_FALSE(encloses(folded, p)) << p.transpose();
            misled += (p - closest.point).dot(start_normal(folded, closest.triangle)) < 0.0;
        }
    }
    EXPECT_GT(outside_points, 1000);
    EXPECT_GT(misled, 10); // the nearest triangle alone would not do
}

/// Lines through corners and edges count once, and so do corners that lie exactly at the height of the point.
TEST(SweptSurface, KnowsTheInsideOfABoxFromItsMiddle)
{
    const CollisionSurface box = make_collision_surface(make_box(Vec3::Ones(), 0.5));
    const SweptSurface still(box);
    for (double x : {-0.25, 0.0, 0.25})
        for (double y : {-0.25, 0.0, 0.25})
            for (double z : {-0.25, 0.0, 0.25}) {
                const Vec3 p(x, y, z);
                EXPECT_TRUE(inside(still, p, *closest_point(still, p))) << p.transpose();
                EXPECT_TRUE(encloses(still, p)) << p.transpose();
                EXPECT_FALSE(inside(still, p + Vec3::UnitX(), *closest_point(still, p + Vec3::UnitX())));
            }
}

TEST(SweptSurface, AnswersLikeASurfaceThatStands)
{
    const Bent bent;
    const SurfaceQuery query({bent.swept.start, bent.surface.triangles});
    Random random(2);
    int hits = 0, within = 0;
    for (int i = 0; i < 500; ++i) {
        const Vec3 p = Vec3(5, 6, 7) + 1.5 * random_vector(random, 3), d = random_vector(random, 3);
        const ClosestPoint expected = query.closest_point(p);
        const auto found = closest_point(bent.swept, p);
        ASSERT_TRUE(found);
        EXPECT_NEAR(found->distance, expected.distance, 1e-12);
        EXPECT_EQ(inside(bent.swept, p, *found), query.inside(p));
        within += query.inside(p);
        EXPECT_FALSE(closest_point(bent.swept, p, 0.99 * expected.distance));
        EXPECT_TRUE(closest_point(bent.swept, p, 1.01 * expected.distance));

        const auto hit = cast_ray(bent.swept, p, d), expected_hit = query.cast_ray(p, d);
        ASSERT_EQ(hit.has_value(), expected_hit.has_value());
        if (!hit) continue;
        ++hits;
        EXPECT_NEAR(hit->t, expected_hit->t, 1e-9);
        EXPECT_EQ(hit->triangle, expected_hit->triangle);
        EXPECT_FALSE(cast_ray(bent.swept, p, d, 0.99 * hit->t));
    }
    EXPECT_GT(hits, 50);
    EXPECT_GT(within, 20);
}

TEST(SweptSurface, HoldsItsWay)
{
    const Bent bent;
    EXPECT_LT((bent.swept.drift() - Vec3(3, -1, 2)).norm(), 1e-12);
    const Box3 box = bent.swept.swept_box();
    for (Index v = 0; v < bent.surface.vertex_count(); ++v)
        for (const double s : {0.0, 0.3, 1.0})
            EXPECT_TRUE(box.contains(bent.swept.point(static_cast<int>(v)).at(s)));
}

TEST(SweptSurface, AllocatesNothingWhenItMoves)
{
    if (!MallocCounter::works()) GTEST_SKIP();
    Bent bent;
    const MallocCounter mallocs;
    bent.swept.end.array() += 0.1;
    bent.swept.update();
    (void)closest_point(bent.swept, Vec3(5, 6, 7));
    (void)cast_ray(bent.swept, Vec3(5, 6, 7), Vec3(1, 0, 0));
    EXPECT_EQ(mallocs.count(), 0);
}
