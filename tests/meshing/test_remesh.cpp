#include "lithe/meshing/remesh.hpp"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/intersections.hpp"
#include "support/meshes.hpp"

using namespace lithe;
using Placement = SimplifyOptions::Placement;

namespace {

TriangleMesh cube(int n)
{
    return boundary_surface(test::unit_cube_tets(n));
}

TriangleMesh icosahedron()
{
    const double g = std::numbers::phi;
    TriangleMesh mesh;
    mesh.vertices.resize(3, 12);
    mesh.vertices << -1, 1, -1, 1, 0, 0, 0, 0, g, g, -g, -g, //
        g, g, -g, -g, -1, 1, -1, 1, 0, 0, 0, 0,              //
        0, 0, 0, 0, g, g, -g, -g, -1, 1, -1, 1;
    mesh.vertices.colwise().normalize();
    mesh.triangles.resize(3, 20);
    mesh.triangles << 0, 0, 0, 0, 0, 1, 5, 11, 10, 7, 3, 3, 3, 3, 3, 4, 2, 6, 8, 9, //
        11, 5, 1, 7, 10, 5, 11, 10, 7, 1, 9, 4, 2, 6, 8, 9, 4, 2, 6, 8,             //
        5, 1, 7, 10, 11, 9, 4, 2, 6, 8, 4, 2, 6, 8, 9, 5, 11, 10, 7, 1;
    return mesh;
}

TriangleMesh sphere(int levels)
{
    TriangleMesh mesh = subdivide(icosahedron(), levels, SubdivisionRule::Midpoint);
    mesh.vertices.colwise().normalize();
    return mesh;
}

TriangleMesh grid(int n)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, (n + 1) * (n + 1));
    mesh.triangles.resize(3, 2 * n * n);
    for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i) mesh.vertices.col(j * (n + 1) + i) = Vec3(i, j, 0) / n;
    for (int j = 0, t = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const int a = j * (n + 1) + i, b = a + 1, c = a + n + 2, d = a + n + 1;
            mesh.triangles.col(t++) << a, b, c;
            mesh.triangles.col(t++) << a, c, d;
        }
    return mesh;
}

Index euler_characteristic(const TriangleMesh& mesh)
{
    return mesh.vertex_count() - count_edges(mesh.triangles).edges + mesh.triangle_count();
}

bool is_closed_and_consistent(const TriangleMesh& mesh)
{
    const EdgeCensus census = count_edges(mesh.triangles);
    return census.closed() && census.inconsistent == 0;
}

void add_position_field(TriangleMesh& mesh)
{
    mesh.fields.push_back({"position", mesh.vertices});
}

} // namespace

// -------------------------------------------------------------------------------------------- simplify

TEST(Simplify, ATenthOfASphereKeepsItClosedAndItsVolume)
{
    TriangleMesh mesh = sphere(5); // 20480 triangles
    add_position_field(mesh);
    for (const Placement placement : {Placement::Subset, Placement::Optimal}) {
        const SimplifyResult result = simplify(mesh, 2048, {.placement = placement});
        EXPECT_TRUE(result.reached);
        EXPECT_EQ(result.mesh.triangle_count(), 2048);
        EXPECT_TRUE(is_closed_and_consistent(result.mesh));
        EXPECT_EQ(euler_characteristic(result.mesh), 2);
        EXPECT_NEAR(volume(result.mesh) / volume(mesh), 1.0, 0.01);
        EXPECT_TRUE(self_intersections(result.mesh).empty());
        EXPECT_GT(result.error, 0.0);
        EXPECT_LT(result.error, 0.01);
        ASSERT_EQ(result.mesh.fields[0].values.cols(), result.mesh.vertex_count());
        EXPECT_LT((result.mesh.fields[0].values - result.mesh.vertices).colwise().norm().maxCoeff(), 0.02);
    }
}

TEST(Simplify, TheSubsetIsTakenFromTheInputToTheLastBit)
{
    TriangleMesh mesh = sphere(3);
    mesh.vertices.row(0).array() += 100.0;
    add_position_field(mesh);
    const SimplifyResult result = simplify(mesh, 200);
    EXPECT_EQ(result.mesh.vertices, Points(mesh.vertices(Eigen::all, result.origin)));
    EXPECT_EQ(result.mesh.fields[0].values, MatX(result.mesh.vertices));
}

TEST(Simplify, OptimalPlacementIsCloserToTheVolumeThanASubset)
{
    const TriangleMesh mesh = sphere(4);
    const double V = volume(mesh);
    const double subset = volume(simplify(mesh, 300).mesh);
    const double optimal = volume(simplify(mesh, 300, {.placement = Placement::Optimal}).mesh);
    EXPECT_LT(std::abs(optimal - V), 0.5 * std::abs(subset - V));
}

TEST(Simplify, ACubeGoesDownToItsTwelveTrianglesExactly)
{
    const SimplifyResult result = simplify(cube(6), 12);
    EXPECT_EQ(result.mesh.triangle_count(), 12);
    EXPECT_EQ(result.mesh.vertex_count(), 8);
    EXPECT_NEAR(volume(result.mesh), 1.0, 1e-12);
    EXPECT_NEAR(result.error, 0.0, 1e-7);
}

