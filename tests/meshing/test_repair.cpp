#include "lithe/meshing/repair.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "support/meshes.hpp"

using namespace lithe;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TriangleMesh cube(int n)
{
    return boundary_surface(test::unit_cube_tets(n));
}

TriangleMesh moved(TriangleMesh mesh, double scale, const Vec3& shift)
{
    mesh.vertices = (scale * mesh.vertices).colwise() + shift;
    return mesh;
}

TriangleMesh turned(TriangleMesh mesh)
{
    mesh.triangles.row(1).swap(mesh.triangles.row(2));
    return mesh;
}

/// Each triangle with vertices of its own.
TriangleMesh soup(const TriangleMesh& mesh)
{
    TriangleMesh result;
    const std::vector<int> corners(mesh.triangles.data(), mesh.triangles.data() + mesh.triangles.size());
    result.vertices = mesh.vertices(Eigen::all, corners);
    result.triangles.resize(3, mesh.triangle_count());
    for (int i = 0; i < result.triangles.size(); ++i) result.triangles.data()[i] = i;
    return result;
}

TriangleMesh without(const TriangleMesh& mesh, const std::vector<int>& dropped)
{
    std::vector<int> kept;
    for (int t = 0; t < mesh.triangle_count(); ++t)
        if (std::find(dropped.begin(), dropped.end(), t) == dropped.end()) kept.push_back(t);
    TriangleMesh result = mesh;
    result.triangles = mesh.triangles(Eigen::all, kept);
    return result;
}

/// The vertices' own coordinates as a field, so that any mix-up shows.
void add_position_field(TriangleMesh& mesh)
{
    mesh.fields.push_back({"position", mesh.vertices});
}
void expect_position_field(const TriangleMesh& mesh)
{
    ASSERT_EQ(mesh.fields.size(), 1u);
    ASSERT_EQ(mesh.fields[0].values.cols(), mesh.vertex_count());
    EXPECT_TRUE(mesh.fields[0].values.isApprox(mesh.vertices, 1e-12));
}

bool is_closed_and_consistent(const TriangleMesh& mesh)
{
    const EdgeCensus census = count_edges(mesh.triangles);
    return census.closed() && census.inconsistent == 0;
}

TriangleMesh turn_some(TriangleMesh mesh, std::uint64_t seed, double share)
{
    Random random(seed);
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        if (random.uniform() < share) std::swap(mesh.triangles(1, t), mesh.triangles(2, t));
    return mesh;
}

/// A strip of n quads around the z axis with `half_turns` half turns.
TriangleMesh strip(int n, int half_turns)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, 2 * n);
    mesh.triangles.resize(3, 2 * n);
    for (int i = 0; i < n; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / n, twist = 0.5 * half_turns * angle;
        const Vec3 along(std::cos(angle), std::sin(angle), 0.0);
        const Vec3 across = std::cos(twist) * along + std::sin(twist) * Vec3::UnitZ();
        mesh.vertices.col(2 * i) = along - 0.3 * across;
        mesh.vertices.col(2 * i + 1) = along + 0.3 * across;
        const bool last = i + 1 == n;
        int c = last ? 0 : 2 * i + 2, d = last ? 1 : 2 * i + 3;
        if (last && half_turns % 2 == 1) std::swap(c, d);
        mesh.triangles.col(2 * i) << 2 * i, c, 2 * i + 1;
        mesh.triangles.col(2 * i + 1) << 2 * i + 1, c, d;
    }
    return mesh;
}

} // namespace

// ------------------------------------------------------------------------------------------------ weld

TEST(Weld, ASoupOfACubeBecomesTheClosedCube)
{
    TriangleMesh mesh = soup(cube(3));
    add_position_field(mesh);
    const WeldReport report = weld(mesh, 0.0);
    EXPECT_EQ(mesh.vertex_count(), 56);
    EXPECT_EQ(report.welded_vertices, 3 * 108 - 56);
    EXPECT_EQ(mesh.triangle_count(), 108);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 1.0, 1e-14);
    expect_position_field(mesh);
    EXPECT_THAT(report.notes, testing::ElementsAre(HasSubstr("welded 268 vertices at equal places")));
}

