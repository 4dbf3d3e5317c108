#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/world.hpp"
#include "support/framed_bodies.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::framed;
using test::free_box;

const Vec3 still = Vec3::Zero();

std::unique_ptr<ObstacleBody> ceiling()
{
    Shown shown;
    shown.name = "ceiling";
    shown.surface = make_box(Vec3(1.0, 0.1, 1.0), 1.0);
    return std::make_unique<ObstacleBody>(ObstacleModel{.shape = BoxShape{Vec3(0.5, 0.05, 0.5)},
                                                        .shown = shown,
                                                        .path = RigidPose{.translation = Vec3(0, 5, 0)}});
}

const FramedState& state_of(const World& world, BodyId id)
{
    return dynamic_cast<const FramedBody&>(world.body(id)).motion().state();
}

/// A rigid body that hangs from a point swings as a physical pendulum does: T = 2 pi sqrt(I/(m g d)).
TEST(Joints, ABodyOnABallJointSwingsLikeAPendulum)
{
    World world;
    const auto model = free_box({0.1, 0.6, 0.1}, {1, 6, 1}, 1e6, 0);
    const BodyId top = world.add(ceiling());
    const double tilt = 0.05, d = 0.3;
    FramedBodyOptions options;
    options.placement.rotation = Quat(Eigen::AngleAxisd(tilt, Vec3::UnitZ()));
    const Vec3 pivot(0, 4.0, 0);
    const BodyId bob =
        world.add(framed("bob", model, pivot - options.placement.rotation * Vec3(0, d, 0), options));
    (void)world.add_joint(bob, top, {.place = pivot});
    const FrameTensors& tensors = model->motion.tensors;
    const double inertia = inertia_of(tensors.J0)(2, 2) + tensors.mass * d * d;
    const double period = 2.0 * std::numbers::pi * std::sqrt(inertia / (tensors.mass * 9.81 * d));
    std::vector<double> crossings;
    double before = 0.0;
    for (int i = 0; i < 2000; ++i) {
        const StepReport report = world.step(2e-3);
        EXPECT_LT(report.joint_gap, 1e-7 * 0.6);
        const double x = state_of(world, bob).frame.translation[0];
        if (before < 0.0 && x >= 0.0) crossings.push_back(world.time());
        before = x;
    }
    ASSERT_GE(crossings.size(), 3U);
    EXPECT_NEAR((crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1), period,
                0.01 * period);
}

TEST(Joints, AFreeChainKeepsItsMomentumAndHoldsTogether)
{
    for (const JointKind kind : {JointKind::Ball, JointKind::Hinge, JointKind::Weld}) {
        World world({.gravity = still});
        const auto model = free_box({0.3, 0.1, 0.1}, {3, 1, 1}, 2e5, 8);
        std::vector<BodyId> links;
        for (int i = 0; i < 4; ++i)
            links.push_back(
                world.add(framed("link " + std::to_string(i), model, Vec3(0.32 * i, 0, 0),
                                 {.velocity = Vec3(0, 0.3 * i, 0), .angular_velocity = Vec3(0, 0, 1)})));
        for (std::size_t i = 0; i + 1 < links.size(); ++i)
            (void)world.add_joint(links[i], links[i + 1],
                                  {.kind = kind,
                                   .place = Vec3(0.16 + 0.32 * static_cast<double>(i), 0, 0),
                                   .axis = Vec3::UnitZ(),
                                   .size = 0.08});
        const Mechanics before = world.mechanics();
        Vec3 parted = still;
        for (int i = 0; i < 240; ++i) {
            const StepReport report = world.step(1.0 / 120.0);
            ASSERT_TRUE(report.done);
            EXPECT_LT(report.joint_gap, 1e-7 * 0.3);
            parted += report.parting_angular_momentum;
        }
        const Mechanics after = world.mechanics();
        EXPECT_LT((after.linear_momentum - before.linear_momentum).norm(), 1e-10 * before.linear_scale);
        EXPECT_LT((after.angular_momentum - before.angular_momentum - parted).norm(),
                  1e-10 * before.angular_scale);
        EXPECT_LE(after.kinetic + after.elastic, before.kinetic + before.elastic);
    }
}

