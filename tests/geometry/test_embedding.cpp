#include "lithe/geometry/embedding.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

/// The unit cube in tets with its vertices shaken a little.
TetMesh shaken_cube(int n)
{
    TetMesh mesh = test::unit_cube_tets(n);
    Random random(9);
    for (double& x : mesh.vertices.reshaped()) x += random.uniform(-0.1, 0.1) / n;
    return mesh;
}

Points random_points(int count, double lo, double hi, std::uint64_t seed)
{
    Random random(seed);
    Points points(3, count);
    for (Index i = 0; i < count; ++i) points.col(i) = test::random_point(random, lo, hi);
    return points;
}

bool inside_any(const TetMesh& mesh, const Vec3& p)
{
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        Vec3 x[4];
        for (int k = 0; k < 4; ++k) x[k] = mesh.vertices.col(mesh.tets(k, t));
        if (tet_volume(p, x[1], x[2], x[3]) >= 0 && tet_volume(x[0], p, x[2], x[3]) >= 0 &&
            tet_volume(x[0], x[1], p, x[3]) >= 0 && tet_volume(x[0], x[1], x[2], p) >= 0)
            return true;
    }
    return false;
}

} // namespace

TEST(Embedding, AffineMotionsAreReproduced)
{
    const TetMesh mesh = shaken_cube(4);
    const Points points = random_points(2000, -0.2, 1.2, 1); // some of them outside
    const Embedding embedding = embed(points, mesh);
    EXPECT_LE((deform(embedding, mesh.vertices) - points).cwiseAbs().maxCoeff(), 1e-12);
    Mat3 A;
    A << 1.3, 0.2, -0.4, 0.1, 0.7, 0.5, -0.3, 0.6, 2.0;
    const Vec3 t(3, -2, 1);
    const Points moved = (A * mesh.vertices).colwise() + t, expected = (A * points).colwise() + t;
    EXPECT_LE((deform(embedding, moved) - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Embedding, InsideAndOutsideAgreeWithBruteForce)
{
    const TetMesh mesh = shaken_cube(3);
    const SurfaceQuery surface(boundary_surface(mesh));
    const Points points = random_points(1000, -0.3, 1.3, 2);
    const Embedding embedding = embed(points, mesh);
    Index outside = 0;
    double farthest = 0.0;
    for (Index i = 0; i < points.cols(); ++i) {
        const Vec4 w = embedding.weights.col(i);
        EXPECT_NEAR(w.sum(), 1.0, 1e-13);
        EXPECT_EQ(embedding.corners.col(i), mesh.tets.col(embedding.tet[i]));
        if (inside_any(mesh, points.col(i))) {
            EXPECT_GE(w.minCoeff(), 0.0);
            continue;
        }
        ++outside;
        EXPECT_LT(w.minCoeff(), 0.0);
        const double distance = surface.closest_point(points.col(i)).distance;
        farthest = std::max(farthest, distance);
        double nearest = INFINITY; // the tet that was taken is as near as the surface is
        for (int f = 0; f < 4; ++f) {
            const auto x = [&](int k) { return Vec3(mesh.vertices.col(embedding.corners((f + k) % 4, i))); };
            nearest = std::min(nearest, closest_point_on_triangle(points.col(i), x(0), x(1), x(2)).distance);
        }
        EXPECT_NEAR(nearest, distance, 1e-12);
    }
    EXPECT_GT(outside, 100);
    EXPECT_EQ(embedding.outside, outside);
    EXPECT_NEAR(embedding.farthest, farthest, 1e-12);
    EXPECT_NEAR(surface.closest_point(points.col(embedding.farthest_point)).distance, farthest, 1e-12);
}

TEST(Embedding, VerticesAndFacesAreInside)
{
    const TetMesh mesh = shaken_cube(3);
    const Embedding at_vertices = embed(mesh.vertices, mesh);
    EXPECT_EQ(at_vertices.outside, 0);
    EXPECT_GE(at_vertices.weights.minCoeff(), 0.0);
    Points centers(3, 4 * mesh.tet_count()); // of all faces, shared or not
    for (Index i = 0; i < centers.cols(); ++i) {
        centers.col(i).setZero();
        for (int k = 0; k < 3; ++k) centers.col(i) += mesh.vertices.col(mesh.tets((i + k) % 4, i / 4)) / 3.0;
    }
    const Embedding at_faces = embed(centers, mesh);
    EXPECT_EQ(at_faces.outside, 0);
    EXPECT_LE((deform(at_faces, mesh.vertices) - centers).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Embedding, TetsWithoutVolumeAreNotUsed)
{
    TetMesh mesh = test::unit_cube_tets(2);
    const Index n = mesh.tet_count();
    mesh.tets.conservativeResize(4, n + 1);
    mesh.tets.col(n) << 0, 1, 2, 2;
    const Embedding embedding = embed(random_points(200, -0.5, 1.5, 3), mesh);
    for (const int t : embedding.tet) EXPECT_LT(t, n);
    EXPECT_TRUE(embedding.weights.allFinite());
    mesh.tets = Tets(mesh.tets.rightCols(1));
    EXPECT_THROW(embed(mesh.vertices, mesh), InputError);
    EXPECT_THROW(embed(mesh.vertices, TetMesh{}), InputError);
}

TEST(Embedding, RefusesWhatIsNotANumber)
{
    const TetMesh mesh = test::unit_tet();
    Points points = random_points(3, 0.0, 1.0, 4);
    points(1, 1) = std::nan("");
    EXPECT_THROW(embed(points, mesh), InputError);
    TetMesh bad = mesh;
    bad.tets(0, 0) = 7;
    EXPECT_THROW(embed(mesh.vertices, bad), InputError);
}

TEST(Embedding, ReusesTheBufferAndIsTheSameForAnyNumberOfThreads)
{
    const TetMesh mesh = shaken_cube(6);
    const Points points = random_points(5000, -0.1, 1.1, 5);
    const Embedding all = embed(points, mesh);
    Points buffer(3, 5000);
    const double* data = buffer.data();
    deform(all, mesh.vertices, buffer);
    EXPECT_EQ(buffer.data(), data);
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        const Embedding again = embed(points, mesh);
        EXPECT_EQ(again.tet, all.tet);
        EXPECT_EQ(again.weights, all.weights);
        EXPECT_EQ(deform(again, mesh.vertices), buffer);
    }
}
