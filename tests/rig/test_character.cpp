#include "lithe/rig/character.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/rig/rig_files.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HoldsCharacter, GoesByTheEnding)
{
    for (const char* name : {"a.glb", "b/A.GLTF", "walk.bvh", "hand.shape", "cow.skel.txt"})
        EXPECT_TRUE(holds_character(name)) << name;
    for (const char* name : {"a.obj", "skel.txt", "a.txt", "cow.walk.anim.txt", "glb", ""})
        EXPECT_FALSE(holds_character(name)) << name;
}

TEST(ReadCharacter, SaysWhichEndingsItKnows)
{
    EXPECT_EQ(test::message_of([] { (void)read_character("cow.obj"); }),
              "cow.obj: is no character by its ending; known are .glb .gltf .bvh .shape and .skel.txt (other "
              "meshes have "
              "no skeleton: lithe mesh reads them)");
    for (const char* name : {"no.glb", "no.bvh", "no.shape", "no.skel.txt"})
        EXPECT_THAT(test::message_of([&] { (void)read_character(name); }), HasSubstr(name));
}

TEST(ReadCharacter, MakesTheSurfaceOfAShape)
{
    const test::TemporaryFolder folder;
    write_file(folder / "arm.shape", "joint a at 0 1 0 radius 0.1\njoint b of a at 0.5 0 0 radius 0.05\n");
    const Character arm = read_character(folder / "arm.shape");
    ASSERT_EQ(arm.skeleton.joint_count(), 2);
    EXPECT_EQ(arm.skeleton.joints[1].name, "b");
    EXPECT_EQ(arm.skeleton.joints[1].parent, 0);
    EXPECT_EQ(arm.skeleton.joints[1].rest.translation, Vec3(0.5, 0, 0));
    EXPECT_EQ(arm.weights.vertex_count(), 0);
    EXPECT_THAT(arm.clips, IsEmpty());
    const Box3 box = bounds(arm.surface.vertices);
    EXPECT_LT((box.min() - Vec3(-0.1, 0.9, -0.1)).norm(), 0.02);
    EXPECT_LT((box.max() - Vec3(0.55, 1.1, 0.1)).norm(), 0.02);
    ASSERT_EQ(arm.parts.size(), 1u);
    EXPECT_EQ(arm.parts[0].vertex_count, arm.surface.vertex_count());
    EXPECT_FALSE(arm.parts[0].skinned);

    const Character large = read_character(folder / "arm.shape", {.scale = 10.0});
    EXPECT_LT((large.surface.vertices - 10.0 * arm.surface.vertices).norm(), 1e-9);
    const auto world = world_transforms(large.skeleton, rest_pose(large.skeleton));
    EXPECT_LT((world[1].translation() - Vec3(5, 10, 0)).norm(), 1e-12);
}

TEST(ReadCharacter, ReadsEveryKindOfRealFile)
{
    LITHE_DATA_OR_SKIP(cow, "rigs/Cow.glb");
    const Character from_gltf = read_character(cow),
                    from_text = read_character(cow.parent_path() / "cow.skel.txt");
    EXPECT_NE(from_gltf.source, nullptr);
    EXPECT_GT(from_gltf.surface.vertex_count(), 1000);
    EXPECT_GT(from_gltf.clips.size(), 1u);
    EXPECT_EQ(from_gltf.weights.vertex_count(), from_gltf.surface.vertex_count());
    EXPECT_EQ(from_text.skeleton.joint_count(), 42);
    EXPECT_EQ(read_character(cow.parent_path() / "cmu_02_01.bvh").clips.size(), 1u);
}

// ---- morph targets

/// Two parts of two vertices each; the second has two morph targets.
Character morphing()
{
    Character character;
    character.surface.vertices = Points::Ones(3, 4);
    Points raise = Points::Zero(3, 2), widen = Points::Zero(3, 2);
    raise.row(1).setOnes();
    widen.row(0) << -1, 1;
    character.parts.push_back({.name = "still", .joint = 0, .vertex_count = 2});
    character.parts.push_back({.name = "face",
                               .joint = 1,
                               .first_vertex = 2,
                               .vertex_count = 2,
                               .morphs = {raise, widen},
                               .morph_rest = Eigen::Vector2d(0.5, 0.0)});
    return character;
}

TEST(MorphedSurface, AddsTheTargetsByTheirWeights)
{
    const Character character = morphing();
    Points rest = Points::Ones(3, 4);
    rest.row(1).tail(2).setConstant(1.5);
    EXPECT_EQ(morphed_surface(character, nullptr, 0.0), rest);

    Clip clip{.name = "talk"};
    EXPECT_EQ(morphed_surface(character, &clip, 0.0), rest); // the clip does not speak of them
    clip.morphs.push_back(
        {1, {Interpolation::Linear, {0.0, 2.0}, {Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d(1.0, 4.0)}}});
    Points half = Points::Ones(3, 4);
    half.row(1).tail(2).setConstant(1.5);
    half.row(0).tail(2) << -1, 3;
    EXPECT_EQ(morphed_surface(character, &clip, 1.0), half);
}

