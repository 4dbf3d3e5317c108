#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/rig/rig_files.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string skeleton_example = "# a comment\njoints 3\n"
                                     "0 -1 hips  0 1 0  1 0 0 0 1 0 0 0 1\n"
                                     "1 0 left arm  1 1 0  0 -1 0 1 0 0 0 0 1\n" // x points up
                                     "# between\n\n"
                                     "2 1   1 2 0  0 -1 0 1 0 0 0 0 1"; // no name
const std::string weights_example = "vertices 2 joints 3\n1 2 1.0\n3 0 0.25 1 0.5 2 0.25\n";

Skeleton example_skeleton()
{
    return parse_skeleton(skeleton_example, "a.skel.txt");
}

/// The vertices that the matrices of a pose make of X, written as the sum that it is.
Points skinned(const SkinWeights& weights, const std::vector<Affine3>& M, const Points& X)
{
    Points x = Points::Zero(3, X.cols());
    for (Index v = 0; v < X.cols(); ++v)
        for (Index s = 0; s < weights.slots(); ++s)
            x.col(v) += weights.weights(s, v) * (M[weights.bones(s, v)] * Vec3(X.col(v)));
    return x;
}

std::vector<Affine3> matrices_at(const Character& character, const Clip& clip, double t)
{
    const auto world = world_transforms(character.skeleton, pose_at(character.skeleton, clip, t));
    std::vector<Affine3> M;
    for (const Bone& bone : character.bones) M.push_back(world[bone.joint] * bone.inverse_bind);
    return M;
}

/// The numbers of a clip's file, read without our reader.
struct PlainFrames {
    double fps = 0.0;
    int frames = 0, joints = 0;
    std::vector<std::vector<Affine3>> M = {};

    explicit PlainFrames(const std::filesystem::path& file)
    {
        std::ifstream stream(file);
        std::string word;
        std::getline(stream, word); // the comment
        stream >> word >> fps >> word >> frames >> word >> joints;
        for (int f = 0; f < frames; ++f) {
            stream >> word >> word;
            M.emplace_back(joints);
            for (Affine3& m : M.back())
                for (int i = 0; i < 3; ++i)
                    for (int k = 0; k < 4; ++k) stream >> m.matrix()(i, k);
        }
        EXPECT_TRUE(stream);
    }
};

// ---- skeletons

TEST(TextSkeleton, IsReadIntoTheFramesOfTheParents)
{
    const Skeleton skeleton = example_skeleton();
    ASSERT_EQ(skeleton.joint_count(), 3);
    EXPECT_EQ(skeleton.joints[0].name, "hips");
    EXPECT_EQ(skeleton.joints[1].name, "left arm");
    EXPECT_EQ(skeleton.joints[2].name, "");
    EXPECT_EQ(skeleton.joints[2].parent, 1);
    EXPECT_LT((skeleton.joints[1].rest.translation - Vec3(1, 0, 0)).norm(), 1e-15);
    EXPECT_LT((log_quat(skeleton.joints[1].rest.rotation) - Vec3(0, 0, 0.5 * 3.14159265358979323846)).norm(),
              1e-15);
    EXPECT_LT((skeleton.joints[2].rest.translation - Vec3(1, 0, 0)).norm(),
              1e-15); // up, in axes that are turned
    EXPECT_LT(log_quat(skeleton.joints[2].rest.rotation).norm(), 1e-15);
}

TEST(TextSkeleton, IsReadBackAsItWasWritten)
{
    Skeleton skeleton = example_skeleton();
    skeleton.joints[1].rest.rotation = exp_quat({0.1, 0.2, 0.3});
    const std::string text = skeleton_text(skeleton);
    const auto wanted = world_transforms(skeleton, rest_pose(skeleton));
    const Skeleton read = parse_skeleton(text, "b.skel.txt");
    const auto found = world_transforms(read, rest_pose(read));
    for (int j = 0; j < 3; ++j) {
        EXPECT_EQ(read.joints[j].name, skeleton.joints[j].name);
        EXPECT_LT((found[j].matrix() - wanted[j].matrix()).norm(), 1e-8); // nine digits
    }
}