TEST(Weld, AMeshWithoutFaultsStaysAsItIs)
{
    TriangleMesh mesh = cube(2);
    const TriangleMesh before = mesh;
    for (const double tolerance : {0.0, 1e-9, 0.4}) {
        EXPECT_THAT(weld(mesh, tolerance).notes, IsEmpty());
        EXPECT_EQ(mesh.vertices, before.vertices);
        EXPECT_EQ(mesh.triangles, before.triangles);
    }
}

TEST(Weld, JitterBelowTheToleranceIsWelded)
{
    TriangleMesh mesh = soup(cube(3));
    Random random(7);
    for (double& x : mesh.vertices.reshaped()) x += random.uniform(-1e-6, 1e-6);
    TriangleMesh exact = mesh;
    (void)weld(exact, 0.0);
    EXPECT_EQ(exact.vertex_count(), mesh.vertex_count());
    (void)weld(mesh, 1e-5);
    EXPECT_EQ(mesh.vertex_count(), 56);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
}

TEST(Weld, AChainOfCloseVerticesDoesNotCollapseIntoOne)
{
    TriangleMesh mesh;
    mesh.vertices = Points::Zero(3, 100);
    for (int v = 0; v < 100; ++v) mesh.vertices(0, v) = 0.6 * v;
    mesh.triangles.resize(3, 0);
    (void)weld(mesh, 1.0); // every second one joins its neighbour
    EXPECT_EQ(mesh.vertex_count(), 50);
    EXPECT_EQ(mesh.vertices(0, 1), 1.2);
}

TEST(Weld, MatchesBruteForceOnRandomPoints)
{
    Random random(3);
    TriangleMesh mesh;
    mesh.vertices.resize(3, 500);
    mesh.triangles.resize(3, 0);
    for (double& x : mesh.vertices.reshaped()) x = random.uniform(-1.0, 1.0);
    for (const double tolerance : {1e-3, 0.05, 0.3, 5.0}) {
        std::vector<int> kept;
        for (int v = 0; v < 500; ++v) {
            bool near = false;
            for (const int k : kept)
                near = near || (mesh.vertices.col(k) - mesh.vertices.col(v)).norm() < tolerance;
            if (!near) kept.push_back(v);
        }
        TriangleMesh welded = mesh;
        const WeldReport report = weld(welded, tolerance);
        EXPECT_EQ(report.welded_vertices, 500 - static_cast<Index>(kept.size()));
        EXPECT_EQ(welded.vertices, Points(mesh.vertices(Eigen::all, kept)));
    }
}

TEST(Weld, DropsCopiesOfTrianglesButNotTheTriangle)
{
    TriangleMesh mesh = cube(1);
    mesh.triangles.conservativeResize(3, 15);
    mesh.triangles.col(12) = mesh.triangles.col(0);
    mesh.triangles.col(13) << mesh.triangles(1, 5), mesh.triangles(2, 5), mesh.triangles(0, 5);
    mesh.triangles.col(14) << 0, 0, 1;
    const WeldReport report = weld(mesh, 0.0);
    EXPECT_EQ(report.duplicate_triangles, 2);
    EXPECT_EQ(report.collapsed_triangles, 1);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
}

TEST(Weld, TwoBoxesWithACommonSideBecomeOne)
{
    TriangleMesh mesh = test::joined(cube(2), moved(cube(2), 1.0, Vec3(1, 0, 0)));
    const WeldReport report = weld(mesh, 0.0);
    EXPECT_EQ(report.inner_wall_triangles, 16);
    EXPECT_EQ(report.duplicate_triangles, 0);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 2.0, 1e-14);
}

TEST(Weld, ASheetModelledFromBothSidesKeepsOneSide)
{
    TriangleMesh sheet;
    sheet.vertices.resize(3, 4);
    sheet.vertices << 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0;
    sheet.triangles.resize(3, 2);
    sheet.triangles << 0, 0, 1, 2, 2, 3;
    TriangleMesh mesh = test::joined(sheet, turned(sheet));
    const WeldReport report = weld(mesh, 0.0);
    EXPECT_EQ(report.duplicate_triangles, 2);
    EXPECT_EQ(report.inner_wall_triangles, 0);
    EXPECT_EQ(mesh.triangles, sheet.triangles);
}

