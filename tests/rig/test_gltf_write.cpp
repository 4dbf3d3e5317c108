#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/version.hpp"
#include "rig/gltf_builder.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr double single = 1e-6; ///< what files in single precision keep of lengths around one [m]

void expect_near(const Points& a, const Points& b, double tolerance)
{
    ASSERT_EQ(a.cols(), b.cols());
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance);
}

/// Morphed, then posed: all that a clip does to the surface.
Points moved_at(const Character& character, const Clip& clip, double t)
{
    Points x;
    skin(SkinningMethod::Linear, character.weights,
         bone_transforms(character.bones,
                         world_transforms(character.skeleton, pose_at(character.skeleton, clip, t))),
         morphed_surface(character, &clip, t), x);
    return x;
}

void expect_same_motion(const Character& a, const Clip& clip_a, const Character& b, const Clip& clip_b)
{
    const double size = bounds(a.surface.vertices).sizes().maxCoeff();
    for (int k = 0; k <= 20; ++k) {
        const double t = clip_a.begin() + k / 20.0 * clip_a.duration();
        expect_near(moved_at(a, clip_a, t), moved_at(b, clip_b, t), 2e-6 * size);
    }
}

/// What `before` had is in `after` unchanged: each accessor, number by number.
void expect_accessors_kept(const GltfDocument& before, const GltfDocument& after)
{
    ASSERT_GE(after.count("accessors"), before.count("accessors"));
    for (std::size_t i = 0; i < before.count("accessors"); ++i)
        ASSERT_EQ(before.numbers(static_cast<int>(i)), after.numbers(static_cast<int>(i)))
            << "accessor " << i;
}

/// A strip with two targets, one animation that moves the first of them and one that does not.
GltfDocument morphing_strip()
{
    GltfDocument document = strip_document();
    Json& primitive = document.edit()["meshes"][0]["primitives"][0];
    const int lift = add_points(document, Vec3(0, 0, 1).replicate(1, 10));
    const int stretch = add_points(document, strip_vertices());
    primitive["targets"] = Json::array({{{"POSITION", lift}}, {{"POSITION", stretch}}});
    document.edit()["meshes"][0]["extras"] = {{"targetNames", {"lift", "stretch"}}};
    document.edit()["meshes"][0]["weights"] = {0.0, 0.125};
    add_animation(document, 3, "weights", {0.0f, 2.0f}, Eigen::RowVector4f(0, 0.5, 1, 0.25));
    add_bend(document);
    document.edit()["animations"][0]["name"] = "morph";
    document.edit()["animations"][1]["name"] = "bend";
    return document;
}

} // namespace

// ---- clips

TEST(GltfWrite, a_clip_replaces_all_animations_and_moves_the_same)
{
    const Character character = character_of(morphing_strip());
    for (const Clip& clip : character.clips) {
        GltfDocument document = *character.source;
        set_animation(document, character, clip);
        const auto again = reread(document);
        const Character back = gltf_character(again);
        ASSERT_EQ(back.clips.size(), 1u);
        EXPECT_EQ(back.clips[0].name, clip.name);
        expect_same_motion(character, clip, back, back.clips[0]);
        expect_accessors_kept(*character.source, *again);
    }
}

TEST(GltfWrite, tracks_keep_their_kind_and_share_times)
{
    const Character character = character_of(strip_document());
    const Vec3 x = Vec3::UnitX(), o = Vec3::Zero();
    const Quat turn(Eigen::AngleAxisd(1.0, x));
    Clip clip{.name = "all kinds"};
    clip.joints.push_back({.joint = character.skeleton.find("root"),
                           .translation = Track<Vec3>{Interpolation::Step, {0, 1}, {o, x}},
                           .rotation = Track<Quat>{Interpolation::Linear, {0, 1}, {Quat::Identity(), turn}}});
    clip.joints.push_back(
        {.joint = character.skeleton.find("elbow"),
         .scale = Track<Vec3>{Interpolation::Cubic, {0, 1}, {o, Vec3::Ones(), x, o, 2 * Vec3::Ones(), o}}});
    GltfDocument document = *character.source;
    set_animation(document, character, clip);
    const Json& animation = document.json()["animations"][0];
    EXPECT_EQ(animation["channels"].size(), 3u);
    EXPECT_EQ(animation["samplers"][0]["interpolation"], "STEP");
    EXPECT_EQ(animation["samplers"][2]["interpolation"], "CUBICSPLINE");
    EXPECT_EQ(animation["samplers"][0]["input"], animation["samplers"][2]["input"]);
    const Character back = character_of(document);
    expect_same_motion(character, clip, back, back.clips[0]);
}

