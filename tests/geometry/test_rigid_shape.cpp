#include "lithe/geometry/rigid_shape.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

constexpr double cell = 0.05;

struct Case {
    const char* name;
    RigidShape shape;
    TriangleMesh surface; ///< its vertices lie on the true surface
};

std::vector<Case> round_and_flat()
{
    return {{"box", BoxShape{{1.0, 0.6, 1.4}}, make_box({1.0, 0.6, 1.4}, cell)},
            {"sphere", SphereShape{0.7}, make_sphere(0.7, cell)},
            {"capsule", CapsuleShape{0.4, 0.9}, make_capsule(0.4, 0.9, cell)},
            {"cylinder", CylinderShape{0.5, 0.8}, make_cylinder(0.5, 0.8, cell)}};
}

FieldShape field_of(const TriangleMesh& surface)
{
    Progress silent;
    return {DistanceField(SurfaceQuery(surface), {.cell = 0.05, .margin = 0.2}, silent)};
}

} // namespace

// Against the surface as a mesh: the sign, and the distance to the nearest of its vertices, which cannot be nearer than the
// surface and is farther by at most a cell.
TEST(RigidShape, AgreesWithBruteForce)
{
    Random random(1);
    for (const Case& c : round_and_flat()) {
        const SurfaceQuery query(c.surface);
        int inside = 0;
        for (int k = 0; k < 500; ++k) {
            const Vec3 p = test::random_point(random, -0.9, 0.9);
            const double d = signed_distance(c.shape, p).distance;
            const double nearest =
                std::sqrt((c.surface.vertices.colwise() - p).colwise().squaredNorm().minCoeff());
            EXPECT_LE(std::abs(d), nearest + 1e-12) << c.name;
            EXPECT_GE(std::abs(d), nearest - cell) << c.name;
            EXPECT_NEAR(d, query.signed_distance(p), 2e-3) << c.name; // flat triangles: cell^2 / (8 r)
            inside += d < 0.0;
        }
        EXPECT_GT(inside, 20) << c.name;
        EXPECT_LT(inside, 480) << c.name;
    }
}

TEST(RigidShape, BoxIsExact)
{
    const SurfaceQuery query(make_box({1.0, 0.6, 1.4}, 0.5));
    Random random(2);
    for (int k = 0; k < 1000; ++k) {
        const Vec3 p = test::random_point(random, -1.0, 1.0);
        EXPECT_NEAR(signed_distance(BoxShape{{1.0, 0.6, 1.4}}, p).distance, query.signed_distance(p), 1e-12);
    }
}

// p - d n is the nearest point of the surface, from both sides.
RC_GTEST_PROP(RigidShape, NormalLeadsToTheSurface, ())
{
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for (const Case& c : round_and_flat()) {
        const Vec3 p = test::random_point(random, -1.5, 1.5);
        const auto [d, n] = signed_distance(c.shape, p);
        RC_ASSERT(std::abs(n.norm() - 1.0) < 1e-12);
        RC_ASSERT(std::abs(signed_distance(c.shape, p - d * n).distance) < 1e-12);
    }
}

TEST(RigidShape, NormalIsTheGradient)
{
    Random random(3);
    for (const Case& c : round_and_flat()) {
        int compared = 0;
        for (int k = 0; k < 300; ++k) {
            const Vec3 p = test::random_point(random, -1.2, 1.2);
            const auto [d, n] = signed_distance(c.shape, p);
            Vec3 slope;
            const double e = 1e-6;
            for (int axis = 0; axis < 3; ++axis)
                slope[axis] = (signed_distance(c.shape, p + e * Vec3::Unit(axis)).distance -
                               signed_distance(c.shape, p - e * Vec3::Unit(axis)).distance) /
                              (2.0 * e);
            if (std::abs(slope.norm() - 1.0) > 1e-3) continue; // across a ridge inside
            EXPECT_LT((slope - n).norm(), 1e-5) << c.name;
            ++compared;
        }
        EXPECT_GT(compared, 280) << c.name;
    }
}