TEST(Weld, RefusesBadInput)
{
    TriangleMesh mesh = cube(1);
    EXPECT_THROW((void)weld(mesh, -1.0), InputError);
    EXPECT_THROW((void)weld(mesh, std::nan("")), InputError);
    TriangleMesh beyond = mesh;
    beyond.triangles(0, 3) = 8;
    EXPECT_THROW((void)weld(beyond, 0.0), InputError);
    TriangleMesh infinite = mesh;
    infinite.vertices(1, 2) = std::numeric_limits<double>::infinity();
    EXPECT_THROW((void)orient(infinite), InputError);
    TriangleMesh field = mesh;
    field.fields.push_back({"short", MatX::Zero(1, 3)});
    EXPECT_THROW((void)fill_holes(field, 3), InputError);
}

// ---------------------------------------------------------------------------------------------- orient

TEST(Orient, UndoesFlippedFacesOfACube)
{
    TriangleMesh mesh = cube(3);
    const Triangles expected = mesh.triangles;
    for (const int t : {0, 17, 18, 100}) std::swap(mesh.triangles(1, t), mesh.triangles(2, t));
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.turned, 4);
    EXPECT_EQ(report.patches, 1);
    EXPECT_EQ(report.closed_patches, 1);
    EXPECT_EQ(mesh.triangles, expected);
    EXPECT_THAT(report.notes, testing::ElementsAre("turned 4 triangles round"));
}

TEST(Orient, TurnsAnInsideOutCube)
{
    TriangleMesh mesh = turned(cube(2));
    EXPECT_EQ(orient(mesh).turned, 48);
    EXPECT_NEAR(volume(mesh), 1.0, 1e-14);
    EXPECT_EQ(orient(mesh).turned, 0);
}

RC_GTEST_PROP(Orient, RandomFlipsOfAClosedSurfaceAreUndone, (std::uint64_t seed))
{
    const double share = *rc::gen::element(0.1, 0.5, 0.9);
    TriangleMesh mesh = turn_some(cube(3), seed, share);
    (void)orient(mesh);
    RC_ASSERT(is_closed_and_consistent(mesh));
    RC_ASSERT(std::abs(volume(mesh) - 1.0) < 1e-12);
}

RC_GTEST_PROP(Orient, RandomFlipsOfAnOpenBoxAreUndone, (std::uint64_t seed))
{
    const TriangleMesh whole = cube(3);
    std::vector<int> dropped; // the top
    for (int t = 0; t < whole.triangle_count(); ++t)
        if ((whole.vertices(2, whole.triangles.col(t)).array() == 1.0).all()) dropped.push_back(t);
    RC_ASSERT(dropped.size() == 18u);
    const TriangleMesh box = without(whole, dropped);
    TriangleMesh mesh = turn_some(box, seed, 0.5);
    (void)orient(mesh);
    RC_ASSERT(count_edges(mesh.triangles).inconsistent == 0);
    RC_ASSERT(vertex_normals(mesh).isApprox(vertex_normals(box), 1e-12));
}

TEST(Orient, ASoupOfACubeIsOrientedByCountingCrossings)
{
    TriangleMesh mesh = turn_some(soup(cube(2)), 5, 0.5);
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.patches, 48);
    EXPECT_EQ(report.undecided, 0);
    EXPECT_NEAR(volume(mesh), 1.0, 1e-12);
}

TEST(Orient, KeepsACavityThatFacesInward)
{
    const TriangleMesh outer = cube(2), inner = moved(cube(2), 0.4, Vec3::Constant(0.3));
    const double hollow = 1.0 - std::pow(0.4, 3);
    for (TriangleMesh mesh : {test::joined(outer, turned(inner)), test::joined(turned(outer), inner)}) {
        const OrientReport report = orient(mesh);
        EXPECT_EQ(report.cavities, 1);
        EXPECT_EQ(report.inner_solids, 0);
        EXPECT_NEAR(volume(mesh), hollow, 1e-12);
        EXPECT_THAT(report.notes.back(), HasSubstr("hollow"));
    }
}