TEST(GltfWrite, times_begin_at_zero_and_rise_in_single_precision)
{
    const Character character = character_of(strip_document());
    const Vec3 x = Vec3::UnitX();
    Clip clip{.name = "early"};
    clip.joints.push_back({.joint = 1,
                           .translation = Track<Vec3>{
                               Interpolation::Linear, {-1.0, 1.0, 1.0 + 1e-12, 2.0}, {0 * x, x, x, 3 * x}}});
    GltfDocument document = *character.source;
    set_animation(document, character, clip);
    const Character back = character_of(document);
    EXPECT_THAT(back.clips[0].joints[0].translation->times, ElementsAre(0.0, 2.0, 3.0));
    EXPECT_EQ(back.clips[0].joints[0].translation->values[1], x);
}

TEST(GltfWrite, nodes_that_move_have_no_matrix)
{
    GltfDocument document = strip_document();
    const std::vector<double> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1};
    document.edit()["nodes"][2] = {{"name", "elbow"}, {"matrix", identity}};
    document.edit()["nodes"][0] = {
        {"name", "armature"}, {"matrix", identity}, {"children", document.json()["nodes"][0]["children"]}};
    const Character character = character_of(document);
    Clip clip{.name = "turn"};
    clip.joints.push_back({.joint = character.skeleton.find("elbow"),
                           .scale = Track<Vec3>{Interpolation::Linear, {0}, {Vec3::Constant(2)}}});
    GltfDocument changed = *character.source;
    set_animation(changed, character, clip);
    EXPECT_FALSE(changed.json()["nodes"][2].contains("matrix"));
    EXPECT_EQ(changed.json()["nodes"][2]["translation"], Json({1.0, 0.0, 0.0}));
    EXPECT_TRUE(changed.json()["nodes"][0].contains("matrix")) << "what does not move stays as it was";
    const Character back = character_of(changed);
    expect_same_motion(character, clip, back, back.clips[0]);
}

TEST(GltfWrite, a_wrong_hint_at_the_root_of_a_skin_goes)
{
    GltfDocument strip = strip_document();
    add_bend(strip);
    for (const int node : {0, 1, 2}) {
        strip.edit()["skins"][0]["skeleton"] = node;
        const Character character = character_of(strip);
        GltfDocument document = *character.source;
        set_animation(document, character, character.clips[0]);
        EXPECT_EQ(document.json()["skins"][0].contains("skeleton"), node != 2) << "node " << node;
    }
}

TEST(GltfWrite, all_clips_can_be_set_at_once)
{
    const Character character = character_of(morphing_strip());
    GltfDocument document = *character.source;
    const std::vector<Clip> turned_round(character.clips.rbegin(), character.clips.rend());
    set_animations(document, character, turned_round);
    const Character back = character_of(document);
    ASSERT_EQ(back.clips.size(), 2u);
    EXPECT_EQ(back.clips[0].name, "bend");
    for (std::size_t i = 0; i < 2; ++i) expect_same_motion(character, turned_round[i], back, back.clips[i]);
}

TEST(GltfWrite, a_clip_that_moves_nothing_leaves_no_animation)
{
    const Character character = character_of(morphing_strip());
    GltfDocument document = *character.source;
    set_animation(document, character, {.name = "still"});
    EXPECT_FALSE(document.json().contains("animations"));
    EXPECT_THAT(character_of(document).clips, IsEmpty());
}

// ---- morph targets

