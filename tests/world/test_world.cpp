#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/world/world.hpp"
#include "support/bodies.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::make_ground;
using test::make_soft_cube;
using test::message_of;

constexpr double h = 1.0 / 60.0; ///< [s]

void step(World& world, int count)
{
    for (int k = 0; k < count; ++k) ASSERT_TRUE(world.step(h).done);
}

/// Two cubes above the ground, one of them moving.
void fill(World& world)
{
    world.add(make_ground());
    world.add(make_soft_cube("left", Vec3(-0.3, 0.15, 0)));
    world.add(make_soft_cube("right", Vec3(0.3, 0.12, 0), Vec3(0.5, 0, 0)));
}

TEST(World, FreeFallIsExactForTheScheme)
{
    World world;
    const BodyId id = world.add(make_soft_cube("cube", Vec3(0, 10, 0)));
    const double start = world.body(id).motion({}).position[1];
    step(world, 30);
    // backward Euler under constant g: y = -g h^2 n (n + 1) / 2
    EXPECT_NEAR(world.body(id).motion({}).position[1] - start, -9.81 * h * h * 30 * 31 / 2, 1e-11);
    EXPECT_NEAR(world.time(), 0.5, 1e-12);
}

TEST(World, ACubeComesToRestOnTheGround)
{
    World world;
    fill(world);
    int contacts = 0;
    for (int k = 0; k < 240; ++k) {
        const StepReport report = world.step(h);
        ASSERT_TRUE(report.done) << report.trouble;
        contacts = report.contacts;
        EXPECT_LT(report.penetration, 0.01);
    }
    EXPECT_GT(contacts, 0);
    const Mechanics rest = world.mechanics();
    EXPECT_LT(rest.kinetic, 1e-4 * rest.potential);
    EXPECT_GT(world.body(*world.find("left")).swept_bounds().min()[1], -1e-3);
    EXPECT_FALSE(world.body(*world.find("left")).overlays().empty());
}

TEST(World, BodiesComeAndGo)
{
    World world;
    fill(world);
    step(world, 3);
    const BodyId left = *world.find("left");
    world.remove(left);
    EXPECT_FALSE(world.contains(left));
    EXPECT_EQ(world.bodies().size(), 2u);
    EXPECT_THROW(world.remove(left), InputError);
    step(world, 2);
    const BodyId late = world.add(make_soft_cube("late", Vec3(0, 1, 0)));
    EXPECT_NE(late, left); // it took the slot, not the id
    EXPECT_FALSE(world.contains(left));
    step(world, 2);
    EXPECT_LT(world.body(late).motion({}).velocity[1], 0.0);
    EXPECT_NE(message_of([&] { world.add(make_soft_cube("late", Vec3::Zero())); }).find("'late' already"),
              std::string::npos);
}

TEST(World, SameBitsForAnyNumberOfThreads)
{
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        World world;
        fill(world);
        step(world, 30);
        hashes.push_back(world.state_hash());
    }
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(World, TwoWorldsDoNotKnowOfEachOther)
{
    World alone;
    fill(alone);
    step(alone, 20);
    World a, b({.gravity = Vec3(0, 1, 0)});
    fill(a);
    fill(b);
    for (int k = 0; k < 20; ++k) {
        step(a, 1);
        step(b, 1);
    }
    EXPECT_EQ(a.state_hash(), alone.state_hash());
    EXPECT_NE(b.state_hash(), alone.state_hash());
}

TEST(World, GoesOnFromASavedStateBitForBit)
{
    World whole, first, second;
    fill(whole);
    fill(first);
    fill(second);
    step(whole, 30);
    step(first, 17);
    StateWriter saved;
    first.save(saved);
    StateReader in(saved.bytes());
    second.restore(in);
    EXPECT_TRUE(in.at_end());
    step(second, 13);
    EXPECT_EQ(second.state_hash(), whole.state_hash());
}

TEST(World, AFailedRestoreChangesNothing)
{
    World world, other;
    fill(world);
    step(world, 5);
    const std::uint64_t before = world.state_hash();
    StateWriter saved;
    world.save(saved);
    StateReader cut(std::string_view(saved.bytes()).substr(0, saved.bytes().size() - 20));
    EXPECT_THROW(world.restore(cut), InputError);
    EXPECT_EQ(world.state_hash(), before);

    other.add(make_ground());
    other.add(make_soft_cube("left", Vec3(0, 1, 0)));
    other.add(make_soft_cube("wrong", Vec3(1, 1, 0)));
    StateReader in(saved.bytes());
    EXPECT_NE(message_of([&] { other.restore(in); }).find("'right' where the world has 'wrong'"),
              std::string::npos);
}

