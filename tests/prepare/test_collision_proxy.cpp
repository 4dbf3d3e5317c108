#include "lithe/prepare/collision_proxy.hpp"

#include <set>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/geometry/surface_query.hpp"

using namespace lithe;

namespace {

/// The farthest vertex of `mesh` from the other.
double farthest(const TriangleMesh& mesh, const TriangleMesh& other)
{
    const SurfaceQuery query(other);
    double most = 0.0;
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        most = std::max(most, query.closest_point(mesh.vertices.col(v)).distance);
    return most;
}

} // namespace

TEST(CollisionProxy, IsASubsetOfTheSurfaceAndClosed)
{
    const TriangleMesh torus = make_torus(1.0, 0.3, 0.05);
    const CollisionProxy proxy = make_collision_proxy(torus, {.vertices = 280});
    EXPECT_TRUE(proxy.reached);
    EXPECT_LE(proxy.surface.vertex_count(), 284);
    EXPECT_GE(proxy.surface.vertex_count(), 260);
    ASSERT_EQ(static_cast<Index>(proxy.origin.size()), proxy.surface.vertex_count());
    std::set<int> origins;
    for (std::size_t i = 0; i < proxy.origin.size(); ++i) {
        EXPECT_EQ(proxy.surface.vertices.col(static_cast<Index>(i)), torus.vertices.col(proxy.origin[i]));
        EXPECT_TRUE(origins.insert(proxy.origin[i]).second);
    }
    const EdgeCensus edges = count_edges(proxy.surface.triangles);
    EXPECT_TRUE(edges.closed());
    EXPECT_EQ(edges.inconsistent, 0);
    EXPECT_GT(volume(proxy.surface), 0.9 * volume(torus));
    EXPECT_NEAR(proxy.distance, farthest(torus, proxy.surface), 1e-12);
    EXPECT_LT(proxy.distance, 0.05);
    EXPECT_GT(proxy.distance, 0.0);
}

TEST(CollisionProxy, OfASmallSurfaceIsTheSurface)
{
    const TriangleMesh box = make_box(Vec3::Ones(), 1.0);
    const CollisionProxy proxy = make_collision_proxy(box);
    EXPECT_TRUE(proxy.reached);
    EXPECT_EQ(proxy.surface.vertex_count(), box.vertex_count());
    EXPECT_NEAR(proxy.distance, 0.0, 1e-12);
}

TEST(CollisionProxy, KeepsVerticesThatAnErrorBoundNeeds)
{
    const TriangleMesh ball = make_sphere(1.0, 0.05);
    const CollisionProxy loose = make_collision_proxy(ball, {.vertices = 100});
    const CollisionProxy tight = make_collision_proxy(ball, {.vertices = 100, .max_error = 0.002});
    EXPECT_TRUE(loose.reached);
    EXPECT_FALSE(tight.reached);
    EXPECT_FALSE(tight.notes.empty());
    EXPECT_GT(tight.surface.vertex_count(), 2 * loose.surface.vertex_count());
    EXPECT_LT(tight.distance, 0.5 * loose.distance);
}

TEST(CollisionProxy, RefusesWhatCannotBe)
{
    const TriangleMesh box = make_box(Vec3::Ones(), 1.0);
    EXPECT_THROW((void)make_collision_proxy(box, {.vertices = 3}), InputError);
    EXPECT_THROW((void)make_collision_proxy(box, {.max_error = -1.0}), InputError);
    EXPECT_THROW((void)make_collision_proxy(TriangleMesh{}), InputError);
}
