#include "lithe/geometry/intersections.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/predicates.hpp"
#include "support/data.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

struct Triangle {
    Vec3 a, b, c;
};

bool meet(const Triangle& s, const Triangle& t)
{
    return triangles_meet(s.a, s.b, s.c, t.a, t.b, t.c);
}

Triangle grid_triangle(Random& random, int size)
{
    const auto point = [&] {
        const auto at = [&] { return static_cast<double>(random.index(static_cast<std::uint64_t>(size))); };
        const double x = at(), y = at(), z = at();
        return Vec3(x, y, z);
    };
    for (;;) {
        const Triangle t{point(), point(), point()};
        if (!collinear(t.a, t.b, t.c)) return t;
    }
}

double point_segment2(const Vec3& p, const Vec3& a, const Vec3& b)
{
    const double u = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
    return (p - a - u * (b - a)).squaredNorm();
}

double segment_segment2(const Vec3& p, const Vec3& q, const Vec3& r, const Vec3& s)
{
    double best = std::min(
        {point_segment2(p, r, s), point_segment2(q, r, s), point_segment2(r, p, q), point_segment2(s, p, q)});
    const Vec3 d = q - p, e = s - r, n = d.cross(e);
    if (n.squaredNorm() == 0.0) return best;
    const double u = (r - p).cross(e).dot(n) / n.squaredNorm(), v = (r - p).cross(d).dot(n) / n.squaredNorm();
    if (u >= 0.0 && u <= 1.0 && v >= 0.0 && v <= 1.0)
        best = std::min(best, (p + u * d - r - v * e).squaredNorm());
    return best;
}

/// Squared distance of a segment that passes through a triangle's inside is 0: found by the plane.
bool pierces(const Vec3& p, const Vec3& q, const Triangle& t)
{
    const Vec3 n = (t.b - t.a).cross(t.c - t.a);
    const double hp = n.dot(p - t.a), hq = n.dot(q - t.a);
    if (hp == hq) return false;
    const double u = hp / (hp - hq);
    if (u < 0.0 || u > 1.0) return false;
    const Vec3 x = p + u * (q - p);
    const double slack = -1e-9 * n.squaredNorm();
    return n.dot((t.b - t.a).cross(x - t.a)) >= slack && n.dot((t.c - t.b).cross(x - t.b)) >= slack &&
           n.dot((t.a - t.c).cross(x - t.c)) >= slack;
}

bool contains_coplanar(const Vec3& p, const Triangle& t)
{
    const Vec3 n = (t.b - t.a).cross(t.c - t.a);
    return n.dot(p - t.a) == 0.0 && n.dot((t.b - t.a).cross(p - t.a)) >= 0.0 &&
           n.dot((t.c - t.b).cross(p - t.b)) >= 0.0 && n.dot((t.a - t.c).cross(p - t.c)) >= 0.0;
}

/// On a small integer grid, plain arithmetic with a tolerance is safe: distances are 0 or above 1e-3.
bool plainly_meet(const Triangle& s, const Triangle& t)
{
    const Vec3 sp[3] = {s.a, s.b, s.c}, tp[3] = {t.a, t.b, t.c};
    for (int i = 0; i < 3; ++i) {
        if (pierces(sp[i], sp[(i + 1) % 3], t) || pierces(tp[i], tp[(i + 1) % 3], s)) return true;
        if (contains_coplanar(sp[i], t) || contains_coplanar(tp[i], s)) return true;
        for (int j = 0; j < 3; ++j)
            if (segment_segment2(sp[i], sp[(i + 1) % 3], tp[j], tp[(j + 1) % 3]) < 1e-12) return true;
    }
    return false;
}

} // namespace

