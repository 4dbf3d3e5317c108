#include "lithe/meshing/pull_boundary.hpp"

#include <gtest/gtest.h>

#include "lithe/geometry/tet_quality.hpp"
#include "support/meshes.hpp"

namespace lithe {
namespace {

/// A cube of 4^3 cells with one vertex in the middle of its lid drawn out.
TetMesh cube_with_a_spike(double height)
{
    TetMesh mesh = test::unit_cube_tets(4);
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        if (mesh.vertices.col(v) == Vec3(0.5, 0.5, 1.0)) mesh.vertices(2, v) += height;
    return mesh;
}

} // namespace

TEST(PullBoundary, PullsASpikeIn)
{
    TetMesh mesh = cube_with_a_spike(0.2);
    const SurfaceQuery cube(test::unit_cube());
    EXPECT_EQ(pull_boundary(mesh, cube, {.distance = 0.05}), 1);
    EXPECT_NEAR(bounds(mesh.vertices).max()[2], 1.05, 1e-12);
    EXPECT_EQ(pull_boundary(mesh, cube, {.distance = 0.0501}), 0);
}

TEST(PullBoundary, StopsBeforeTetsBecomeFlat)
{
    TetMesh mesh = cube_with_a_spike(0.2);
    TriangleMesh low = test::unit_cube(); // its lid lies under the layer of the spike's neighbours
    low.vertices.row(2) *= 0.6;
    (void)pull_boundary(mesh, SurfaceQuery(low), {.distance = 0.01, .smallest_angle = 10.0});
    EXPECT_EQ(tet_quality(mesh).inverted, 0);
    EXPECT_GE(smallest_dihedral_angle(mesh), 10.0);
}

} // namespace lithe
