#include "lithe/contact/near_features.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lithe/contact/features.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/math/rotation.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

const CollisionSurface& ball()
{
    static const CollisionSurface surface = make_collision_surface(make_sphere(0.5, 0.25));
    return surface;
}

Vec3 random_vector3(Random& random, double size)
{
    return size * Vec3(random_matrix(random, 3, 1));
}

/// Somewhere, turned and trembling on its way.
SweptSurface mover(Random& random, const Vec3& place, double way, double tremble)
{
    SweptSurface out(ball());
    const Mat3 R_0 = exp_quat(random_vector3(random, 2.0)).toRotationMatrix();
    const Mat3 R_1 = exp_quat(random_vector3(random, tremble)).toRotationMatrix() * R_0;
    const Vec3 end = place + random_vector3(random, way);
    for (Index v = 0; v < out.start.cols(); ++v) {
        out.start.col(v) = R_0 * ball().rest.col(v) + place;
        out.end.col(v) = R_1 * ball().rest.col(v) + end + random_vector3(random, 0.1 * tremble);
    }
    out.update();
    return out;
}

/// The distance of two triangles at a time, by their corners and edges.
double distance_at(const SweptSurface& a, int i, const SweptSurface& b, int j, double s)
{
    const auto corners = [&](const SweptSurface& surface, int t) {
        std::array<Vec3, 3> x;
        for (std::size_t k = 0; k < 3; ++k)
            x[k] = surface.point(surface.surface().triangles(static_cast<Index>(k), t)).at(s);
        return x;
    };
    const auto p = corners(a, i), q = corners(b, j);
    double least = INFINITY;
    for (std::size_t k = 0; k < 3; ++k) {
        least = std::min(least, closest_point_on_triangle(p[k], q[0], q[1], q[2]).distance);
        least = std::min(least, closest_point_on_triangle(q[k], p[0], p[1], p[2]).distance);
        for (std::size_t l = 0; l < 3; ++l) {
            const Vec3 &a0 = p[k], &a1 = p[(k + 1) % 3], &b0 = q[l], &b1 = q[(l + 1) % 3];
            const SegmentPair at = closest_on_segments(a0, a1, b0, b1);
            least = std::min(least, (a0 + at.s * (a1 - a0) - b0 - at.t * (b1 - b0)).norm());
        }
    }
    return least;
}

TEST(NearFeatures, MissNothingThatComesNearAndKeepLittleElse)
{
    Random random(5);
    constexpr double reach = 0.01;
    std::size_t near_pairs = 0, kept_pairs = 0, all_pairs = 0;
    NearPair near;
    for (int round = 0; round < 12; ++round) {
        const SweptSurface a = mover(random, Vec3::Zero(), 0.1, 0.1);
        const SweptSurface b = mover(random, 1.02 * random_vector3(random, 1.0).normalized(), 0.1, 0.1);
        find_near(a, b, reach, near);
        const std::set<std::array<int, 2>> kept(near.triangles.begin(), near.triangles.end());
        EXPECT_EQ(kept.size(), near.triangles.size());
        for (int i = 0; i < ball().triangles.cols(); ++i)
            for (int j = 0; j < ball().triangles.cols(); ++j) {
                double least = INFINITY;
                for (int k = 0; k <= 8; ++k) least = std::min(least, distance_at(a, i, b, j, k / 8.0));
                ++all_pairs;
                if (least > reach) continue;
                ++near_pairs;
                EXPECT_TRUE(kept.contains({i, j})) << round << ": " << i << ", " << j;
            }
        kept_pairs += kept.size();
        // both sides know of the same pairs
        for (const auto& [i, j] : near.triangles) {
            EXPECT_TRUE(std::ranges::count(near.a.across(i), j) == 1 &&
                        std::ranges::count(near.b.across(j), i) == 1);
            for (const int v : ball().triangles.col(i)) EXPECT_TRUE(near.a.has_vertex[std::size_t(v)]);
            for (const int e : ball().triangle_edges.col(j)) EXPECT_TRUE(near.b.has_edge[std::size_t(e)]);
        }
    }
    EXPECT_GT(near_pairs, 100u);
    EXPECT_LT(kept_pairs, 6 * near_pairs);
    EXPECT_LT(kept_pairs, all_pairs / 100);
}

TEST(NearFeatures, WhatIsSwallowedIsNear)
{
    Random random(6);
    SweptSurface a = mover(random, Vec3::Zero(), 0.0, 0.0), b = mover(random, Vec3::Zero(), 0.0, 0.0);
    a.start *= 0.2;
    a.end = a.start;
    a.update();
    NearPair near;
    find_near(a, b, 0.01, near);
    EXPECT_TRUE(near.triangles.empty());
    EXPECT_EQ(near.a.vertices.size(), ball().points.size());
    EXPECT_TRUE(near.b.vertices.empty());
}

/// At how many of some moments a direction across both edges faces both.
int facing_moments(const FeatureView& a, int i, const FeatureView& b, int j)
{
    int count = 0;
    const auto p = a.ends(i), q = b.ends(j);
    for (const double s : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const Vec3 n = (p[1].at(s) - p[0].at(s)).cross(q[1].at(s) - q[0].at(s)).normalized();
        for (const Vec3& across : {n, Vec3(-n)})
            count += b.edge_faces(j, across, s) && a.edge_faces(i, -across, s);
    }
    return count;
}

TEST(NearFeatures, WedgesRefuseOnlyEdgesThatCannotTouch)
{
    // every pair of edges, at every time: where a direction across both faces both, the wedges must have said so
    Random random(7);
    for (const double tremble : {0.02, 0.3}) {
        int refused = 0, possible = 0, pairs = 0;
        for (int round = 0; round < 6; ++round) {
            const SweptSurface a = mover(random, Vec3::Zero(), 0.1, tremble);
            const SweptSurface b = mover(random, Vec3::Zero(), 0.1, tremble);
            const FeatureView view_a{a}, view_b{b};
            for (int i = 0; i < static_cast<int>(ball().edges.size()); i += 3)
                for (int j = 0; j < static_cast<int>(ball().edges.size()); j += 3) {
                    const bool said = may_touch(view_a.wedge(i), view_b.wedge(j));
                    ++pairs;
                    refused += !said;
                    const int faced = facing_moments(view_a, i, view_b, j);
                    possible += faced > 0;
                    EXPECT_TRUE(said || faced == 0) << i << ", " << j;
                }
        }
        EXPECT_GT(possible, pairs / 100);
        if (tremble < 0.1) {
            EXPECT_GT(refused, pairs / 2);
        }
    }
}

} // namespace