namespace {

/// Displacements that are different everywhere, in two targets.
MatX two_targets(const Character& character)
{
    const Index n = character.surface.vertex_count();
    MatX D(3 * n, 2);
    for (Index i = 0; i < D.rows(); ++i)
        D.row(i) << std::sin(0.7 * static_cast<double>(i)), 0.3 * std::cos(1.3 * static_cast<double>(i));
    return D;
}

const std::vector<double> morph_times = {0.0, 0.5, 1.0};

MatX morph_weights()
{
    MatX weights(2, 3);
    weights << 0.0, 1.0, 0.5, 1.0, -0.5, 0.25;
    return weights;
}

VecX morph_weights_at(double t)
{
    const MatX w = morph_weights();
    return t < 0.5 ? VecX((1 - 2 * t) * w.col(0) + 2 * t * w.col(1))
                   : VecX((2 - 2 * t) * w.col(1) + (2 * t - 1) * w.col(2));
}

/// That `back` is `character` with the two targets: displaced at rest, then posed.
void expect_displaced(const Character& character, const Clip* clip, const Character& back)
{
    const MatX D = two_targets(character);
    const Clip& moving = find_clip(back.clips, clip ? clip->name : "flesh");
    const double size = bounds(character.surface.vertices).sizes().maxCoeff();
    for (const double t : {0.0, 0.2, 0.5, 0.9, 1.0}) {
        const VecX d = D * morph_weights_at(t);
        const Points X = morphed_surface(character, clip, t) + d.reshaped(3, d.size() / 3);
        Points x;
        const Pose pose = clip ? pose_at(character.skeleton, *clip, t) : rest_pose(character.skeleton);
        skin(SkinningMethod::Linear, character.weights,
             bone_transforms(character.bones, world_transforms(character.skeleton, pose)), X, x);
        expect_near(moved_at(back, moving, t), x, 1e-5 * std::max(size, 1.0));
    }
}

} // namespace

TEST(GltfWrite, added_targets_displace_the_surface_at_rest)
{
    GltfDocument strip = strip_document({.armature_scale = 10.0});
    add_bend(strip);
    strip.edit()["animations"][0]["name"] = "bend";
    const Character character = character_of(strip, {.scale = 0.5, .up = UpAxis::Z});
    GltfDocument document = *character.source;
    add_morph_targets(document, character, two_targets(character), morph_times, morph_weights(), "bend");
    EXPECT_EQ(document.count("animations"), 1u);
    const auto again = reread(document);
    expect_accessors_kept(*character.source, *again);
    const Character back = gltf_character(again, {.scale = 0.5, .up = UpAxis::Z});
    expect_displaced(character, &character.clips[0], back);
    EXPECT_EQ(back.parts[0].morph_rest, Vec2::Zero());
}

TEST(GltfWrite, an_animation_is_made_for_targets_where_there_is_none)
{
    const Character character = character_of(strip_document());
    GltfDocument document = *character.source;
    add_morph_targets(document, character, two_targets(character), morph_times, morph_weights(), "flesh");
    const Character back = character_of(document);
    ASSERT_EQ(back.clips.size(), 1u);
    expect_displaced(character, nullptr, back);

    GltfDocument unmoved = *character.source;
    add_morph_targets(unmoved, character, MatX::Zero(30, 2), morph_times, morph_weights(), "flesh");
    EXPECT_FALSE(unmoved.json().contains("animations")) << "targets that displace nothing are left out";
}

TEST(GltfWrite, targets_come_behind_those_that_are_there)
{
    const Character character = character_of(morphing_strip());
    for (const Clip& clip : character.clips) {
        GltfDocument document = *character.source;
        add_morph_targets(document, character, two_targets(character), morph_times, morph_weights(),
                          clip.name);
        const Character back = character_of(document);
        ASSERT_EQ(back.parts[0].morphs.size(), 4u);
        EXPECT_EQ(back.parts[0].morph_rest, Vec4(0, 0.125, 0, 0));
        EXPECT_EQ(back.source->json()["meshes"][0]["extras"]["targetNames"],
                  Json({"lift", "stretch", "lithe 0", "lithe 1"}));
        expect_displaced(character, &clip, back);
        // The other animation is what it was.
        const Clip& other = &clip == &character.clips[0] ? character.clips[1] : character.clips[0];
        expect_same_motion(character, other, back, find_clip(back.clips, other.name));
    }
}

