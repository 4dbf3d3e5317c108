#include "lithe/meshing/wrap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/meshing/repair.hpp"
#include "lithe/meshing/sampled_field.hpp"
#include "lithe/meshing/surface_pieces.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/surfaces.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

Wrap wrap_of(const TriangleMesh& mesh, const WrapOptions& options = {})
{
    Progress progress;
    return wrap(mesh, options, progress);
}

/// Coarser than the default, for the sake of time: the spheres of these tests are 2 m wide.
const WrapOptions coarse = {.cell = 0.08};

void expect_one_closed_body(const TriangleMesh& mesh)
{
    const test::Topology topology = test::topology(mesh);
    EXPECT_TRUE(topology.closed);
    EXPECT_TRUE(topology.manifold_vertex);
    EXPECT_EQ(topology.components, 1);
    EXPECT_GT(volume(mesh), 0.0);
}

/// Every triangle with three vertices of its own, as a file with seams everywhere has them.
TriangleMesh shattered(const TriangleMesh& mesh)
{
    TriangleMesh result;
    result.vertices = mesh.vertices(Eigen::all, mesh.triangles.reshaped());
    result.triangles = Triangles::NullaryExpr(3, mesh.triangle_count(),
                                              [](Index k, Index t) { return static_cast<int>(3 * t + k); });
    return result;
}

template <class Keep>
TriangleMesh where(const TriangleMesh& mesh, const Keep& keep)
{
    std::vector<char> kept;
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const Vec3 middle =
            (test::corner(mesh, t, 0) + test::corner(mesh, t, 1) + test::corner(mesh, t, 2)) / 3.0;
        kept.push_back(keep(middle));
    }
    return selected(mesh, kept);
}

TriangleMesh without_some(const TriangleMesh& mesh, double share)
{
    Random random(7);
    return where(mesh, [&](const Vec3&) { return random.uniform() > share; });
}

TriangleMesh moved(TriangleMesh mesh, const Vec3& by)
{
    mesh.vertices.colwise() += by;
    return mesh;
}

TriangleMesh inverted(TriangleMesh mesh)
{
    mesh.triangles.row(1).swap(mesh.triangles.row(2));
    return mesh;
}

/// A flat sheet of one layer in the plane x = 0.
TriangleMesh sheet(int n, double y0, double y1, double z0, double z1)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, (n + 1) * (n + 1));
    mesh.triangles.resize(3, 2 * n * n);
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= n; ++j)
            mesh.vertices.col(i * (n + 1) + j) = Vec3(0.0, y0 + (y1 - y0) * i / n, z0 + (z1 - z0) * j / n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const int a = i * (n + 1) + j, b = a + 1, c = a + n + 1;
            mesh.triangles.col(2 * (i * n + j)) << a, c, b;
            mesh.triangles.col(2 * (i * n + j) + 1) << b, c, c + 1;
        }
    return mesh;
}

