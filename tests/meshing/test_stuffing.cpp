#include "lithe/meshing/stuffing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <numbers>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

using std::numbers::pi;

double sphere(const Vec3& x)
{
    return x.norm() - 1.0;
}

/// Around the z axis, radii 1 and 0.4.
double torus(const Vec3& x)
{
    return std::hypot(std::hypot(x[0], x[1]) - 1.0, x[2]) - 0.4;
}

double box(const Vec3& x)
{
    const Vec3 q = x.cwiseAbs() - Vec3(1.0, 0.7, 0.5);
    return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

TetMesh stuffed(const LevelSet& f, double half_size, double cell, double level = 0.0)
{
    Progress progress;
    const Box3 bounds(Vec3::Constant(-half_size), Vec3::Constant(half_size));
    return stuff(LevelLattice(f, bounds, {.cell = cell, .reach = std::abs(level)}, progress), level,
                 progress);
}

/// Smallest and largest dihedral angle of a mesh without inverted tets. [degrees]
std::pair<double, double> angle_range(const TetMesh& mesh)
{
    double lo = 180.0, hi = 0.0;
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        std::array<Vec3, 4> p;
        for (int v = 0; v < 4; ++v) p[static_cast<std::size_t>(v)] = mesh.vertices.col(mesh.tets(v, t));
        EXPECT_GT(tet_volume(p[0], p[1], p[2], p[3]), 0.0);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j) { // the angle between the faces opposite to i and j
                const Vec3 &a = p[static_cast<std::size_t>(i)], &b = p[static_cast<std::size_t>(j)];
                const int k = i != 0 && j != 0 ? 0 : (i != 1 && j != 1 ? 1 : 2);
                const Vec3 &c = p[static_cast<std::size_t>(k)],
                           &d = p[static_cast<std::size_t>(6 - i - j - k)];
                const Vec3 axis = (d - c).normalized();
                const Vec3 u = (a - c) - axis * axis.dot(a - c), w = (b - c) - axis * axis.dot(b - c);
                const double angle = std::atan2(u.cross(w).norm(), u.dot(w)) * 180.0 / pi;
                lo = std::min(lo, angle);
                hi = std::max(hi, angle);
            }
    }
    return {lo, hi};
}

} // namespace

TEST(Stuffing, VolumeConvergesWithTheSquareOfTheCell)
{
    const struct {
        LevelSet f;
        double volume;
    } shapes[] = {{sphere, 4.0 * pi / 3.0}, {torus, 2.0 * pi * pi * 0.16}};
    for (const auto& shape : shapes) {
        const double coarse = 1.0 - volume(stuffed(shape.f, 1.5, 0.16)) / shape.volume;
        const double fine = 1.0 - volume(stuffed(shape.f, 1.5, 0.04)) / shape.volume;
        EXPECT_GT(coarse, 0.0); // chords cut corners off
        EXPECT_NEAR(std::log(coarse / fine) / std::log(4.0), 2.0, 0.2);
    }
}

TEST(Stuffing, WholeCellsOfSpaceAreTwelveTetsEach)
{
    const double cell = 0.02;
    const TetMesh mesh = stuffed(box, 1.1, cell);
    const double cells = 2.0 * 1.4 * 1.0 / (cell * cell * cell);
    EXPECT_NEAR(static_cast<double>(mesh.tet_count()) / (12.0 * cells), 1.0, 0.03);
}

TEST(Stuffing, ALevelIsAnOffset)
{
    for (const double level : {-0.05, 0.02, 0.07})
        EXPECT_NEAR(volume(stuffed(sphere, 1.1, 0.05, level)),
                    volume(stuffed(sphere, 1.1, 0.05)) * std::pow(1.0 + level, 3), 0.005)
            << level;
}

TEST(Stuffing, BoundaryVerticesLieOnTheLevelSet)
{
    const double cell = 0.07;
    const TriangleMesh surface = boundary_surface(stuffed(torus, 1.5, cell));
    for (Index v = 0; v < surface.vertex_count(); ++v)
        EXPECT_LT(std::abs(torus(surface.vertices.col(v))), 2e-3 * cell);
}

TEST(Stuffing, SmoothShapesHaveGoodAnglesInEveryPosition)
{
    Random random(7);
    double worst = 180.0;
    for (int i = 0; i < 20; ++i) {
        const Vec3 shift = Vec3(random.uniform(), random.uniform(), random.uniform());
        const Mat3 R = Eigen::Quaterniond(random.normal(), random.normal(), random.normal(), random.normal())
                           .normalized()
                           .toRotationMatrix();
        for (const auto f : {sphere, torus, box}) {
            const TetMesh mesh = stuffed([&](const Vec3& x) { return f(R * (x - 0.2 * shift)); }, 1.8, 0.2);
            worst = std::min(worst, angle_range(mesh).first);
        }
    }
    EXPECT_GT(worst, 10.7);
}