TEST(Simplify, TheErrorBoundStopsIt)
{
    const SimplifyResult result = simplify(cube(6), 4, {.max_error = 1e-3});
    EXPECT_FALSE(result.reached);
    EXPECT_EQ(result.mesh.triangle_count(), 12);
    EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("could not go below 12 triangles")));
    EXPECT_LT(simplify(cube(6), 4).mesh.triangle_count(), 12);
}

TEST(Simplify, EveryPartStaysAtLeastATetrahedron)
{
    const TriangleMesh one = sphere(2);
    TriangleMesh two;
    two.vertices.resize(3, 2 * one.vertex_count());
    two.vertices << one.vertices, (one.vertices.colwise() + Vec3(5, 0, 0));
    two.triangles.resize(3, 2 * one.triangle_count());
    two.triangles << one.triangles, (one.triangles.array() + static_cast<int>(one.vertex_count())).matrix();
    const SimplifyResult result = simplify(two, 1);
    EXPECT_FALSE(result.reached);
    EXPECT_TRUE(is_closed_and_consistent(result.mesh));
    EXPECT_EQ(euler_characteristic(result.mesh), 4);
    EXPECT_LE(result.mesh.triangle_count(), 40);
}

TEST(Simplify, ATorusKeepsItsHole)
{
    const int n = 48, m = 24;
    TriangleMesh torus;
    torus.vertices.resize(3, n * m);
    torus.triangles.resize(3, 2 * n * m);
    for (int i = 0, t = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            const double u = 2 * std::numbers::pi * i / n, v = 2 * std::numbers::pi * j / m;
            const double r = 1.0 + 0.4 * std::cos(v);
            torus.vertices.col(i * m + j) << r * std::cos(u), r * std::sin(u), 0.4 * std::sin(v);
            const int a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                      d = i * m + (j + 1) % m;
            torus.triangles.col(t++) << a, b, c;
            torus.triangles.col(t++) << a, c, d;
        }
    for (const Index target : {400, 60, 1}) {
        const SimplifyResult result = simplify(torus, target);
        EXPECT_TRUE(is_closed_and_consistent(result.mesh));
        EXPECT_EQ(euler_characteristic(result.mesh), 0);
        if (target > 1) {
            EXPECT_EQ(result.mesh.triangle_count(), target);
        }
    }
}

TEST(Simplify, ABorderStaysALoopInPlace)
{
    for (const Placement placement : {Placement::Subset, Placement::Optimal}) {
        const SimplifyResult result = simplify(grid(10), 2, {.placement = placement, .max_error = 1e-6});
        EXPECT_NEAR(area(result.mesh), 1.0, 1e-5);
        EXPECT_EQ(count_edges(result.mesh.triangles).non_manifold, 0);
        EXPECT_EQ(euler_characteristic(result.mesh), 1);
        EXPECT_LE(result.mesh.triangle_count(), 8);
    }
}

TEST(Simplify, LeavesNonManifoldEdgesAlone)
{
    TriangleMesh mesh = grid(4); // a third sheet at an inner edge
    const Index v = mesh.vertex_count();
    mesh.vertices.conservativeResize(3, v + 1);
    mesh.vertices.col(v) = Vec3(0.5, 0.5, 1.0);
    mesh.triangles.conservativeResize(3, mesh.triangle_count() + 1);
    mesh.triangles.rightCols(1) << 12, 13, static_cast<int>(v);
    ASSERT_EQ(count_edges(mesh.triangles).non_manifold, 1);
    EXPECT_EQ(count_edges(simplify(mesh, 1).mesh.triangles).non_manifold, 1);
}

TEST(Simplify, RefusesBadInput)
{
    EXPECT_THROW((void)simplify(cube(1), 0), InputError);
    EXPECT_THROW((void)simplify(cube(1), 4, {.max_error = 0.0}), InputError);
    EXPECT_TRUE(simplify(TriangleMesh{}, 10).reached);
}

RC_GTEST_PROP(Simplify, ABumpySphereStaysManifoldAndFacesOutward, (std::uint64_t seed))
{
    TriangleMesh mesh = sphere(3);
    Random random(seed);
    for (Index v = 0; v < mesh.vertex_count(); ++v) mesh.vertices.col(v) *= random.uniform(0.9, 1.1);
    const auto placement = seed % 2 == 0 ? Placement::Subset : Placement::Optimal;
    const SimplifyResult result =
        simplify(mesh, 20 + static_cast<Index>(random.index(600)), {.placement = placement});
    RC_ASSERT(is_closed_and_consistent(result.mesh));
    RC_ASSERT(euler_characteristic(result.mesh) == 2);
    RC_ASSERT(volume(result.mesh) > 2.0);
    const SimplifyResult again = simplify(mesh, result.mesh.triangle_count(), {.placement = placement});
    RC_ASSERT(again.mesh.vertices == result.mesh.vertices);
    RC_ASSERT(again.mesh.triangles == result.mesh.triangles);
}

