#include "lithe/meshing/cgal/delaunay.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/remesh.hpp"
#include "support/meshes.hpp"

using namespace lithe;
using testing::HasSubstr;

namespace {

TriangleMesh cube(int n)
{
    return boundary_surface(test::unit_cube_tets(n));
}

/// A sphere of radius 1 around the origin.
TriangleMesh sphere()
{
    TriangleMesh mesh = subdivide(cube(3), 2, SubdivisionRule::Midpoint);
    mesh.vertices.array() -= 0.5;
    mesh.vertices.colwise().normalize();
    return mesh;
}

TriangleMesh moved(TriangleMesh mesh, double scale, const Vec3& shift)
{
    mesh.vertices = (scale * mesh.vertices).colwise() + shift;
    return mesh;
}

double smallest_volume(const TetMesh& mesh)
{
    double smallest = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        const auto c = mesh.tets.col(t);
        smallest = std::min(smallest, tet_volume(mesh.vertices.col(c[0]), mesh.vertices.col(c[1]),
                                                 mesh.vertices.col(c[2]), mesh.vertices.col(c[3])));
    }
    return smallest;
}

/// A skew prism on a triangle: all of its edges are sharp.
TriangleMesh prism()
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, 6);
    mesh.vertices << 0, 1.3, 0.4, 0, 1.3, 0.4, 0, 0.1, 0.9, 0, 0.1, 0.9, 0, 0, 0, 0.8, 0.8, 0.8;
    mesh.triangles.resize(3, 8);
    mesh.triangles << 0, 3, 0, 0, 1, 1, 2, 2, 2, 4, 1, 4, 2, 5, 0, 3, 1, 5, 4, 3, 5, 4, 3, 5;
    return mesh;
}

TetMesh mesh_it(const TriangleMesh& surface, const DelaunayOptions& options)
{
    Progress progress;
    return delaunay_tets(surface, options, progress);
}

