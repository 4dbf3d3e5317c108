#include "lithe/geometry/tet_quality.hpp"

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

const Vec3 regular[4] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};

} // namespace

TEST(TetQuality, TheRegularTetIsTheBest)
{
    for (const double angle : dihedral_angles(regular[0], regular[1], regular[2], regular[3]))
        EXPECT_NEAR(angle, std::acos(1.0 / 3.0) * 180.0 / M_PI, 1e-12);
    EXPECT_NEAR(std::abs(mean_ratio(regular[0], regular[1], regular[2], regular[3])), 1.0, 1e-14);
    EXPECT_NEAR(mean_ratio(regular[0], regular[1], regular[2], regular[3]),
                -mean_ratio(regular[1], regular[0], regular[2], regular[3]), 1e-14);
    Random random(1);
    for (int i = 0; i < 1000; ++i) {
        const double eta = mean_ratio(test::random_point(random, -1, 1), test::random_point(random, -1, 1),
                                      test::random_point(random, -1, 1), test::random_point(random, -1, 1));
        EXPECT_LT(std::abs(eta), 1.0);
    }
}

TEST(TetQuality, AnglesOfTheCornerOfACube)
{
    const auto angles = dihedral_angles(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ());
    const double slanted = std::acos(1.0 / std::sqrt(3.0)) * 180.0 / M_PI;
    for (int e = 0; e < 3; ++e) EXPECT_NEAR(angles[e], 90.0, 1e-12);
    for (int e = 3; e < 6; ++e) EXPECT_NEAR(angles[e], slanted, 1e-12);
    // V = 1/6, edges 1 1 1 and three of sqrt(2)
    EXPECT_NEAR(mean_ratio(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()),
                12.0 * std::cbrt(0.25) / 9.0, 1e-14);
}

TEST(TetQuality, AngleAtOneEdgeIsTheOneThatWasBuilt)
{
    for (const double degrees : {1e-6, 0.5, 30.0, 89.0, 91.0, 150.0, 179.9999}) {
        const double a = degrees * M_PI / 180.0;
        const auto angles = dihedral_angles(Vec3::Zero(), 2.0 * Vec3::UnitZ(), Vec3(3, 0, 0.3),
                                            Vec3(std::cos(a), std::sin(a), 1.1));
        EXPECT_NEAR(angles[0], degrees, 1e-12 * degrees + 1e-13);
    }
}

TEST(TetQuality, FlatTetsHaveQualityZeroAndNoNan)
{
    const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0), d(1, 1, 0);
    EXPECT_EQ(mean_ratio(a, b, c, d), 0.0);
    EXPECT_EQ(mean_ratio(a, a, a, a), 0.0);
    for (const double angle : dihedral_angles(a, b, c, d)) EXPECT_TRUE(angle == 0.0 || angle == 180.0);
    for (const double angle : dihedral_angles(a, a, b, b)) EXPECT_TRUE(std::isfinite(angle));
}

TEST(TetQuality, FiguresOfAMesh)
{
    TetMesh mesh = test::unit_cube_tets(4);
    const TetQuality good = tet_quality(mesh);
    EXPECT_EQ(good.inverted, 0);
    EXPECT_EQ(good.flat, 0);
    EXPECT_NEAR(good.smallest_dihedral, 45.0, 1e-10);
    EXPECT_NEAR(good.largest_dihedral, 90.0, 1e-10);
    EXPECT_NEAR(good.worst_mean_ratio, good.average_mean_ratio, 1e-14); // all tets are alike
    EXPECT_NEAR(good.smallest_volume, 1.0 / 384.0, 1e-16);

    std::swap(mesh.tets(0, 17), mesh.tets(1, 17));
    mesh.tets(0, 300) = mesh.tets(1, 300);
    const TetQuality bad = tet_quality(mesh);
    EXPECT_EQ(bad.inverted, 1);
    EXPECT_EQ(bad.flat, 1);
    EXPECT_EQ(bad.worst_tet, 17);
    EXPECT_NEAR(bad.worst_mean_ratio, -good.worst_mean_ratio, 1e-14);
    EXPECT_NEAR(bad.smallest_volume, -1.0 / 384.0, 1e-16);
    EXPECT_EQ(smallest_dihedral_angle(mesh), bad.smallest_dihedral);
    EXPECT_EQ(largest_dihedral_angle(mesh), bad.largest_dihedral);
}

TEST(TetQuality, SameBitsForAnyNumberOfThreads)
{
    TetMesh mesh = test::unit_cube_tets(10);
    Random random(3);
    for (double& x : mesh.vertices.reshaped()) x += random.uniform(-0.02, 0.02);
    const TetQuality all = tet_quality(mesh);
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        EXPECT_EQ(tet_quality(mesh).average_mean_ratio, all.average_mean_ratio);
        EXPECT_EQ(tet_quality(mesh).worst_tet, all.worst_tet);
    }
}

TEST(TetQuality, NothingToMeasure)
{
    const TetQuality none = tet_quality(TetMesh{});
    EXPECT_EQ(none.worst_tet, -1);
    EXPECT_EQ(none.worst_mean_ratio, 1.0);
}