TEST(Orient, LeavesASolidInsideASolidAsItFaced)
{
    TriangleMesh mesh = test::joined(cube(2), moved(cube(2), 0.4, Vec3::Constant(0.3)));
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.cavities, 0);
    EXPECT_EQ(report.inner_solids, 1);
    EXPECT_EQ(report.turned, 0);
}

TEST(Orient, ParityDecidesForMixedShellsInsideEachOther)
{
    TriangleMesh mesh = test::joined(test::joined(cube(3), moved(cube(3), 0.6, Vec3::Constant(0.2))),
                                     moved(cube(3), 0.2, Vec3::Constant(0.4)));
    mesh = turn_some(mesh, 11, 0.4);
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.cavities, 1);
    EXPECT_EQ(report.inner_solids, 1);
    EXPECT_NEAR(volume(mesh), 1.0 - std::pow(0.6, 3) + std::pow(0.2, 3), 1e-12);
}

TEST(Orient, OverlappingShellsBothFaceOutward)
{
    TriangleMesh mesh = test::joined(cube(2), turned(moved(cube(2), 1.0, Vec3(0.5, 0.25, 0.125))));
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.cavities, 0);
    EXPECT_NEAR(volume(mesh), 2.0, 1e-12);
}

TEST(Orient, BoxesThatTouchAlongAnEdgeAreTwoClosedPatches)
{
    TriangleMesh mesh = test::joined(cube(1), turned(moved(cube(1), 1.0, Vec3(1, 1, 0))));
    (void)weld(mesh, 0.0);
    ASSERT_EQ(count_edges(mesh.triangles).non_manifold, 1);
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.closed_patches, 2);
    EXPECT_NEAR(volume(mesh), 2.0, 1e-12);
}

TEST(Orient, ThreeSheetsAtAnEdgeAreThreePatches)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, 5);
    mesh.vertices << 0, 0, 1, -1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0;
    mesh.triangles.resize(3, 3);
    mesh.triangles << 0, 0, 0, 1, 1, 1, 2, 3, 4;
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.patches, 3);
    EXPECT_EQ(report.closed_patches, 0);
    EXPECT_EQ(report.non_orientable, 0);
}

TEST(Orient, ReportsAMoebiusStripAndLeavesIt)
{
    TriangleMesh moebius = strip(20, 1), ring = strip(20, 2);
    const TriangleMesh before = moebius;
    const OrientReport report = orient(moebius);
    EXPECT_EQ(report.non_orientable, 1);
    EXPECT_EQ(moebius.triangles, before.triangles);
    EXPECT_THAT(report.notes, testing::Contains(HasSubstr("Moebius")));
    EXPECT_EQ(orient(ring).non_orientable, 0);
    EXPECT_EQ(count_edges(ring.triangles).inconsistent, 0);
}

TEST(Orient, AFlatSheetIsOnlyMadeConsistent)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, 4);
    mesh.vertices << 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0;
    mesh.triangles.resize(3, 2);
    mesh.triangles << 0, 0, 1, 3, 2, 2;
    const OrientReport report = orient(mesh);
    EXPECT_EQ(report.undecided, 1);
    EXPECT_EQ(report.turned, 1);
    EXPECT_EQ(count_edges(mesh.triangles).inconsistent, 0);
}

TEST(Orient, SameResultForAnyNumberOfThreads)
{
    const TriangleMesh start = turn_some(soup(cube(4)), 9, 0.5);
    std::vector<Triangles> results;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        TriangleMesh mesh = start;
        (void)orient(mesh);
        results.push_back(mesh.triangles);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

// ------------------------------------------------------------------------------------------ fill_holes

TEST(FillHoles, ClosesTheMissingSideOfACube)
{
    const TriangleMesh whole = cube(3);
    std::vector<int> top;
    for (int t = 0; t < whole.triangle_count(); ++t)
        if ((whole.vertices(2, whole.triangles.col(t)).array() == 1.0).all()) top.push_back(t);
    TriangleMesh mesh = without(whole, top);
    drop_unused_vertices(mesh);
    add_position_field(mesh);

    TriangleMesh untouched = mesh;
    const FillReport none = fill_holes(untouched, 11);
    EXPECT_TRUE(none.filled.empty());
    ASSERT_EQ(none.left.size(), 1u);
    EXPECT_EQ(none.left[0].edges, 12);
    EXPECT_EQ(untouched.triangles, mesh.triangles);

    const FillReport report = fill_holes(mesh, 12);
    ASSERT_EQ(report.filled.size(), 1u);
    EXPECT_EQ(report.filled[0].edges, 12);
    EXPECT_NEAR(report.filled[0].length, 4.0, 1e-14);
    EXPECT_TRUE(report.filled[0].place.isApprox(Vec3(0.5, 0.5, 1.0), 1e-14));
    EXPECT_EQ(report.new_triangles, 10);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 1.0, 1e-14);
    EXPECT_NEAR(area(mesh), 6.0, 1e-13); // least area: flat
    expect_position_field(mesh);
    TriangleMesh again = mesh;
    EXPECT_EQ(drop_degenerate(again).flipped, 0); // no flat triangles, though the rim has straight angles
}

