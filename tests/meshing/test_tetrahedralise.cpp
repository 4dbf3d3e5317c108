#include "lithe/meshing/tetrahedralise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/geometry/tet_quality.hpp"
#include "support/data.hpp"
#include "support/meshes.hpp"
#include "support/surfaces.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

using std::numbers::pi;
using testing::Contains;
using testing::HasSubstr;

TetrahedraliseResult with_count(const TriangleMesh& surface, Index count)
{
    Progress progress;
    return tetrahedralise(surface, {.count = count}, progress);
}

TetrahedraliseResult with_cell(const TriangleMesh& surface, double cell)
{
    Progress progress;
    return tetrahedralise(surface, {.cell = cell}, progress);
}

TriangleMesh box_surface(const Vec3& lo, const Vec3& hi)
{
    TriangleMesh mesh = test::unit_cube();
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        mesh.vertices.col(v) = lo + mesh.vertices.col(v).cwiseProduct(hi - lo);
    return mesh;
}

TriangleMesh turned(TriangleMesh mesh)
{
    mesh.triangles.row(1).swap(mesh.triangles.row(2));
    return mesh;
}

TriangleMesh without_triangles(TriangleMesh mesh, Index first, Index count)
{
    const Index rest = mesh.triangle_count() - first - count;
    mesh.triangles.middleCols(first, rest) = mesh.triangles.rightCols(rest).eval();
    mesh.triangles.conservativeResize(3, mesh.triangle_count() - count);
    return mesh;
}

/// Each triangle with its own three vertices, as in an STL file.
TriangleMesh as_soup(const TriangleMesh& mesh)
{
    TriangleMesh soup;
    soup.vertices.resize(3, 3 * mesh.triangle_count());
    soup.triangles.resize(3, mesh.triangle_count());
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int c = 0; c < 3; ++c) {
            soup.vertices.col(3 * t + c) = mesh.vertices.col(mesh.triangles(c, t));
            soup.triangles(c, t) = static_cast<int>(3 * t + c);
        }
    return soup;
}

/// What every result promises.
void expect_sound(const TetrahedraliseResult& result)
{
    const TetQuality quality = tet_quality(result.mesh);
    EXPECT_EQ(quality.inverted + quality.flat, 0);
    EXPECT_GT(quality.smallest_dihedral, 8.5);
    EXPECT_NEAR(quality.smallest_dihedral, result.report.smallest_dihedral, 1e-6);
    EXPECT_EQ(result.report.tets, result.mesh.tet_count());
    EXPECT_LE(std::abs(result.report.level_offset), 0.1);
    const test::Topology boundary = test::topology(boundary_surface(result.mesh));
    EXPECT_TRUE(boundary.closed);
    EXPECT_TRUE(boundary.manifold_vertex);
    TetMesh compact = result.mesh;
    drop_unused_vertices(compact);
    EXPECT_EQ(compact.vertex_count(), result.mesh.vertex_count());
}

void expect_faithful(const TetrahedraliseResult& result)
{
    ASSERT_TRUE(result.report.volume_ratio.has_value());
    EXPECT_NEAR(*result.report.volume_ratio, 1.0, 0.01);
    EXPECT_LT(result.report.surface_to_tets, 0.7);
    EXPECT_LT(result.report.tets_to_surface, 0.7);
}

} // namespace

TEST(Tetrahedralise, MeetsCountVolumeAndDistanceOnShapes)
{
    const TriangleMesh shapes[] = {test::sphere_surface(12), test::torus_surface(48, 24, 1.0, 0.3),
                                   box_surface(Vec3::Zero(), Vec3(1.0, 0.6, 0.3))};
    for (const TriangleMesh& shape : shapes)
        for (const Index count : {600, 4000, 20000}) {
            const TetrahedraliseResult result = with_count(shape, count);
            expect_sound(result);
            if (count > 600) expect_faithful(result);
            EXPECT_NEAR(static_cast<double>(result.report.tets) / static_cast<double>(count), 1.0, 0.2);
            EXPECT_EQ(result.report.parts, 1);
            EXPECT_TRUE(result.report.assumptions.empty() || !result.report.thin_parts.empty());
        }
}

