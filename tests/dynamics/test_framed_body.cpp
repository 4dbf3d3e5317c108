#include "lithe/dynamics/framed_body.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/world.hpp"
#include "support/framed_bodies.hpp"
#include "support/impulses.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::framed;
using test::free_box;

constexpr double h = 1.0 / 240.0; ///< [s]
const Vec3 still = Vec3::Zero();

ObstacleModel ground(double friction = 0.5)
{
    Shown shown;
    shown.name = "ground";
    shown.surface = make_box(Vec3(20.0, 0.1, 20.0), 20.0);
    return {.shape = PlaneShape{}, .shown = shown, .friction = friction};
}

const FramedBody& framed_in(const World& world, const char* name)
{
    return dynamic_cast<const FramedBody&>(world.body(*world.find(name)));
}

void run(World& world, double seconds, double step = h)
{
    for (int i = 0; i < static_cast<int>(std::round(seconds / step)); ++i) {
        const StepReport report = world.step(step);
        ASSERT_TRUE(report.done) << report.trouble;
    }
}

TEST(FramedBody, FallsAsAPointDoes)
{
    World world;
    world.add(framed("box", free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 8), Vec3(1, 5, 2),
                     {.velocity = Vec3(1, 0, 0), .angular_velocity = Vec3(0.5, 1, 2)}));
    run(world, 0.5);
    const FramedState& state = framed_in(world, "box").motion().state();
    EXPECT_NEAR(state.v[1], -9.81 * 0.5, 1e-12);
    EXPECT_NEAR(state.frame.translation[0], 1.5, 1e-12);
}

TEST(FramedBody, ShowsWhereItsPointsAre)
{
    const auto model = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 8);
    FramedBodyOptions options{.angular_velocity = Vec3(1, 2, 3)};
    options.placement.rotation = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 1, 0).normalized()));
    options.q = VecX::Constant(8, 0.05);
    const auto body = framed("box", model, Vec3(1, 2, 3), options);
    Published now;
    body->publish(now);
    const Points x = surface_in_world(body->shown(), now);
    for (const int triangle : {0, 7, 20}) {
        const BodyPoint point{.triangle = triangle, .weights = {0.2, 0.3, 0.5}};
        Vec3 expected = Vec3::Zero();
        for (int c = 0; c < 3; ++c)
            expected += point.weights[c] * x.col(body->shown().surface.triangles(c, triangle));
        EXPECT_LT((body->motion(point).position - expected).norm(), 1e-7); // the basis is in single precision
        EXPECT_TRUE(body->swept_bounds().contains(expected));
    }
}

TEST(FramedBody, ImpulsesChangeThePredictionAsTheResponseSays)
{
    const auto model = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 10);
    const FramedBodyOptions options{.velocity = Vec3(1, 0, 0), .angular_velocity = Vec3(2, 1, 0)};
    const auto body = framed("a", model, still, options), twin = framed("a", model, still, options);
    const std::vector<BodyPoint> points = {{.triangle = 3}, {.triangle = 27, .weights = {0.2, 0.3, 0.5}}};
    const std::vector<Vec3> impulses = {{0.1, -0.2, 0.05}, {0.0, 0.3, -0.1}};
    const Mechanics before = body->mechanics(still);
    for (FramedBody* one : {body.get(), twin.get()}) (void)one->predict({.t = 0.0, .h = h});
    std::vector<Vec3> places;
    for (const BodyPoint& point : points) places.push_back(body->motion(point).position);
    test::apply_impulses(*body, points, impulses);
    body->finish();
    const Mechanics after = body->mechanics(still);
    EXPECT_LT((after.linear_momentum - before.linear_momentum - impulses[0] - impulses[1]).norm(), 1e-13);
    const Vec3 turn = places[0].cross(impulses[0]) + places[1].cross(impulses[1]);
    EXPECT_LT((after.angular_momentum - before.angular_momentum - turn).norm(), 1e-12);
}

