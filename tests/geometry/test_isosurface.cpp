#include "lithe/geometry/isosurface.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;

ImplicitFunction sphere(const Vec3& centre, double r)
{
    return {[=](const Vec3& p) { return (p - centre).norm() - r; }};
}

ImplicitFunction torus(double major, double minor)
{
    return {[=](const Vec3& p) { return std::hypot(std::hypot(p[0], p[2]) - major, p[1]) - minor; }};
}

Box3 cube(double half)
{
    return Box3(Vec3::Constant(-half), Vec3::Constant(half));
}

void expect_closed_manifold(const TriangleMesh& mesh, int components, int genus)
{
    const test::Topology t = test::topology(mesh);
    EXPECT_TRUE(t.closed);
    EXPECT_TRUE(t.manifold_vertex);
    EXPECT_EQ(t.components, components);
    EXPECT_EQ(t.genus, genus);
    EXPECT_GT(volume(mesh), 0.0);
}

double share_below(const TriangleMesh& mesh, double degrees)
{
    int below = 0;
    for (int t = 0; t < mesh.triangle_count(); ++t) {
        const TriangleMesh one{mesh.vertices, mesh.triangles.col(t)};
        below += test::smallest_angle(one) < degrees;
    }
    return below / static_cast<double>(mesh.triangle_count());
}

TEST(Isosurface, SphereConvergesToItsClosedForm)
{
    Progress progress;
    double error = 1.0;
    for (const double cell : {0.2, 0.1, 0.05}) {
        const TriangleMesh mesh = isosurface(sphere(Vec3(0.1, 0.2, 0.3), 1.0), cube(2.0), cell, progress);
        expect_closed_manifold(mesh, 1, 0);
        const double volume_error = std::abs(volume(mesh) / (4.0 / 3.0 * pi) - 1.0);
        EXPECT_LT(volume_error, error / 3.0); // second order: a factor of four, less some noise
        EXPECT_NEAR(area(mesh), 4.0 * pi, 4.0 * pi * volume_error);
        error = volume_error;
        for (int v = 0; v < mesh.vertex_count(); ++v)
            EXPECT_NEAR((mesh.vertices.col(v) - Vec3(0.1, 0.2, 0.3)).norm(), 1.0, 2e-6 * cell);
    }
    EXPECT_LT(error, 1e-3);
}

TEST(Isosurface, TorusHasAHoleAndItsArea)
{
    Progress progress;
    const TriangleMesh mesh = isosurface(torus(1.0, 0.4), cube(1.5), 0.05, progress);
    expect_closed_manifold(mesh, 1, 1);
    EXPECT_NEAR(area(mesh), 4.0 * pi * pi * 0.4, 0.01 * 4.0 * pi * pi * 0.4);
    EXPECT_NEAR(volume(mesh), 2.0 * pi * pi * 0.16, 0.01 * 2.0 * pi * pi * 0.16);
}

TEST(Isosurface, TrianglesAreEvenAndOfTheAskedSize)
{
    Progress progress;
    const TriangleMesh mesh = isosurface(torus(1.0, 0.4), cube(1.5), 0.05, progress);
    EXPECT_GT(test::smallest_angle(mesh), 15.0);
    EXPECT_LT(share_below(mesh, 30.0), 0.02);
    const double mean_area = area(mesh) / static_cast<double>(mesh.triangle_count());
    const double edge = std::sqrt(mean_area * 4.0 / std::sqrt(3.0)); // of an equilateral triangle
    EXPECT_GT(edge, 0.7 * 0.05);
    EXPECT_LT(edge, 1.2 * 0.05);
}

TEST(Isosurface, SkippingBlocksChangesNothing)
{
    Progress progress;
    ImplicitFunction f = torus(1.0, 0.3);
    const TriangleMesh skipped = isosurface(f, cube(1.5), 0.04, progress);
    f.slack = 100.0; // promises nothing: every block is looked at
    const TriangleMesh whole = isosurface(f, cube(1.5), 0.04, progress);
    EXPECT_EQ(skipped.vertices, whole.vertices);
    EXPECT_EQ(skipped.triangles, whole.triangles);
}

