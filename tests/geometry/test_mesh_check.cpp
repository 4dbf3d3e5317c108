#include "lithe/geometry/mesh_check.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "support/data.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

template <class Report>
const Fault* find_fault(const Report& report, const std::string& name)
{
    for (const Fault& fault : report.faults)
        if (fault.name == name) return &fault;
    return nullptr;
}

template <class Report>
std::vector<std::string> names(const Report& report)
{
    std::vector<std::string> all;
    for (const Fault& fault : report.faults) {
        EXPECT_FALSE(fault.what.empty());
        EXPECT_FALSE(fault.advice.empty());
        EXPECT_GT(fault.count, 0);
        all.push_back(fault.name);
    }
    return all;
}

using Names = std::vector<std::string>;

TriangleMesh moved(TriangleMesh mesh, double scale, const Vec3& by)
{
    mesh.vertices = ((mesh.vertices * scale).colwise() + by).eval();
    return mesh;
}

TriangleMesh turned(TriangleMesh mesh)
{
    mesh.triangles.row(0).swap(mesh.triangles.row(1));
    return mesh;
}

void drop_triangle(TriangleMesh& mesh, Index t)
{
    mesh.triangles.col(t) = mesh.triangles.col(mesh.triangle_count() - 1).eval();
    mesh.triangles.conservativeResize(3, mesh.triangle_count() - 1);
}

} // namespace

TEST(MeshCheck, CleanSurfacesHaveNoFaults)
{
    const SurfaceReport sphere = check_surface(test::sphere_surface(6));
    EXPECT_EQ(names(sphere), Names{});
    EXPECT_TRUE(sphere.watertight && sphere.manifold && sphere.consistently_oriented && sphere.outward);
    EXPECT_EQ(sphere.genus, 0);
    EXPECT_EQ(sphere.components, 1);
    EXPECT_EQ(sphere.closed_components, 1);
    EXPECT_EQ(sphere.euler_characteristic, 2);
    EXPECT_EQ(sphere.edges, sphere.triangles * 3 / 2);
    EXPECT_LT(sphere.smallest_angle, 60.0);

    const SurfaceReport torus = check_surface(test::torus_surface(20, 12, 1.0, 0.3));
    EXPECT_EQ(names(torus), Names{});
    EXPECT_EQ(torus.genus, 1);
    EXPECT_EQ(torus.euler_characteristic, 0);

    const SurfaceReport cube = check_surface(test::unit_cube());
    EXPECT_EQ(names(cube), Names{});
    EXPECT_NEAR(cube.volume, 1.0, 1e-14);
    EXPECT_NEAR(cube.area, 6.0, 1e-14);
    EXPECT_NEAR(cube.smallest_angle, 45.0, 1e-12);
}

TEST(MeshCheck, PartsAddUp)
{
    const TriangleMesh two = test::joined(test::torus_surface(20, 12, 1.0, 0.3),
                                          moved(test::torus_surface(20, 12, 1.0, 0.3), 1.0, Vec3(5, 0, 0)));
    const SurfaceReport report =
        check_surface(test::joined(two, moved(test::unit_cube(), 1.0, Vec3(0, 0, 3))));
    EXPECT_EQ(names(report), Names{});
    EXPECT_EQ(report.components, 3);
    EXPECT_EQ(report.genus, 2);
    EXPECT_EQ(report.euler_characteristic, 2);
}

TEST(MeshCheck, HolesAreCountedAndMeasured)
{
    TriangleMesh cube = test::unit_cube();
    drop_triangle(cube, 0);
    const SurfaceReport one = check_surface(cube);
    EXPECT_EQ(names(one), Names{"open"});
    EXPECT_FALSE(one.watertight);
    EXPECT_FALSE(one.outward);
    EXPECT_TRUE(one.manifold);
    EXPECT_EQ(one.boundary_edges, 3);
    EXPECT_EQ(one.boundary_loops, 1);
    EXPECT_EQ(one.longest_loop_edges, 3);
    EXPECT_NEAR(one.longest_loop_length, 2.0 + std::sqrt(2.0), 1e-14);
    EXPECT_EQ(one.closed_components, 0);
    EXPECT_NE(find_fault(one, "open")->advice.find("--fill-holes=3"), std::string::npos);

    TriangleMesh sphere = test::sphere_surface(6);
    drop_triangle(sphere, 400);
    drop_triangle(sphere, 100);
    EXPECT_EQ(check_surface(sphere).boundary_loops, 2);
}