TEST(Joints, AHingeTurnsAboutItsAxisAndAWeldDoesNot)
{
    for (const JointKind kind : {JointKind::Hinge, JointKind::Weld}) {
        World world({.gravity = still});
        const auto model = free_box({0.3, 0.1, 0.1}, {3, 1, 1}, 1e6, 0);
        const BodyId a = world.add(framed("a", model, still, {.angular_velocity = Vec3(0.5, 0, -2)})),
                     b = world.add(
                         framed("b", model, Vec3(0.4, 0, 0), {.angular_velocity = Vec3(0.5, 1, 2)}));
        (void)world.add_joint(a, b,
                              {.kind = kind, .place = Vec3(0.2, 0, 0), .axis = Vec3::UnitZ(), .size = 0.2});
        for (int i = 0; i < 100; ++i) (void)world.step(2e-3);
        const Quat turn = state_of(world, a).frame.rotation.conjugate() * state_of(world, b).frame.rotation;
        const Eigen::AngleAxisd by(turn);
        if (kind == JointKind::Weld) {
            EXPECT_LT(by.angle(), 1e-5);
        } else {
            EXPECT_GT(by.angle(), 0.1);
            EXPECT_GT(std::abs(by.axis()[2]), 1.0 - 1e-8);
        }
    }
}

TEST(Joints, ASoftJointStretchesAsItsStiffnessSays)
{
    World world;
    const auto model = free_box({0.2, 0.2, 0.2}, {1, 1, 1}, 1e6, 0);
    const BodyId top = world.add(ceiling()), bob = world.add(framed("bob", model, Vec3(0, 4, 0)));
    const double k = 2000.0, mass = model->motion.tensors.mass;
    (void)world.add_joint(bob, top, {.place = Vec3(0, 4, 0), .stiffness = k, .damping = 150.0});
    for (int i = 0; i < 1200; ++i) (void)world.step(1.0 / 240.0);
    EXPECT_NEAR(4.0 - state_of(world, bob).frame.translation[1], mass * 9.81 / k, 1e-5);
}

/// A plate knocks a cube on smooth ground that the cube was not on its way to: the step solves contacts twice. Only a soft spring
/// pushes the cube sideways, and by no more than it is stretched.
TEST(Joints, ASoftJointPushesOnceInAStepHoweverOftenContactsAreSolved)
{
    World world({.gravity = still});
    const BodyId top = world.add(ceiling());
    ObstacleModel smooth{.shape = PlaneShape{}, .shown = {.name = "ground", .rigid = true}, .friction = 0.0};
    (void)world.add(std::make_unique<ObstacleBody>(std::move(smooth)));
    const auto cube = free_box({0.2, 0.2, 0.2}, {1, 1, 1}, 1e6, 0);
    FramedBodyOptions down, along;
    down.law.friction = along.law.friction = 0.0;
    down.velocity = Vec3(0, -6, 0);
    along.velocity = Vec3(1.5, 0, 0);
    const BodyId pushed = world.add(framed("cube", cube, Vec3(0, 0.115, 0), along));
    const BodyId plate =
        world.add(framed("plate", free_box({2, 0.1, 2}, {2, 1, 2}, 1e6, 0), Vec3(0, 0.715, 0), down));
    const double k = 2000.0, c = 1e-3, h = 1.0 / 60;
    (void)world.add_joint(pushed, top, {.place = Vec3(0, 0.115, 0), .stiffness = k, .damping = c});
    int knocks = 0;
    for (int i = 0; i < 8 && knocks == 0; ++i) { // then the plate tilts, and pushes sideways too
        const double before = state_of(world, pushed).v[0];
        ASSERT_TRUE(world.step(h).done);
        const auto events = world.contact_events();
        knocks += events.size() >= 2 && std::ranges::any_of(events, [&](const ContactEvent& event) {
                      return event.b == plate || event.a == plate;
                  });
        const FramedState& now = state_of(world, pushed);
        const double push = cube->motion.tensors.mass * (now.v[0] - before);
        const double spring = -h * (k * now.frame.translation[0] + c * now.v[0]);
        EXPECT_NEAR(push, spring, 0.05 * std::abs(spring))
            << i; // 2 % by the plate that tilts; another push would be 100 %
    }
    EXPECT_EQ(knocks, 1);
}