bool has_note(const WrapReport& report, const std::string& words)
{
    return std::any_of(report.notes.begin(), report.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

const double ball = 4.0 / 3.0 * std::numbers::pi;

} // namespace

TEST(Wrap, AClosedShellWithDoubledSeamsIsOnlyWelded)
{
    const TriangleMesh sphere = test::sphere_surface(8);
    const Wrap result = wrap_of(shattered(sphere));
    EXPECT_TRUE(result.report.was_closed);
    EXPECT_EQ(result.report.shells, 1);
    EXPECT_EQ(result.report.open_edges, 0);
    EXPECT_EQ(result.report.seam_vertices, 3 * sphere.triangle_count() - sphere.vertex_count());
    EXPECT_EQ(result.surface.vertex_count(), sphere.vertex_count());
    EXPECT_EQ(result.surface.triangle_count(), sphere.triangle_count());
    EXPECT_NEAR(volume(result.surface), volume(sphere), 1e-12);
    EXPECT_EQ(result.report.farthest, 0.0);
    expect_one_closed_body(result.surface);
}

TEST(Wrap, AnInvertedShellIsTurnedOutward)
{
    const TriangleMesh sphere = test::sphere_surface(6);
    const Wrap result = wrap_of(inverted(sphere));
    EXPECT_TRUE(result.report.was_closed);
    EXPECT_NEAR(volume(result.surface), volume(sphere), 1e-12);
}

TEST(Wrap, AClosedShellIsGrownByTheOffset)
{
    const Wrap result = wrap_of(test::sphere_surface(20), {.cell = 0.08, .offset = 0.1});
    EXPECT_FALSE(result.report.was_closed);
    EXPECT_NEAR(volume(result.surface), ball * 1.1 * 1.1 * 1.1, 0.01 * ball);
    EXPECT_NEAR(result.report.farthest, 0.1, 0.005);
    EXPECT_EQ(result.report.uncovered, 0.0);
}

TEST(Wrap, AHoleOfAFifthIsClosed)
{
    const TriangleMesh sphere = test::sphere_surface(20);
    const TriangleMesh open =
        where(sphere, [](const Vec3& p) { return std::hypot(p[0], p[1]) > 0.2 || p[2] < 0.0; });
    const Wrap result = wrap_of(open, coarse);
    expect_one_closed_body(result.surface);
    EXPECT_FALSE(result.report.was_closed);
    EXPECT_GT(result.report.open_edges, 0);
    EXPECT_NEAR(volume(result.surface), volume(sphere), 0.02 * ball);
    EXPECT_LT(result.report.uncovered, 0.02); // a quarter of a cell
    EXPECT_TRUE(has_note(result.report, "1 opening closed"));
    EXPECT_LT(result.report.farthest, 0.25); // the middle of the lid is as far from the sphere as its rim
    EXPECT_GT(result.report.farthest, 0.1);
}

TEST(Wrap, AHemisphereAndADiscWithAGapBecomeOneHalfBall)
{
    const TriangleMesh bowl = where(test::sphere_surface(24), [](const Vec3& p) { return p[1] < 0.0; });
    TriangleMesh disc = where(sheet(40, -1.0, 1.0, -1.0, 1.0), [](const Vec3& p) { return p.norm() < 0.93; });
    disc.vertices =
        Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitZ()).toRotationMatrix() * disc.vertices;
    const Wrap result = wrap_of(test::joined(bowl, disc), coarse);
    expect_one_closed_body(result.surface);
    EXPECT_EQ(result.report.shells, 2);
    EXPECT_NEAR(volume(result.surface), 0.5 * ball, 0.05 * ball);
    EXPECT_TRUE(has_note(result.report, "1 sheet given a thickness"));
}

TEST(Wrap, OverlappingShellsAreUnited)
{
    const double h = 1.0 - 0.5; // each cap beyond the middle plane between centres at distance 1
    const double lens = 2.0 * std::numbers::pi * h * h * (3.0 - h) / 3.0;
    const TriangleMesh one = test::sphere_surface(20);
    for (const bool inside_out : {false, true}) {
        const TriangleMesh other = moved(inside_out ? inverted(one) : one, Vec3(1.0, 0.0, 0.0));
        const Wrap result = wrap_of(test::joined(one, other), coarse);
        expect_one_closed_body(result.surface);
        EXPECT_EQ(result.report.shells, 2);
        EXPECT_EQ(result.report.dropped_parts, 0);
        EXPECT_NEAR(volume(result.surface), 2.0 * ball - lens, 0.02 * ball);
        EXPECT_TRUE(has_note(result.report, "2 solid parts united"));
    }
}

TEST(Wrap, AShellInsideAnotherIsSwallowedWhicheverWayItFaces)
{
    const TriangleMesh body = test::sphere_surface(16);
    for (const bool inside_out : {false, true}) {
        TriangleMesh eye = inside_out ? inverted(body) : body;
        eye.vertices *= 0.4;
        const Wrap result = wrap_of(test::joined(body, eye), coarse);
        expect_one_closed_body(result.surface);
        EXPECT_NEAR(volume(result.surface), volume(body), 0.02 * ball);
    }
}