TEST(MeshCheck, TrianglesWithoutSharedVerticesAskForWelding)
{
    const TriangleMesh cube = test::unit_cube();
    TriangleMesh soup;
    soup.vertices.resize(3, 36);
    soup.triangles.resize(3, 12);
    for (int t = 0; t < 12; ++t)
        for (int k = 0; k < 3; ++k) {
            soup.vertices.col(3 * t + k) = test::corner(cube, t, k);
            soup.triangles(k, t) = 3 * t + k;
        }
    const SurfaceReport report = check_surface(soup);
    EXPECT_EQ(report.duplicate_vertices, 36 - 8);
    EXPECT_EQ(report.components, 12);
    EXPECT_EQ(report.boundary_edges, 36);
    ASSERT_NE(find_fault(report, "duplicate_vertices"), nullptr);
    EXPECT_NE(find_fault(report, "open")->advice.find("--weld"), std::string::npos);
}

TEST(MeshCheck, OrientationIsJudged)
{
    TriangleMesh cube = test::unit_cube();
    std::swap(cube.triangles(0, 5), cube.triangles(1, 5));
    const SurfaceReport mixed = check_surface(cube);
    EXPECT_EQ(names(mixed), Names{"inconsistent"});
    EXPECT_EQ(mixed.inconsistent_edges, 3);
    EXPECT_FALSE(mixed.consistently_oriented);
    EXPECT_EQ(mixed.non_orientable, 0);

    const SurfaceReport inside_out = check_surface(turned(test::unit_cube()));
    EXPECT_EQ(names(inside_out), Names{"inside_out"});
    EXPECT_TRUE(inside_out.consistently_oriented);
    EXPECT_FALSE(inside_out.outward);
    EXPECT_EQ(inside_out.genus, 0);

    // a hollow cube: the inner wall faces inward and is no fault; the same wall beside the cube is one
    const TriangleMesh inner = turned(moved(test::unit_cube(), 0.5, Vec3::Constant(0.25)));
    const SurfaceReport hollow = check_surface(test::joined(test::unit_cube(), inner));
    EXPECT_EQ(names(hollow), Names{});
    EXPECT_EQ(hollow.cavities, 1);
    EXPECT_TRUE(hollow.outward);
    EXPECT_NEAR(hollow.volume, 1.0 - 0.125, 1e-14);
    const SurfaceReport beside =
        check_surface(test::joined(test::unit_cube(), moved(inner, 1.0, Vec3(5, 0, 0))));
    EXPECT_EQ(names(beside), Names{"inside_out"});
    EXPECT_EQ(beside.inward_components, 1);
}

TEST(MeshCheck, OneSidedSurfacesAreKnown)
{
    TriangleMesh strip; // a Moebius strip of n quads
    const int n = 12;
    strip.vertices.resize(3, 2 * n);
    strip.triangles.resize(3, 2 * n);
    for (int i = 0; i < n; ++i) {
        const double u = 2.0 * M_PI * i / n;
        for (int side = 0; side < 2; ++side) {
            const double w = side == 0 ? -0.2 : 0.2;
            strip.vertices.col(2 * i + side) =
                Vec3((1 + w * std::cos(u / 2)) * std::cos(u), (1 + w * std::cos(u / 2)) * std::sin(u),
                     w * std::sin(u / 2));
        }
        const bool last = i == n - 1;
        const int a = 2 * i, b = 2 * i + 1, c = last ? 1 : 2 * i + 2, d = last ? 0 : 2 * i + 3;
        strip.triangles.col(2 * i) << a, c, b;
        strip.triangles.col(2 * i + 1) << b, c, d;
    }
    const SurfaceReport report = check_surface(strip);
    EXPECT_EQ(report.non_orientable, 1);
    EXPECT_EQ(report.boundary_loops, 1);
    EXPECT_EQ(report.euler_characteristic, 0);
    EXPECT_NE(find_fault(report, "one_sided"), nullptr);
    EXPECT_EQ(check_surface(test::torus_surface(8, 8, 1.0, 0.3)).non_orientable, 0);
}

