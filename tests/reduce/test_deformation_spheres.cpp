#include "lithe/reduce/deformation_spheres.hpp"

#include <set>

#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/body/published.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/reduce/modes.hpp"
#include "support/data.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

ReducedSurface surface_of(const TetMesh& mesh, const MatX& U)
{
    std::vector<int> origin;
    TriangleMesh surface = boundary_surface(mesh, origin);
    return make_reduced_surface(std::move(surface), embed_vertices(origin, mesh), U);
}

/// A bar held at one end, in twelve modes.
struct Bar {
    TetMesh mesh = box_tets({10, 3, 3}, {1.0, 0.3, 0.3});
    FemModel model = make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0);
    ReducedSurface surface;
    std::vector<ContactSample> samples;

    Bar()
    {
        RestSystem system(model, vertices_at(model.rest, 0, 0.0));
        Progress progress;
        surface = surface_of(mesh, linear_modes(system, {.count = 12}, progress).basis.U);
        samples = make_contact_samples(surface.rest);
    }
    Vec3 position(std::size_t sample, const VecX& q) const
    {
        Points x;
        reconstruct(surface, q, x);
        return samples[sample].position(x);
    }
};

} // namespace

TEST(DeformationSpheres, EverySampleStaysInAllSpheresAboveIt)
{
    const Bar bar;
    const DeformationSpheres spheres(bar.surface, bar.samples, 4);
    Random random(1);
    for (const double size : {0.0, 0.01, 0.3, 10.0}) {
        const VecX q = size * random_vector(random, 12);
        Points x;
        reconstruct(bar.surface, q, x);
        std::set<int> moving;
        (void)spheres.visit(
            q, [](const auto&) { return true; },
            [&](std::span<const int> items) { moving.insert(items.begin(), items.end()); });
        EXPECT_GT(moving.size(), bar.samples.size() / 2);
        EXPECT_LT(moving.size(), bar.samples.size()); // without those at the pins
        for (const int s : moving) {
            const Vec3 p = bar.samples[static_cast<std::size_t>(s)].position(x);
            bool found = false; // going only through spheres that hold it
            (void)spheres.visit(
                q, [&](const auto& ball) { return (p - ball.centre).norm() <= ball.radius; },
                [&](std::span<const int> items) {
                    found = found || std::ranges::find(items, s) != items.end();
                });
            ASSERT_TRUE(found) << "sample " << s << " at q of size " << size;
        }
    }
}

TEST(DeformationSpheres, AreSmallNearTheRest)
{
    const Bar bar;
    const DeformationSpheres spheres(bar.surface, bar.samples, 4);
    Random random(2);
    const VecX q = 0.05 * random_vector(random, 12);
    const Vec3 p = bar.position(bar.samples.size() - 1, q);
    Index looked_at = 0;
    const Index balls = spheres.visit(
        q, [&](const auto& ball) { return (p - ball.centre).norm() <= ball.radius + 0.01; },
        [&](std::span<const int> items) { looked_at += static_cast<Index>(items.size()); });
    EXPECT_LT(looked_at, static_cast<Index>(bar.samples.size()) / 4);
    EXPECT_LT(balls, spheres.node_count() / 2);
    EXPECT_GT(looked_at, 0);
}

TEST(DeformationSpheres, BoundTheMotionAndTheWhole)
{
    const Bar bar;
    const DeformationSpheres spheres(bar.surface, bar.samples, 16);
    Random random(3);
    for (int k = 0; k < 20; ++k) {
        const VecX q = 0.3 * random_vector(random, 12), dq = 0.1 * random_vector(random, 12);
        Points a, b;
        reconstruct(bar.surface, q, a);
        reconstruct(bar.surface, q + dq, b);
        const double moved = (b - a).colwise().norm().maxCoeff();
        EXPECT_LE(moved, spheres.motion(dq) * (1.0 + 1e-12));
        EXPECT_GT(moved, 0.2 * spheres.motion(dq));
        const RigidPose frame{Quat(Eigen::AngleAxisd(0.3 * k, Vec3(1, 2, 3).normalized())), Vec3(1, k, 0)};
        EXPECT_TRUE(spheres.bounds(q, frame).contains(bounds(in_world(frame, a))));
    }
}

TEST(DeformationSpheres, HoldARealMesh)
{
    LITHE_DATA_OR_SKIP(path, "tets/spot_8k.mesh");
    const TetMesh mesh = read_tet_mesh(path);
    const FemModel model = make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0);
    RestSystem system(model, {});
    Progress progress;
    const ReducedSurface surface = surface_of(mesh, linear_modes(system, {.count = 20}, progress).basis.U);
    const std::vector<ContactSample> samples = make_contact_samples(surface.rest);
    const DeformationSpheres spheres(surface, samples, 16);
    Random random(4);
    for (int k = 0; k < 10; ++k) {
        const VecX q = 0.2 * random_vector(random, 20);
        Points x;
        reconstruct(surface, q, x);
        // the balls on the way to a leaf hold its samples
        std::vector<DeformationSpheres::Ball> last;
        (void)spheres.visit(
            q,
            [&](const auto& ball) {
                last.assign(1, ball);
                return true;
            },
            [&](std::span<const int> items) {
                for (const int s : items)
                    EXPECT_LE((samples[static_cast<std::size_t>(s)].position(x) - last[0].centre).norm(),
                              last[0].radius);
            });
    }
}
