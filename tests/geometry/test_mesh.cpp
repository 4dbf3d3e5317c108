#include <gtest/gtest.h>

#include "lithe/geometry/mesh.hpp"
#include "support/meshes.hpp"

using namespace lithe;

TEST(Mesh, VolumeOfTheUnitCubeFromTetsAndFromItsSurface)
{
    const TetMesh tets = test::unit_cube_tets(3);
    EXPECT_NEAR(volume(tets), 1.0, 1e-14);
    const TriangleMesh surface = boundary_surface(tets);
    EXPECT_NEAR(volume(surface), 1.0, 1e-14);
    EXPECT_NEAR(area(surface), 6.0, 1e-13);
}

TEST(Mesh, EveryTetOfTheCubeIsPositive)
{
    const TetMesh mesh = test::unit_cube_tets(2);
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        const auto c = mesh.tets.col(t);
        EXPECT_NEAR(tet_volume(mesh.vertices.col(c[0]), mesh.vertices.col(c[1]), mesh.vertices.col(c[2]),
                               mesh.vertices.col(c[3])),
                    1.0 / 48.0, 1e-15);
    }
}

TEST(Mesh, BoundaryDropsInnerVerticesAndRemembersTheOrigin)
{
    const TetMesh tets = test::unit_cube_tets(3);
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(tets, origin);
    EXPECT_EQ(surface.vertex_count(), 64 - 8);
    EXPECT_EQ(surface.triangle_count(), 6 * 9 * 2);
    for (Index v = 0; v < surface.vertex_count(); ++v)
        EXPECT_EQ(surface.vertices.col(v), tets.vertices.col(origin[v]));
}

TEST(Mesh, NormalsOfACubePointOutward)
{
    const TriangleMesh cube = boundary_surface(test::unit_cube_tets(2));
    const Points n = vertex_normals(cube);
    for (Index v = 0; v < cube.vertex_count(); ++v) {
        EXPECT_NEAR(n.col(v).norm(), 1.0, 1e-14);
        EXPECT_GT(n.col(v).dot(cube.vertices.col(v) - Vec3::Constant(0.5)), 0.0);
    }
}

TEST(Mesh, TheNormalOfAVertexWithoutTrianglesIsZero)
{
    TriangleMesh cube = test::unit_cube();
    cube.vertices.conservativeResize(3, 9);
    cube.vertices.col(8).setZero();
    EXPECT_EQ(vertex_normals(cube).col(8), Vec3::Zero());
}

TEST(Mesh, DroppingUnusedVerticesKeepsFieldsInStep)
{
    TriangleMesh mesh = test::unit_cube();
    const Index used = mesh.vertex_count();
    mesh.vertices.conservativeResize(3, used + 1);
    mesh.vertices.col(used).setConstant(9.0);
    mesh.fields.push_back({"height", mesh.vertices.row(2)});
    drop_unused_vertices(mesh);
    EXPECT_EQ(mesh.vertex_count(), used);
    EXPECT_EQ(mesh.fields[0].values, mesh.vertices.row(2));
}