TEST(Joints, BreakWhenTheyAreTooWeak)
{
    const auto model = free_box({0.2, 0.2, 0.2}, {1, 1, 1}, 1e6, 0); // 8 kg, 78 N
    for (const double strength : {60.0, 100.0}) {
        World world;
        const BodyId top = world.add(ceiling()), bob = world.add(framed("bob", model, Vec3(0, 4, 0)));
        const JointId joint = world.add_joint(bob, top, {.place = Vec3(0, 4, 0), .strength = strength});
        for (int i = 0; i < 60; ++i) (void)world.step(1.0 / 120.0);
        EXPECT_EQ(world.contains(joint), strength > 78.5);
        EXPECT_EQ(state_of(world, bob).frame.translation[1] > 3.99, strength > 78.5);
    }
}

/// A bridge of boxes between two fixed ends, exactly as long as the way between them: no hard chain can sag at all.
TEST(Joints, ATautBridgeStaysInPlace)
{
    for (const JointKind kind : {JointKind::Ball, JointKind::Hinge}) {
        World world;
        const auto model = free_box({0.3, 0.1, 0.2}, {3, 1, 2}, 1e6, 0);
        const int count = 15;
        const double length = 0.3;
        const BodyId bank = world.add(ceiling());
        std::vector<BodyId> planks;
        for (int i = 0; i < count; ++i)
            planks.push_back(
                world.add(framed("plank " + std::to_string(i), model, Vec3(length * (i + 0.5), 2, 0))));
        for (int i = 0; i <= count; ++i)
            (void)world.add_joint(
                i > 0 ? planks[static_cast<std::size_t>(i - 1)] : bank,
                i < count ? planks[static_cast<std::size_t>(i)] : bank,
                {.kind = kind, .place = Vec3(length * i, 2, 0), .axis = Vec3::UnitZ(), .size = 0.15});
        const Mechanics before = world.mechanics();
        const double start = before.potential, scale = before.mass * 9.81 * length;
        double most = -1.0;
        for (int i = 0; i < 600; ++i) {
            const StepReport report = world.step(1.0 / 60.0);
            ASSERT_TRUE(report.done);
            EXPECT_LT(report.joint_gap, 1e-3 * length);
            const Mechanics now = world.mechanics();
            most = std::max(most, (now.kinetic + now.potential - start) / scale);
        }
        EXPECT_LT(most, 1e-6);
        const Mechanics after = world.mechanics();
        EXPECT_LT(after.kinetic, 1e-9 * scale);
        for (int i = 0; i < count; ++i) {
            const Vec3 at = state_of(world, planks[static_cast<std::size_t>(i)]).frame.translation;
            EXPECT_LT((at - Vec3(length * (i + 0.5), 2, 0)).norm(), 0.2 * length) << i;
        }
    }
}

/// A chain of fifty links swings with a weight at its end that is as heavy as ten thousand of them.
TEST(Joints, ALongChainCarriesAHeavyWeight)
{
    World world;
    const auto link = free_box({0.1, 0.1, 0.1}, {1, 1, 1}, 1e6, 0);
    const auto weight = free_box({0.1, 0.1, 0.1}, {1, 1, 1}, 1e6, 0, {}, 1e7);
    BodyId last = world.add(ceiling());
    const int count = 50;
    const double length = 0.12 * count, speed = 0.3;
    for (int i = 0; i < count; ++i) {
        const double below = 0.12 * (i + 0.5);
        const FramedBodyOptions swinging{.velocity = Vec3(speed * below / length, 0, 0),
                                         .angular_velocity = Vec3(0, 0, speed / length)};
        const BodyId next = world.add(framed("link " + std::to_string(i), i + 1 < count ? link : weight,
                                             Vec3(0, 4 - below, 0), swinging));
        (void)world.add_joint(last, next, {.place = Vec3(0, 4 - 0.12 * i, 0)});
        last = next;
    }
    const Mechanics before = world.mechanics();
    double least = before.kinetic;
    for (int i = 0; i < 240; ++i) {
        const StepReport report = world.step(1.0 / 120.0);
        ASSERT_TRUE(report.done);
        ASSERT_LT(report.joint_gap, 1e-7 * 0.1) << i;
        const Mechanics now = world.mechanics();
        least = std::min(least, now.kinetic);
        ASSERT_LT(now.kinetic + now.potential - before.potential, 1.2 * before.kinetic);
        ASSERT_GT(now.kinetic + now.potential - before.potential, 0.5 * before.kinetic);
    }
    EXPECT_LT(least, 0.1 * before.kinetic); // it did swing: T = 2 pi sqrt(l/g) = 4.9 s
}