TEST(World, AStepThatCannotBeSolvedMovesNobody)
{
    World world;
    fill(world);
    FullBodyModel model = test::soft_cube("stubborn", Vec3(0, 2, 0));
    model.newmark.newton.max_iterations = 1;
    model.loads.push_back({.load = ForceLoad{Vec3(1e5, 0, 0)}, .vertices = {0}});
    world.add(std::make_unique<FullBody>(std::move(model)));
    const std::uint64_t before = world.state_hash();
    const StepReport report = world.step(h);
    EXPECT_FALSE(report.done);
    EXPECT_NE(report.trouble.find("body 'stubborn': the solver reached the limit of iterations"),
              std::string::npos)
        << report.trouble;
    EXPECT_EQ(world.state_hash(), before);
}

TEST(World, PushesActOnceAndInFull)
{
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(make_soft_cube("cube", Vec3::Zero()));
    world.push({{.body = id, .weight = 0.5, .point = {.triangle = 1}},
                {.body = id, .weight = 0.5, .point = {.triangle = 4}}},
               Vec3(1, 0, 0));
    step(world, 1);
    EXPECT_NEAR(world.mechanics().linear_momentum[0], 1.0, 1e-12);
    step(world, 1);
    EXPECT_NEAR(world.mechanics().linear_momentum[0], 1.0, 1e-11);
    EXPECT_THROW(world.push({{.body = id}}, Vec3::Constant(1.0 / 0.0)), InputError);
    world.remove(id);
    EXPECT_THROW(world.push({{.body = id}}, Vec3::UnitX()), InputError);
}

TEST(World, KinematicObstaclesFollowTheirPathAndCarryWhatLiesOnThem)
{
    World world;
    Shown shown;
    shown.name = "lift";
    ObstacleModel lift{BoxShape{Vec3(1, 0.1, 1)}, std::move(shown)};
    lift.path = Keyframes<RigidPose>({0.0, 1.0}, {RigidPose{}, RigidPose{Quat::Identity(), Vec3(0, 0.5, 0)}});
    world.add(std::make_unique<ObstacleBody>(std::move(lift)));
    const BodyId cube = world.add(make_soft_cube("cube", Vec3(0, 0.151, 0)));
    step(world, 60);
    Published now;
    world.body(*world.find("lift")).publish(now);
    EXPECT_NEAR(now.frame.translation[1], 0.5, 1e-12);
    EXPECT_NEAR(world.body(cube).swept_bounds().min()[1], 0.55, 0.005);
}

TEST(World, GravityChangesFromOneStepToTheNext)
{
    World world;
    const BodyId id = world.add(make_soft_cube("cube", Vec3(0, 10, 0)));
    step(world, 10);
    const Vec3 before = world.body(id).motion({}).velocity;
    world.set_gravity(Vec3(2.0, 0.0, 0.0));
    step(world, 10);
    EXPECT_LT((world.body(id).motion({}).velocity - before - Vec3(20 * h, 0, 0)).norm(), 1e-10);
    EXPECT_THROW(world.set_gravity(Vec3(0.0, std::nan(""), 0.0)), InputError);
    EXPECT_EQ(world.gravity(), Vec3(2.0, 0.0, 0.0));
}

TEST(World, BeginsAtAnyTime)
{
    World world({.time = 2.5});
    step(world, 1);
    EXPECT_DOUBLE_EQ(world.time(), 2.5 + h);
    EXPECT_THROW(World({.time = std::nan("")}), InputError);
}

TEST(World, RefusesBadNumbers)
{
    World world;
    EXPECT_THROW((void)world.step(0.0), InputError);
    EXPECT_THROW(World({.gravity = Vec3::Constant(0.0 / 0.0)}), InputError);
    Shown shown;
    EXPECT_THROW(ObstacleBody(ObstacleModel{SphereShape{-1.0}, shown}), InputError);
    EXPECT_THROW(ObstacleBody(ObstacleModel{PlaneShape{}, shown, RigidPose{}, -0.5}), InputError);
}

} // namespace
} // namespace lithe