TEST(MeshCheck, NonManifoldEdgesAndVerticesAreFound)
{
    // two cubes that share an edge: four triangles there
    TriangleMesh cube = test::unit_cube();
    TriangleMesh both = test::joined(cube, moved(cube, 1.0, Vec3(1, 1, 0)));
    const auto find = [&](const Vec3& p, int skip) {
        for (int v = skip; v < both.vertex_count(); ++v)
            if (both.vertices.col(v) == p) return v;
        return -1;
    };
    for (const Vec3& p : {Vec3(1, 1, 0), Vec3(1, 1, 1)}) {
        const int keep = find(p, 0), other = find(p, 8);
        for (int& v : both.triangles.reshaped())
            if (v == other) v = keep;
    }
    const SurfaceReport edge = check_surface(both);
    EXPECT_EQ(edge.non_manifold_edges, 1);
    EXPECT_EQ(edge.first_non_manifold_edge, std::pair(std::min(find({1, 1, 0}, 0), find({1, 1, 1}, 0)),
                                                      std::max(find({1, 1, 0}, 0), find({1, 1, 1}, 0))));
    EXPECT_FALSE(edge.manifold);
    EXPECT_TRUE(edge.watertight);
    EXPECT_EQ(edge.components, 1);
    EXPECT_EQ(edge.closed_components, 0);
    EXPECT_EQ(edge.unreferenced_vertices, 2);
    EXPECT_NE(find_fault(edge, "non_manifold_edges"), nullptr);

    // and two that share a corner
    both = test::joined(cube, moved(cube, 1.0, Vec3(1, 1, 1)));
    const int keep = find({1, 1, 1}, 0), other = find({1, 1, 1}, 8);
    for (int& v : both.triangles.reshaped())
        if (v == other) v = keep;
    const SurfaceReport vertex = check_surface(both);
    EXPECT_EQ(vertex.non_manifold_edges, 0);
    EXPECT_EQ(vertex.non_manifold_vertices, 1);
    EXPECT_EQ(vertex.first_non_manifold_vertex, keep);
    EXPECT_FALSE(vertex.manifold);
}

TEST(MeshCheck, BadTrianglesAreCounted)
{
    TriangleMesh mesh = test::unit_cube();
    const Index n = mesh.triangle_count();
    mesh.triangles.conservativeResize(3, n + 3);
    mesh.triangles.col(n) << mesh.triangles(1, 0), mesh.triangles(2, 0), mesh.triangles(0, 0); // a copy
    mesh.triangles.col(n + 1) << 0, 0, 1; // a repeated corner
    mesh.vertices.conservativeResize(3, 10);
    mesh.vertices.col(8) =
        0.5 * (test::corner(mesh, 3, 0) + test::corner(mesh, 3, 1)); // a corner on the opposite edge
    mesh.vertices.col(9) = Vec3(0.1, 0.2, 0.3);                      // nobody's
    mesh.triangles.col(n + 2) << mesh.triangles(0, 3), 8, mesh.triangles(1, 3);
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.duplicate_triangles, 1);
    EXPECT_EQ(report.degenerate_triangles, 2);
    EXPECT_EQ(report.first_degenerate_triangle, n + 1);
    EXPECT_EQ(report.unreferenced_vertices, 1);
    EXPECT_EQ(report.smallest_angle, 0.0);
    for (const char* name : {"duplicate_triangles", "degenerate_triangles", "unreferenced_vertices"})
        EXPECT_NE(find_fault(report, name), nullptr) << name;
}

