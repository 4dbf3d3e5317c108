#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/rig/rig_files.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Vec3 random_vector(Random& random, double half = 1.0)
{
    return {random.uniform(-half, half), random.uniform(-half, half), random.uniform(-half, half)};
}

/// Hips with a spine of two and two legs, in frames that are turned at random.
Skeleton small_body(std::uint64_t seed)
{
    Random random(seed);
    const std::pair<const char*, int> joints[] = {
        {"Hips", -1}, {"Spine", 0}, {"Head", 1}, {"LeftLeg", 0}, {"RightLeg", 0}};
    Skeleton skeleton;
    for (const auto& [name, parent] : joints)
        skeleton.joints.push_back(
            {name,
             parent,
             {.translation = random_vector(random), .rotation = exp_quat(random_vector(random, 2.0))}});
    return skeleton;
}

/// Turns every joint and moves the first, between 0 s and 1 s.
Clip small_dance(const Skeleton& skeleton, std::uint64_t seed)
{
    Random random(seed);
    const std::vector<double> times = {0.0, 0.3, 1.0};
    Clip clip{.name = "dance"};
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        JointTracks& tracks = clip.joints.emplace_back(JointTracks{.joint = j});
        tracks.rotation = Track<Quat>{Interpolation::Linear, times, {}};
        for (int k = 0; k < 3; ++k) tracks.rotation->values.push_back(exp_quat(random_vector(random)));
    }
    clip.joints[0].translation = Track<Vec3>{Interpolation::Linear, times, {}};
    for (int k = 0; k < 3; ++k) clip.joints[0].translation->values.push_back(random_vector(random, 3.0));
    return clip;
}

Quat world_rotation(const Affine3& world)
{
    return decomposed(world).rotation;
}

double angle_between(const Quat& a, const Quat& b)
{
    return log_quat(a * b.conjugate()).norm();
}

/// How far each joint has turned from rest, in the world, at a time of the clip.
std::vector<Quat> turns(const Skeleton& skeleton, const Clip& clip, double t)
{
    const auto rest = world_transforms(skeleton, rest_pose(skeleton));
    const auto world = world_transforms(skeleton, pose_at(skeleton, clip, t));
    std::vector<Quat> result;
    for (std::size_t j = 0; j < rest.size(); ++j)
        result.push_back(world_rotation(world[j]) * world_rotation(rest[j]).conjugate());
    return result;
}

TEST(Retargeted, ToTheSameSkeletonIsTheSameMotion)
{
    const Skeleton body = small_body(1);
    const Clip clip = small_dance(body, 2);
    std::vector<std::string> notes;
    const Clip same = retargeted(clip, body, body, notes);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_EQ(same.name, "dance");
    for (double t = -0.1; t < 1.1; t += 0.07) {
        const auto wanted = world_transforms(body, pose_at(body, clip, t));
        const auto found = world_transforms(body, pose_at(body, same, t));
        for (int j = 0; j < body.joint_count(); ++j)
            EXPECT_LT((wanted[j].matrix() - found[j].matrix()).norm(), 1e-12) << j << " at " << t;
    }
}