TEST(RigidShape, PlaneIsTheHeight)
{
    const auto [d, n] = signed_distance(PlaneShape{}, {3.0, -0.25, 1.0});
    EXPECT_EQ(d, -0.25);
    EXPECT_EQ(n, Vec3(0.0, 1.0, 0.0));
}

TEST(RigidShape, FieldFollowsItsSurface)
{
    const RigidShape field = field_of(make_sphere(0.7, cell));
    Random random(4);
    for (int k = 0; k < 300; ++k) {
        const Vec3 p = test::random_point(random, -0.9, 0.9);
        if (p.norm() < 0.2) continue; // the trilinear field is blunt at the centre
        const auto [d, n] = signed_distance(field, p);
        EXPECT_NEAR(d, p.norm() - 0.7, 4e-3); // cell^2 / r
        EXPECT_NEAR(n.norm(), 1.0, 1e-12);
        EXPECT_LT((n - p.normalized()).norm(), 0.1);
    }
}

// No point of a ball that is said to be clear lies inside, whatever the shape; and most balls that are clear are said to be.
TEST(RigidShape, BallsThatAreClearHoldNothingOfTheShape)
{
    std::vector<Case> cases = round_and_flat();
    cases.push_back({"field", field_of(make_torus(0.6, 0.2, cell)), {}});
    TriangleMesh open = make_sphere(0.7, cell);
    open.triangles.conservativeResize(3, open.triangle_count() * 2 /
                                             3); // what is inside is for the winding numbers
    cases.push_back({"open field", field_of(open), {}});
    Random random(6);
    for (const Case& c : cases) {
        int clear = 0, really_clear = 0;
        for (int k = 0; k < 400; ++k) {
            const Vec3 p = test::random_point(random, -1.0, 1.0);
            const double radius = random.uniform(0.0, 0.4);
            bool inside = false;
            for (int s = 0; s < 50; ++s) {
                const Vec3 at = p + radius * random.uniform(0.0, 1.0) *
                                        test::random_point(random, -1.0, 1.0).normalized();
                inside = inside || signed_distance(c.shape, at).distance < 0.0;
            }
            if (!may_touch(c.shape, p, radius)) {
                EXPECT_FALSE(inside) << c.name;
                ++clear;
            }
            really_clear += inside ? 0 : 1;
        }
        EXPECT_GT(clear, c.name == std::string("open field") ? 0 : really_clear / 3) << c.name;
    }
    EXPECT_FALSE(may_touch(cases.back().shape, Vec3::Constant(std::nan("")), 1.0));
}

// Where several directions are as near, one of them is given, of unit length.
TEST(RigidShape, HasANormalEverywhere)
{
    for (const Case& c : round_and_flat())
        for (const Vec3& p : {Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.1, 0.0), Vec3(0.0, 5.0, 0.0)}) {
            const auto [d, n] = signed_distance(c.shape, p);
            EXPECT_NEAR(n.norm(), 1.0, 1e-15) << c.name;
            EXPECT_NEAR(signed_distance(c.shape, p - d * n).distance, 0.0, 1e-12) << c.name;
        }
}

TEST(RigidShape, RefusesNonsense)
{
    EXPECT_NO_THROW(require_valid(PlaneShape{}));
    for (const Case& c : round_and_flat()) EXPECT_NO_THROW(require_valid(c.shape));
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(require_valid(SphereShape{bad}), InputError);
        EXPECT_THROW(require_valid(BoxShape{{1.0, bad, 1.0}}), InputError);
        EXPECT_THROW(require_valid(CapsuleShape{bad, 1.0}), InputError);
        EXPECT_THROW(require_valid(CapsuleShape{1.0, bad}), InputError);
        EXPECT_THROW(require_valid(CylinderShape{1.0, bad}), InputError);
    }
}