TEST(Intersections, PlainCases)
{
    const Triangle t{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}};
    EXPECT_TRUE(meet(t, {{0.5, 0.5, -1}, {0.5, 0.5, 1}, {5, 5, 1}})); // pierced inside
    EXPECT_TRUE(meet(t, {{0.5, 0.5, 0}, {0.5, 0.5, 1}, {5, 5, 1}}));  // touched by a corner
    EXPECT_TRUE(meet(t, {{1, 1, -1}, {1, 1, 1}, {5, 5, 1}}));         // touched at an edge
    EXPECT_TRUE(meet(t, {{2, 0, 0}, {3, 0, 1}, {3, 1, 1}}));          // corner to corner
    EXPECT_FALSE(meet(t, {{1.0000000000000002, 1, -1}, {1.5, 1, 1}, {5, 5, 1}}));
    EXPECT_FALSE(meet(t, {{0, 0, 1e-300}, {2, 0, 1e-300}, {0, 2, 1e-300}})); // parallel planes
    EXPECT_TRUE(meet(t, {{0.1, 0.1, 0}, {0.2, 0.1, 0}, {0.1, 0.2, 0}}));     // coplanar, inside
    EXPECT_TRUE(meet({{0.1, 0.1, 0}, {0.2, 0.1, 0}, {0.1, 0.2, 0}}, t));     // coplanar, around
    EXPECT_TRUE(meet(t, {{1, 1, 0}, {3, 1, 0}, {1, 3, 0}}));                 // coplanar, edge on edge
    EXPECT_FALSE(meet(t, {{1.1, 1, 0}, {3, 1, 0}, {1.1, 3, 0}}));            // coplanar, apart
    EXPECT_TRUE(meet(t, {{-1, 0.5, 0}, {3, 0.5, 0}, {3, 0.6, 0}})); // coplanar, across without corners inside
}

TEST(Intersections, AgreeWithPlainArithmeticOnAGridInAnyOrder)
{
    Random random(1);
    int hits = 0;
    for (int i = 0; i < 40000; ++i) {
        const Triangle s = grid_triangle(random, i % 2 ? 3 : 6), t = grid_triangle(random, i % 2 ? 3 : 6);
        const bool expected = plainly_meet(s, t);
        hits += expected;
        ASSERT_EQ(meet(s, t), expected) << i;
        ASSERT_EQ(meet(t, s), expected) << i;
        ASSERT_EQ(meet({s.b, s.c, s.a}, {t.c, t.b, t.a}), expected) << i;
    }
    EXPECT_GT(hits, 4000);
    EXPECT_LT(hits, 36000);
}

TEST(Intersections, BeyondACommonCornerAgreesWithShrinkingAwayFromIt)
{
    // (v, a, b) and (v, c, d) share more than v exactly when they still meet after a small bite at v is taken from one:
    // then the trapezoid that is left, two triangles, meets the other.
    Random random(2);
    int hits = 0;
    for (int i = 0; i < 20000; ++i) {
        const Triangle s = grid_triangle(random, 4);
        Triangle t = grid_triangle(random, 4);
        t.a = s.a;
        if (collinear(t.a, t.b, t.c)) continue;
        const double bite = 0.0078125;
        const Vec3 p = s.a + bite * (s.b - s.a), q = s.a + bite * (s.c - s.a);
        const bool expected = meet({p, s.b, s.c}, t) || meet({p, s.c, q}, t);
        const bool found = triangles_meet_beyond(s.a, s.b, s.c, t.b, t.c);
        hits += found;
        ASSERT_EQ(found, expected) << i;
        ASSERT_EQ(triangles_meet_beyond(s.a, t.c, t.b, s.c, s.b), found);
    }
    EXPECT_GT(hits, 1000);
}

TEST(Intersections, CleanSurfacesHaveNone)
{
    EXPECT_TRUE(self_intersections(test::unit_cube()).empty());
    EXPECT_TRUE(self_intersections(test::sphere_surface(10)).empty());
    EXPECT_TRUE(self_intersections(test::torus_surface(30, 20, 1.0, 0.3)).empty());
    EXPECT_TRUE(self_intersections(TriangleMesh{}).empty());
}