TEST(GltfWrite, targets_can_be_added_twice_and_clips_replaced_afterwards)
{
    const Character character = character_of(morphing_strip());
    GltfDocument document = *character.source;
    for (int i = 0; i < 2; ++i)
        add_morph_targets(document, character, 0.5 * two_targets(character), morph_times, morph_weights(),
                          "bend");
    expect_displaced(character, &character.clips[1], character_of(document));
    set_animation(document, character, character.clips[0]);
    const Character back = character_of(document);
    ASSERT_EQ(back.clips.size(), 1u);
    expect_same_motion(character, character.clips[0], back, back.clips[0]);
}

TEST(GltfWrite, nodes_that_share_a_mesh_get_their_own)
{
    Points X(3, 3);
    X << 0, 1, 0, 0, 0, 1, 0, 0, 0;
    GltfDocument pair;
    add_mesh(pair, X, {0, 1, 2});
    pair.edit()["meshes"][0]["primitives"].push_back(
        {{"attributes", {{"POSITION", add_points(pair, Points::Random(3, 4))}}}, {"mode", 0}});
    add(pair, "nodes", {{"mesh", 0}});
    add(pair, "nodes", {{"mesh", 0}, {"translation", {0, 0, 4}}, {"scale", {-2, 1, 1}}});
    const Character character = character_of(pair);
    GltfDocument document = *character.source;
    add_morph_targets(document, character, two_targets(character), morph_times, morph_weights(), "flesh");
    EXPECT_EQ(document.count("meshes"), 2u);
    const Json& animation = document.json()["animations"][0];
    EXPECT_EQ(animation["channels"].size(), 2u);
    EXPECT_EQ(animation["samplers"].size(), 1u) << "both move alike";
    for (const Json& mesh : document.json()["meshes"])
        for (const Json& primitive : mesh["primitives"]) EXPECT_EQ(primitive["targets"].size(), 2u);
    expect_displaced(character, nullptr, character_of(document));
}

// ---- new documents

namespace {

/// A character of no file: a strip that bends, in a place and size of its own.
Character strip_character()
{
    GltfDocument strip = strip_document();
    add_bend(strip);
    Character character = character_of(strip);
    character.source = nullptr;
    character.parts.clear();
    character.clips[0].name = "bend";
    // Moved as a whole: the surface, and the skeleton under it.
    Affine3 placement = Affine3::Identity();
    placement.linear() = 2.0 * Eigen::AngleAxisd(0.4, Vec3::UnitX()).toRotationMatrix();
    placement.translation() = Vec3(1, 2, 3);
    character.skeleton.placement = placement;
    character.surface.vertices = placement * character.surface.vertices;
    for (Bone& bone : character.bones) bone.inverse_bind = bone.inverse_bind * placement.inverse();
    return character;
}

} // namespace

TEST(MakeGltf, a_character_comes_back_as_it_was)
{
    Character character = strip_character();
    character.surface.fields.push_back({"color", MatX::Random(3, 10).cwiseAbs()});
    const auto document = reread(make_gltf(character));
    EXPECT_EQ(document->json()["asset"]["generator"], "Lithe " LITHE_VERSION);
    const Character back = gltf_character(document);
    expect_near(back.surface.vertices, character.surface.vertices, 4 * single);
    EXPECT_EQ(back.surface.triangles, character.surface.triangles);
    EXPECT_TRUE(back.surface.fields[0].values.isApprox(character.surface.fields[0].values, 1e-5));
    EXPECT_TRUE(back.weights.weights.isApprox(character.weights.weights, single));
    EXPECT_THAT(back.notes, IsEmpty());
    ASSERT_EQ(back.clips.size(), 1u);
    EXPECT_EQ(back.clips[0].name, "bend");
    expect_same_motion(character, character.clips[0], back, back.clips[0]);
    for (const char* name : {"armature", "root", "elbow"}) EXPECT_GE(back.skeleton.find(name), 0) << name;
}