TEST(Tetrahedralise, TheOffsetMakesUpForCutCorners)
{
    const TriangleMesh torus = test::torus_surface(96, 48, 1.0, 0.15);
    const TetrahedraliseResult result = with_cell(torus, 0.1);
    EXPECT_GT(result.report.level_offset, 0.005); // chords lie inside
    EXPECT_NEAR(volume(result.mesh), volume(torus), 0.01 * volume(torus));
}

TEST(Tetrahedralise, ACellIsTakenAsItIs)
{
    const TetrahedraliseResult result = with_cell(box_surface(Vec3::Zero(), Vec3::Ones()), 0.05);
    EXPECT_NEAR(result.report.cell, 0.05, 1e-15);
    EXPECT_NEAR(static_cast<double>(result.report.tets), 12.0 * 8000.0, 0.2 * 12.0 * 8000.0);
}

TEST(Tetrahedralise, ReportedDistancesAreThoseOfTheMeshes)
{
    const TriangleMesh box = box_surface(Vec3::Zero(), Vec3(1.0, 0.7, 0.4));
    const TetrahedraliseResult result = with_cell(box, 0.1);
    const TriangleMesh boundary = boundary_surface(result.mesh);
    const SurfaceQuery to_box(box), to_boundary(boundary);
    double there = 0.0, back = 0.0;
    for (Index v = 0; v < box.vertex_count(); ++v)
        there = std::max(there, to_boundary.closest_point(box.vertices.col(v)).distance / 0.1);
    for (Index v = 0; v < boundary.vertex_count(); ++v)
        back = std::max(back, to_box.closest_point(boundary.vertices.col(v)).distance / 0.1);
    EXPECT_GE(result.report.surface_to_tets, there - 1e-9);
    EXPECT_LT(result.report.surface_to_tets, there + 0.1); // the corners of a box are its farthest points
    EXPECT_GE(result.report.tets_to_surface, back - 1e-9);
}

TEST(Tetrahedralise, NamesThinPartsAndTheCountThatHoldsThem)
{
    // A cube with a plate on it.
    const double thickness = 0.16;
    const TriangleMesh shape =
        test::joined(box_surface(Vec3::Zero(), Vec3::Ones()),
                     box_surface(Vec3(0.9, 0.0, 0.4), Vec3(2.0, 1.0, 0.4 + thickness)));
    const TetrahedraliseResult coarse = with_count(shape, 3000);
    expect_sound(coarse);
    ASSERT_EQ(coarse.report.thin_parts.size(), 1u);
    const ThinPart& part = coarse.report.thin_parts[0];
    EXPECT_NEAR(part.thickness, thickness, 1e-6);
    EXPECT_NEAR(part.centre[2], 0.4 + 0.5 * thickness, 0.01);
    EXPECT_GT(part.centre[0], 1.0);
    EXPECT_GT(part.count, 3000);

    const TetrahedraliseResult fine = with_count(shape, part.count * 5 / 4); // counts are met within a fifth
    EXPECT_LE(2.0 * fine.report.cell, thickness * 1.01);
    EXPECT_TRUE(fine.report.thin_parts.empty());
}

/// A needle of a tenth of a cell and a plate of a fifth stay in one piece and near the surface.
TEST(Tetrahedralise, HoldsPartsThatTheLatticeDoesNotSee)
{
    const double cell = 0.15;
    TriangleMesh shape =
        test::joined(test::sphere_surface(10), box_surface(Vec3(0.9, -0.01, -0.01), Vec3(2.5, 0.01, 0.01)));
    shape = test::joined(shape, box_surface(Vec3(-2.0, -0.5, 0.013), Vec3(-0.7, 0.5, 0.043)));
    const TetrahedraliseResult result = with_cell(shape, cell);
    expect_sound(result);
    EXPECT_EQ(result.report.parts, 1);
    EXPECT_LT(result.report.surface_to_tets, 0.7);
    EXPECT_LT(result.report.tets_to_surface, 0.7);
    const Box3 box = bounds(result.mesh.vertices);
    EXPECT_GT(box.max()[0], 2.5 - 0.7 * cell);
    EXPECT_LT(box.min()[0], -2.0 + 0.7 * cell);
}