TEST(Wrap, ShellsWithAGapNarrowerThanTheBridgeBecomeOne)
{
    Progress progress;
    const TriangleMesh cube = make_shape("box:size=1x1x1", 0.1, progress);
    const TriangleMesh both = test::joined(cube, moved(cube, Vec3(1.1, 0.0, 0.0)));
    const Wrap joined = wrap_of(both, {.cell = 0.06, .bridge = 0.2});
    expect_one_closed_body(joined.surface);
    EXPECT_NEAR(volume(joined.surface), 2.1, 0.05);

    const Wrap apart = wrap_of(both, {.cell = 0.05, .bridge = 0.02});
    expect_one_closed_body(apart.surface);
    EXPECT_NEAR(volume(apart.surface), 1.0, 0.02);
    EXPECT_EQ(apart.report.dropped_parts, 1);
    EXPECT_TRUE(has_note(apart.report, "1 large separate part"));
}

TEST(Wrap, ASheetOnABodyGetsTheThicknessOfACell)
{
    // an ear of one layer, from inside the ball to 1 m beyond it
    const TriangleMesh body = test::sphere_surface(20);
    const Wrap result = wrap_of(test::joined(body, sheet(10, -0.4, 0.4, 0.5, 2.0)), {.cell = 0.08});
    expect_one_closed_body(result.surface);
    const double ear = volume(result.surface) - volume(body);
    EXPECT_NEAR(ear, 0.08 * 0.8 * 1.03, 0.02); // its thickness and its area beyond the ball, rim included
    EXPECT_LT(result.report.uncovered, 0.02);
}

TEST(Wrap, ASheetThatSharesEdgesWithTheBodyIsCutOffAndThickened)
{
    // a fin on the upper side of a box: its lower edge is an edge of the box's grid, with three triangles
    Progress progress;
    const TriangleMesh body = make_shape("box:size=1x1x1", 0.25, progress);
    const TriangleMesh fin = sheet(4, 0.5, 1.0, -0.5, 0.5);
    const Wrap result = wrap_of(test::joined(body, fin), {.cell = 0.06});
    expect_one_closed_body(result.surface);
    EXPECT_EQ(result.report.shells, 1);
    EXPECT_NEAR(volume(result.surface), 1.0 + 0.06 * 0.5, 0.03);
    EXPECT_NEAR(bounds(result.surface.vertices).max()[1], 1.03, 0.02);
}

TEST(SampledField, IsTheFunctionNearItsZeroSetAndKnowsTheSignElsewhere)
{
    const ImplicitFunction f = {.value = [](const Vec3& x) { return x.norm() - 1.0; }};
    const Box3 box(Vec3::Constant(-2.0), Vec3::Constant(2.0));
    Progress progress;
    const double h = 0.05;
    const SampledField field(f, box, {.spacing = h, .band = 0.1}, progress);
    Random random(3);
    for (int i = 0; i < 5000; ++i) {
        const Vec3 x = test::random_point(random, -2.0, 2.0);
        const double exact = f.value(x);
        // second differences of the distance are below 1 / |x| along two directions
        if (std::abs(exact) < 0.1 - std::sqrt(3.0) * h) {
            EXPECT_NEAR(field.value(x), exact, h * h / 4.0);
        } else if (std::abs(exact) > h) {
            EXPECT_EQ(field.value(x) < 0.0, exact < 0.0);
        }
    }
}

TEST(Wrap, StrayTrianglesFarAwayAreDropped)
{
    const TriangleMesh sphere = test::sphere_surface(10);
    TriangleMesh garbage = test::triangle_soup(40, 0.001, 3);
    garbage.vertices *= 500.0;
    const Wrap result = wrap_of(test::joined(sphere, garbage));
    EXPECT_EQ(result.report.shells, 41);
    EXPECT_EQ(result.report.dropped_parts, 40);
    EXPECT_TRUE(result.report.was_closed);
    EXPECT_NEAR(volume(result.surface), volume(sphere), 1e-12);
}