TEST(TextSkeleton, HasThePlacementInWhatIsWritten)
{
    Skeleton skeleton = example_skeleton();
    skeleton.placement = file_placement({.scale = 0.5, .up = UpAxis::Z});
    const Skeleton read = parse_skeleton(skeleton_text(skeleton), "b.skel.txt");
    const auto world = world_transforms(read, rest_pose(read));
    EXPECT_LT((world[2].translation() - Vec3(0.5, 0.0, -1.0)).norm(), 1e-9); // of (1, 2, 0)
}

TEST(TextSkeleton, IsWhatShapesWrite)
{
    for (const BuiltinShape& shape : builtin_shapes()) {
        const ShapeModel model = *find_shape_model(shape.name);
        const Skeleton skeleton = parse_skeleton(skeleton_text(model), "shape.skel.txt");
        ASSERT_EQ(skeleton.joints.size(), model.joints.size());
        const auto world = world_transforms(skeleton, rest_pose(skeleton));
        for (std::size_t j = 0; j < model.joints.size(); ++j) {
            EXPECT_EQ(skeleton.joints[j].name, model.joints[j].name);
            EXPECT_EQ(skeleton.joints[j].parent, model.joints[j].parent);
            EXPECT_LT((world[j].translation() - model.joints[j].position).norm(), 1e-8);
        }
        EXPECT_EQ(skeleton_text(skeleton).substr(0, 200),
                  skeleton_text(model).substr(0, 200)); // the same form
    }
}

