#include "lithe/meshing/tidy_solid.hpp"

#include <gtest/gtest.h>

#include "support/meshes.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

/// The tets of a cube of n^3 cells whose centres pass the test.
template <class Keep>
TetMesh carved(int n, const Keep& keep)
{
    TetMesh mesh = test::unit_cube_tets(n);
    Index kept = 0;
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        Vec3 centre = Vec3::Zero();
        for (int c = 0; c < 4; ++c) centre += 0.25 * mesh.vertices.col(mesh.tets(c, t));
        if (keep(Eigen::Vector3i((centre * n).array().floor().matrix().cast<int>())))
            mesh.tets.col(kept++) = mesh.tets.col(t);
    }
    mesh.tets.conservativeResize(4, kept);
    drop_unused_vertices(mesh);
    return mesh;
}

bool is_manifold(const TetMesh& mesh)
{
    const test::Topology topology = test::topology(boundary_surface(mesh));
    return topology.closed && topology.manifold_vertex;
}

} // namespace

TEST(TidySolid, LeavesAGoodSolidAlone)
{
    TetMesh mesh = test::unit_cube_tets(3);
    const TetMesh before = mesh;
    const TidyReport report = tidy_solid(mesh);
    EXPECT_EQ(mesh.tets, before.tets);
    EXPECT_EQ(mesh.vertices, before.vertices);
    EXPECT_EQ(report.parts, 1);
    EXPECT_EQ(report.dropped_tets + report.dropped_parts + report.split_vertices, 0);
}

TEST(TidySolid, PartsCubesThatTouchAlongAnEdge)
{
    // Two cells in a layer, one beside the other across a corner.
    TetMesh mesh = carved(3, [](const Eigen::Vector3i& c) {
        return c[2] == 0 && ((c[0] == 0 && c[1] == 0) || (c[0] == 1 && c[1] == 1));
    });
    ASSERT_FALSE(is_manifold(mesh));
    const double before = volume(mesh);
    const TidyReport report = tidy_solid(mesh);
    EXPECT_TRUE(is_manifold(mesh));
    EXPECT_GT(report.dropped_tets, 0);
    EXPECT_GT(volume(mesh), 0.5 * before);
}

TEST(TidySolid, GivesCornersThatTouchTheirOwnVertices)
{
    TetMesh mesh = carved(2, [](const Eigen::Vector3i& c) {
        return c == Eigen::Vector3i::Zero() || c == Eigen::Vector3i::Ones();
    });
    ASSERT_FALSE(is_manifold(mesh));
    const double before = volume(mesh);
    const TidyReport report = tidy_solid(mesh);
    EXPECT_TRUE(is_manifold(mesh));
    EXPECT_EQ(report.split_vertices, 1);
    EXPECT_EQ(report.parts, 2);
    EXPECT_EQ(volume(mesh), before);
}

TEST(TidySolid, OpensPinchedHollows)
{
    // Two empty cells inside a cube that touch in one point.
    TetMesh mesh = carved(4, [](const Eigen::Vector3i& c) {
        return c != Eigen::Vector3i(1, 1, 1) && c != Eigen::Vector3i(2, 2, 2);
    });
    ASSERT_FALSE(is_manifold(mesh));
    (void)tidy_solid(mesh);
    EXPECT_TRUE(is_manifold(mesh));
    EXPECT_GT(volume(mesh), 0.9 * 62.0 / 64.0);
}

TEST(TidySolid, DropsSpecksButKeepsParts)
{
    const auto keep = [](const Eigen::Vector3i& c) { return c[0] < 4 || c == Eigen::Vector3i(5, 5, 5); };
    TetMesh mesh = carved(6, keep), both = mesh;
    const TidyReport report = tidy_solid(mesh, {.speck_share = 0.01});
    EXPECT_EQ(report.parts, 1);
    EXPECT_EQ(report.dropped_parts, 1);
    EXPECT_NEAR(report.dropped_volume, 1.0 / 216.0, 1e-12);
    EXPECT_NEAR(volume(mesh), 144.0 / 216.0, 1e-12);
    EXPECT_EQ(tidy_solid(both, {.speck_share = 0.001}).parts, 2);
}

} // namespace lithe