/// A kinematic body takes along what hangs on it.
TEST(Joints, FollowABodyThatIsLed)
{
    World world({.gravity = still});
    Shown shown;
    shown.name = "cart";
    shown.surface = make_box(Vec3(0.2, 0.2, 0.2), 0.2);
    const Keyframes<RigidPose> path({0.0, 10.0}, {RigidPose{}, RigidPose{.translation = Vec3(20, 0, 0)}});
    const BodyId cart = world.add(std::make_unique<ObstacleBody>(
        ObstacleModel{.shape = BoxShape{Vec3::Constant(0.1)}, .shown = shown, .path = path}));
    const auto model = free_box({0.2, 0.2, 0.2}, {1, 1, 1}, 1e6, 0);
    const BodyId towed = world.add(framed("towed", model, Vec3(-0.5, 0, 0), {.velocity = Vec3(2, 0, 0)}));
    (void)world.add_joint(towed, cart, {.kind = JointKind::Weld, .place = Vec3(-0.25, 0, 0)});
    for (int i = 0; i < 60; ++i) {
        EXPECT_LT(world.step(1.0 / 60.0).joint_gap, 1e-7 * 0.2);
        EXPECT_LT((state_of(world, towed).v - Vec3(2, 0, 0)).norm(), 1e-6);
    }
}

TEST(Joints, SameBitsForAnyNumberOfThreads)
{
    const auto model = free_box({0.3, 0.1, 0.1}, {3, 1, 1}, 2e5, 8);
    const auto hash = [&](int threads) {
        const ThreadLimit limit(threads);
        World world;
        for (int c = 0; c < 8; ++c) {
            BodyId last;
            for (int i = 0; i < 5; ++i) {
                const BodyId link = world.add(framed(std::to_string(5 * c + i), model, Vec3(0.32 * i, c, 0),
                                                     {.angular_velocity = Vec3(i, 2, c)}));
                if (i > 0)
                    (void)world.add_joint(last, link,
                                          {.kind = JointKind::Weld, .place = Vec3(0.32 * i - 0.16, c, 0)});
                last = link;
            }
        }
        for (int i = 0; i < 20; ++i) (void)world.step(1.0 / 60.0);
        return world.state_hash();
    };
    const std::uint64_t one = hash(1);
    EXPECT_EQ(hash(2), one);
    EXPECT_EQ(hash(4), one);
}

// ---- angles

double degrees(double angle)
{
    return angle * std::numbers::pi / 180.0;
}

struct Pendulum {
    World world;
    BodyId bob;
    JointId joint;
};
/// Of length 2 * 0.3, held at its upper end, hanging.
std::unique_ptr<Pendulum> pendulum(JointOptions joint, const Vec3& spin, const Vec3& gravity = {0, -9.81, 0})
{
    auto out = std::make_unique<Pendulum>(Pendulum{World({.gravity = gravity}), {}, {}});
    const auto model = free_box({0.1, 0.6, 0.1}, {1, 6, 1}, 1e6, 0);
    const BodyId top = out->world.add(ceiling());
    const Vec3 pivot(0, 4.3, 0);
    out->bob = out->world.add(framed("bob", model, Vec3(0, 4, 0),
                                     {.velocity = spin.cross(Vec3(0, -0.3, 0)), .angular_velocity = spin}));
    joint.place = pivot;
    out->joint = out->world.add_joint(top, out->bob, joint);
    return out;
}

TEST(JointLimits, AHingeStopsAtItsLimits)
{
    for (const double sign : {1.0, -1.0}) {
        const JointLimits limits{.lower = degrees(-20), .upper = degrees(35)};
        const auto swing = pendulum({.kind = JointKind::Hinge, .axis = Vec3::UnitZ(), .limits = limits},
                                    sign * Vec3(0, 0, 9), still);
        const double before = swing->world.mechanics().kinetic;
        double lowest = 0.0, highest = 0.0;
        for (int i = 0; i < 60; ++i) {
            ASSERT_TRUE(swing->world.step(1.0 / 60.0).done);
            const double angle = swing->world.joint_turn(swing->joint).twist;
            lowest = std::min(lowest, angle);
            highest = std::max(highest, angle);
        }
        const double stop = sign > 0.0 ? highest : lowest, limit = sign > 0.0 ? limits.upper : limits.lower;
        EXPECT_NEAR(stop, limit, 0.01 * std::abs(limit));
        EXPECT_LT(swing->world.mechanics().kinetic, 1e-6 * before); // it does not bounce
    }
}