TEST(FillHoles, HolesThatTouchAtAVertexAreFilledOneByOne)
{
    TriangleMesh mesh = cube(4);
    const std::vector<int> around =
        [&] { // two triangles opposite each other around an inner vertex of a side
            for (int v = 0; v < mesh.vertex_count(); ++v) {
                std::vector<int> ring;
                for (int t = 0; t < mesh.triangle_count(); ++t)
                    if ((mesh.triangles.col(t).array() == v).any()) ring.push_back(t);
                if (ring.size() != 6) continue;
                for (const int t : ring) {
                    int common = 0;
                    for (const int a : mesh.triangles.col(ring[0]))
                        for (const int b : mesh.triangles.col(t)) common += a == b;
                    if (common == 1) return std::vector<int>{ring[0], t};
                }
            }
            return std::vector<int>{};
        }();
    ASSERT_EQ(around.size(), 2u);
    mesh = without(mesh, around);
    const FillReport report = fill_holes(mesh, 3);
    EXPECT_EQ(report.filled.size(), 2u);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 1.0, 1e-14);
}

TEST(FillHoles, ALongLoopGetsAFanAroundItsCentre)
{
    TriangleMesh tube = strip(600, 0);
    tube.vertices.row(2) = tube.vertices.row(0).array().sin().matrix();
    add_position_field(tube);
    const FillReport report = fill_holes(tube, 1000);
    EXPECT_EQ(report.filled.size(), 2u);
    EXPECT_EQ(report.new_vertices, 2);
    EXPECT_EQ(report.new_triangles, 1200);
    EXPECT_TRUE(is_closed_and_consistent(tube));
    expect_position_field(tube);
}

TEST(FillHoles, NeverMakesAnEdgeOfThreeTriangles)
{
    TriangleMesh sheet; // a square: the diagonal is taken, the other is free
    sheet.vertices.resize(3, 4);
    sheet.vertices << 0, 1, 1, 0, 0, 0, 1, 1, 0, 0.2, 0, 0.2;
    sheet.triangles.resize(3, 2);
    sheet.triangles << 0, 0, 1, 2, 2, 3;
    EXPECT_EQ(fill_holes(sheet, 4).filled.size(), 1u);
    EXPECT_TRUE(is_closed_and_consistent(sheet));

    TriangleMesh single;
    single.vertices = Points::Identity(3, 3);
    single.triangles = Eigen::Vector3i(0, 1, 2);
    const FillReport report = fill_holes(single, 10);
    EXPECT_EQ(report.left.size(), 1u);
    EXPECT_EQ(single.triangle_count(), 1);
}

TEST(FillHoles, LeavesALoopThatRunsIntoATurnedTriangle)
{
    TriangleMesh mesh = without(cube(3), {0});
    for (int t = 0; t < mesh.triangle_count(); ++t) // turn one neighbour of the hole
        if (half_edge_twins(mesh.triangles)[3 * t] == border_edge) {
            std::swap(mesh.triangles(1, t), mesh.triangles(2, t));
            break;
        }
    EXPECT_TRUE(fill_holes(mesh, 10).filled.empty());
    EXPECT_FALSE(fill_holes(mesh, 10).left.empty());
}

// ------------------------------------------------------------------------- degenerate, components, all