/// The bounds hold for any signs and any cut points: here both are noise without any smoothness.
TEST(Stuffing, NoiseKeepsTheAngles)
{
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const LevelSet noise = [seed](const Vec3& x) {
            if (x.cwiseAbs().maxCoeff() > 4.0) return 1.0;
            std::uint64_t hash = seed;
            for (int i = 0; i < 3; ++i)
                hash = Random(hash ^ std::bit_cast<std::uint64_t>(double{x[i]})).bits();
            Random random(hash);
            const double size = std::pow(10.0, -4.0 * random.uniform());
            return random.uniform() < 0.5 ? -size : size;
        };
        const TetMesh mesh = stuffed(noise, 4.0, 1.0);
        ASSERT_GT(mesh.tet_count(), 1000);
        const auto [lo, hi] = angle_range(mesh);
        EXPECT_GT(lo, 9.2);
        EXPECT_LT(hi, 165.0);
    }
}

/// Half a cell thick, so that no vertex is farther than a quarter from its surface: [LS07] would warp nearly all
/// onto it, and nothing would be left.
TEST(Stuffing, ASheetOfOneLayerStaysWhole)
{
    const double cell = 0.1;
    const LevelSet sheet = [cell](const Vec3& x) {
        const Vec3 q = x.cwiseAbs() - Vec3(1.0, 1.0, 0.36 * cell);
        return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
    };
    const TetMesh mesh = stuffed(sheet, 1.0, cell);
    EXPECT_GT(volume(mesh), 0.5 * 4.0 * 0.72 * cell);
    const test::Topology boundary = test::topology(boundary_surface(mesh));
    EXPECT_TRUE(boundary.closed);
    EXPECT_EQ(boundary.components, 1);
}

TEST(Stuffing, HeldVerticesAreInTheSolidOrOutOfIt)
{
    Progress progress;
    LevelLattice lattice(sphere, Box3(Vec3::Constant(-1.0), Vec3::Constant(1.0)), {.cell = 0.2, .reach = 0.3},
                         progress);
    const double before = volume(stuff(lattice, 0.0, progress));
    const std::int64_t beyond = lattice.nearest_slot(Vec3(1.15, 0.0, 0.0)),
                       within = lattice.nearest_slot(Vec3(0.0, 0.9, 0.0));
    ASSERT_GT(lattice.value(beyond), 0.0);
    ASSERT_LT(lattice.value(within), 0.0);
    lattice.hold_inside(beyond);
    const TetMesh grown = stuff(lattice, 0.0, progress);
    EXPECT_GT(volume(grown), before);
    EXPECT_GT(angle_range(grown).first, 9.2);
    lattice.hold_outside(within);
    const TetMesh bitten = stuff(lattice, 0.0, progress);
    EXPECT_LT(volume(bitten), volume(grown));
    EXPECT_GT(angle_range(bitten).first, 9.2);
}

/// Tets of the cut lattice meet face to face: each face belongs to two tets, or to one with the surface beside it.
TEST(Stuffing, TheBoundaryIsClosedAndEnclosesTheSameVolume)
{
    const TetMesh mesh = stuffed(torus, 1.5, 0.11);
    EXPECT_NEAR(volume(boundary_surface(mesh)), volume(mesh), 1e-12);
}

TEST(Stuffing, TheSameBitsForAnyNumberOfThreads)
{
    const auto with_threads = [](int threads) {
        const ThreadLimit limit(threads);
        return stuffed(torus, 1.5, 0.05);
    };
    const TetMesh one = with_threads(1), four = with_threads(4);
    EXPECT_EQ(one.tets, four.tets);
    EXPECT_EQ(one.vertices, four.vertices);
}

TEST(Stuffing, FarPartsOfTheBoxAreNotSampled)
{
    std::atomic<int> calls = 0;
    Progress progress;
    const LevelSet counted = [&calls](const Vec3& x) {
        ++calls;
        return sphere(x);
    };
    const LevelLattice lattice(counted, Box3(Vec3::Constant(-1.0), Vec3::Constant(1.0)), {.cell = 0.02},
                               progress);
    EXPECT_LT(calls, lattice.slot_count() / 2);
    EXPECT_NEAR(lattice.sampled_volume(0.0), 4.0 * pi / 3.0, 0.02);
}

TEST(Stuffing, RefusesACellThatNoMemoryHolds)
{
    EXPECT_THROW((void)stuffed(sphere, 1.0, 1e-7), InputError);
    EXPECT_THROW((void)stuffed(sphere, 1.0, 0.0), InputError);
}

} // namespace lithe