TEST(Intersections, OverlappingShellsAgreeWithAllPairs)
{
    TriangleMesh other = test::sphere_surface(4);
    other.vertices.colwise() += Vec3(0.7, 0.1, 0.2);
    const TriangleMesh mesh = test::joined(test::sphere_surface(4), other);
    std::vector<SelfIntersection> expected;
    for (int i = 0; i < mesh.triangle_count(); ++i)
        for (int j = i + 1; j < mesh.triangle_count(); ++j) {
            const Triangle s{test::corner(mesh, i, 0), test::corner(mesh, i, 1), test::corner(mesh, i, 2)};
            const Triangle t{test::corner(mesh, j, 0), test::corner(mesh, j, 1), test::corner(mesh, j, 2)};
            const bool same_shell = (i < 192) == (j < 192);
            if (!same_shell && meet(s, t)) expected.push_back({i, j, -1});
        }
    EXPECT_GT(expected.size(), 20u);
    EXPECT_EQ(self_intersections(mesh), expected);
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        EXPECT_EQ(self_intersections(mesh), expected);
    }
}

TEST(Intersections, FoldedFanSharesItsVertexAndMore)
{
    TriangleMesh mesh; // two triangles with a common corner; the second passes through the first
    mesh.vertices.resize(3, 5);
    mesh.vertices << 0, 2, 0, 2, 2, /**/ 0, 0, 2, 2, 1, /**/ 0, 0, 0, -1, 1;
    mesh.triangles.resize(3, 2);
    mesh.triangles << 0, 3, 1, 4, 2, 0;
    const auto found = self_intersections(mesh);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], (SelfIntersection{0, 1, 0}));

    mesh.vertices.col(3) << 2, 2, 1; // now it lifts off
    EXPECT_TRUE(self_intersections(mesh).empty());
}

TEST(Intersections, FoldedNeighboursLieOnTheSameSideOfTheirEdge)
{
    const Vec3 a(0, 0, 0), b(0, 0, 1), c(1, 2, 0);
    EXPECT_TRUE(folded_at_edge(a, b, c, Vec3(2, 4, 5)));
    EXPECT_FALSE(folded_at_edge(a, b, c, Vec3(-2, -4, 5)));               // flat, but spread out
    EXPECT_FALSE(folded_at_edge(a, b, c, Vec3(2, 4.000000000000001, 5))); // almost
    EXPECT_TRUE(folded_at_edge(b, a, c, Vec3(0.5, 1, 0.25)));
}

TEST(Intersections, TrianglesWithoutAreaAreLeftOut)
{
    TriangleMesh mesh = test::joined(test::unit_cube(), test::unit_cube());
    mesh.vertices.rightCols(8).colwise() += Vec3(5, 0, 0);
    const Index n = mesh.triangle_count();
    mesh.triangles.conservativeResize(3, n + 1);
    mesh.triangles.col(n) << 0, 15, 0; // a needle through everything
    EXPECT_TRUE(self_intersections(mesh).empty());
}

TEST(Intersections, OfTheManWhoTouchesHimself)
{
    LITHE_DATA_OR_SKIP(file, "meshes/human_man.obj");
    const std::vector<SelfIntersection> found = self_intersections(read_surface(file));
    EXPECT_EQ(found.size(), 76u);
    EXPECT_EQ(
        std::count_if(found.begin(), found.end(), [](const auto& pair) { return pair.shared_vertex >= 0; }),
        8);
}

TEST(Intersections, OfCleanMeshesThereAreNone)
{
    for (const char* name :
         {"meshes/spot_low.obj", "meshes/viking_ship.obj", "meshes/stanford/armadillo_52k.obj"}) {
        LITHE_DATA_OR_SKIP(file, name);
        EXPECT_TRUE(self_intersections(read_surface(file)).empty()) << name;
    }
}
