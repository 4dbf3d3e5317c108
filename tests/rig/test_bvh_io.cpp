#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/rig/rig_files.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using testing::ElementsAre;

constexpr double pi = 3.14159265358979323846;
constexpr double degree = pi / 180.0;

const std::string hierarchy = R"(HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0 -2 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 -3 0.5
    }
  }
}
)";

Character parse(const std::string& text, const ReadOptions& options = {})
{
    return parse_bvh(text, "walk.bvh", options);
}

std::string error_of(const std::string& text)
{
    return test::message_of([&] { (void)parse(text); });
}

std::string with_motion(const std::string& frames)
{
    return hierarchy + "MOTION\n" + frames;
}

Mat3 turn(char axis, double degrees)
{
    return exp_so3(degrees * degree * Vec3::Unit(axis - 'x'));
}

// ---- what is read

TEST(Bvh, ReadsTheTreeWithItsEnds)
{
    const Character character = parse(with_motion("Frames: 0\nFrame Time: 0.1\n"));
    const std::vector<Joint>& joints = character.skeleton.joints;
    ASSERT_EQ(joints.size(), 3u);
    EXPECT_EQ(joints[0].name, "Hips");
    EXPECT_EQ(joints[1].name, "Leg");
    EXPECT_EQ(joints[2].name, "Leg end");
    EXPECT_EQ(joints[0].parent, -1);
    EXPECT_EQ(joints[1].parent, 0);
    EXPECT_EQ(joints[2].parent, 1);
    EXPECT_EQ(joints[1].rest.translation, Vec3(0, -2, 0));
    EXPECT_EQ(joints[2].rest.translation, Vec3(0, -3, 0.5));
    EXPECT_TRUE(character.clips.empty());
    EXPECT_THAT(character.notes, ElementsAre("the MOTION moves nothing; only the skeleton was read"));
}

TEST(Bvh, MultipliesRotationsInTheOrderOfTheChannels)
{
    const Character character = parse(with_motion("Frames: 1\nFrame Time: 0.1\n1 2 3 10 20 30  -40 50 60\n"));
    ASSERT_EQ(character.clips.size(), 1u);
    const Clip& clip = character.clips[0];
    EXPECT_EQ(clip.name, "walk");
    const std::vector<Affine3> world =
        world_transforms(character.skeleton, pose_at(character.skeleton, clip, 0.0));
    const Mat3 hips = turn('z', 10) * turn('x', 20) * turn('y', 30);
    const Mat3 leg = hips * turn('y', -40) * turn('x', 50) * turn('z', 60);
    EXPECT_LT((world[0].linear() - hips).norm(), 1e-14);
    EXPECT_LT((world[1].linear() - leg).norm(), 1e-14);
    EXPECT_EQ(Vec3(world[0].translation()), Vec3(1, 2, 3)); // channels, not the OFFSET
    EXPECT_LT(
        (world[2].translation() - Vec3(1, 2, 3) - hips * Vec3(0, -2, 0) - leg * Vec3(0, -3, 0.5)).norm(),
        1e-14);
}

TEST(Bvh, PositionChannelsReplaceTheirNumberOfTheOffsetOnly)
{
    const Character character = parse("HIERARCHY\nROOT a {\nOFFSET 1 2 3\nCHANNELS 2 Zposition Xrotation\n}\n"
                                      "MOTION\nFrames: 1\nFrame Time: 1\n7 90\n");
    const Pose pose = pose_at(character.skeleton, character.clips.at(0), 0.0);
    EXPECT_EQ(pose[0].translation, Vec3(1, 2, 7));
    EXPECT_LT((pose[0].rotation.toRotationMatrix() - turn('x', 90)).norm(), 1e-14);
    EXPECT_EQ(character.skeleton.joints[0].rest.translation,
              Vec3(1, 2, 3)); // an OFFSET that says something stays
}