// ---- clips from files

struct TwoMotions {
    test::TemporaryFolder folder;
    Character character;

    TwoMotions()
    {
        const std::string skeleton =
            "HIERARCHY\nROOT Hips\n{\nOFFSET 0 1 0\nCHANNELS 1 Yrotation\nJOINT Arm\n{\nOFFSET 1 0 "
            "0\nCHANNELS 1 Xrotation\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 0\n90 45\n";
        write_file(folder / "turn.bvh", skeleton);
        std::string other = skeleton; // the same in a skeleton of twice the size
        other.replace(other.find("OFFSET 1"), 8, "OFFSET 2");
        write_file(folder / "other.bvh", other);
        character = read_bvh(folder / "turn.bvh");
    }
    Clip read(const std::string& name, std::vector<std::string>& notes) const
    {
        return read_clip((folder / name).string(), character, notes);
    }
    std::string error_of(const std::string& name) const
    {
        std::vector<std::string> notes;
        return test::message_of([&] { (void)read(name, notes); });
    }
};

TEST(ReadClip, OfTheSameSkeletonIsAsInTheFile)
{
    const TwoMotions files;
    std::vector<std::string> notes;
    const Clip clip = files.read("turn.bvh", notes);
    ASSERT_EQ(clip.joints.size(), 2u);
    for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k)
            EXPECT_EQ(clip.joints[j].rotation->values[k].coeffs(),
                      files.character.clips[0].joints[j].rotation->values[k].coeffs());
    EXPECT_FALSE(clip.joints[0].translation);
}

TEST(ReadClip, OfAnotherSkeletonIsRetargeted)
{
    const TwoMotions files;
    std::vector<std::string> notes;
    const Clip clip = files.read("other.bvh", notes);
    EXPECT_EQ(clip.name, "other");
    EXPECT_TRUE(clip.joints[0].translation); // what retargeting adds
    const Pose wanted = pose_at(files.character.skeleton, files.character.clips[0], 0.25);
    const Pose found = pose_at(files.character.skeleton, clip, 0.25);
    for (int j = 0; j < 2; ++j)
        EXPECT_LT(log_quat(found[j].rotation * wanted[j].rotation.conjugate()).norm(), 1e-14);
}

TEST(ReadClip, OfMatricesBelongsToTheCharacterAsItIs)
{
    const TwoMotions files;
    const Skeleton& skeleton = files.character.skeleton;
    write_file(files.folder / "rig.turn.anim.txt", clip_text(files.character.clips[0], skeleton, {}, 2.0));
    std::vector<std::string> notes;
    const Clip clip = files.read("rig.turn.anim.txt", notes);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_EQ(clip.name, "turn");
    const auto wanted = world_transforms(skeleton, pose_at(skeleton, files.character.clips[0], 0.5));
    const auto found = world_transforms(skeleton, pose_at(skeleton, clip, 0.5));
    for (int j = 0; j < 2; ++j) EXPECT_LT((wanted[j].matrix() - found[j].matrix()).norm(), 1e-8);
}

TEST(ReadClip, ChoosesByNameAfterTheHash)
{
    const TwoMotions files;
    std::vector<std::string> notes;
    EXPECT_EQ(files.read("turn.bvh#turn", notes).name, "turn");
    EXPECT_EQ(files.read("turn.bvh#0", notes).name, "turn");
    std::filesystem::copy_file(files.folder / "turn.bvh", files.folder / "a#b.bvh");
    EXPECT_EQ(files.read("a#b.bvh", notes).name, "a#b"); // a file of that name comes first
    EXPECT_EQ(files.error_of("turn.bvh#trun"),
              (files.folder / "turn.bvh").string() +
                  ": there is no clip 'trun'; there are 0 'turn'; did you mean 'turn'?");
}

TEST(ReadClip, SaysWhatIsNoMotion)
{
    const TwoMotions files;
    EXPECT_EQ(files.error_of("cow.obj"),
              (files.folder / "cow.obj").string() +
                  ": is no motion by its ending; known are .bvh .anim.txt .glb and .gltf");
    write_file(files.folder / "still.bvh", "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\n");
    EXPECT_EQ(files.error_of("still.bvh"),
              (files.folder / "still.bvh").string() + ": has no motion in it; choose another file");
}

TEST(ReadClip, TakesAGltfClipForItsOwnSkeleton)
{
    LITHE_DATA_OR_SKIP(path, "rigs/Cow.glb");
    const Character cow = read_character(path);
    std::vector<std::string> notes;
    const Clip clip = read_clip(path.string() + "#" + cow.clips.at(1).name, cow, notes);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_EQ(clip.name, cow.clips[1].name);
    EXPECT_EQ(clip.joints.size(), cow.clips[1].joints.size());
}

} // namespace
} // namespace lithe