/// The target has other axes, other lengths, is larger, lies in another frame and hangs below a joint of its own.
TEST(Retargeted, TurnsInTheWorldWhateverTheAxesAre)
{
    Skeleton from = small_body(1);
    from.placement = file_placement({.scale = 0.01, .up = UpAxis::Z});
    Skeleton to = small_body(3);
    for (Joint& joint : to.joints) ++joint.parent;
    Joint armature{
        "Armature", -1, {.translation = {1, 2, 3}, .rotation = exp_quat({0.5, -1, 0.2}), .scale = {2, 2, 2}}};
    to.joints.insert(to.joints.begin(), armature);
    to.placement = Eigen::Translation3d(0, 1, 0) * exp_so3({0, 1, 0});
    const Clip clip = small_dance(from, 2);
    std::vector<std::string> notes;
    const Clip moved = retargeted(clip, from, to, notes);
    EXPECT_THAT(notes, ElementsAre("joints that clip 'dance' does not know stay at rest: 'Armature'"));

    const auto rest = world_transforms(to, rest_pose(to));
    for (const double t : {0.0, 0.3, 1.0}) {
        const std::vector<Quat> source = turns(from, clip, t), target = turns(to, moved, t);
        const auto world = world_transforms(to, pose_at(to, moved, t));
        EXPECT_GT(log_quat(source[2]).norm(), 0.1);
        for (int j = 0; j < from.joint_count(); ++j) {
            EXPECT_LT(angle_between(source[j], target[j + 1]), 1e-12) << j << " at " << t;
            if (j == 0) continue;
            const int parent = to.joints[j + 1].parent; // bones keep their lengths
            EXPECT_NEAR((world[j + 1].translation() - world[parent].translation()).norm(),
                        (rest[j + 1].translation() - rest[parent].translation()).norm(), 1e-12);
        }
    }
}

TEST(Retargeted, ScalesTheWayOfTheTopmostJointByTheHeights)
{
    Skeleton from; // 2 high, in centimetres
    from.joints = {{"hips", -1, {.translation = {0, 100, 0}}},
                   {"foot", 0, {.translation = {0, -100, 0}}},
                   {"head", 0, {.translation = {0, 100, 0}}},
                   {"hat", 2, {.translation = {0, 500, 0}}}};
    from.placement = file_placement({.scale = 0.01});
    Skeleton to; // 3 high, in metres; it has no hat
    to.joints = {{"hips", -1, {.translation = {5, 1, 0}}},
                 {"foot", 0, {.translation = {0, -1, 0}}},
                 {"head", 0, {.translation = {0, 2, 0}}}};
    Clip clip{.name = "step"};
    clip.joints.push_back(
        {.joint = 0, .translation = Track<Vec3>{{}, {0.0, 1.0}, {Vec3(0, 100, 0), Vec3(0, 120, 40)}}});
    std::vector<std::string> notes;
    const Clip moved = retargeted(clip, from, to, notes);
    EXPECT_LT((pose_at(to, moved, 0.0)[0].translation - Vec3(5, 1, 0)).norm(), 1e-14);
    EXPECT_LT((pose_at(to, moved, 1.0)[0].translation - Vec3(5, 1.3, 0.6)).norm(), 1e-14);
    EXPECT_LT((pose_at(to, moved, 0.5)[0].translation - Vec3(5, 1.15, 0.3)).norm(), 1e-14);
    EXPECT_LT((pose_at(to, moved, 1.0)[1].translation - Vec3(0, -1, 0)).norm(), 1e-14);
}

TEST(Retargeted, MeasuresFlatSkeletonsByTheirExtent)
{
    Skeleton from;
    from.joints = {{"a", -1, {}}, {"b", 0, {.translation = {1, 0, 0}}}};
    Skeleton to = from;
    to.joints[1].rest.translation = Vec3(0, 0, 4);
    Clip clip{.name = "slide"};
    clip.joints.push_back({.joint = 0, .translation = Track<Vec3>{{}, {0.0}, {Vec3(0, 0.5, 0)}}});
    std::vector<std::string> notes;
    EXPECT_LT((pose_at(to, retargeted(clip, from, to, notes), 0.0)[0].translation - Vec3(0, 2, 0)).norm(),
              1e-14);
}

TEST(Retargeted, ComparesNamesWithoutCaseAndPrefix)
{
    const Skeleton from = small_body(1);
    Skeleton to = from;
    const char* names[] = {"mixamorig:hips", "SPINE", "a:b:Head", "leftleg", "rightleg"};
    for (int j = 0; j < 5; ++j) to.joints[j].name = names[j];
    const Clip clip = small_dance(from, 2);
    std::vector<std::string> notes;
    const Clip moved = retargeted(clip, from, to, notes);
    EXPECT_THAT(notes, IsEmpty());
    for (int j = 0; j < 5; ++j)
        EXPECT_LT(angle_between(turns(from, clip, 0.5)[j], turns(to, moved, 0.5)[j]), 1e-12);
}

