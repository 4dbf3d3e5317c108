#include "lithe/render/cut.hpp"

#include <gtest/gtest.h>

#include "render/pictures.hpp"
#include "support/meshes.hpp"

namespace lithe {
namespace {

TEST(CutSurface, RemovesTheHalfSpaceAndNothingElse)
{
    const TriangleMesh sphere = test::sphere(1.0, 4);
    const CutPlane plane = {Vec3(1, 2, -1).normalized(), 0.3}, other = {-plane.normal, -plane.offset};
    const TriangleMesh behind = cut_surface(sphere, plane), before = cut_surface(sphere, other);
    EXPECT_LE((plane.normal.transpose() * behind.vertices).maxCoeff(), 0.3 + 1e-12);
    EXPECT_GE((plane.normal.transpose() * before.vertices).minCoeff(), 0.3 - 1e-12);
    EXPECT_NEAR(area(behind) + area(before), area(sphere), 1e-12 * area(sphere));
    EXPECT_NEAR(area(behind), 2.0 * 3.14159265 * 1.3, 0.05); // a spherical cap is 2 pi r h
}

TEST(CutSurface, InterpolatesFields)
{
    TriangleMesh sphere = test::sphere(1.0, 3);
    sphere.fields.push_back({"place", sphere.vertices}); // linear, so exact everywhere
    const TriangleMesh cut = cut_surface(sphere, {Vec3::UnitY(), 0.21});
    ASSERT_EQ(cut.fields.size(), 1u);
    EXPECT_LT((cut.fields[0].values - cut.vertices).norm(), 1e-12);
}

TEST(CutSurface, ThroughVerticesMakesNoSlivers)
{
    const TriangleMesh sphere = test::sphere(1.0, 2); // has vertices at exactly y = 0
    const TriangleMesh cut = cut_surface(sphere, {Vec3::UnitY(), 0.0});
    EXPECT_EQ(cut.triangle_count(), sphere.triangle_count() / 2);
    EXPECT_EQ(cut_surface(sphere, {Vec3::UnitY(), 5.0}).triangle_count(), sphere.triangle_count());
    EXPECT_EQ(cut_surface(sphere, {Vec3::UnitY(), -5.0}).triangle_count(), 0);
}

double total_area(const RenderSurface& surface)
{
    return area(TriangleMesh{surface.vertices, surface.triangles, {}});
}

TEST(CutTets, ShowsSkinAndOpenedFaces)
{
    const TetMesh cube = test::unit_cube_tets(4);
    const std::vector<RenderSurface> surfaces = cut_tets(cube, {Vec3::UnitX(), 0.5}, {});
    ASSERT_EQ(surfaces.size(), 2u);
    EXPECT_EQ(surfaces[0].lines, Lines::WhenAsked);
    EXPECT_EQ(surfaces[1].lines, Lines::Always);
    EXPECT_NEAR(total_area(surfaces[0]), 3.0, 1e-12); // one side and four halves
    EXPECT_NEAR(total_area(surfaces[1]), 1.0, 1e-12); // the plane falls between cells
    EXPECT_NEAR(surfaces[1].vertices.row(0).minCoeff(), 0.5, 1e-12);
}

TEST(CutTets, WithoutACutThereIsSkinOnlyAndWithAFullOneNothing)
{
    const TetMesh cube = test::unit_cube_tets(2);
    const std::vector<RenderSurface> whole = cut_tets(cube, {Vec3::UnitX(), 5.0}, {});
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_NEAR(total_area(whole[0]), 6.0, 1e-12);
    EXPECT_TRUE(cut_tets(cube, {Vec3::UnitX(), -5.0}, {}).empty());
}

} // namespace
} // namespace lithe