TEST(Bvh, HasAKeyPerFrameAndIsStraightBetween)
{
    const Character character =
        parse(with_motion("Frames: 3\nFrame Time: 0.5\n"
                          "0 0 0 0 0 0 0 0 0\n1 0 0 90 0 0 0 0 0\n2 0 0 170 0 0 0 0 0\n"));
    const Clip& clip = character.clips.at(0);
    EXPECT_EQ(clip.begin(), 0.0);
    EXPECT_EQ(clip.end(), 1.0);
    const Pose pose = pose_at(character.skeleton, clip, 0.75);
    EXPECT_LT((pose[0].translation - Vec3(1.5, 0, 0)).norm(), 1e-15);
    EXPECT_LT((pose[0].rotation.toRotationMatrix() - turn('z', 130)).norm(), 1e-14);
}

TEST(Bvh, QuaternionsOfNeighbouringFramesLieOnOneSide)
{
    std::string frames = "Frames: 37\nFrame Time: 0.1\n";
    for (int f = 0; f < 37; ++f) frames += fmt::format("0 0 0 {} 0 0 0 0 0\n", 20 * f); // two turns
    const Character character = parse(with_motion(frames));
    const std::vector<Quat>& q = character.clips.at(0).joints.at(0).rotation->values;
    for (std::size_t k = 1; k < q.size(); ++k) EXPECT_GT(q[k].dot(q[k - 1]), 0.9) << k;
    EXPECT_NEAR(q[18].w(), -1.0, 1e-14); // one turn later
}

TEST(Bvh, StandsOnTheGroundAtRestWhereTheOffsetSaysNothing)
{
    const Character character = parse(with_motion("Frames: 0\nFrame Time: 0.1\n"));
    EXPECT_EQ(character.skeleton.joints[0].rest.translation, Vec3(0, 5, 0));
    const auto world = world_transforms(character.skeleton, rest_pose(character.skeleton));
    EXPECT_EQ(world[2].translation()[1], 0.0);
}

TEST(Bvh, TakesScaleAndUpAxisIntoThePlacement)
{
    const std::string text = with_motion("Frames: 1\nFrame Time: 0.1\n1 2 3 0 0 0 0 0 0\n");
    const Character character = parse(text, {.scale = 0.01, .up = UpAxis::Z});
    const auto world =
        world_transforms(character.skeleton, pose_at(character.skeleton, character.clips.at(0), 0.0));
    EXPECT_LT((world[0].translation() - Vec3(0.01, 0.03, -0.02)).norm(), 1e-16);
    EXPECT_EQ(test::message_of([&] { (void)parse(text, {.scale = 0.0}); }),
              "scale = 0 must lie in (1e-100, 1e+100)");
}

TEST(Bvh, ReadsWhatOtherProgramsWrite)
{
    std::string crlf = "\xef\xbb\xbf" + with_motion("Frames:\t1\nFrame Time:.1\n1 2 3 4 5 6 7 8 9");
    for (std::size_t at = crlf.find('\n'); at != crlf.npos; at = crlf.find('\n', at + 2))
        crlf.insert(at, "\r");
    EXPECT_EQ(parse(crlf).clips.size(), 1u); // a byte order mark, CR LF, tabs, no blank, no last line end

    const Character braces =
        parse("hierarchy root My Hips{ OFFSET 0 0 0 channels 1 XROTATION joint b\xe4r {\n"
              "OFFSET 1 1 1 End Site { OFFSET 0 0 0 } } } ROOT second\n\n{ OFFSET 1 0 0 }\n");
    ASSERT_EQ(braces.skeleton.joint_count(), 4);
    EXPECT_EQ(braces.skeleton.joints[0].name, "My Hips");
    EXPECT_EQ(braces.skeleton.joints[1].name, "b\xc3\xa4r"); // Latin-1 became UTF-8
    EXPECT_EQ(braces.skeleton.joints[3].parent, -1);
    EXPECT_THAT(braces.notes, ElementsAre("there is no MOTION; only the skeleton was read"));
}