std::string message_of(const TriangleMesh& surface, const DelaunayOptions& options)
{
    try {
        (void)mesh_it(surface, options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// These tests need CGAL; without it there is one that says so.
class Delaunay : public testing::Test {
protected:
    void SetUp() override
    {
        if (!delaunay_available()) GTEST_SKIP() << "built without LITHE_GPL";
    }
};

} // namespace

TEST(DelaunayAbsent, SaysHowToGoOn)
{
    if (delaunay_available()) GTEST_SKIP() << "built with LITHE_GPL";
    EXPECT_THAT(message_of(cube(1), {.cell = 0.5}), HasSubstr("--mesher stuffing"));
}

TEST_F(Delaunay, SharpEdgesAndTheVolumeAreKept)
{
    const double V = volume(prism());
    const TetMesh tets = mesh_it(prism(), {.cell = 0.15});
    EXPECT_NEAR(volume(tets) / V, 1.0, 1e-9);
    EXPECT_GT(smallest_volume(tets), 0.0);
    EXPECT_TRUE(count_edges(boundary_surface(tets).triangles).closed());

    const TetMesh unprotected = mesh_it(prism(), {.cell = 0.15, .feature_angle = 180.0});
    EXPECT_LT(volume(unprotected) / V, 0.999);
}

TEST_F(Delaunay, ASphereIsFilledToTheAskedCount)
{
    const TriangleMesh surface = sphere();
    for (const Index count : {1000, 10000}) {
        const TetMesh tets = mesh_it(surface, {.count = count});
        EXPECT_NEAR(static_cast<double>(tets.tet_count()), static_cast<double>(count),
                    0.2 * static_cast<double>(count));
        EXPECT_GT(smallest_volume(tets), 0.0);
        EXPECT_NEAR(volume(tets) / volume(surface), 1.0,
                    count > 5000 ? 0.02 : 0.05); // vertices lie on the sphere
        EXPECT_EQ(count_edges(boundary_surface(tets).triangles).non_manifold, 0);
    }
}

TEST_F(Delaunay, ASmallerCellMakesMoreTets)
{
    EXPECT_GT(mesh_it(sphere(), {.cell = 0.2}).tet_count(), 5 * mesh_it(sphere(), {.cell = 0.4}).tet_count());
}

TEST_F(Delaunay, SeparateAndNestedShellsAreAllFound)
{
    const TriangleMesh surface = test::joined(test::joined(sphere(), moved(sphere(), 0.1, Vec3(3, 0, 0))),
                                              moved(sphere(), 0.5, Vec3::Zero()));
    const TetMesh tets = mesh_it(surface, {.cell = 0.2});
    const double whole = volume(sphere());
    EXPECT_NEAR(volume(tets) / (whole * (1.0 + 0.001 - 0.125)), 1.0, 0.03);
    EXPECT_GT(tets.vertices.row(0).maxCoeff(), 2.9);
}

TEST_F(Delaunay, FlippedTrianglesDoNotMatter)
{
    TriangleMesh surface = sphere();
    const TetMesh expected = mesh_it(surface, {.cell = 0.3});
    for (const int t : {3, 50, 51}) std::swap(surface.triangles(1, t), surface.triangles(2, t));
    EXPECT_NEAR(volume(mesh_it(surface, {.cell = 0.3})), volume(expected), 0.02);
}

TEST_F(Delaunay, SameBitsEachTime)
{
    std::vector<TetMesh> runs;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        runs.push_back(mesh_it(sphere(), {.count = 3000}));
    }
    for (const TetMesh& run : runs) {
        EXPECT_EQ(run.vertices, runs[0].vertices);
        EXPECT_EQ(run.tets, runs[0].tets);
    }
}

TEST_F(Delaunay, AnOpenSurfaceIsRefusedWithThePlaceAndTheWayOut)
{
    TriangleMesh surface = cube(2);
    surface.triangles = Triangles(surface.triangles.rightCols(surface.triangle_count() - 1));
    const std::string message = message_of(surface, {.cell = 0.2});
    EXPECT_THAT(message, HasSubstr("open at the edge between vertices"));
    EXPECT_THAT(message, HasSubstr("--fill-holes"));
}

TEST_F(Delaunay, ANonManifoldEdgeIsRefused)
{
    TriangleMesh surface = cube(2);
    surface.triangles.conservativeResize(3, surface.triangle_count() + 1);
    surface.triangles.rightCols(1) << surface.triangles(0, 0), surface.triangles(1, 0),
        surface.triangles(0, 20);
    EXPECT_THAT(message_of(surface, {.cell = 0.2}),
                testing::AnyOf(HasSubstr("not manifold"), HasSubstr("open")));
}

TEST_F(Delaunay, BoxesThatTouchAtAVertexAreRefused)
{
    TriangleMesh surface = test::joined(cube(1), moved(cube(1), 1.0, Vec3(1, 1, 1)));
    int a = -1, b = -1; // one vertex for both at (1, 1, 1)
    for (int v = 0; v < surface.vertex_count(); ++v)
        if (surface.vertices.col(v) == Vec3::Ones()) (a < 0 ? a : b) = v;
    for (int& v : surface.triangles.reshaped())
        if (v == b) v = a;
    EXPECT_THAT(message_of(surface, {.cell = 0.2}), HasSubstr("touch at a single vertex"));
}

TEST_F(Delaunay, ACrossingSurfaceIsRefused)
{
    const TriangleMesh surface = test::joined(cube(1), moved(cube(1), 1.0, Vec3(0.5, 0.25, 0.125)));
    EXPECT_THAT(message_of(surface, {.cell = 0.2}), HasSubstr("crosses itself"));
}

TEST_F(Delaunay, RefusesBadOptions)
{
    EXPECT_THAT(message_of(cube(1), {}), HasSubstr("either a cell size or a number"));
    EXPECT_THAT(message_of(cube(1), {.cell = 0.1, .count = 10}), HasSubstr("either a cell size or a number"));
    EXPECT_THAT(message_of(cube(1), {.cell = -0.1}), HasSubstr("cell"));
    EXPECT_THAT(message_of(cube(1), {.count = 0}), HasSubstr("count"));
    EXPECT_THAT(message_of(cube(1), {.cell = 0.1, .feature_angle = 0.0}), HasSubstr("feature_angle"));
    EXPECT_THAT(message_of(TriangleMesh{}, {.cell = 0.1}), HasSubstr("no triangles"));
}

TEST_F(Delaunay, StopsBetweenRunsWhenAsked)
{
    std::stop_source stop;
    Progress progress([&](const ProgressEvent&) { stop.request_stop(); }, stop.get_token());
    EXPECT_THROW((void)delaunay_tets(sphere(), {.count = 2000}, progress), Interrupted);
}