TEST(MakeGltf, a_joint_may_carry_two_bones_and_a_vertex_eight)
{
    // Every vertex follows nine bones on two joints, some bound elsewhere, as far as eight of them may be.
    Character character = strip_character();
    const Bone elbow = character.bones[1];
    for (int b = 2; b < 9; ++b) {
        Bone bone = elbow;
        bone.inverse_bind.translation() += Vec3(0.1 * b, 0, 0);
        character.bones.push_back(bone);
    }
    character.weights = sparse_weights(MatX::Random(9, 10).cwiseAbs());
    ASSERT_EQ(character.weights.slots(), 8);
    const Character back = character_of(make_gltf(character));
    EXPECT_EQ(back.bones.size(), 9u);
    expect_same_motion(character, character.clips[0], back, back.clips[0]);
}

TEST(MakeGltf, several_roots_get_one_above_them)
{
    Character character = strip_character();
    character.skeleton.placement.setIdentity();
    character.skeleton.joints.push_back({"second root", -1, {}});
    character.bones.push_back({character.skeleton.joint_count() - 1, Affine3::Identity()});
    const GltfDocument document = make_gltf(character);
    EXPECT_EQ(document.json()["scenes"][0]["nodes"].size(), 2u) << "the skeleton and the surface";
    EXPECT_EQ(character_of(document).skeleton.joint_count(), character.skeleton.joint_count() + 2);
}

TEST(MakeGltf, a_surface_without_weights_stands_still_and_a_skeleton_can_be_alone)
{
    Character character = strip_character();
    character.weights = {};
    Character back = character_of(make_gltf(character));
    EXPECT_FALSE(back.parts[0].skinned);
    expect_near(back.surface.vertices, character.surface.vertices, 4 * single);
    character.surface = {};
    back = character_of(make_gltf(character));
    EXPECT_EQ(back.surface.vertex_count(), 0);
    EXPECT_EQ(back.skeleton.joint_count(), character.skeleton.joint_count() + 1);
    EXPECT_EQ(back.clips.size(), 1u);
    EXPECT_EQ(character_of(make_gltf({})).skeleton.joint_count(), 0);
}

TEST(MakeGltf, numbers_beyond_single_precision_are_refused)
{
    Character character = strip_character();
    character.surface.vertices(0, 0) = 1e40;
    EXPECT_EQ(message_of([&] { make_gltf(character); }),
              "the surface: glTF holds numbers up to 1e+38 only; choose a larger unit");
    character = strip_character();
    character.clips[0].joints[0].translation = Track<Vec3>{Interpolation::Step, {0}, {Vec3(0, 1e40, 0)}};
    EXPECT_EQ(message_of([&] { make_gltf(character); }),
              "the clip: glTF holds numbers up to 1e+38 only; choose a larger unit");
}

// ---- the data set

class GltfRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(GltfRoundTrip, every_clip_of_a_file_comes_back)
{
    LITHE_DATA_OR_SKIP(file, std::string("rigs/") + GetParam());
    const auto source = std::make_shared<const GltfDocument>(GltfDocument::read(file));
    const Character character = gltf_character(source);
    ASSERT_FALSE(character.clips.empty());
    const TemporaryFolder folder;
    for (const Clip& clip : character.clips) {
        GltfDocument document = *source;
        set_animation(document, character, clip);
        document.write(folder / "again.glb");
        const auto again = std::make_shared<const GltfDocument>(GltfDocument::read(folder / "again.glb"));
        const Character back = gltf_character(again);
        ASSERT_EQ(back.clips.size(), 1u);
        EXPECT_EQ(back.surface.vertices, character.surface.vertices);
        EXPECT_EQ(back.weights.weights, character.weights.weights);
        expect_same_motion(character, clip, back, back.clips[0]);
        expect_accessors_kept(*source, *again);
    }
}

TEST_P(GltfRoundTrip, flesh_moves_on_top_of_a_clip)
{
    LITHE_DATA_OR_SKIP(file, std::string("rigs/") + GetParam());
    const Character character =
        gltf_character(std::make_shared<const GltfDocument>(GltfDocument::read(file)));
    GltfDocument document = *character.source;
    const Clip& clip = character.clips.front();
    set_animation(document, character, clip);
    add_morph_targets(document, character, two_targets(character), morph_times, morph_weights(), clip.name);
    expect_displaced(character, &clip, character_of(document));
}

INSTANTIATE_TEST_SUITE_P(All, GltfRoundTrip, testing::Values("CesiumMan.glb", "RiggedFigure.glb", "Cow.glb"));