TEST(Tetrahedralise, KeepsGapsThatTheLatticeDoesNotSee)
{
    const TriangleMesh pair = test::joined(box_surface(Vec3::Zero(), Vec3::Ones()),
                                           box_surface(Vec3(1.02, 0.0, 0.0), Vec3(2.02, 1.0, 1.0)));
    const TetrahedraliseResult result = with_cell(pair, 0.13);
    expect_sound(result);
    EXPECT_LT(result.report.surface_to_tets, 1.0); // in a filled gap it would be 3.8
    EXPECT_NEAR(*result.report.volume_ratio, 1.0, 0.01);
}

TEST(Tetrahedralise, MendsBrokenSurfacesAndSaysSo)
{
    const TriangleMesh sphere = test::sphere_surface(8);
    TriangleMesh flipped = sphere;
    for (Index t = 0; t < flipped.triangle_count(); t += 5)
        std::swap(flipped.triangles(1, t), flipped.triangles(2, t));
    const struct {
        TriangleMesh mesh;
        const char* note;
    } cases[] = {{without_triangles(sphere, 20, 2), "filled"},
                 {flipped, "turned"},
                 {turned(sphere), "turned"},
                 {test::joined(sphere, sphere), ""},
                 {as_soup(sphere), ""}};
    for (const auto& broken : cases) {
        const TetrahedraliseResult result = with_count(broken.mesh, 3000);
        expect_sound(result);
        EXPECT_EQ(result.report.parts, 1);
        EXPECT_NEAR(volume(result.mesh), volume(sphere), 0.01 * volume(sphere)) << broken.note;
        EXPECT_THAT(result.report.assumptions, Contains(HasSubstr(broken.note)));
    }
}

TEST(Tetrahedralise, UnitesOverlappingShells)
{
    const TriangleMesh boxes = test::joined(box_surface(Vec3::Zero(), Vec3::Ones()),
                                            box_surface(Vec3(0.5, 0.25, 0.25), Vec3(1.5, 0.75, 0.75)));
    const TetrahedraliseResult result = with_count(boxes, 10000);
    expect_sound(result);
    EXPECT_EQ(result.report.parts, 1);
    EXPECT_NEAR(volume(result.mesh), 1.0 + 0.125, 0.02);
    EXPECT_FALSE(result.report.volume_ratio.has_value());
    EXPECT_THAT(result.report.assumptions, Contains(HasSubstr("overlapping")));
}

TEST(Tetrahedralise, AShellThatFacesInwardIsAHollow)
{
    const TriangleMesh hollow = test::joined(box_surface(Vec3::Zero(), Vec3::Ones()),
                                             turned(box_surface(Vec3::Constant(0.3), Vec3::Constant(0.7))));
    const TetrahedraliseResult result = with_count(hollow, 10000);
    expect_sound(result);
    EXPECT_NEAR(volume(result.mesh), 1.0 - 0.064, 0.01);
    EXPECT_EQ(test::topology(boundary_surface(result.mesh)).components, 2);
}

TEST(Tetrahedralise, KeepsSeparateBodies)
{
    const TriangleMesh pair = test::joined(box_surface(Vec3::Zero(), Vec3::Ones()),
                                           box_surface(Vec3(3.0, 0.0, 0.0), Vec3(3.5, 0.5, 0.5)));
    const TetrahedraliseResult result = with_count(pair, 5000);
    expect_sound(result);
    expect_faithful(result);
    EXPECT_EQ(result.report.parts, 2);
    EXPECT_THAT(result.report.assumptions, Contains(HasSubstr("2 separate bodies")));
}

TEST(Tetrahedralise, RefusesWhatEnclosesNothing)
{
    const TriangleMesh cube = test::unit_cube();
    TriangleMesh sheet = cube;
    sheet.triangles = cube.triangles.leftCols(2).eval();
    EXPECT_THROW((void)with_count(sheet, 1000), InputError);
    EXPECT_THROW((void)with_count(box_surface(Vec3::Zero(), Vec3(1.0, 1.0, 0.0)), 1000), InputError);
    TriangleMesh none = cube;
    none.triangles.resize(3, 0);
    EXPECT_THROW((void)with_count(none, 1000), InputError);
    TriangleMesh bad = cube;
    bad.vertices(1, 3) = std::nan("");
    EXPECT_THROW((void)with_count(bad, 1000), InputError);
}