RC_GTEST_PROP(Simplify, RandomTrianglesNeverBreakTheMesh, (std::uint64_t seed))
{
    Random random(seed);
    TriangleMesh mesh;
    mesh.vertices.resize(3, 10);
    for (double& x : mesh.vertices.reshaped()) x = random.uniform(-1.0, 1.0);
    mesh.triangles.resize(3, static_cast<Index>(random.index(30)));
    for (int& v : mesh.triangles.reshaped()) v = static_cast<int>(random.index(10));
    const SimplifyResult result = simplify(mesh, 1);
    if (result.mesh.triangle_count() == 0) return;
    RC_ASSERT(result.mesh.triangles.minCoeff() >= 0);
    RC_ASSERT(result.mesh.triangles.maxCoeff() < result.mesh.vertex_count());
    RC_ASSERT(count_edges(result.mesh.triangles).non_manifold <= count_edges(mesh.triangles).non_manifold);
}

// ------------------------------------------------------------------------------------------- subdivide

TEST(Subdivide, LoopOfAnIcosahedronApproachesItsLimitSurface)
{
    const TriangleMesh mesh = icosahedron();
    // the limit of a vertex with n neighbours: (1 - n chi) v + chi sum, chi = 1 / (3 / (8 beta) + n)
    const double n = 5.0, c = 0.375 + 0.25 * std::cos(2.0 * std::numbers::pi / n);
    const double beta = (0.625 - c * c) / n, chi = 1.0 / (0.375 / beta + n);
    // the five neighbours of a vertex sum to sqrt(5) times the vertex
    const double limit_radius = 1.0 - n * chi + chi * std::sqrt(5.0);

    double last = 1.0;
    for (const int levels : {1, 3, 5}) {
        const TriangleMesh fine = subdivide(mesh, levels);
        EXPECT_EQ(fine.triangle_count(), 20 * static_cast<Index>(std::pow(4, levels)));
        EXPECT_TRUE(is_closed_and_consistent(fine));
        EXPECT_EQ(euler_characteristic(fine), 2);
        const double miss =
            (fine.vertices.leftCols(12) - limit_radius * mesh.vertices).colwise().norm().maxCoeff();
        EXPECT_LT(miss, 0.3 * last);
        last = miss;
    }
    EXPECT_LT(last, 2e-3);
}

TEST(Subdivide, LoopReproducesALinearFieldOnARegularGridAndKeepsTheBorderStraight)
{
    TriangleMesh mesh = grid(4);
    add_position_field(mesh);
    const TriangleMesh fine = subdivide(mesh, 2);
    EXPECT_TRUE(fine.fields[0].values.isApprox(fine.vertices, 1e-14));
    EXPECT_NEAR(fine.vertices.row(2).cwiseAbs().maxCoeff(), 0.0, 1e-15);
    EXPECT_GT(area(fine), 0.98); // only the four corners are cut
    EXPECT_LT(area(fine), 1.0);
    EXPECT_EQ(euler_characteristic(fine), 1);
}

TEST(Subdivide, ABorderDependsOnTheBorderOnly)
{
    TriangleMesh flat = grid(4), bumpy = flat;
    bumpy.vertices(2, 12) = 5.0; // an inner vertex
    const TriangleMesh a = subdivide(flat, 1), b = subdivide(bumpy, 1);
    for (int v = 0; v < 25; ++v) {
        const bool border = v / 5 == 0 || v / 5 == 4 || v % 5 == 0 || v % 5 == 4;
        if (border) {
            EXPECT_EQ(a.vertices.col(v), b.vertices.col(v));
        }
    }
    EXPECT_NE(a.vertices.col(12), b.vertices.col(12));
}

TEST(Subdivide, MidpointKeepsTheSurface)
{
    const TriangleMesh fine = subdivide(cube(2), 2, SubdivisionRule::Midpoint);
    EXPECT_EQ(fine.triangle_count(), 48 * 16);
    EXPECT_NEAR(volume(fine), 1.0, 1e-13);
    EXPECT_NEAR(area(fine), 6.0, 1e-12);
    EXPECT_TRUE(is_closed_and_consistent(fine));
    EXPECT_LT(volume(subdivide(cube(2), 2)), 0.99); // Loop rounds it off
}

TEST(Subdivide, NonManifoldEdgesStayShared)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, 5);
    mesh.vertices << 0, 0, 1, -1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0;
    mesh.triangles.resize(3, 3);
    mesh.triangles << 0, 0, 0, 1, 1, 1, 2, 3, 4;
    const TriangleMesh fine = subdivide(mesh, 1);
    EXPECT_EQ(fine.vertex_count(), 5 + 7);
    EXPECT_EQ(count_edges(fine.triangles).non_manifold, 2);
}

TEST(Subdivide, RefusesBadInput)
{
    EXPECT_THROW((void)subdivide(cube(1), -1), InputError);
    EXPECT_THROW((void)subdivide(cube(1), 20), InputError);
    EXPECT_EQ(subdivide(TriangleMesh{}, 3).triangle_count(), 0);
    EXPECT_EQ(subdivide(cube(1), 0).triangles, cube(1).triangles);
}