TEST(TextSkeleton, SaysWhatIsWrong)
{
    const std::string one = "joints 1\n", good = "0 -1 a 0 0 0 1 0 0 0 1 0 0 0 1\n";
    const std::pair<std::string, std::string> cases[] = {
        {"# only this\n", "a.skel.txt:2: ends where joints should follow; the file is cut short"},
        {good, "a.skel.txt:1: found '0' where joints should stand"},
        {"joints 0\n", "a.skel.txt:1: has no joints; a skeleton has at least one"},
        {"joints 9999\n" + good,
         "a.skel.txt:1: claims 9999 joints, but only 32 bytes follow; the file is cut short "
         "or its header is damaged"},
        {"joints 2\n" + good + "#" + std::string(50, '-') + "\n",
         "a.skel.txt:4: ends after 1 of 2 joints; the file is cut short"},
        {one + good + good,
         "a.skel.txt:3: found '0 -1 a 0 0 0 1 0 0 0 1 0 0 0 1' after the last of 1 joints; mend "
         "the count, or remove it"},
        {one + "0 -1 a 0 0 0 1 0 0 0 1\n                    ",
         "a.skel.txt:2: a joint needs its number, parent, name, 3 numbers of its place and 9 of its "
         "orientation; "
         "here are 11 words"},
        {one + "1" + good.substr(1),
         "a.skel.txt:2: found joint '1' where joint 0 should stand; they are numbered from "
         "0 without gaps"},
        {one + "0 0" + good.substr(4),
         "a.skel.txt:2: joint 0 has the parent 0; a parent stands above its children, a root has -1"},
        {one + "0 -1 a 0 0 1e99 1 0 0 0 1 0 0 0 1\n",
         "a.skel.txt:2: found the number 1e+99; those of a rig lie between -1e+12 and 1e+12"},
        {one + "0 -1 a 0 0 0 1 0 0 0 1 0 0 0 -1\n",
         "a.skel.txt:2: the orientation of joint 0 is no rotation; its columns must be at right angles, "
         "right-handed and of length 1"},
        {one + "0 -1 a 0 0 x 1 0 0 0 1 0 0 0 1\n", "a.skel.txt:2: found 'x' where a number should stand"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_EQ(test::message_of([&] { (void)parse_skeleton(text, "a.skel.txt"); }), message) << text;
}

// ---- weights

TEST(TextWeights, AreReadHeaviestFirst)
{
    const SkinWeights weights = parse_weights(weights_example, "a.weights.txt", 3);
    ASSERT_EQ(weights.slots(), 3);
    EXPECT_EQ(weights.bones(0, 0), 2);
    EXPECT_EQ(weights.weights.col(0), Vec3(1, 0, 0));
    EXPECT_EQ(weights.bones.col(1), Eigen::Vector3i(1, 0, 2));
    EXPECT_EQ(weights.weights.col(1), Vec3(0.5, 0.25, 0.25));
}

TEST(TextWeights, AreNormalisedAndCutToTheHeaviest)
{
    std::string text = "vertices 1 joints 10\n10";
    for (int b = 0; b < 10; ++b) text += fmt::format(" {} {}", b, b + 1);
    const SkinWeights weights = parse_weights(text, "a.weights.txt", 10);
    ASSERT_EQ(weights.slots(), most_influences);
    EXPECT_NEAR(weights.weights.sum(), 1.0, 1e-15);
    EXPECT_NEAR(weights.weights(0, 0), 10.0 / 52.0, 1e-15); // 52 = 10 + ... + 3
    EXPECT_EQ(weights.bones(7, 0), 2);
}

TEST(TextWeights, AreReadBackAsTheyWereWritten)
{
    const SkinWeights weights = parse_weights("vertices 2 joints 3\n2 0 1 1 2\n1 2 1", "a.weights.txt", 3);
    const SkinWeights read = parse_weights(weights_text(weights, 3), "b.weights.txt", 3);
    EXPECT_EQ(read.bones, weights.bones);
    EXPECT_LT((read.weights - weights.weights).norm(), 1e-9);
    EXPECT_EQ(weights_text(read, 3), weights_text(weights, 3));
}

TEST(TextWeights, SayWhatIsWrong)
{
    const std::string one = "vertices 1 joints 3\n";
    const std::pair<std::string, std::string> cases[] = {
        {"vertex 1\n", "a.weights.txt:1: found 'vertex' where vertices should stand"},
        {"vertices 1 joints 4\n1 0 1\n",
         "a.weights.txt:1: has weights for 4 joints, but the skeleton has 3; they do not belong together"},
        {"vertices 99 joints 3\n1 0 1\n",
         "a.weights.txt:1: claims 99 vertices, but only 16 bytes follow; the file is "
         "cut short or its header is damaged"},
        {one + "1 3 1\n", "a.weights.txt:2: joint 3 does not exist; there are 3, numbered from 0"},
        {one + "1 0 -1\n", "a.weights.txt:2: found the weight -1; weights are not below 0"},
        {one + "1 0 nan\n", "a.weights.txt:2: found the weight nan; weights are not below 0"},
        {one + "0\n", "a.weights.txt:2: a vertex follows no joint; give it a weight above 0"},
        {one + "2 0 0 1 0\n", "a.weights.txt:2: a vertex follows no joint; give it a weight above 0"},
        {one + "2 0 1 0 1\n", "a.weights.txt:2: joint 0 has two weights at this vertex; add them up"},
        {one + "2 0 1\n",
         "a.weights.txt:2: claims 2 influences, but only 5 bytes follow; the file is cut short or its "
         "header is damaged"},
        {one + "1 0 1\n1 0 1\n",
         "a.weights.txt:3: found '1' after the last of 1 vertices; mend the count at the "
         "beginning, or remove it"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_EQ(test::message_of([&] { (void)parse_weights(text, "a.weights.txt", 3); }), message) << text;
}

// ---- clips

TEST(TextClip, SaysWhatIsWrong)
{
    const Skeleton skeleton = parse_skeleton("joints 1\n0 -1 a 0 0 0 1 0 0 0 1 0 0 0 1\n", "a.skel.txt");
    const std::string head = "fps 30 frames 1 joints 1\n", matrix = "1 0 0 0 0 1 0 0 0 0 1 0\n";
    const std::pair<std::string, std::string> cases[] = {
        {"", "a.b.anim.txt:1: ends where fps should follow; the file is cut short"},
        {"fps 0 frames 1 joints 1\n", "a.b.anim.txt:1: fps = 0 must be above 0 and at most 1e6"},
        {"fps 30 frames 1 joints 2\nframe 0\n" + matrix + matrix,
         "a.b.anim.txt:1: has motions of 2 joints, but the skeleton has 1; they do not belong together"},
        {"fps 30 frames 1000000 joints 1\nframe 0\n" + matrix,
         "a.b.anim.txt:1: claims 1000000 frames, but only 33 bytes follow; the file is cut short or its "
         "header is "
         "damaged"},
        {"fps 30 frames 0 joints 1\n" + matrix, "a.b.anim.txt:1: has no frames; a clip has at least one"},
        {head + "frame 1\n" + matrix, "a.b.anim.txt:2: found frame 1 where frame 0 should stand"},
        {head + "frame 0\n1 0 0 0 0 1 0 0 0 0 1.0\n",
         "a.b.anim.txt:3: ends where a number should follow; the file is cut short"},
        {head + "frame 0\n1 0 0 0 0 1 0 0 0 0 1 1e13\n",
         "a.b.anim.txt:3: found the number 1e+13; those of a rig lie between -1e+12 and 1e+12"},
        {head + "frame 0\n" + matrix + matrix,
         "a.b.anim.txt:4: found '1' after the last of 1 frames; mend the count "
         "at the beginning, or remove it"},
    };
    std::vector<std::string> notes;
    for (const auto& [text, message] : cases)
        EXPECT_EQ(test::message_of([&] { (void)parse_clip(text, "a.b.anim.txt", skeleton, {}, notes); }),
                  message)
            << text;
}

TEST(TextClip, NotesWhatIsSheared)
{
    const Skeleton skeleton = parse_skeleton("joints 1\n0 -1 hip 0 0 0 1 0 0 0 1 0 0 0 1\n", "a.skel.txt");
    std::vector<std::string> notes;
    const std::string head = "fps 30 frames 1 joints 1\nframe 0\n";
    (void)parse_clip(head + "2 0 0 0 0 1 0 0 0 0 0 0\n", "a.b.anim.txt", skeleton, {},
                     notes); // scaled, even to nothing
    EXPECT_TRUE(notes.empty());
    (void)parse_clip(head + "1 0.1 0 0 0 1 0 0 0 0 1 0\n", "a.b.anim.txt", skeleton, {}, notes);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes[0], HasSubstr("joint 'hip' is sheared by up to 0.0"));
}

/// Of a skeleton with placement and bones that are fewer than joints and not bound at rest.
TEST(TextClip, IsReadBackAsItWasWritten)
{
    Skeleton skeleton = example_skeleton();
    const std::vector<Bone> bones = {
        {2, Affine3(Eigen::Translation3d(0.1, 0.2, 0.3) * exp_so3({0.3, 0.1, 0.2}))},
        {0, Affine3(Eigen::Translation3d(0.5, 0.0, 0.3))}};
    Clip clip{.name = "wave"};
    clip.joints.push_back(
        {.joint = 0, .translation = Track<Vec3>{{}, {1.0, 2.0}, {Vec3(0, 1, 0), Vec3(3, 1, 2)}}});
    clip.joints.push_back({.joint = 2,
                           .rotation = Track<Quat>{{}, {1.0, 2.0}, {Quat::Identity(), exp_quat({0, 2, 1})}},
                           .scale = Track<Vec3>{{}, {1.0, 2.0}, {Vec3(1, 1, 1), Vec3(1, 2, 3)}}});
    for (const Affine3& placement :
         {Affine3(Affine3::Identity()), Affine3(Eigen::Translation3d(0, 3, 0) * exp_so3({1, 0, 0}))}) {
        skeleton.placement = placement;
        const std::string text = clip_text(clip, skeleton, bones, 24.0);
        Skeleton world = skeleton; // what is written is in the world
        world.placement = Affine3::Identity();
        world.joints[0].rest = decomposed(placement * skeleton.joints[0].rest.matrix());
        std::vector<std::string> notes;
        const Clip read = parse_clip(text, "rig.wave.anim.txt", world, bones, notes);
        EXPECT_EQ(read.name, "wave");
        EXPECT_EQ(read.begin(), 0.0);
        EXPECT_NEAR(read.end(), 1.0, 1e-15);
        EXPECT_TRUE(notes.empty());
        for (int f = 0; f <= 24; ++f) {
            const auto wanted = world_transforms(skeleton, pose_at(skeleton, clip, 1.0 + f / 24.0));
            const auto found = world_transforms(world, pose_at(world, read, f / 24.0));
            for (const Bone& bone : bones)
                EXPECT_LT((wanted[bone.joint].matrix() - found[bone.joint].matrix()).norm(), 2e-8) << f;
        }
    }
    EXPECT_EQ(test::message_of([&] { (void)clip_text(clip, skeleton, bones, 1e9); }),
              "clip 'wave' would have 1e+09 frames at 1e+09 fps; choose fewer than 1e+06");
}

// ---- whole rigs

struct RealRig {
    const char* name;
    int joints;
    std::vector<std::string> clips;
    Index vertices;
};

class RealTextRig : public testing::TestWithParam<RealRig> {};

TEST_P(RealTextRig, ReplaysTheMatricesOfItsFiles)
{
    const RealRig& rig = GetParam();
    LITHE_DATA_OR_SKIP(path, fmt::format("rigs/{}.skel.txt", rig.name));
    const Character character = read_text_rig(path);
    EXPECT_EQ(character.skeleton.joint_count(), rig.joints);
    EXPECT_EQ(character.bones.size(), static_cast<std::size_t>(rig.joints));
    EXPECT_EQ(character.surface.vertex_count(), rig.vertices);
    EXPECT_EQ(character.weights.vertex_count(), rig.vertices);
    EXPECT_THAT(character.notes, testing::IsEmpty());

    std::vector<std::string> names;
    for (const Clip& clip : character.clips) names.push_back(clip.name);
    EXPECT_EQ(names, rig.clips);
    const Points& X = character.surface.vertices;
    const auto rest = world_transforms(character.skeleton, rest_pose(character.skeleton));
    double worst = 0.0, moved = 0.0;
    for (const Clip& clip : character.clips) {
        const PlainFrames file(path.parent_path() / fmt::format("{}.{}.anim.txt", rig.name, clip.name));
        EXPECT_NEAR(clip.end(), (file.frames - 1) / file.fps, 1e-12);
        for (int f = 0; f < file.frames; ++f) {
            const std::vector<Affine3> M = matrices_at(character, clip, f / file.fps);
            if (rig.vertices == 0) { // without a surface, where a joint and those below it are
                for (int j = 0; j < rig.joints; ++j)
                    for (const int b : {j, std::max(0, character.skeleton.joints[j].parent)}) {
                        const Vec3 x = rest[j].translation();
                        worst = std::max(worst, (M[b] * x - file.M[f][b] * x).norm());
                        moved = std::max(moved, (file.M[f][b] * x - x).norm());
                    }
                continue;
            }
            const Points wanted = skinned(character.weights, file.M[f], X);
            worst = std::max(worst, (skinned(character.weights, M, X) - wanted).colwise().norm().maxCoeff());
            moved = std::max(moved, (wanted - X).colwise().norm().maxCoeff());
        }
    }
    const double size = rig.vertices > 0 ? bounds(X).diagonal().norm() : 1.0;
    RecordProperty("worst_of_size", fmt::format("{:.3g}", worst / size));
    EXPECT_LT(worst, 1e-5 * size);
    EXPECT_GT(moved, 0.05 * size);
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealTextRig,
    testing::Values(RealRig{"cesium_man", 19, {"walk"}, 2338}, RealRig{"rigged_figure", 19, {"default"}, 130},
                    RealRig{"rigged_cylinder", 2, {"bend"}, 96}, RealRig{"cow", 42, {"gallop", "walk"}, 1237},
                    RealRig{"horse", 50, {"gallop", "walk"}, 1093}, RealRig{"fish", 8, {"swim"}, 274},
                    RealRig{"dolphin", 13, {"swim"}, 222}, RealRig{"hand", 16, {"curl"}, 0}),
    [](const auto& one) { return std::string(one.param.name); });

/// Scale and up axis move the whole: what is posed is what the file's frame says, put upright.
TEST(TextRig, IsScaledAndTurnedAsAWhole)
{
    LITHE_DATA_OR_SKIP(path, "rigs/fish.skel.txt");
    const ReadOptions options{.scale = 3.0, .up = UpAxis::Z};
    const Character plain = read_text_rig(path), placed = read_text_rig(path, options);
    const Affine3 P = file_placement(options);
    EXPECT_LT((placed.surface.vertices - P * plain.surface.vertices).norm(), 1e-12);
    const Points a = skinned(plain.weights, matrices_at(plain, plain.clips[0], 0.5), plain.surface.vertices);
    const Points b =
        skinned(placed.weights, matrices_at(placed, placed.clips[0], 0.5), placed.surface.vertices);
    EXPECT_LT((b - P * a).norm(), 1e-10);
    EXPECT_GT((a - plain.surface.vertices).norm(), 0.1);
}

TEST(TextRig, TakesTheFilesBesideIt)
{
    const test::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) { write_file(folder / name, text); };
    write("a.skel.txt", skeleton_example);
    Character character = read_text_rig(folder / "a.skel.txt");
    EXPECT_EQ(character.surface.vertex_count(), 0);
    EXPECT_TRUE(character.clips.empty());
    EXPECT_TRUE(character.parts.empty());

    write("a.weights.txt", weights_example);
    EXPECT_THAT(read_text_rig(folder / "a.skel.txt").notes,
                ElementsAre("there is no a.obj; its weights were not read"));

    write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    EXPECT_EQ(test::message_of([&] { (void)read_text_rig(folder / "a.skel.txt"); }),
              (folder / "a.weights.txt").string() +
                  ": has weights for 2 vertices, but a.obj has 3; they do not belong together");

    write("a.weights.txt", "vertices 3 joints 3\n1 0 1\n1 1 1\n1 2 1\n");
    const std::string still = clip_text({}, example_skeleton(), {}, 30.0);
    for (const char* name : {"a.run.fast.anim.txt", "a.jump.anim.txt", "ab.walk.anim.txt", "a.anim.txt"})
        write(name, still);
    character = read_text_rig(folder / "a.skel.txt");
    ASSERT_EQ(character.clips.size(), 2u);
    EXPECT_EQ(character.clips[0].name, "jump");
    EXPECT_EQ(character.clips[1].name, "run.fast");
    ASSERT_EQ(character.parts.size(), 1u);
    EXPECT_TRUE(character.parts[0].skinned);
    EXPECT_EQ(character.parts[0].vertex_count, 3);
    EXPECT_EQ(test::message_of([&] { (void)read_text_rig(folder / "a.obj"); }),
              (folder / "a.obj").string() + ": is not named NAME.skel.txt, as the skeleton of a text rig is");
}

} // namespace
} // namespace lithe