TEST(Tetrahedralise, RefusesImpossibleFineness)
{
    const TriangleMesh cube = test::unit_cube();
    Progress progress;
    EXPECT_THROW((void)with_count(cube, 5), InputError);
    EXPECT_THROW((void)with_count(cube, -5), InputError);
    EXPECT_THROW((void)with_count(cube, 1'000'000'000), InputError);
    EXPECT_THROW((void)with_cell(cube, 10.0), InputError);
    EXPECT_THROW((void)with_cell(cube, 1e-9), InputError);
    EXPECT_THROW((void)with_cell(cube, 0.0), InputError);
    EXPECT_THROW((void)with_cell(cube, std::nan("")), InputError);
    EXPECT_THROW((void)tetrahedralise(cube, {.cell = 0.1, .count = 1000}, progress), InputError);
    try {
        (void)with_cell(cube, 10.0);
    } catch (const InputError& error) { // the message names a cell that works
        const std::string what = error.what();
        const double largest = std::stod(what.substr(what.find("at most ") + 8));
        EXPECT_GT(with_cell(cube, largest * 0.999).report.tets, 0);
    }
}

TEST(Tetrahedralise, ScaleAndPlaceDoNotMatter)
{
    const TriangleMesh torus = test::torus_surface(24, 12, 1.0, 0.35);
    const TetrahedraliseResult reference = with_count(torus, 2000);
    for (const double scale : {std::exp2(-20), std::exp2(20)}) {
        TriangleMesh other = torus;
        other.vertices *= scale;
        const TetrahedraliseResult result = with_count(other, 2000);
        EXPECT_EQ(result.mesh.tets, reference.mesh.tets);
        EXPECT_NEAR(result.report.cell, scale * reference.report.cell, 1e-12 * scale);
    }
    TriangleMesh far = torus;
    far.vertices.colwise() += Vec3(1e6, -2e6, 3e6);
    const TetrahedraliseResult result = with_count(far, 2000);
    expect_sound(result);
    expect_faithful(result);
    EXPECT_NEAR(bounds(result.mesh.vertices).center()[0], 1e6, 0.1);
}

TEST(Tetrahedralise, TheSameBitsForAnyNumberOfThreads)
{
    const TriangleMesh torus = test::torus_surface(32, 12, 1.0, 0.2);
    const auto with_threads = [&torus](int threads) {
        const ThreadLimit limit(threads);
        return with_count(torus, 4000);
    };
    const TetrahedraliseResult one = with_threads(1), four = with_threads(4);
    EXPECT_EQ(one.mesh.tets, four.mesh.tets);
    EXPECT_EQ(one.mesh.vertices, four.mesh.vertices);
    EXPECT_EQ(one.report.surface_to_tets, four.report.surface_to_tets);
}

TEST(Tetrahedralise, StopsWhenAsked)
{
    std::stop_source stop;
    stop.request_stop();
    Progress progress(nullptr, stop.get_token());
    EXPECT_THROW((void)tetrahedralise(test::unit_cube(), {}, progress), Interrupted);
}

class TetrahedraliseData : public testing::TestWithParam<const char*> {};

TEST_P(TetrahedraliseData, KeepsItsPromises)
{
    LITHE_DATA_OR_SKIP(path, GetParam());
    const TetrahedraliseResult result = with_count(read_surface(path), 50000);
    expect_sound(result);
    expect_faithful(result);
    EXPECT_NEAR(static_cast<double>(result.report.tets) / 50000.0, 1.0, 0.2);
    EXPECT_EQ(result.report.parts, 1);
}

INSTANTIATE_TEST_SUITE_P(Meshes, TetrahedraliseData,
                         testing::Values("meshes/cactus_1.obj", "meshes/viking_ship.obj",
                                         "meshes/stanford/bunny_6k.obj"),
                         [](const auto& test) { return std::filesystem::path(test.param).stem().string(); });

} // namespace lithe