/// Under gravity it leans on the limit.
TEST(JointLimits, CarryWhatLeansOnThem)
{
    const auto swing = pendulum({.kind = JointKind::Hinge,
                                 .axis = Vec3::UnitZ(),
                                 .limits = {.lower = degrees(-10), .upper = degrees(10)}},
                                still, Vec3(9.81, 0, 0));
    for (int i = 0; i < 240; ++i) ASSERT_TRUE(swing->world.step(1.0 / 60.0).done);
    EXPECT_NEAR(swing->world.joint_turn(swing->joint).twist, degrees(10), degrees(0.1));
    EXPECT_LT(swing->world.mechanics().kinetic, 1e-6);
}

/// A ball in a cone: swung round and twisted, it stays inside.
TEST(JointLimits, ABallStaysInItsCone)
{
    const double cone = degrees(30), twist = degrees(15);
    const auto swing = pendulum({.axis = -Vec3::UnitY(), .limits = {-twist, twist, cone}}, Vec3(3, 4, 5));
    double swung = 0.0, twisted = 0.0;
    for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(swing->world.step(1.0 / 120.0).done);
        const JointTurn turn = swing->world.joint_turn(swing->joint);
        swung = std::max(swung, turn.swing);
        twisted = std::max(twisted, std::abs(turn.twist));
    }
    EXPECT_GT(swung, 0.95 * cone);
    EXPECT_LT(swung, 1.01 * cone);
    EXPECT_GT(twisted, 0.95 * twist);
    EXPECT_LT(twisted, 1.01 * twist);
}

/// Two free bodies and a motor between them: it can give them no momentum.
TEST(JointMotors, KeepTheAngularMomentum)
{
    for (const Index rank : {0, 8}) {
        World world({.gravity = still});
        const auto model = free_box({0.3, 0.1, 0.1}, {3, 1, 1}, 2e5, rank);
        const BodyId a = world.add(framed("a", model, still, {.angular_velocity = Vec3(1, 2, -1)})),
                     b = world.add(framed("b", model, Vec3(0.4, 0, 0), {.velocity = Vec3(0, 0.4, -0.2)}));
        const JointId joint = world.add_joint(a, b,
                                              {.kind = JointKind::Hinge,
                                               .place = Vec3(0.2, 0, 0),
                                               .axis = Vec3(0, 0.3, 1),
                                               .limits = {.upper = degrees(100)},
                                               .motor = {.goal = MotorGoal::Speed, .target = 2.0}});
        const Mechanics before = world.mechanics();
        Vec3 parted = still;
        double most = 0.0;
        for (int i = 0; i < 120; ++i) {
            const StepReport report = world.step(1.0 / 120.0);
            ASSERT_TRUE(report.done);
            parted += report.parting_angular_momentum;
            const Mechanics now = world.mechanics();
            most = std::max(most, (now.angular_momentum - before.angular_momentum - parted).norm());
            EXPECT_LT((now.linear_momentum - before.linear_momentum).norm(), 1e-11 * now.linear_scale);
        }
        EXPECT_LT(most, 1e-11 * before.angular_scale);
        EXPECT_NEAR(world.joint_turn(joint).twist, degrees(100), degrees(1.0));
    }
}

TEST(JointMotors, ReachTheirSpeedAndNeverPushHarderThanTheyCan)
{
    const double inertia = 6.0 * (0.1 * 0.1 + 0.6 * 0.6) / 12.0 + 6.0 * 0.3 * 0.3, torque = 2.0;
    const auto swing = pendulum({.kind = JointKind::Hinge,
                                 .axis = Vec3::UnitZ(),
                                 .motor = {.goal = MotorGoal::Speed, .target = 3.0, .torque = torque}},
                                still, still);
    const double h = 1.0 / 120.0;
    double before = 0.0;
    for (int i = 0; i < 240; ++i) {
        ASSERT_TRUE(swing->world.step(h).done);
        const double now = swing->world.joint_turn(swing->joint).twist;
        const double speed = (std::remainder(now - before, 2.0 * std::numbers::pi)) / h;
        before = now;
        EXPECT_NEAR(speed, std::min(3.0, torque / inertia * h * (i + 1)), 0.02 * 3.0) << i;
    }
}

