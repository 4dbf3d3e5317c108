#include "lithe/world/kinematic_character.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/fem/full_body.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/world/world.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::message_of;

SkinWeights follow_one(Index vertices)
{
    SkinWeights out{.bones = decltype(SkinWeights::bones)::Zero(1, vertices),
                    .weights = MatX::Ones(1, vertices)};
    return out;
}

/// A table of 1 x 0.2 x 1 m whose top is at y = 0, moved by one joint.
std::shared_ptr<Character> table()
{
    auto out = std::make_shared<Character>();
    out->surface = make_box(Vec3(1.0, 0.2, 1.0), 0.1);
    out->surface.vertices.row(1).array() -= 0.1;
    out->skeleton.joints = {{.name = "root", .parent = -1, .rest = {}}};
    out->bones = {{.joint = 0}};
    out->weights = follow_one(out->surface.vertex_count());
    return out;
}

/// Along x with this speed for ten seconds.
Clip glide(double speed)
{
    return {.name = "glide",
            .joints = {{.joint = 0,
                        .translation = Track<Vec3>{.times = {0.0, 10.0},
                                                   .values = {Vec3::Zero(), Vec3(10.0 * speed, 0.0, 0.0)}}}}};
}

KinematicCharacterModel model_of(std::shared_ptr<Character> character, const Clip& clip)
{
    TriangleMesh closed = character->surface;
    return {.name = "table",
            .character = character,
            .clip = clip,
            .closed = closed,
            .closed_weights = follow_one(closed.vertex_count())};
}

TEST(Playback, StartsLoopsAndEnds)
{
    const Clip clip = glide(1.0);
    EXPECT_DOUBLE_EQ((Playback{.start = 2.0}).clip_time(clip, 3.0), 5.0);
    EXPECT_DOUBLE_EQ((Playback{.start = 2.0, .speed = 2.0}).clip_time(clip, 5.0), 2.0); // once round
    EXPECT_DOUBLE_EQ((Playback{.start = 2.0, .loop = false}).clip_time(clip, 20.0), 10.0);
    EXPECT_DOUBLE_EQ((Playback{.start = 1.0, .speed = -1.0, .loop = false}).clip_time(clip, 20.0), 0.0);
}

TEST(KinematicCharacter, IsWhereItsClipPutsIt)
{
    auto character = table();
    character->skeleton.placement.translation() = Vec3(0.0, 5.0, 0.0);
    World world;
    const BodyId id = world.add(std::make_unique<KinematicCharacter>(model_of(character, glide(0.5))));
    for (int step = 0; step < 4; ++step) ASSERT_TRUE(world.step(0.25).done);
    const Frame frame = world.publish();
    const Points expected = character->surface.vertices.colwise() + Vec3(0.5, 5.0, 0.0);
    EXPECT_LT((frame.bodies[0].positions - expected).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((frame.bodies[0].joints[0].translation() - Vec3(0.5, 5.0, 0.0)).norm(), 1e-12);
    const PointMotion motion = world.body(id).motion({.triangle = 0});
    EXPECT_LT((motion.velocity - Vec3(0.5, 0.0, 0.0)).norm(), 1e-12);
}

/// How far a soft cube on the table has gone after so many steps of 1/60 s.
Vec3 carried_cube(double speed, double friction, int steps)
{
    World world;
    KinematicCharacterModel model = model_of(table(), glide(speed));
    model.friction = friction;
    world.add(std::make_unique<KinematicCharacter>(std::move(model)));
    TetMesh cube = make_box_tets(Vec3::Constant(0.2), 0.1);
    cube.vertices.row(1).array() += 0.1;
    const Vec3 start = cube.vertices.rowwise().mean();
    const BodyId id = world.add(std::make_unique<FullBody>(make_full_body_model(
        "cube", cube, StableNeoHookean({.young_modulus = 1e5, .poisson_ratio = 0.3}), 1000.0)));
    for (int step = 0; step < steps; ++step) EXPECT_TRUE(world.step(1.0 / 60.0).done);
    Published now;
    world.body(id).publish(now);
    return Vec3(surface_in_world(world.body(id).shown(), now).rowwise().mean()) - start;
}

TEST(KinematicCharacter, ItsSkinHoldsUpAndCarriesASoftBody)
{
    const Vec3 carried = carried_cube(0.3, 1.0, 60);
    EXPECT_NEAR(carried.x(), 0.3, 0.05); // it must first be brought up to speed
    EXPECT_NEAR(carried.y(), 0.0, 0.01);
    EXPECT_NEAR(carried.z(), 0.0, 0.01);
}

TEST(KinematicCharacter, ASmoothSkinSlidesAwayBelow)
{
    EXPECT_NEAR(carried_cube(0.3, 0.0, 30).x(), 0.0, 1e-3);
}

TEST(KinematicCharacter, GoesOnFromACheckpoint)
{
    const auto run = [](World& world, int steps) {
        for (int step = 0; step < steps; ++step) ASSERT_TRUE(world.step(0.1).done);
    };
    const auto make = [] {
        World world;
        world.add(std::make_unique<KinematicCharacter>(model_of(table(), glide(0.7))));
        return world;
    };
    World through = make();
    run(through, 6);
    World first = make();
    run(first, 3);
    StateWriter state;
    first.save(state);
    World second = make();
    StateReader reader(state.bytes());
    second.restore(reader);
    run(second, 3);
    EXPECT_EQ(second.state_hash(), through.state_hash());
    EXPECT_EQ(second.publish().bodies[0].positions, through.publish().bodies[0].positions);
}

TEST(KinematicCharacter, RefusesWhatCannotPlay)
{
    auto bare = table();
    bare->weights = {};
    EXPECT_EQ(message_of([&] { KinematicCharacter{model_of(bare, {})}; }),
              "character 'table': its surface has no skin weights");
    KinematicCharacterModel rough = model_of(table(), {});
    rough.friction = -1.0;
    EXPECT_EQ(message_of([&] { KinematicCharacter{rough}; }),
              "character 'table': friction must be at least 0 and finite");
}

} // namespace
} // namespace lithe
