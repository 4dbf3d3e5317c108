#include "lithe/contact/continuous.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/geometry/surface_query.hpp"

using namespace lithe;
using Kind = Approach::Kind;

namespace {

constexpr ApproachLimits limits{.reach = 0.02, .thickness = 0.0, .tolerance = 2e-5};

Vec3 random_point(Random& random, double size)
{
    return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

double distance_at(const MovingPoint& p, const std::array<MovingPoint, 3>& t, double s)
{
    return closest_point_on_triangle(p.at(s), t[0].at(s), t[1].at(s), t[2].at(s)).distance;
}

double distance_at(const std::array<MovingPoint, 2>& a, const std::array<MovingPoint, 2>& b, double s)
{
    const SegmentPair at = closest_on_segments(a[0].at(s), a[1].at(s), b[0].at(s), b[1].at(s));
    return ((a[0].at(s) + at.s * (a[1].at(s) - a[0].at(s))) - (b[0].at(s) + at.t * (b[1].at(s) - b[0].at(s))))
        .norm();
}

/// The least distance on the way and when, by many samples and then more around the best of them.
template <class A, class B>
std::pair<double, double> sampled(const A& a, const B& b)
{
    double best = std::numeric_limits<double>::infinity(), when = 0.0;
    const auto scan = [&](double from, double to, int count) {
        for (int i = 0; i <= count; ++i) {
            const double s = from + (to - from) * i / count;
            if (const double d = distance_at(a, b, s); d < best) {
                best = d;
                when = s;
            }
        }
    };
    scan(0.0, 1.0, 400);
    for (const double width : {5e-3, 1e-4, 1e-6})
        scan(std::max(0.0, when - width), std::min(1.0, when + width), 100);
    return {best, when};
}

struct Tally {
    int touching = 0, passing = 0;
};

/// What was found must be there, and nothing may be missed.
template <class A, class B>
void compare(const A& a, const B& b, const ApproachLimits& at_most, Tally& tally)
{
    const Approach found = approach(a, b, at_most);
    const auto [least, when] = sampled(a, b);
    if (least < 0.99 * at_most.reach) {
        ASSERT_NE(found.kind, Kind::Clear) << least;
    }
    if (least < at_most.thickness + 0.4 * at_most.tolerance) {
        ASSERT_EQ(found.kind, Kind::Touches) << least;
    }
    if (found.kind == Kind::Clear) return;
    EXPECT_NEAR(found.offset.norm(), distance_at(a, b, found.time), 1e-12);
    if (found.kind == Kind::Touches) {
        ++tally.touching;
        EXPECT_LE(found.offset.norm(), at_most.thickness + 1.001 * at_most.tolerance);
        for (int i = 0; i < 100; ++i) { // and not before
            ASSERT_GT(distance_at(a, b, found.time * i / 100.0),
                      at_most.thickness + 0.49 * at_most.tolerance);
        }
    } else {
        ++tally.passing;
        EXPECT_LE(found.offset.norm(), at_most.reach);
    }
}

} // namespace

TEST(Continuous, VertexAgainstTriangleIsNeverMissed)
{
    Random random(1);
    Tally tally;
    for (int i = 0; i < 3000; ++i) {
        const double fast = i % 3 == 0 ? 3.0 : 0.3;
        const MovingPoint p{random_point(random, 0.5), random_point(random, fast)};
        std::array<MovingPoint, 3> t;
        const Vec3 common = random_point(random, 0.5);
        for (MovingPoint& corner : t)
            corner = {random_point(random, 1.0), common + random_point(random, 0.3)};
        compare(p, t, limits, tally);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(tally.touching, 200);
    EXPECT_GT(tally.passing, 30);
}

TEST(Continuous, EdgeAgainstEdgeIsNeverMissed)
{
    Random random(2);
    Tally tally;
    for (int i = 0; i < 3000; ++i) {
        std::array<MovingPoint, 2> a, b;
        for (MovingPoint& end : a) end = {random_point(random, 1.0), random_point(random, 1.0)};
        for (MovingPoint& end : b) end = {random_point(random, 1.0), random_point(random, 0.3)};
        compare(a, b, limits, tally);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(tally.touching, 200);
    EXPECT_GT(tally.passing, 30);
}

// Who passes without turning: at the nearest moment the distance does not change, so that the plane between the two at
// that moment keeps clear of the whole way.
TEST(Continuous, PassingIsNotHindered)
{
    Random random(4);
    int passing = 0;
    for (int i = 0; i < 3000; ++i) {
        const MovingPoint p{random_point(random, 1.0), random_point(random, 2.0)};
        std::array<MovingPoint, 3> t;
        for (MovingPoint& corner : t) corner = {random_point(random, 1.0), Vec3::Zero()};
        const Approach at = approach(p, t, {.reach = 0.1, .thickness = 0.0, .tolerance = 1e-4});
        if (at.kind != Kind::Passes) continue;
        ++passing;
        const Vec3 n = at.offset.normalized(), end = at.offset + (1.0 - at.time) * at.motion;
        EXPECT_GT(n.dot(end), 0.9 * at.offset.norm());
        EXPECT_NEAR(at.offset.norm(), sampled(p, t).first, 1e-5);
    }
    EXPECT_GT(passing, 100);
}

TEST(Continuous, ThicknessIsKept)
{
    Random random(3);
    Tally tally;
    for (int i = 0; i < 500; ++i) {
        const MovingPoint p{random_point(random, 0.5) + Vec3(0, 3, 0),
                            Vec3(0, -6, 0) + random_point(random, 0.5)};
        std::array<MovingPoint, 3> t;
        for (MovingPoint& corner : t) corner = {random_point(random, 1.0), random_point(random, 0.3)};
        compare(p, t, {.reach = 0.3, .thickness = 0.2, .tolerance = 1e-4}, tally);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(tally.touching, 100);
}

TEST(Continuous, FallsStraightOntoATriangle)
{
    const std::array<MovingPoint, 3> t = {MovingPoint{Vec3(-1, 0, -1), Vec3::Zero()},
                                          MovingPoint{Vec3(0, 0, 2), Vec3::Zero()},
                                          MovingPoint{Vec3(1, 0, -1), Vec3::Zero()}};
    const Approach at = approach(MovingPoint{Vec3(0, 1, 0), Vec3(0, -2, 0)}, t, limits);
    EXPECT_EQ(at.kind, Kind::Touches);
    EXPECT_NEAR(at.time, 0.5, 1e-5);
    EXPECT_LT((at.offset.normalized() - Vec3::UnitY()).norm(), 1e-9);
    EXPECT_LT((at.weights_b - Vec3::Constant(1.0 / 3.0)).norm(), 1e-9);
}

// A vertex that glides along for a long way, a hair above the triangle.
TEST(Continuous, GlidesAlong)
{
    const std::array<MovingPoint, 3> t = {MovingPoint{Vec3(-9, 0, -9), Vec3::Zero()},
                                          MovingPoint{Vec3(0, 0, 18), Vec3::Zero()},
                                          MovingPoint{Vec3(9, 0, -9), Vec3::Zero()}};
    const Approach at = approach(MovingPoint{Vec3(-3, 1e-4, 0), Vec3(6, 0, 0)}, t, limits);
    EXPECT_EQ(at.kind, Kind::Passes);
    EXPECT_NEAR(at.offset.norm(), 1e-4, 1e-12);
}

TEST(Continuous, CrossingEdgesMeetInTheMiddle)
{
    const std::array<MovingPoint, 2> a = {MovingPoint{Vec3(-1, 1, 0), Vec3(0, -4, 0)},
                                          MovingPoint{Vec3(1, 1, 0), Vec3(0, -4, 0)}};
    const std::array<MovingPoint, 2> b = {MovingPoint{Vec3(0, 0, -1), Vec3::Zero()},
                                          MovingPoint{Vec3(0, 0, 1), Vec3::Zero()}};
    const Approach at = approach(a, b, limits);
    EXPECT_EQ(at.kind, Kind::Touches);
    EXPECT_NEAR(at.time, 0.25, 1e-5);
    EXPECT_NEAR(at.weights_a[1], 0.5, 1e-9);
    EXPECT_NEAR(at.weights_b[1], 0.5, 1e-9);
    EXPECT_LT((at.offset.normalized() - Vec3::UnitY()).norm(), 1e-9);
}