TEST(DropDegenerate, MendsATriangleWithoutHeightWithoutOpeningTheSurface)
{
    TriangleMesh mesh = cube(1);
    // split triangle 0 at the middle of its first side without telling the neighbour, then close with a flat triangle
    const Eigen::Vector3i c = mesh.triangles.col(0);
    mesh.vertices.conservativeResize(3, 9);
    mesh.vertices.col(8) = 0.5 * (mesh.vertices.col(c[0]) + mesh.vertices.col(c[1]));
    mesh.triangles.conservativeResize(3, 14);
    mesh.triangles.col(0) << c[0], 8, c[2];
    mesh.triangles.col(12) << 8, c[1], c[2];
    mesh.triangles.col(13) << c[0], c[1], 8;
    ASSERT_TRUE(is_closed_and_consistent(mesh));

    const DegenerateReport report = drop_degenerate(mesh);
    EXPECT_EQ(report.flipped, 1);
    EXPECT_EQ(report.left, 0);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 1.0, 1e-14);
}

TEST(DropSmallComponents, KeepsTheLargest)
{
    TriangleMesh mesh = test::joined(moved(cube(1), 0.1, Vec3(5, 0, 0)),
                                     test::joined(cube(2), moved(cube(1), 0.5, Vec3(2, 0, 0))));
    add_position_field(mesh);
    TriangleMesh all = mesh, two = mesh;
    EXPECT_EQ(drop_small_components(all, 0.0).removed_components, 0);
    EXPECT_EQ(drop_small_components(two, 0.2).removed_components, 1);
    EXPECT_NEAR(volume(two), 1.125, 1e-12);
    const ComponentReport report = drop_small_components(mesh, 1.0);
    EXPECT_EQ(report.components, 3);
    EXPECT_EQ(report.removed_components, 2);
    EXPECT_EQ(report.removed_triangles, 24);
    EXPECT_NEAR(volume(mesh), 1.0, 1e-12);
    expect_position_field(mesh);
    EXPECT_THROW((void)drop_small_components(mesh, 1.5), InputError);
}

TEST(Repair, ABrokenSoupBecomesAClosedCube)
{
    TriangleMesh mesh = turn_some(without(soup(cube(3)), {4, 50, 51}), 2, 0.5);
    add_position_field(mesh);
    const RepairReport report = repair(mesh, {.hole_edges = 10});
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_NEAR(volume(mesh), 1.0, 1e-12);
    EXPECT_EQ(report.orient.closed_patches, 1);
    EXPECT_GE(report.notes.size(), 3u);
    expect_position_field(mesh);
}

TEST(Repair, AnEmptyMeshStaysEmpty)
{
    TriangleMesh mesh;
    EXPECT_THAT(repair(mesh, {.weld_tolerance = 0.1, .hole_edges = 10}).notes, IsEmpty());
    EXPECT_EQ(mesh.triangle_count(), 0);
}

RC_GTEST_PROP(Repair, RandomTrianglesNeverBreakTheMesh, (std::uint64_t seed))
{
    Random random(seed);
    TriangleMesh mesh;
    mesh.vertices.resize(3, 12);
    for (double& x : mesh.vertices.reshaped()) x = static_cast<double>(random.index(3)); // many coincide
    mesh.triangles.resize(3, static_cast<Index>(random.index(40)));
    for (int& v : mesh.triangles.reshaped()) v = static_cast<int>(random.index(12));
    add_position_field(mesh);

    const EdgeCensus before = count_edges(mesh.triangles);
    (void)repair(mesh,
                 {.weld_tolerance = seed % 2 == 0 ? 0.0 : 0.5, .hole_edges = 8, .component_share = 0.1});
    if (mesh.triangle_count() > 0) {
        RC_ASSERT(mesh.triangles.minCoeff() >= 0);
        RC_ASSERT(mesh.triangles.maxCoeff() < mesh.vertex_count());
    }
    RC_ASSERT(mesh.fields[0].values.cols() == mesh.vertex_count());
    RC_ASSERT(before.edges >= 0);

    TriangleMesh filled = mesh;
    (void)fill_holes(filled, 12);
    RC_ASSERT(count_edges(filled.triangles).non_manifold == count_edges(mesh.triangles).non_manifold);
}