TEST(FramedBody, ARigidBodyIsOneWithoutModes)
{
    World world({.gravity = still});
    world.add(framed("box", free_box({0.4, 0.2, 0.1}, {4, 2, 1}, 1e5, 0), still,
                     {.angular_velocity = Vec3(0.01, 5, 0.01)}));
    const Mechanics before = world.mechanics();
    run(world, 2.0);
    const Mechanics after = world.mechanics();
    EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(),
              1e-12 * before.angular_momentum.norm());
    EXPECT_NEAR(after.kinetic, before.kinetic, 1e-3 * before.kinetic);
    EXPECT_EQ(after.elastic, 0.0);
}

TEST(FramedBody, ComesToRestOnTheGround)
{
    for (const Index rank : {0, 8}) {
        World world;
        world.add(std::make_unique<ObstacleBody>(ground()));
        world.add(framed("box", free_box({0.4, 0.2, 0.3}, {4, 2, 3}, 1e5, rank), Vec3(0, 0.3, 0)));
        run(world, 2.0);
        const FramedState& state = framed_in(world, "box").motion().state();
        EXPECT_NEAR(state.frame.translation[1], 0.1, 2e-3);
        EXPECT_LT(world.mechanics().kinetic, 1e-6);
        EXPECT_LT(state.frame.rotation.angularDistance(Quat::Identity()), 1e-2);
    }
}

/// tan(slip angle) = friction, to a degree.
TEST(FramedBody, SlipsOnAnInclineAtTheAngleOfFriction)
{
    const double friction = 0.5, degree = 3.14159265358979 / 180.0, angle = std::atan(friction);
    for (const double tilt : {angle - degree, angle + degree}) {
        World world({.gravity = 9.81 * Vec3(std::sin(tilt), -std::cos(tilt), 0.0)});
        world.add(std::make_unique<ObstacleBody>(ground(friction)));
        world.add(framed("box", free_box({0.4, 0.1, 0.4}, {3, 1, 3}, 1e6, 6), Vec3(0, 0.0505, 0),
                         {.law = {.friction = friction}}));
        run(world, 2.0, 1.0 / 120.0);
        const double slid = framed_in(world, "box").motion().state().frame.translation[0];
        if (tilt < angle)
            EXPECT_LT(std::abs(slid), 1e-3);
        else // half the net acceleration times time squared
            EXPECT_GT(slid, 0.5 * 0.5 * 9.81 * (std::sin(tilt) - friction * std::cos(tilt)) * 4.0);
    }
}

TEST(FramedBody, BodiesThatMeetInFreeSpaceKeepAllMomentum)
{
    World world({.gravity = still, .contact = {.impulses = {.tolerance = 1e-9, .max_sweeps = 100}}});
    const auto model = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 8);
    const auto rigid = free_box({0.3, 0.3, 0.3}, {2, 2, 2}, 1e5, 0);
    world.add(
        framed("a", model, Vec3(-0.6, 0, 0), {.velocity = Vec3(2, 0, 0), .angular_velocity = Vec3(1, 2, 3)}));
    world.add(framed("b", model, Vec3(0.5, 0.05, 0.02),
                     {.velocity = Vec3(-1, 0.1, 0), .angular_velocity = Vec3(-2, 0, 1)}));
    world.add(framed("c", rigid, Vec3(0, 0.7, 0), {.velocity = Vec3(0, -2, 0)}));
    const Mechanics before = world.mechanics();
    int contacts = 0;
    Vec3 parted = still;
    double energy = before.kinetic + before.elastic, largest_rise = 0.0;
    for (int i = 0; i < 480; ++i) {
        const StepReport report = world.step(h);
        contacts += report.contacts;
        parted += report.parting_angular_momentum;
        const Mechanics now = world.mechanics();
        largest_rise = std::max(largest_rise, now.kinetic + now.elastic - energy);
        energy = now.kinetic + now.elastic;
    }
    const Mechanics after = world.mechanics();
    EXPECT_GT(contacts, 10);
    EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-11 * before.linear_scale);
    EXPECT_LT((after.angular_momentum - before.angular_momentum - parted).norm(),
              1e-10 * before.angular_scale);
    EXPECT_LT(largest_rise, 1e-6 * (before.kinetic + before.elastic));
}

