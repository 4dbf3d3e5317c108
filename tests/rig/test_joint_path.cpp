#include "lithe/rig/joint_path.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// Three joints in a row in a world that is turned and scaled; the clip turns two of them and shifts the first.
struct Chain {
    Skeleton skeleton;
    Clip clip;
    Bone bone{.joint = 2};

    Chain()
    {
        const auto turned = [](double angle, const Vec3& axis) {
            return Quat(Eigen::AngleAxisd(angle, axis.normalized()));
        };
        skeleton.placement.linear() = 0.01 * turned(0.5, Vec3::UnitX()).toRotationMatrix();
        skeleton.placement.translation() = Vec3(1, 2, 3);
        for (int j = 0; j < 3; ++j)
            skeleton.joints.push_back(
                {.name = "joint",
                 .parent = j - 1,
                 .rest = {.translation = Vec3(10, 20 * j, 5), .rotation = turned(0.3 * j, Vec3(1, 1, 0))}});
        bone.inverse_bind = world_transforms(skeleton, rest_pose(skeleton))[2].inverse();
        const Track<Quat> turns{
            .times = {0.0, 1.0, 2.0},
            .values = {Quat::Identity(), turned(1.0, Vec3(1, 2, 3)), turned(0.2, Vec3::UnitY())}};
        clip.joints = {
            {.joint = 0,
             .translation = Track<Vec3>{.times = {0.0, 2.0}, .values = {Vec3(10, 0, 5), Vec3(50, 0, 5)}}},
            {.joint = 1, .rotation = turns},
            {.joint = 2, .rotation = turns}};
    }
    JointPath path(const Playback& playback = {}, double blend = 0.0) const
    {
        return JointPath(skeleton, std::make_shared<const Clip>(clip), bone, playback, blend);
    }
    /// From rest, by all joints of the skeleton.
    Affine3 motion(double clip_time) const
    {
        return world_transforms(skeleton, pose_at(skeleton, clip, clip_time))[2] * bone.inverse_bind;
    }
};

double distance(const RigidPose& pose, const Affine3& motion, const Vec3& at)
{
    return (pose.apply(at) - motion * at).norm();
}

TEST(JointPath, IsWhereTheClipSays)
{
    const Chain chain;
    const JointPath path = chain.path();
    for (const double t : {-0.5, 0.0, 0.3, 0.99, 1.0, 1.7, 2.5, 7.3})
        for (const Vec3& at : {Vec3(0, 0, 0), Vec3(1, 2, 3), Vec3(-4, 2, 5)})
            EXPECT_LT(distance(path.at(t), chain.motion(looped(chain.clip, t)), at), 1e-13) << t;
    const JointPath slow = chain.path({.start = 0.5, .speed = 0.5, .loop = false});
    EXPECT_LT(distance(slow.at(1.0), chain.motion(1.0), Vec3(1, 0, 0)), 1e-13);
    EXPECT_LT(distance(slow.at(9.0), chain.motion(2.0), Vec3(1, 0, 0)), 1e-13);
}

TEST(JointPath, GoesFromRestIntoTheClip)
{
    const Chain chain;
    const JointPath path = chain.path({.start = 0.7}, 0.5);
    EXPECT_LT(distance(path.at(0.0), Affine3::Identity(), Vec3(1, 0, 0)), 1e-13);
    EXPECT_GT(distance(path.at(0.25), Affine3::Identity(), Vec3(1, 0, 0)), 1e-2);
    EXPECT_GT(distance(path.at(0.25), chain.motion(0.95), Vec3(1, 0, 0)), 1e-2);
    EXPECT_LT(distance(path.at(0.5), chain.motion(1.2), Vec3(1, 0, 0)), 1e-13);
}

TEST(JointPath, DoesNotStretch)
{
    Chain chain;
    chain.clip.joints[2].scale = Track<Vec3>{.times = {0.0}, .values = {Vec3(2, 1, 3)}};
    const RigidPose pose = chain.path().at(0.4);
    const Vec3 joint = chain.bone.inverse_bind.inverse().translation();
    EXPECT_LT(distance(pose, chain.motion(0.4), joint), 1e-13);
    EXPECT_GT(distance(pose, chain.motion(0.4), joint + Vec3(0, 0, 1)), 0.1);
    EXPECT_NEAR(pose.rotation.norm(), 1.0, 1e-14);
}

TEST(JointPath, RefusesWhatDoesNotFit)
{
    Chain chain;
    EXPECT_THROW(chain.path({}, -1.0), InputError);
    EXPECT_THROW(chain.path({}, std::nan("")), InputError);
    chain.bone.joint = 3;
    EXPECT_THROW(chain.path(), InputError);
}

} // namespace
} // namespace lithe