TEST(Bvh, NotesNamesThatRepeat)
{
    const Character character = parse("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nJOINT a\n{\nOFFSET 0 0 0\n}\n}\n");
    EXPECT_THAT(character.notes.at(0), "several joints are named 'a'; whoever asks by name finds the first");
}

// ---- what is refused

TEST(Bvh, SaysWhatIsWrongWithAHierarchy)
{
    const std::string open = "HIERARCHY\nROOT a\n{\n";
    const std::pair<std::string, std::string> cases[] = {
        {"", "walk.bvh:1: ends where HIERARCHY should follow; the file is cut short"},
        {"MOTION\n", "walk.bvh:1: found 'MOTION' where HIERARCHY should stand"},
        {"HIERARCHY\nMOTION\n", "walk.bvh:2: has no ROOT; a skeleton begins with 'ROOT NAME {'"},
        {"HIERARCHY\nJOINT a\n", "walk.bvh:2: found 'JOINT' where ROOT or MOTION should stand"},
        {"HIERARCHY\nROOT a\nOFFSET 0 0 0\n", "walk.bvh:3: found 'OFFSET' where { should stand"},
        {open + "OFFSET 0 0\n}\n", "walk.bvh:5: found '}' where a number should stand"},
        {open + "OFFSET 0 0 nan\n}\n",
         "walk.bvh:4: found the number nan; those of a motion lie between -1e+12 and 1e+12"},
        {open + "OFFSET 0 0 0\nOFFSET 0 0 0\n}\n", "walk.bvh:5: joint 'a' has two OFFSETs"},
        {open + "}\n", "walk.bvh:4: joint 'a' has no OFFSET; add 'OFFSET X Y Z', where it is in its parent"},
        {open + "OFFSET 0 0 0\n",
         "walk.bvh:4: ends inside of joint 'a'; a '}' is missing, or the file is cut short"},
        {open + "OFSET 0 0 0\n",
         "walk.bvh:4: found 'OFSET' inside of joint 'a'; OFFSET, CHANNELS, JOINT, End "
         "Site or } may stand there"},
        {open + "CHANNELS 1 Xrotaton\n",
         "walk.bvh:4: found 'Xrotaton' as channel 1 of 1; did you mean 'xrotation'?"},
        {open + "CHANNELS 2 Xposition Xposition\n", "walk.bvh:4: joint 'a' has the channel Xposition twice"},
        {open + "CHANNELS 1 Xposition\nCHANNELS 0\n", "walk.bvh:5: joint 'a' has CHANNELS twice"},
        {open + "CHANNELS 999999 Xrotation\n",
         "walk.bvh:4: claims 999999 channels, but only 11 bytes follow; the "
         "file is cut short or its header is damaged"},
        {open + "End Site\n{\nCHANNELS 0\n", "walk.bvh:6: an End Site has CHANNELS; only joints move"},
        {open + "End Site\n{\nJOINT b\n{\n",
         "walk.bvh:7: a JOINT stands inside of an End Site, which has no joints below it"},
        {open + "End Effector\n{\n", "walk.bvh:5: found 'Effector' after 'End'; 'End Site' was expected"},
    };
    for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text), message) << text;
}

TEST(Bvh, RefusesTreesThatAreTooDeep)
{
    std::string text = "HIERARCHY\nROOT a {\n";
    for (int i = 0; i < 1000; ++i) text += "JOINT a {\n";
    EXPECT_EQ(error_of(text), "walk.bvh:1002: more than 1000 joints are nested; the file is damaged");
}

