#include "lithe/contact/stray.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

const CollisionSurface& ball()
{
    static const CollisionSurface surface = make_collision_surface(make_sphere(0.5, 0.2));
    return surface;
}

/// A surface that goes one way, and would have gone another.
struct Mover {
    SweptSurface swept{ball()};
    Points then;

    Mover(const Points& way_then, const Points& way_now)
    {
        swept.end = swept.start + way_now;
        swept.update();
        then = swept.start + way_then;
    }
    ChangedWays ways() const { return {swept, then}; }
};

Points same_for_all(const Vec3& way)
{
    return way.replicate(1, ball().vertex_count());
}
Points scattered(Random& random, double size)
{
    return size * random_matrix(random, 3, static_cast<int>(ball().vertex_count()));
}

double distance_from_segment(const Vec3& p, const Vec3& end)
{
    const double square = end.squaredNorm();
    const double t = square > 0.0 ? std::clamp(p.dot(end) / square, 0.0, 1.0) : 0.0;
    return (p - t * end).norm();
}

const std::vector<int>& everywhere = ball().points;

TEST(Stray, IsZeroWhereWaysAreTheOldOnesOrShorter)
{
    Random random(3);
    const Points way = scattered(random, 0.1);
    const Mover same(way, way), still(same_for_all(Vec3::Zero()), same_for_all(Vec3::Zero()));
    EXPECT_EQ(stray(same.ways(), everywhere, same.ways(), everywhere), 0.0);
    const Mover shorter(way, 0.3 * way);
    EXPECT_LT(stray(shorter.ways(), everywhere, still.ways(), everywhere), 1e-15);
    EXPECT_LT(stray(shorter.ways(), everywhere, Vec3::Zero()), 1e-15);
}

TEST(Stray, DoesNotMindWaysThatAllShare)
{
    const Vec3 fall(0.0, -0.3, 0.0);
    const Mover held(same_for_all(fall), same_for_all(Vec3::Zero()));
    EXPECT_LT(stray(held.ways(), everywhere, held.ways(), everywhere), 1e-15);
    EXPECT_LT(stray(held.ways(), everywhere, Vec3::Zero()), 1e-15); // stopped by something that stands still
    const Mover falling(same_for_all(fall), same_for_all(fall));
    EXPECT_NEAR(stray(falling.ways(), everywhere, held.ways(), everywhere), 0.3,
                1e-14); // falls upon what has been stopped
}

TEST(Stray, BoundsEveryPairOfVertices)
{
    Random random(5);
    for (int trial = 0; trial < 60; ++trial) {
        const double spread = std::pow(10.0, -1.0 - trial % 4);
        const auto mover = [&] {
            const Points then = same_for_all(random_matrix(random, 3, 1)) + scattered(random, spread);
            const double share = 0.5 + 0.6 * random_matrix(random, 1, 1)(0, 0);
            return Mover(then, share * then + scattered(random, 0.3 * spread));
        };
        const Mover a = mover(), b = mover();
        const double bound = stray(a.ways(), everywhere, b.ways(), everywhere);
        for (Index v = 0; v < ball().vertex_count(); v += 7)
            for (Index w = 0; w < ball().vertex_count(); w += 5) {
                const Vec3 then = (a.then - a.swept.start).col(v) - (b.then - b.swept.start).col(w);
                const Vec3 now = (a.swept.end - a.swept.start).col(v) - (b.swept.end - b.swept.start).col(w);
                ASSERT_LE(distance_from_segment(now, then), bound * (1.0 + 1e-12)) << trial;
            }
    }
}

TEST(Stray, LooksOnlyAtWhatItIsGiven)
{
    Points now = same_for_all(Vec3::Zero());
    for (Index v = 0; v < now.cols(); ++v)
        if (ball().rest(0, v) > 0.2) now(1, v) = 0.05;
    const Mover bent(same_for_all(Vec3::Zero()), now),
        still(same_for_all(Vec3::Zero()), same_for_all(Vec3::Zero()));
    std::vector<int> left;
    for (const int v : everywhere)
        if (ball().rest(0, v) < 0.0) left.push_back(v);
    EXPECT_EQ(stray(bent.ways(), left, still.ways(), left), 0.0);
    EXPECT_NEAR(stray(bent.ways(), everywhere, still.ways(), everywhere), 0.05, 1e-15);
}

} // namespace
