#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
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
    world.remove(b);
    EXPECT_NE(message(b).find("not in the world"), std::string::npos);
}

} // namespace
} // namespace lithe