TEST(Bvh, SaysWhatIsWrongWithAMotion)
{
    const std::pair<std::string, std::string> cases[] = {
        {"", "walk.bvh:16: ends where 'Frames: COUNT' should follow; the file is cut short"},
        {"Frame Time: 1\n", "walk.bvh:17: found 'frametime:1' where 'Frames: COUNT' should stand"},
        {"Frames: 1\n1 2 3\n", "walk.bvh:18: found '123' where 'Frame Time: SECONDS' should stand"},
        {"Frames: x\n", "walk.bvh:17: found 'x' where a whole number should stand"},
        {"Frames: 2\nFrame Time: 0\n",
         "walk.bvh:18: Frame Time is 0; write the seconds between two frames, such as 0.0083333"},
        {"Frames: 1000000000\nFrame Time: 1\n1 2 3\n", "walk.bvh:18: claims 1000000000 frames, but only 7 "
                                                       "bytes follow; the file is cut short or its header is "
                                                       "damaged"},
        {"Frames: -1\nFrame Time: 1\n", "walk.bvh:18: claims -1 frames; the count is damaged"},
        {"Frames: 1\nFrame Time: 1\n1 2 3 4 5 6 7.00000 8\n",
         "walk.bvh:19: ends where a number should follow; the file is cut short"},
        {"Frames: 2\nFrame Time: 1\n1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8 9\n",
         "walk.bvh:20: frame 0 goes on with '2' after its 9 numbers; every frame begins on a new line"},
        {"Frames: 1\nFrame Time: 1\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n",
         "walk.bvh:20: found '1' after the last of 1 frames of 9 numbers; mend 'Frames:'"},
        {"Frames: 1\nFrame Time: 1\n1 2 3 4 5 6 7 8 inf\n",
         "walk.bvh:19: found the number inf; those of a motion lie between -1e+12 and 1e+12"},
    };
    for (const auto& [text, message] : cases) EXPECT_EQ(error_of(with_motion(text)), message) << text;
}

// ---- real motions

class CmuMotion : public testing::TestWithParam<const char*> {};

TEST_P(CmuMotion, KeepsTheLengthsOfItsBones)
{
    LITHE_DATA_OR_SKIP(path, std::string("rigs/") + GetParam());
    const Character character = read_bvh(path);
    const Skeleton& skeleton = character.skeleton;
    ASSERT_EQ(character.clips.size(), 1u);
    const Clip& clip = character.clips[0];
    EXPECT_EQ(clip.name, path.stem());
    EXPECT_GT(clip.duration(), 1.0);

    double moved = 0.0;
    for (double t = 0.0; t <= clip.end(); t += 0.0317) { // mostly between keys
        const std::vector<Affine3> world = world_transforms(skeleton, pose_at(skeleton, clip, t));
        moved = std::max(moved, (world[0].translation() - skeleton.joints[0].rest.translation).norm());
        for (int j = 0; j < skeleton.joint_count(); ++j) {
            const int parent = skeleton.joints[j].parent;
            if (parent < 0) continue;
            const double length = (world[j].translation() - world[parent].translation()).norm();
            EXPECT_NEAR(length, skeleton.joints[j].rest.translation.norm(), 1e-12);
        }
    }
    EXPECT_GT(moved, 10.0);
}

/// In walking, the lowest joint stays near the ground, which these files have at y = 0.
TEST_P(CmuMotion, StandsAtRestAsHighAsItWalks)
{
    LITHE_DATA_OR_SKIP(path, std::string("rigs/") + GetParam());
    const Character character = read_bvh(path);
    const Skeleton& skeleton = character.skeleton;
    const double rest = skeleton.joints[0].rest.translation[1];
    const Pose pose = pose_at(skeleton, character.clips.at(0), 0.5);
    EXPECT_NEAR(pose[0].translation[1], rest, 0.15 * rest);
}

INSTANTIATE_TEST_SUITE_P(Files, CmuMotion, testing::Values("cmu_02_01.bvh", "cmu_02_03.bvh"),
                         [](const auto& one) { return std::string(one.param).substr(0, 9); });

} // namespace
} // namespace lithe