TEST(FramedBody, ABallBouncesAsHighAsItsRestitutionSays)
{
    for (const double e : {0.0, 0.5, 1.0}) {
        World world;
        world.add(std::make_unique<ObstacleBody>(ground()));
        world.add(framed("box", free_box({0.2, 0.2, 0.2}, {2, 2, 2}, 1e6, 0), Vec3(0, 0.6, 0),
                         {.law = {.restitution = e}}));
        double up = 0.0;
        for (int i = 0; i < 600; ++i) {
            ASSERT_TRUE(world.step(1e-3).done);
            up = std::max(up, framed_in(world, "box").motion().state().v[1]);
        }
        EXPECT_NEAR(up, e * std::sqrt(2.0 * 9.81 * 0.5), 0.05);
    }
}

TEST(FramedBody, AFastBallDoesNotPassAThinPlate)
{
    World world({.gravity = still});
    const auto plate = free_box({1.0, 0.005, 1.0}, {4, 1, 4}, 1e9, 0);
    const auto ball = free_box({0.1, 0.1, 0.1}, {2, 2, 2}, 1e9, 0);
    world.add(framed("plate", plate, still));
    world.add(framed("ball", ball, Vec3(0.03, 0.6, 0.01), {.velocity = Vec3(0, -50, 0)}));
    run(world, 0.5, 1.0 / 60.0);
    const auto frame = [&](const char* name) { return framed_in(world, name).motion().state().frame; };
    EXPECT_GT(frame("plate").apply_inverse(frame("ball").translation)[1],
              0.05); // the plate has begun to spin
}

TEST(FramedBody, ABallThatIsHitMeetsWhatIsInItsWayInTheSameStep)
{
    for (const Index rank : {0, 6}) {
        World world({.gravity = still});
        const auto plate = free_box({1.0, 0.005, 1.0}, {4, 1, 4}, 1e9, 0);
        const auto ball = free_box({0.1, 0.1, 0.1}, {2, 2, 2}, 1e9, rank);
        const auto hammer = free_box({0.3, 0.1, 0.3}, {2, 1, 2}, 1e9, 0, {}, 1e5);
        world.add(framed("plate", plate, still));
        world.add(framed("ball", ball, Vec3(0.03, 0.5, 0.01)));
        world.add(framed("hammer", hammer, Vec3(0, 0.65, 0), {.velocity = Vec3(0, -40, 0)}));
        ASSERT_TRUE(world.step(1.0 / 60.0).done);
        const auto frame = [&](const char* name) { return framed_in(world, name).motion().state().frame; };
        EXPECT_GT(frame("plate").apply_inverse(frame("ball").translation)[1], 0.05);
    }
}

TEST(FramedBody, GoesOnFromASavedStateBitForBit)
{
    const auto make = [] {
        World world;
        world.add(std::make_unique<ObstacleBody>(ground()));
        const auto model = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 8);
        world.add(framed("a", model, Vec3(0, 0.2, 0), {.angular_velocity = Vec3(1, 0, 2)}));
        world.add(framed("b", model, Vec3(0.1, 0.5, 0.05)));
        return world;
    };
    World one = make(), other = make();
    run(one, 0.4);
    StateWriter saved;
    one.save(saved);
    StateReader bytes(saved.bytes());
    other.restore(bytes);
    run(one, 0.2);
    run(other, 0.2);
    EXPECT_EQ(one.state_hash(), other.state_hash());
}

TEST(FramedBody, RefusesWhatCannotBe)
{
    const auto model = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 1e5, 4);
    const auto message = [&](FramedBodyOptions options) {
        return test::message_of([&] { (void)framed("box", model, still, std::move(options)); });
    };
    EXPECT_NE(message({.velocity = Vec3(std::nan(""), 0, 0)}).find("not finite"), std::string::npos);
    EXPECT_NE(message({.law = {.restitution = 2.0}}).find("restitution = 2 must lie in [0, 1]"),
              std::string::npos);
    EXPECT_NE(message({.q = VecX::Zero(3)}).find("3 coordinates"), std::string::npos);
}

} // namespace
} // namespace lithe