TEST(JointMotors, HoldAnAngleAgainstAWeight)
{
    const double stiffness = 100.0, mass = 6.0;
    const auto swing = pendulum({.kind = JointKind::Hinge, .axis = Vec3::UnitZ()}, still);
    swing->world.set_motor(
        swing->joint,
        {.goal = MotorGoal::Angle, .target = degrees(60), .stiffness = stiffness, .damping = 30.0});
    for (int i = 0; i < 600; ++i) ASSERT_TRUE(swing->world.step(1.0 / 120.0).done);
    const double angle = swing->world.joint_turn(swing->joint).twist;
    EXPECT_NEAR(stiffness * (degrees(60) - angle), mass * 9.81 * 0.3 * std::sin(angle), 1e-3);
    swing->world.set_motor(swing->joint, {});
    for (int i = 0; i < 10; ++i) (void)swing->world.step(1.0 / 120.0);
    EXPECT_LT(swing->world.joint_turn(swing->joint).twist, angle - degrees(1));
}

/// What a motor was told is part of the state.
TEST(JointMotors, AreSaved)
{
    const auto swing = pendulum({.kind = JointKind::Hinge, .axis = Vec3::UnitZ()}, still);
    StateWriter off, on;
    swing->world.save(off);
    swing->world.set_motor(swing->joint, {.goal = MotorGoal::Speed, .target = 2.0});
    swing->world.save(on);
    const auto run = [&](const StateWriter& from) {
        StateReader in(from.bytes());
        swing->world.restore(in);
        for (int i = 0; i < 30; ++i) (void)swing->world.step(1.0 / 120.0);
        return swing->world.joint_turn(swing->joint).twist;
    };
    const double turned = run(on);
    EXPECT_GT(turned, 0.4);
    EXPECT_LT(std::abs(run(off)), 1e-6);
    EXPECT_EQ(run(on), turned);
}

TEST(Joints, RefuseWhatCannotBe)
{
    World world;
    const auto model = free_box({0.2, 0.2, 0.2}, {1, 1, 1}, 1e6, 0);
    const BodyId a = world.add(framed("a", model, still)), b = world.add(framed("b", model, Vec3(1, 0, 0)));
    const auto message = [&](BodyId other, const JointOptions& joint = {}) {
        return test::message_of([&] { (void)world.add_joint(a, other, joint); });
    };
    EXPECT_NE(message(a).find("joined to itself"), std::string::npos);
    EXPECT_NE(message(b, {.axis = still}).find("axis has no direction"), std::string::npos);
    EXPECT_NE(message(b, {.stiffness = -1.0}).find("stiffness must be above 0"), std::string::npos);
    EXPECT_NE(message(b, {.limits = {.lower = 1.0, .upper = 0.5}}).find("the lower one first"),
              std::string::npos);
    EXPECT_NE(message(b, {.limits = {.lower = -4.0}}).find("between -180 and 180"), std::string::npos);
    EXPECT_NE(message(b, {.limits = {.cone = 0.0}}).find("its cone"), std::string::npos);
    EXPECT_NE(message(b, {.kind = JointKind::Hinge, .limits = {.cone = 1.0}}).find("only a ball"),
              std::string::npos);
    EXPECT_NE(message(b, {.kind = JointKind::Weld, .limits = {.upper = 1.0}}).find("does not turn"),
              std::string::npos);
    EXPECT_NE(message(b, {.motor = {.goal = MotorGoal::Speed}}).find("needs a hinge"), std::string::npos);
    const auto hinge = [&](const JointMotor& motor) {
        return message(b, {.kind = JointKind::Hinge, .motor = motor});
    };
    EXPECT_NE(hinge({.goal = MotorGoal::Angle}).find("stiffness of a motor"), std::string::npos);
    EXPECT_NE(hinge({.goal = MotorGoal::Speed, .torque = 0.0}).find("torque"), std::string::npos);
    EXPECT_NE(hinge({.goal = MotorGoal::Speed, .target = std::nan("")}).find("not finite"),
              std::string::npos);
    world.remove(b);
    EXPECT_NE(message(b).find("not in the world"), std::string::npos);
}

} // namespace
} // namespace lithe