TEST(Retargeted, LeavesJointsWithoutPartnerAtRestInTheirParent)
{
    const Skeleton from = small_body(1);
    Skeleton to = from;
    to.joints[1].name = "chest"; // between two that have partners
    const Clip clip = small_dance(from, 2);
    std::vector<std::string> notes;
    const Clip moved = retargeted(clip, from, to, notes);
    EXPECT_THAT(notes, ElementsAre("joints that clip 'dance' does not know stay at rest: 'chest'"));
    const Pose pose = pose_at(to, moved, 0.3);
    EXPECT_EQ(pose[1].rotation.coeffs(), to.joints[1].rest.rotation.coeffs());
    EXPECT_LT(angle_between(turns(from, clip, 0.3)[2], turns(to, moved, 0.3)[2]),
              1e-12); // the head still turns
}

TEST(Retargeted, SaysWhenNoNameFits)
{
    const Skeleton from = small_body(1);
    Skeleton to;
    to.joints = {{"root", -1, {}}, {"", 0, {}}};
    std::vector<std::string> notes;
    EXPECT_EQ(test::message_of([&] { (void)retargeted(small_dance(from, 2), from, to, notes); }),
              "clip 'dance' moves 'Hips', 'Spine', 'Head', 'LeftLeg', 'RightLeg', and the character has "
              "'root', '': no "
              "joint has a partner of the same name; rename the joints of one of them");
}

TEST(Retargeted, NotesMorphsThatWereLeftOut)
{
    const Skeleton body = small_body(1);
    Clip clip = small_dance(body, 2);
    clip.morphs.push_back({0, {Interpolation::Linear, {0.0}, {VecX::Ones(1)}}});
    std::vector<std::string> notes;
    EXPECT_TRUE(retargeted(clip, body, body, notes).morphs.empty());
    EXPECT_THAT(notes,
                ElementsAre("the morph targets of clip 'dance' belong to another surface and were left out"));
}

TEST(Retargeted, KeepsItsRotationsOnOneSide)
{
    const Skeleton body = small_body(1);
    Clip clip{.name = "spin"};
    JointTracks& tracks = clip.joints.emplace_back(JointTracks{.joint = 0});
    tracks.rotation = Track<Quat>{};
    for (int k = 0; k < 40; ++k) {
        tracks.rotation->times.push_back(0.1 * k);
        tracks.rotation->values.push_back(exp_quat({0.0, 0.5 * k, 0.0}));
    }
    std::vector<std::string> notes;
    const std::vector<Quat> q = retargeted(clip, body, body, notes).joints.at(0).rotation->values;
    for (std::size_t k = 1; k < q.size(); ++k) EXPECT_GT(q[k].dot(q[k - 1]), 0.9);
}

TEST(Retargeted, CarriesAWalkToARenamedAndResizedCopy)
{
    LITHE_DATA_OR_SKIP(path, "rigs/cmu_02_01.bvh");
    const Character walker = read_bvh(path);
    const Clip& clip = walker.clips.at(0);
    Skeleton to = walker.skeleton;
    for (Joint& joint : to.joints) {
        joint.name = "Rig:" + joint.name;
        joint.rest.translation *= 0.06;
    }
    std::vector<std::string> notes;
    const Clip moved = retargeted(clip, walker.skeleton, to, notes);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_EQ(moved.joints.size(), to.joints.size());
    for (double t = 0.0; t < clip.end(); t += 0.213) {
        const auto wanted = world_transforms(walker.skeleton, pose_at(walker.skeleton, clip, t));
        const auto found = world_transforms(to, pose_at(to, moved, t));
        for (int j = 0; j < to.joint_count(); ++j) {
            EXPECT_LT((wanted[j].linear() - found[j].linear()).norm(), 1e-12);
            EXPECT_LT((0.06 * wanted[j].translation() - found[j].translation()).norm(), 1e-11);
        }
    }
}

} // namespace
} // namespace lithe
