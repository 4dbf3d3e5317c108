#include "lithe/geometry/distance_field.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

/// Distance to the unit cube's surface, negative inside.
double cube_distance(const Vec3& p)
{
    const Vec3 q = (p - Vec3::Constant(0.5)).cwiseAbs() - Vec3::Constant(0.5);
    return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

} // namespace

TEST(DistanceField, AgreesWithTheExactQueryToSecondOrder)
{
    const SurfaceQuery surface(test::sphere_surface(30));
    Progress progress;
    Random random(1);
    Points points(3, 2000); // where the distance is smooth: away from the centre
    for (Index i = 0; i < points.cols(); ++i)
        points.col(i) = test::random_point(random, -1.0, 1.0).normalized() * random.uniform(0.4, 1.2);
    double worst[2];
    for (int level = 0; level < 2; ++level) {
        const DistanceField field(surface, {.cell = 0.16 / (1 << level), .margin = 0.3}, progress);
        worst[level] = 0.0;
        for (Index i = 0; i < points.cols(); ++i) {
            const double error = field.distance(points.col(i)) - (points.col(i).norm() - 1.0);
            worst[level] = std::max(worst[level], std::abs(error));
        }
    }
    EXPECT_LT(worst[0], 0.024);          // 3/8 h^2 / r
    EXPECT_LT(worst[1], 0.4 * worst[0]); // flat triangles add 1e-3 to both
}

TEST(DistanceField, IsExactWhereTheDistanceIsLinear)
{
    const SurfaceQuery surface(test::unit_cube());
    Progress progress;
    const DistanceField field(surface, {.cell = 0.05, .margin = 0.2}, progress);
    for (const double z : {-0.1, 0.0, 0.013, 0.1}) {
        const DistanceField::Sample sample = field.sample(Vec3(0.52, 0.47, z));
        EXPECT_NEAR(sample.distance, -z, 1e-7); // float samples
        EXPECT_LE((sample.gradient - Vec3(0, 0, -1)).norm(), 1e-5);
    }
}

TEST(DistanceField, ErrorIsBelowACellEverywhere)
{
    const SurfaceQuery surface(test::unit_cube());
    Progress progress;
    const DistanceField field(surface, {.cell = 0.08, .margin = 0.1}, progress);
    Random random(2);
    for (int i = 0; i < 5000; ++i) {
        Vec3 p = test::random_point(random, 0.0, 1.0).cwiseProduct(field.box().sizes()) + field.box().min();
        EXPECT_NEAR(field.distance(p), cube_distance(p), 0.5 * std::sqrt(3.0) * 0.08);
    }
}

TEST(DistanceField, OutsideTheGridItGrowsWithTheDistanceToTheBox)
{
    const SurfaceQuery surface(test::unit_cube());
    Progress progress;
    const DistanceField field(surface, {.cell = 0.1}, progress);
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
        const Vec3 p = test::random_point(random, -3.0, 4.0);
        const double found = field.distance(p), exact = cube_distance(p);
        EXPECT_GE(found, exact - 1e-6 - (field.box().contains(p) ? 0.1 : 0.0));
        EXPECT_LE(found, exact + 0.5);
    }
    const Vec3 edge(field.box().max()[0], 0.4, 0.6); // continuous across the box
    EXPECT_NEAR(field.distance(edge + Vec3(1e-9, 0, 0)), field.distance(edge - Vec3(1e-9, 0, 0)), 1e-8);
    EXPECT_LE((field.sample(Vec3(50, 0.5, 0.5)).gradient - Vec3::UnitX()).norm(), 1e-6);
}

TEST(DistanceField, GradientIsTheDerivativeOfTheValue)
{
    const SurfaceQuery surface(test::sphere_surface(12));
    Progress progress;
    const DistanceField field(surface, {.cell = 0.15}, progress);
    Random random(4);
    int checked = 0;
    for (int i = 0; i < 3000; ++i) {
        const Vec3 p = test::random_point(random, -3.0, 3.0);
        const double e = 1e-6;
        const Vec3 at = ((p - field.box().min()) / field.cell());
        if (((at - at.array().round().matrix()).cwiseAbs().array() < 1e-4).any())
            continue; // kinks between cells
        ++checked;
        const Vec3 gradient = field.sample(p).gradient;
        for (int k = 0; k < 3; ++k) {
            const Vec3 step = e * Vec3::Unit(k);
            const double slope = (field.distance(p + step) - field.distance(p - step)) / (2.0 * e);
            EXPECT_NEAR(gradient[k], slope, 1e-6);
        }
    }
    EXPECT_GT(checked, 2000);
}

TEST(DistanceField, SizesAndMemoryAreAsAsked)
{
    const SurfaceQuery surface(test::unit_cube());
    Progress progress;
    const DistanceField field(surface, {.cell = 0.25, .margin = 0.5}, progress);
    EXPECT_EQ(field.size(), Eigen::Vector3i::Constant(11)); // (1 + 2 (0.5 + 0.25)) / 0.25 = 10 cells
    EXPECT_TRUE(field.box().contains(Box3(Vec3::Constant(-0.5), Vec3::Constant(1.5))));
    const DistanceField usual(surface, {}, progress);
    EXPECT_DOUBLE_EQ(usual.cell(), 1.0 / 64.0);
    EXPECT_THROW(DistanceField(surface, {.cell = 1e-5}, progress), InputError);
    EXPECT_THROW(DistanceField(surface, {.cell = -1.0}, progress), InputError);
    EXPECT_THROW(DistanceField(surface, {.margin = -1.0}, progress), InputError);
    EXPECT_THROW((void)field.distance(Vec3(0, 0, std::nan(""))), InputError);
}

TEST(DistanceField, CanBeStoppedAndTellsHowFarItIs)
{
    const SurfaceQuery surface(test::unit_cube());
    std::stop_source stop;
    int events = 0;
    Progress progress(
        [&](const ProgressEvent& event) {
            ++events;
            if (event.fraction > 0.4) stop.request_stop();
        },
        stop.get_token());
    EXPECT_THROW(DistanceField(surface, {.cell = 0.05}, progress), Interrupted);
    EXPECT_GT(events, 2);
}

TEST(DistanceField, SameBitsForAnyNumberOfThreads)
{
    const SurfaceQuery surface(test::sphere_surface(10));
    Progress progress;
    const DistanceField all(surface, {.cell = 0.1}, progress);
    for (const int threads : {1, 2}) {
        const ThreadLimit limit(threads);
        const DistanceField field(surface, {.cell = 0.1}, progress);
        Random random(5);
        for (int i = 0; i < 500; ++i) {
            const Vec3 p = test::random_point(random, -1.5, 1.5);
            EXPECT_EQ(field.distance(p), all.distance(p));
        }
    }
}
