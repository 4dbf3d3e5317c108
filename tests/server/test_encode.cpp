#include "lithe/server/encode.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/geometry/shapes.hpp"
#include "stream_reader.hpp"

namespace lithe {
namespace {

using test::ReadBody;
using test::StreamReader;

TriangleMesh ball(double radius = 0.5)
{
    return make_sphere(radius, 0.05);
}

RigidPose some_pose()
{
    return {Quat(0.3, -0.4, 0.2, 0.7).normalized(), Vec3(3.0, -1.0, 2.0)};
}

/// Encodes one body in one frame and reads it back.
Points travelled(const Shown& shown, const Published& now)
{
    const ReadBody body = test::read_body(encode_body(shown, {7, false}));
    FrameEncoder encoder;
    encoder.begin({3, 42, 1.25}, 1);
    encoder.add_body(shown, now);
    const Hold hold{Vec3(1, 2, 3), Vec3(4, 5, 6), 7.0};
    encoder.add_holds({&hold, 1});
    StreamReader in(encoder.bytes());
    const auto header = in.take_fields(protocol()["binary"]["frame"]["header"]);
    EXPECT_EQ(header["kind"][0], 1.0);
    EXPECT_EQ(header["scene"][0], 3.0);
    EXPECT_EQ(header["number"][0], 42.0);
    EXPECT_EQ(header["bodies"][0], 1.0);
    EXPECT_EQ(header["t"][0], 1.25);
    Points x = test::read_positions(in, body);
    EXPECT_EQ(in.take<std::uint32_t>(), 1u);
    const auto held = in.take_fields(protocol()["binary"]["frame"]["hold"]);
    EXPECT_EQ(held["target"][2], 6.0);
    EXPECT_EQ(held["force"][0], 7.0);
    EXPECT_TRUE(in.left().empty());
    return x;
}

double size_of(const Points& x)
{
    return bounds(x).diagonal().norm();
}

void expect_same(const Shown& shown, const Published& now, double tolerance)
{
    const Points wanted = surface_in_world(shown, now), found = travelled(shown, now);
    EXPECT_LE((wanted - found).colwise().norm().maxCoeff(), tolerance * size_of(wanted));
    EXPECT_GT((wanted - shown.surface.vertices).colwise().norm().maxCoeff(), 0.1); // it was elsewhere
}

SurfaceMorphs random_morphs(Index vertices, Index rank, Random& random)
{
    SurfaceMorphs S(3 * vertices, rank);
    for (Index k = 0; k < S.size(); ++k) S.data()[k] = static_cast<float>(random.uniform(-1.0, 1.0));
    return S;
}

TEST(Encode, RigidBodiesTravelAsAFrame)
{
    Shown shown{.name = "stone", .surface = ball(), .rigid = true};
    EXPECT_EQ(form_of(shown), BodyForm::Rigid);
    expect_same(shown, {.frame = some_pose()}, 1e-6);
    shown.rigid = false; // a reduced body without shapes
    shown.morphs = std::make_shared<const SurfaceMorphs>(3 * shown.surface.vertex_count(), 0);
    EXPECT_EQ(form_of(shown), BodyForm::Rigid);
    expect_same(shown, {.frame = some_pose()}, 1e-6);
}

TEST(Encode, ReducedBodiesTravelAsFrameAndWeights)
{
    Random random(5);
    Shown shown{.name = "jelly", .surface = ball()};
    const Index rank = 30;
    shown.morphs =
        std::make_shared<const SurfaceMorphs>(random_morphs(shown.surface.vertex_count(), rank, random));
    Published now{.frame = some_pose()};
    now.weights = VecX::NullaryExpr(rank, [&] { return random.uniform(-0.02, 0.02); });
    EXPECT_EQ(form_of(shown), BodyForm::Bones);
    expect_same(shown, now, 1e-4); // acceptance of the viewer
    expect_same(shown, now, 2e-5); // what 16 bits come to
}

TEST(Encode, SkinsTravelAsTheirBones)
{
    Random random(6);
    Shown shown{.name = "arm", .surface = ball()};
    const Index count = shown.surface.vertex_count();
    std::vector<SkinBone> skin(3);
    for (std::size_t b = 0; b < 3; ++b) {
        SkinBone& bone = skin[b];
        for (int v = 0; v < count; ++v)
            if (b == 0 || v % 3 == static_cast<int>(b)) bone.vertices.push_back(v);
        const auto mine = static_cast<Index>(bone.vertices.size());
        bone.weights.resize(mine);
        bone.rest.resize(3, mine);
        bone.basis = random_morphs(mine, b == 2 ? 0 : 4, random);
        for (Index i = 0; i < mine; ++i) {
            const int v = bone.vertices[static_cast<std::size_t>(i)];
            bone.weights[i] = b == 0 ? (v % 3 == 0 ? 1.0 : 0.25) : 0.75;
            bone.rest.col(i) = shown.surface.vertices.col(v);
        }
    }
    shown.skin = std::make_shared<const std::vector<SkinBone>>(std::move(skin));
    Published now{.frame = some_pose()};
    for (int b = 0; b < 3; ++b)
        now.bones.push_back({{Quat(1.0, 0.1 * b, -0.05 * b, 0.0).normalized(), Vec3(0.1 * b, 0.0, -0.2 * b)},
                             VecX::Constant(b == 2 ? 0 : 4, 0.02)});
    expect_same(shown, now, 2e-5);
}

TEST(Encode, OtherBodiesTravelAsSixteenBitSteps)
{
    Shown shown{.name = "cow", .surface = ball()};
    Published now{.frame = some_pose()};
    now.positions = shown.surface.vertices;
    now.positions.row(0) *= 3.0;
    now.positions.row(2).array() += 0.2 * now.positions.row(1).array().square();
    EXPECT_EQ(form_of(shown), BodyForm::Positions);
    expect_same(shown, now, 1e-5);
    now.positions.row(1).setZero(); // flat: a box without height
    expect_same(shown, now, 1e-5);
}

TEST(Encode, ColoursAndTrianglesArrive)
{
    Shown shown{.name = "b\xff\"x", .surface = ball(), .color = Vec3(0.2, 0.4, 0.6), .backdrop = true};
    const Index count = shown.surface.vertex_count();
    shown.surface.fields.push_back({"color", MatX::Constant(3, count, 0.5)});
    const ReadBody body = test::read_body(encode_body(shown, {9, true}));
    EXPECT_EQ(body.head["key"], 9);
    EXPECT_EQ(body.head["led"], true);
    EXPECT_EQ(body.head["backdrop"], true);
    EXPECT_EQ(body.head["color"][2], 0.6);
    ASSERT_EQ(body.colors.size(), static_cast<std::size_t>(3 * count));
    EXPECT_EQ(body.colors.front(), 128.0);
    ASSERT_EQ(body.triangles.size(), static_cast<std::size_t>(shown.surface.triangles.size()));
    for (Index k = 0; k < shown.surface.triangles.size(); ++k)
        ASSERT_EQ(body.triangles[static_cast<std::size_t>(k)], shown.surface.triangles.reshaped()[k]);
}

TEST(Encode, OverlaysAndCutsArrive)
{
    OverlayMessage sent{.cut = Points::Constant(3, 3, 9.0)};
    sent.fields.push_back({.body = 1, .name = "stress", .values = Vec3(0.0, 2.0, 4.0)});
    std::vector<DrawnOverlay>& overlays = sent.overlays;
    overlays.resize(2);
    overlays[0].name = "contacts";
    overlays[0].points = Points::Constant(3, 2, 1.5);
    overlays[0].vectors = Points::Constant(3, 2, -2.0);
    overlays[1].name = "pins";
    overlays[1].points = Points::Constant(3, 1, 3.0);
    auto message = test::read_packed(encode_overlays(sent, 5));
    EXPECT_EQ(message.head["kind"], 3.0);
    EXPECT_EQ(message.head["overlays"][0]["arrows"], true);
    EXPECT_EQ(message.head["overlays"][1]["arrows"], false);
    EXPECT_EQ(message.take("points"), std::vector<double>(6, 1.5));
    EXPECT_EQ(message.take("vectors"), std::vector<double>(6, -2.0));
    EXPECT_EQ(message.take("points"), std::vector<double>(3, 3.0));
    EXPECT_EQ(message.take("points"), std::vector<double>(9, 9.0));
    EXPECT_EQ(message.head["fields"][0], nlohmann::json({{"body", 1}, {"name", "stress"}, {"top", 4.0}}));
    EXPECT_EQ(message.take("values"), (std::vector<double>{0, 128, 255}));
}

/// What the issue allows at 60 frames per second: 40 kB/s for a reduced body with 30 shapes, 8 MB/s for 20 000 vertices.
TEST(Encode, FramesAreAsSmallAsPromised)
{
    FrameEncoder encoder;
    Shown reduced{.name = "reduced", .surface = ball()};
    reduced.morphs =
        std::make_shared<const SurfaceMorphs>(SurfaceMorphs::Zero(3 * reduced.surface.vertex_count(), 30));
    encoder.begin({}, 1);
    Published now;
    now.weights = VecX::Zero(30);
    encoder.add_body(reduced, now);
    encoder.add_holds({});
    EXPECT_EQ(encoder.bytes().size(), 24u + 28u + 120u + 4u);
    EXPECT_LT(60 * encoder.bytes().size(), 40'000u / 2);

    Shown full{.name = "full", .surface = {.vertices = Points::Random(3, 20'000), .triangles = {}}};
    encoder.begin({}, 1);
    now.positions = full.surface.vertices;
    encoder.add_body(full, now);
    encoder.add_holds({});
    EXPECT_LT(60 * encoder.bytes().size(), 8'000'000u);
}

} // namespace
} // namespace lithe