TEST(MeshCheck, SelfIntersectionsAndFolds)
{
    const SurfaceReport report = check_surface(
        test::joined(test::sphere_surface(4), moved(test::sphere_surface(4), 1.0, Vec3(0.7, 0.1, 0.2))));
    EXPECT_GT(report.self_intersections, 20);
    EXPECT_EQ(report.self_intersections_sharing_vertex, 0);
    EXPECT_EQ(names(report), Names{"self_intersections"});

    TriangleMesh fold;
    fold.vertices.resize(3, 4);
    fold.vertices << 0, 1, 0, 0, /**/ 0, 0, 1, 2, /**/ 0, 0, 0, 0;
    fold.triangles.resize(3, 2);
    fold.triangles << 0, 1, 1, 0, 2, 3;
    EXPECT_EQ(check_surface(fold).folded_edges, 1);
    fold.vertices(1, 3) = -2.0;
    EXPECT_EQ(check_surface(fold).folded_edges, 0);
}

TEST(MeshCheck, GiantsAndDwarfsGetAHintAboutTheirUnit)
{
    EXPECT_NE(find_fault(check_surface(moved(test::unit_cube(), 180.0, Vec3::Zero())), "unit")
                  ->advice.find("--scale 0.001"),
              std::string::npos);
    EXPECT_NE(find_fault(check_surface(moved(test::unit_cube(), 20.0, Vec3::Zero())), "unit")
                  ->advice.find("--scale 0.01"),
              std::string::npos);
    EXPECT_NE(find_fault(check_surface(moved(test::unit_cube(), 0.001, Vec3::Zero())), "unit"), nullptr);
    EXPECT_EQ(find_fault(check_surface(moved(test::unit_cube(), 9.0, Vec3::Zero())), "unit"), nullptr);
}

TEST(MeshCheck, NothingAndNonsense)
{
    EXPECT_EQ(names(check_surface(TriangleMesh{})), Names{"empty"});
    EXPECT_EQ(names(check_tets(TetMesh{})), Names{"empty"});
    TriangleMesh bad = test::unit_cube();
    bad.triangles(0, 0) = 99;
    EXPECT_THROW(check_surface(bad), InputError);
    bad = test::unit_cube();
    bad.vertices(0, 0) = INFINITY;
    EXPECT_THROW(check_surface(bad), InputError);
    TetMesh tets = test::unit_tet();
    tets.tets(2, 0) = -1;
    EXPECT_THROW(check_tets(tets), InputError);
}

TEST(MeshCheck, GoodTetsHaveNoFaults)
{
    TetMesh mesh = test::unit_cube_tets(3);
    mesh.regions.assign(162, 1);
    mesh.regions[7] = 5;
    const TetReport report = check_tets(mesh);
    EXPECT_EQ(names(report), Names{});
    EXPECT_EQ(report.tets, 162);
    EXPECT_EQ(report.regions, 2);
    EXPECT_EQ(report.components, 1);
    EXPECT_EQ(report.boundary_triangles, 108);
    EXPECT_NEAR(report.boundary_area, 6.0, 1e-13);
    EXPECT_EQ(report.boundary_genus, 0);
    EXPECT_NEAR(report.volume, 1.0, 1e-14);
}

TEST(MeshCheck, BadTetsAreCounted)
{
    TetMesh mesh = test::unit_cube_tets(2);
    std::swap(mesh.tets(0, 5), mesh.tets(1, 5));
    const TetReport inverted = check_tets(mesh);
    EXPECT_EQ(inverted.quality.inverted, 1);
    EXPECT_NE(find_fault(inverted, "inverted")->advice.find("--flip-tets"), std::string::npos);

    for (int t = 0; t < mesh.tet_count(); ++t)
        if (t != 5) std::swap(mesh.tets(0, t), mesh.tets(1, t));
    EXPECT_NE(find_fault(check_tets(mesh), "inverted")->what.find("all tets"), std::string::npos);

    mesh = test::unit_cube_tets(2);
    mesh.vertices.conservativeResize(3, 28);
    mesh.vertices.col(27) = Vec3(9, 9, 9);
    mesh.tets.conservativeResize(4, 50);
    mesh.tets.col(48) = mesh.tets.col(3);
    mesh.tets.col(49) << mesh.tets(0, 0), mesh.tets(1, 0), mesh.tets(2, 0), mesh.tets(2, 0);
    const TetReport report = check_tets(mesh);
    EXPECT_EQ(report.unreferenced_vertices, 1);
    EXPECT_EQ(report.duplicate_tets, 1);
    EXPECT_EQ(report.quality.flat, 1);
    EXPECT_GT(report.overfull_faces, 0);
}

