#include "lithe/server/live_scene.hpp"

#include <gtest/gtest.h>

#include "lithe/server/answers.hpp"
#include "scenes.hpp"
#include "stream_reader.hpp"

namespace lithe {
namespace {

using test::centre_of;
using test::make_live;

/// From the front at a height.
Ray from_front(double x, double y)
{
    return {Vec3(x, y, 5.0), Vec3(0, 0, -1)};
}

TEST(LiveScene, AnyKindOfBodyArrivesWhereItIs)
{
    const auto scene = make_live(test::mixed_scene);
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(scene->advance_frame().done);
    FrameEncoder encoder;
    scene->encode_frame(1, encoder);
    test::StreamReader in(encoder.bytes());
    (void)in.take_fields(protocol()["binary"]["frame"]["header"]);
    for (const BodyId id : scene->seen()) {
        const Body& body = scene->world().body(id);
        Published now;
        body.publish(now);
        const Points wanted = surface_in_world(body.shown(), now);
        const Points found = test::read_positions(in, test::read_body(encode_body(body.shown(), {1, false})));
        EXPECT_LE((wanted - found).colwise().norm().maxCoeff(), 1e-4 * bounds(wanted).diagonal().norm())
            << body.shown().name;
    }
    EXPECT_EQ(in.take<std::uint32_t>(), 0u);
}

TEST(LiveScene, EveryKindOfBodyFollowsTheHandAndIsLetGo)
{
    const auto scene = make_live(test::mixed_scene);
    for (const char* name : {"ring", "stone", "cube"}) {
        ASSERT_TRUE(scene->reset());
        const Vec3 start = centre_of(*scene, name);
        const double side = std::string(name) == "ring" ? 0.25 : 0.0;
        const auto picked = scene->grab(from_front(start[0] + side, start[1]));
        ASSERT_TRUE(picked) << name;
        EXPECT_EQ(scene->world().body(picked->body).shown().name, name);
        const Vec3 target = picked->point + Vec3(0.0, 0.8, 0.0);
        scene->drag(target);
        double nearest = 1e9;
        for (int k = 0; k < 90; ++k) {
            ASSERT_TRUE(scene->advance_frame().done);
            nearest = std::min(nearest, (scene->held().front().point - target).norm());
        }
        EXPECT_GT(scene->held().front().force, 0.0);
        EXPECT_LT(nearest, 0.3) << name; // it hangs a little below the hand
        EXPECT_GT(centre_of(*scene, name)[1], start[1] + 0.1) << name;
        scene->release();
        EXPECT_TRUE(scene->held().empty());
        const double high = centre_of(*scene, name)[1];
        for (int k = 0; k < 30; ++k) ASSERT_TRUE(scene->advance_frame().done);
        EXPECT_LT(centre_of(*scene, name)[1], high - 0.1) << name;
    }
}

TEST(LiveScene, HandsAreSoftWhateverTheDistance)
{
    const auto scene = make_live(test::cube_scene);
    ASSERT_TRUE(scene->grab(from_front(0.0, 0.0)));
    scene->drag(Vec3(0.0, 20.0, 0.0)); // a hundred times its size
    for (int k = 0; k < 10; ++k) (void)scene->advance_frame();
    EXPECT_TRUE(centre_of(*scene, "cube").allFinite());
}

TEST(LiveScene, NothingIsHeldBesideTheBodies)
{
    const auto scene = make_live(test::mixed_scene);
    EXPECT_FALSE(scene->grab(from_front(0.0, 5.0)));
    EXPECT_FALSE(scene->grab({Vec3(3, 5, 3), Vec3(0, -1, 0)})); // the ground, which nothing moves
    EXPECT_FALSE(scene->holds());
    EXPECT_EQ(scene->seen().size(), 4u);
}

TEST(LiveScene, PinsHoldUntilTheyAreRemoved)
{
    const auto scene = make_live(test::mixed_scene);
    const Vec3 start = centre_of(*scene, "stone");
    ASSERT_TRUE(scene->pin(from_front(start[0], start[1])));
    for (int k = 0; k < 60; ++k) ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_LT((scene->held().front().point - scene->held().front().target).norm(), 0.02);
    scene->unpin();
    for (int k = 0; k < 60; ++k) ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_LT(centre_of(*scene, "stone")[1], 0.15);
}

TEST(LiveScene, BallsFlyAndGo)
{
    const auto scene = make_live(test::cube_scene);
    for (int k = 0; k < 22; ++k) scene->throw_ball({Vec3(0.5 * k - 5.0, 3.0, 5.0), Vec3(0, 0, -1)});
    EXPECT_EQ(scene->ball_count(), 20u);
    EXPECT_EQ(scene->seen().size(), 21u);
    ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_LT(centre_of(*scene, "thrown ball 22")[2], 5.0);
    EXPECT_FALSE(scene->world().find("thrown ball 1"));
    ASSERT_TRUE(scene->reset());
    EXPECT_EQ(scene->seen().size(), 1u);
}

TEST(LiveScene, ABallPushesWhatItHits)
{
    const auto scene = make_live(test::cube_scene);
    scene->throw_ball({Vec3(0, 0, 1.0), Vec3(0, 0, -1)});
    for (int k = 0; k < 30; ++k) ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_LT(centre_of(*scene, "cube")[2], -0.005);
}

TEST(LiveScene, ResetIsTheStartToTheLastBit)
{
    const auto scene = make_live(test::mixed_scene);
    const std::uint64_t hash = scene->world().state_hash();
    (void)scene->grab(from_front(0.6, 0.4));
    scene->throw_ball(from_front(0.0, 1.0));
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_NE(scene->world().state_hash(), hash);
    ASSERT_TRUE(scene->reset());
    EXPECT_EQ(scene->world().state_hash(), hash);
    EXPECT_EQ(scene->frame(), 0);
}

TEST(LiveScene, GoesOnFromAFrameOfThePast)
{
    const auto scene = make_live(test::mixed_scene);
    scene->throw_ball(from_front(0.0, 1.0));
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(scene->advance_frame().done);
    ASSERT_TRUE(scene->grab(from_front(0.6, 0.4)));
    const std::string past = scene->state(); // with a hand that is no part of it
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(scene->advance_frame().done);
    ASSERT_TRUE(scene->pin(from_front(-0.6, centre_of(*scene, "cube")[1])));
    ASSERT_TRUE(scene->go_back(5, past));
    EXPECT_EQ(scene->state(), past);
    EXPECT_EQ(scene->frame(), 5);
    EXPECT_NEAR(scene->time(), 5.0 / 60.0, 1e-12);
    EXPECT_TRUE(scene->held().empty());
    EXPECT_EQ(scene->metrics().steps.size(), 5u);
    const auto other = make_live(test::cube_scene);
    EXPECT_FALSE(other->go_back(5, past));
}

/// A hand, which is no part of saved states, does not change what comes of one.
TEST(LiveScene, AStateGoesOnBitForBit)
{
    const auto scene = make_live(test::mixed_scene);
    const auto run_on = [&] {
        for (int k = 0; k < 15; ++k) EXPECT_TRUE(scene->advance_frame().done);
        return scene->world().state_hash();
    };
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(scene->advance_frame().done);
    const std::string state = scene->state();
    const std::uint64_t hash = run_on();
    (void)scene->grab(from_front(0.6, 0.2));
    (void)scene->advance_frame();
    ASSERT_TRUE(scene->go_back(10, state));
    EXPECT_EQ(run_on(), hash);
}

TEST(LiveScene, GravityTurnsAtOnce)
{
    const auto scene = make_live(test::cube_scene);
    scene->set_gravity(Vec3(3.0, 0.0, 0.0));
    for (int k = 0; k < 30; ++k) ASSERT_TRUE(scene->advance_frame().done);
    EXPECT_NEAR(centre_of(*scene, "cube")[0], 0.5 * 3.0 * 0.25, 0.02);
}

TEST(LiveScene, BodiesOfTetsOfferTheirStress)
{
    const auto scene = make_live(test::mixed_scene);
    for (int k = 0; k < 40; ++k) ASSERT_TRUE(scene->advance_frame().done);
    ASSERT_EQ(scene->field_labels().size(), 1u);
    const auto fields = scene->fields(scene->field_labels().front().name);
    ASSERT_EQ(fields.size(), 2u); // ring and cube; the stone is rigid
    for (const DrawnField& field : fields) {
        const Body& body = scene->world().body(scene->seen()[field.body]);
        EXPECT_EQ(field.values.size(), body.shown().surface.vertex_count());
        EXPECT_GE(field.values.minCoeff(), 0.0);
        EXPECT_GT(field.values.maxCoeff(), 10.0) << body.shown().name; // it lies on the ground
        EXPECT_LT(field.values.maxCoeff(), 1e5) << body.shown().name;
    }
    EXPECT_TRUE(scene->fields("no such field").empty());
}

TEST(LiveScene, CubatureIsAnOverlay)
{
    const auto scene = make_live(R"(
[[body]]
name = "ball"
shape = "sphere:radius=0.2"
tets = 400
position = [0, 0.5, 0]
material = { kind = "neo_hookean", young = "50 kPa" }
reduce = { rank = 10 }
)");
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(scene->advance_frame().done);
    const auto overlays = scene->overlays();
    const auto found = std::ranges::find(overlays, "cubature points", &DrawnOverlay::name);
    ASSERT_NE(found, overlays.end());
    EXPECT_GT(found->points.cols(), 5);
    const Vec3 centre = centre_of(*scene, "ball");
    EXPECT_LT((found->points.colwise() - centre).colwise().norm().maxCoeff(), 0.2);
}

TEST(LiveScene, TheSameBodiesPreparedOtherwiseGoOn)
{
    const auto before = make_live(test::mixed_scene);
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(before->advance_frame().done);
    const Vec3 ring = centre_of(*before, "ring");
    const auto after = make_live(test::mixed_scene);
    ASSERT_TRUE(after->continue_from(*before));
    EXPECT_EQ(after->frame(), 10);
    EXPECT_LT((centre_of(*after, "ring") - ring).norm(), 1e-12);
    const auto other = make_live(test::cube_scene);
    EXPECT_FALSE(other->continue_from(*before));
}

TEST(LiveScene, CutsThroughTetsOfFullAndReducedBodies)
{
    const auto scene = make_live(test::mixed_scene);
    ASSERT_TRUE(scene->advance_frame().done);
    const Points cut = scene->cut({.axis = 2, .offset = 0.0});
    ASSERT_GT(cut.cols(), 0);
    EXPECT_EQ(cut.cols() % 3, 0);
    EXPECT_LT(cut.row(0).minCoeff(), -0.5); // the cube
    EXPECT_GT(cut.row(0).maxCoeff(), 0.2);  // the ring
    EXPECT_EQ(scene->cut({.axis = 2, .offset = -50.0}).cols(), 0);
}

TEST(LiveScene, FiguresAndFilesTellTheSteps)
{
    const auto scene = make_live(test::mixed_scene);
    for (int k = 0; k < 40; ++k) ASSERT_TRUE(scene->advance_frame().done);
    const auto figures = scene->figures();
    EXPECT_GT(figures["energy"]["kinetic"].get<double>(), 0.0);
    EXPECT_EQ(figures["frame"], 40);
    EXPECT_TRUE(figures["stages"].contains("predict"));
    const std::string csv = metrics_csv(scene->metrics());
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 41);
    EXPECT_EQ(nlohmann::json::parse(to_json(scene->metrics()))["steps"].size(), 40u);
    EXPECT_TRUE(surface_file(*scene, 0).starts_with("ply"));
    EXPECT_THROW((void)surface_file(*scene, 9), InputError);
    const auto overlays = scene->overlays();
    EXPECT_EQ(overlays.front().name, "contacts");
}

TEST(Pick, FindsTheNearestCrossingFromEitherSide)
{
    Points x(3, 4);
    x << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
    Triangles t(3, 1);
    t << 0, 1, 2;
    const auto from = [&](const Vec3& o, const Vec3& d) { return first_crossing({o, d}, x, t); };
    EXPECT_DOUBLE_EQ(from({0.2, 0.2, 3.0}, {0, 0, -2}).value(), 1.5);
    EXPECT_DOUBLE_EQ(from({0.2, 0.2, -3.0}, {0, 0, 1}).value(), 3.0);
    EXPECT_FALSE(from({0.2, 0.2, 3.0}, {0, 0, 1}));
    EXPECT_FALSE(from({0.8, 0.8, 3.0}, {0, 0, -1}));
    EXPECT_FALSE(from({0.2, 0.2, 3.0}, {1, 0, 0}));
}

} // namespace
} // namespace lithe
