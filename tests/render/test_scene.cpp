#include "lithe/render/scene.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/render/image.hpp"
#include "render/pictures.hpp"
#include "support/meshes.hpp"

namespace lithe {
namespace {

Vec3 face_normal(const TriangleMesh& mesh, Index t)
{
    const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
    return (mesh.vertices.col(mesh.triangles(1, t)) - a)
        .cross(Vec3(mesh.vertices.col(mesh.triangles(2, t)) - a))
        .normalized();
}

TEST(CreaseNormals, ABoxIsFlat)
{
    const TriangleMesh box = test::unit_cube();
    const Points normals = crease_normals(box.vertices, box.triangles, 1.0);
    for (Index corner = 0; corner < normals.cols(); ++corner)
        EXPECT_NEAR((normals.col(corner) - face_normal(box, corner / 3)).norm(), 0.0, 1e-12);
}

TEST(CreaseNormals, ABoxIsRoundWhenNothingIsACrease)
{
    const TriangleMesh box = test::unit_cube();
    const Points normals = crease_normals(box.vertices, box.triangles, 3.2);
    for (Index corner = 0; corner < normals.cols(); ++corner) {
        const Vec3 out = box.vertices.col(box.triangles(corner % 3, corner / 3)) - Vec3::Constant(0.5);
        EXPECT_NEAR((normals.col(corner) - out.normalized()).norm(), 0.0,
                    1e-12); // angle weights: exact by symmetry
    }
}

TEST(CreaseNormals, ASphereIsSmoothEvenAsASoup)
{
    const TriangleMesh sphere = test::sphere(1.0, 3);
    TriangleMesh soup{Points(3, 3 * sphere.triangle_count()), Triangles(3, sphere.triangle_count()), {}};
    for (Index t = 0; t < sphere.triangle_count(); ++t)
        for (int c = 0; c < 3; ++c) {
            soup.vertices.col(3 * t + c) = sphere.vertices.col(sphere.triangles(c, t));
            soup.triangles(c, t) = static_cast<int>(3 * t + c);
        }
    const Points normals = crease_normals(soup.vertices, soup.triangles, 1.0);
    EXPECT_NEAR((normals - soup.vertices).colwise().norm().maxCoeff(), 0.0, 0.03);
    EXPECT_EQ(normals, crease_normals(sphere.vertices, sphere.triangles, 1.0));
}

TEST(CreaseNormals, TrianglesWithoutAreaDoNoHarm)
{
    TriangleMesh mesh = test::unit_cube();
    mesh.triangles.conservativeResize(3, mesh.triangles.cols() + 1);
    mesh.triangles.rightCols<1>() << 0, 0, 1;
    EXPECT_TRUE(crease_normals(mesh.vertices, mesh.triangles, 1.0).allFinite());
}

TEST(MakeSurface, TakesColoursFromTheFieldElseFromTheOption)
{
    TriangleMesh mesh = test::unit_cube();
    const Vec3 chosen(0.2, 0.4, 0.6);
    EXPECT_EQ(make_surface(mesh, {.color = chosen}).colors, Points(linear_from_srgb(chosen)));
    mesh.fields.push_back({"color", MatX::Constant(3, mesh.vertex_count(), 0.5)});
    const RenderSurface surface = make_surface(mesh, {.color = chosen});
    ASSERT_EQ(surface.colors.cols(), mesh.vertex_count());
    EXPECT_NEAR(surface.colors(1, 4), 0.21404, 1e-5);
}

TEST(MakeSurface, MapsAFieldOntoItsRange)
{
    TriangleMesh mesh = test::unit_cube();
    mesh.fields.push_back({"height", mesh.vertices.row(1)});
    mesh.fields.push_back({"motion", 2.0 * mesh.vertices});
    const RenderSurface by_height = make_surface(mesh, {.color_by = ColorBy{"height", 0.0, 2.0}});
    EXPECT_NEAR((by_height.map_values - 0.5 * mesh.vertices.row(1).transpose()).norm(), 0.0, 1e-12);
    const RenderSurface by_motion = make_surface(mesh, {.color_by = ColorBy{"motion", 0.0, 2.0}});
    EXPECT_NEAR(by_motion.map_values.maxCoeff(), 1.0, 1e-12); // 2 sqrt(3), clamped
    const RenderSurface constant = make_surface(mesh, {.color_by = ColorBy{"height", 1.0, 1.0}});
    EXPECT_TRUE(constant.map_values.allFinite());
}

TEST(MakeSurface, SaysWhichFieldsThereAre)
{
    TriangleMesh mesh = test::unit_cube();
    mesh.fields.push_back({"height", mesh.vertices.row(1)});
    try {
        make_surface(mesh, {.color_by = ColorBy{"heigth", 0.0, 1.0}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "no vertex field 'heigth'; fields here: height");
    }
}

TEST(Palette, NeighboursDiffer)
{
    for (std::size_t i = 0; i < 8; ++i) EXPECT_GT((palette_color(i) - palette_color(i + 1)).norm(), 0.2) << i;
}

} // namespace
} // namespace lithe