TEST(MeshCheck, BodiesThatHangByAThreadAreFound)
{
    TetMesh mesh = test::unit_tet();
    mesh.vertices.conservativeResize(3, 7);
    mesh.vertices.rightCols(3) = Mat3(-Mat3::Identity());
    mesh.tets.conservativeResize(4, 2);
    mesh.tets.col(1) << 0, 5, 4, 6;
    const TetReport vertex = check_tets(mesh);
    EXPECT_EQ(vertex.components, 1);
    EXPECT_EQ(vertex.boundary_non_manifold_vertices, 1);
    EXPECT_EQ(vertex.quality.inverted, 0);
    EXPECT_EQ(names(vertex), Names{"non_manifold_boundary"});
    mesh.tets.col(1) << 1, 5, 4, 6; // now it does not even touch in the origin
    mesh.vertices.col(1) = Vec3(1, 0, 0);
    EXPECT_EQ(check_tets(mesh).components, 1);
    mesh = test::unit_tet();
    mesh.vertices.conservativeResize(3, 8);
    mesh.vertices.rightCols(4) = mesh.vertices.leftCols(4).array() + 3.0;
    mesh.tets.conservativeResize(4, 2);
    mesh.tets.col(1) << 4, 5, 6, 7;
    EXPECT_EQ(check_tets(mesh).components, 2);
}

TEST(MeshCheck, PoorTetsAreNamed)
{
    TetMesh mesh = test::unit_tet();
    mesh.vertices(2, 3) = 0.01;
    const TetReport report = check_tets(mesh);
    EXPECT_EQ(names(report), Names{"poor_quality"});
    EXPECT_EQ(report.quality.worst_tet, 0);
}

TEST(MeshCheck, FiguresOfKnownMeshes)
{
    struct Known {
        const char* name;
        Index triangles, genus, self_intersections, folded_edges;
    };
    // CGAL counts pairs that are folded onto each other at their common edge as self-intersections, too: plant 4 + 2 = 6
    for (const Known& known :
         {Known{"meshes/plant.obj", 17204, 0, 4, 2}, Known{"meshes/bob_duck.obj", 6174, 1, 0, 0},
          Known{"meshes/stanford/asian_dragon_28k.obj", 27786, 2, 0, 0}}) {
        LITHE_DATA_OR_SKIP(file, known.name);
        const SurfaceReport report = check_surface(read_surface(file));
        EXPECT_TRUE(report.watertight && report.manifold && report.outward) << known.name;
        EXPECT_EQ(report.components, 1) << known.name;
        EXPECT_EQ(report.triangles, known.triangles) << known.name;
        EXPECT_EQ(report.genus, known.genus) << known.name;
        EXPECT_EQ(report.self_intersections, known.self_intersections) << known.name;
        EXPECT_EQ(report.folded_edges, known.folded_edges) << known.name;
    }
}

TEST(MeshCheck, FiguresOfKnownTets)
{
    LITHE_DATA_OR_SKIP(file, "tets/beam_450.veg");
    const TetReport report = check_tets(read_tet_mesh(file));
    EXPECT_EQ(report.tets, 450);
    EXPECT_EQ(report.boundary_triangles, 412);
    EXPECT_EQ(report.quality.inverted, 0);
    EXPECT_EQ(report.boundary_genus, 0);
    EXPECT_EQ(names(report), Names{});
}