TEST(Isosurface, SameBitsForAnyNumberOfThreads)
{
    const auto make = [](int threads) {
        const ThreadLimit limit(threads);
        Progress progress;
        return isosurface(torus(1.0, 0.4), cube(1.5), 0.04, progress);
    };
    const TriangleMesh one = make(1);
    for (const int threads : {2, 4}) {
        const TriangleMesh many = make(threads);
        EXPECT_EQ(one.vertices, many.vertices);
        EXPECT_EQ(one.triangles, many.triangles);
    }
}

TEST(Isosurface, SolidThatLeavesTheBoxIsClosedThere)
{
    Progress progress;
    const TriangleMesh mesh =
        isosurface(sphere(Vec3::Zero(), 1.0), Box3(Vec3(0, -2, -2), Vec3(2, 2, 2)), 0.05, progress);
    expect_closed_manifold(mesh, 1, 0);
    EXPECT_NEAR(volume(mesh), 2.0 / 3.0 * pi, 0.02);
}

/// The hardest that a function can be: any sign anywhere. The surface is still a closed manifold.
RC_GTEST_PROP(Isosurface, NoiseIsStillAClosedManifold, ())
{
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const ImplicitFunction noise{
        [seed](const Vec3& p) {
            const auto bits = [](double x) { return static_cast<std::uint64_t>(std::llround(x * 50.0)); };
            return Random(seed ^ bits(p[0]) * 73856093u ^ bits(p[1]) * 19349663u ^ bits(p[2]) * 83492791u)
                .normal();
        },
        1.0, 1e9};
    Progress progress;
    const test::Topology t = test::topology(isosurface(noise, cube(0.25), 0.1, progress));
    RC_ASSERT(t.closed);
    RC_ASSERT(t.manifold_vertex);
}

TEST(Isosurface, ValuesOfZeroAndNanAtLatticePointsAreOutside)
{
    // a cube whose faces lie on lattice points: exact zeros everywhere
    const ImplicitFunction box{
        [](const Vec3& p) { return p[0] > 0.9 ? std::nan("") : p.cwiseAbs().maxCoeff() - 0.5; }};
    Progress progress;
    expect_closed_manifold(isosurface(box, cube(1.0), 0.125, progress), 1, 0);
}

TEST(Isosurface, RefusesWhatItCannotDo)
{
    Progress progress;
    const auto message = [&](const ImplicitFunction& f, const Box3& box, double cell) -> std::string {
        try {
            (void)isosurface(f, box, cell, progress);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const ImplicitFunction ball = sphere(Vec3::Zero(), 1.0);
    for (const double cell : {0.0, -1.0, std::nan(""), HUGE_VAL})
        EXPECT_THAT(message(ball, cube(2), cell), testing::HasSubstr("cell")) << cell;
    EXPECT_THAT(message(ball, cube(2), 5e-5), testing::HasSubstr("too fine"));
    EXPECT_THAT(message(ball, cube(2), 1e-12), testing::HasSubstr("too fine"));
    EXPECT_THAT(message(sphere(Vec3(0.3, 0.3, 0.3), 0.01), cube(2), 1.0), testing::HasSubstr("too coarse"));
    EXPECT_THAT(message(ball, Box3(), 0.1), testing::HasSubstr("empty"));
}

TEST(Isosurface, StopsWhenAsked)
{
    std::stop_source stop;
    stop.request_stop();
    Progress progress({}, stop.get_token());
    EXPECT_THROW((void)isosurface(sphere(Vec3::Zero(), 1.0), cube(2), 0.1, progress), Interrupted);
}

} // namespace
} // namespace lithe