TEST(Wrap, TheUnitDoesNotMatter)
{
    const TriangleMesh open = where(test::sphere_surface(10), [](const Vec3& p) { return p[2] < 0.9; });
    TriangleMesh centimetres = open;
    centimetres.vertices *= 100.0;
    const Wrap a = wrap_of(open, coarse), b = wrap_of(centimetres, {.cell = 8.0});
    ASSERT_EQ(a.surface.vertex_count(), b.surface.vertex_count());
    ASSERT_TRUE(a.surface.triangles == b.surface.triangles);
    EXPECT_LT((100.0 * a.surface.vertices - b.surface.vertices).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR(100.0 * a.report.farthest, b.report.farthest, 1e-10);
}

TEST(Wrap, TurningTheBodyChangesLittle)
{
    const TriangleMesh open = where(test::sphere_surface(16), [](const Vec3& p) { return p[2] < 0.9; });
    TriangleMesh turned = open;
    turned.vertices =
        Eigen::AngleAxisd(0.7, Vec3(1.0, 2.0, 3.0).normalized()).toRotationMatrix() * open.vertices;
    EXPECT_NEAR(volume(wrap_of(open, coarse).surface), volume(wrap_of(turned, coarse).surface), 0.003 * ball);
}

TEST(Wrap, TheNumberOfThreadsDoesNotMatter)
{
    const TriangleMesh open = where(test::sphere_surface(10), [](const Vec3& p) { return p[2] < 0.9; });
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        return wrap_of(open, coarse).surface;
    };
    const TriangleMesh a = with_threads(1), b = with_threads(2);
    EXPECT_TRUE(a.vertices == b.vertices);
    EXPECT_TRUE(a.triangles == b.triangles);
}

TEST(Wrap, WhatEnclosesNothingIsRefused)
{
    const std::string nothing =
        "the surface encloses nothing: it is an open sheet or has no area; close it or "
        "give it a thickness first";
    EXPECT_EQ(test::message_of([] { (void)wrap_of(sheet(4, 0.0, 1.0, 0.0, 1.0)); }), nothing);
    EXPECT_EQ(test::message_of([] { (void)wrap_of(TriangleMesh{}); }), nothing);
    TriangleMesh flat = test::unit_cube();
    flat.vertices *= 0.0;
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(flat); }), nothing);
}

TEST(Wrap, OptionsAreChecked)
{
    const TriangleMesh open = where(test::sphere_surface(6), [](const Vec3& p) { return p[2] < 0.9; });
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(open, {.cell = -1.0}); }),
              "cell = -1 must be finite and not negative");
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(open, {.offset = std::nan("")}); }),
              "offset = nan must be finite and not negative");
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(open, {.bridge = -0.5}); }),
              "bridge = -0.5 must be finite and not negative");
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(open, {.cell = 0.001}); }),
              "cell = 0.001 m is too fine for a surface of 2 m; use at least 0.00505 m");
    EXPECT_EQ(test::message_of([&] { (void)wrap_of(open, {.cell = 1.0}); }),
              "cell = 1 m is too coarse for a surface of 2 m; use at most 0.5 m");
}

TEST(Wrap, AStopIsObeyed)
{
    std::stop_source stop;
    stop.request_stop();
    Progress progress([](const ProgressEvent&) {}, stop.get_token());
    const TriangleMesh open = where(test::sphere_surface(6), [](const Vec3& p) { return p[2] < 0.9; });
    EXPECT_THROW((void)wrap(open, {}, progress), Interrupted);
}

TEST(Wrap, AModelledCowOfManyShells)
{
    LITHE_DATA_OR_SKIP(path, "rigs/cow.obj");
    const TriangleMesh cow = read_surface(path);
    const Wrap result = wrap_of(cow, {.cell = bounds(cow.vertices).sizes().maxCoeff() / 64.0});
    expect_one_closed_body(result.surface);
    const double longest = bounds(cow.vertices).sizes().maxCoeff();
    EXPECT_LT(result.report.uncovered, 0.02 * longest);
    EXPECT_LT(result.report.farthest, 0.05 * longest);
}

TEST(Wrap, ACharacterThatLostATenthOfItsTriangles)
{
    LITHE_DATA_OR_SKIP(path, "meshes/spot.obj");
    TriangleMesh spot = read_surface(path);
    (void)weld(spot, 0.0);
    const double longest = bounds(spot.vertices).sizes().maxCoeff();
    const Wrap result = wrap_of(without_some(spot, 0.1), {.cell = longest / 64.0});
    expect_one_closed_body(result.surface);
    EXPECT_NEAR(volume(result.surface), volume(spot), 0.02 * volume(spot));
    EXPECT_LT(result.report.uncovered, 0.02 * longest);
}

} // namespace lithe
