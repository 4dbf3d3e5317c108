#include "lithe/rig/clip.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "support/count_mallocs.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;

Vec3 random_vector(Random& random, double half = 1.0)
{
    return {random.uniform(-half, half), random.uniform(-half, half), random.uniform(-half, half)};
}

// ---- tracks

TEST(Track, IsConstantOutsideItsKeys)
{
    const Track<Vec3> track{Interpolation::Linear, {1.0, 2.0}, {Vec3(1, 2, 3), Vec3(4, 5, 6)}};
    EXPECT_EQ(track.at(-5.0), Vec3(1, 2, 3));
    EXPECT_EQ(track.at(1.0), Vec3(1, 2, 3));
    EXPECT_EQ(track.at(2.0), Vec3(4, 5, 6));
    EXPECT_EQ(track.at(std::numeric_limits<double>::infinity()), Vec3(4, 5, 6));
}

TEST(Track, OfOneKeyIsConstant)
{
    for (const auto kind : {Interpolation::Step, Interpolation::Linear})
        for (const double t : {-1.0, 0.5, 3.0})
            EXPECT_EQ((Track<Vec3>{kind, {0.5}, {Vec3(1, 2, 3)}}).at(t), Vec3(1, 2, 3));
    const Track<Vec3> cubic{Interpolation::Cubic, {0.5}, {Vec3(9, 9, 9), Vec3(1, 2, 3), Vec3(9, 9, 9)}};
    EXPECT_EQ(cubic.at(0.7), Vec3(1, 2, 3));
}

TEST(Track, StepsHoldTheKeyBefore)
{
    const Track<Vec3> track{
        Interpolation::Step, {0.0, 1.0, 3.0}, {Vec3(1, 0, 0), Vec3(2, 0, 0), Vec3(3, 0, 0)}};
    EXPECT_EQ(track.at(0.999)[0], 1.0);
    EXPECT_EQ(track.at(1.0)[0], 2.0);
    EXPECT_EQ(track.at(2.999)[0], 2.0);
    EXPECT_EQ(track.at(3.0)[0], 3.0);
}

TEST(Track, LinearFindsItsKeysWhereverTheyLie)
{
    Random random(1);
    Track<Vec3> track;
    for (int k = 0; k < 100; ++k) {
        track.times.push_back((k ? track.times.back() : 0.0) + random.uniform(0.001, 1.0));
        track.values.push_back(random_vector(random));
    }
    for (int k = 0; k + 1 < 100; ++k) {
        EXPECT_EQ(track.at(track.times[k]), track.values[k]);
        const double t = 0.7 * track.times[k] + 0.3 * track.times[k + 1];
        EXPECT_LT((track.at(t) - 0.7 * track.values[k] - 0.3 * track.values[k + 1]).norm(), 1e-12);
    }
}

TEST(Track, TurnsTheShortWayAtConstantSpeed)
{
    const Quat from = exp_quat({0.1, 0.2, 0.3});
    const Vec3 turn(0.0, 1.0, 2.0);
    Quat to = exp_quat(turn) * from;
    to.coeffs() *= -1.0; // the same orientation, the long way round as numbers
    const Track<Quat> track{Interpolation::Linear, {0.0, 2.0}, {from, to}};
    for (const double t : {0.2, 1.0, 1.7})
        EXPECT_LT((log_quat(track.at(t) * from.conjugate()) - 0.5 * t * turn).norm(), 1e-13) << t;
}

/// Hermite's interpolation is exact for cubics, whatever the distance of the keys.
TEST(Track, CubicReproducesACubic)
{
    const auto f = [](double t) { return Vec3(t * t * t, 1.0 - 2.0 * t + t * t, 4.0 * t * t * t - t); };
    const auto df = [](double t) { return Vec3(3.0 * t * t, -2.0 + 2.0 * t, 12.0 * t * t - 1.0); };
    Track<Vec3> track{Interpolation::Cubic, {0.5, 1.0, 4.0}, {}};
    for (const double t : track.times) track.values.insert(track.values.end(), {df(t), f(t), df(t)});
    for (const double t : {0.5, 0.6, 1.0, 1.3, 3.99}) EXPECT_LT((track.at(t) - f(t)).norm(), 1e-12) << t;

    Track<VecX> weights{Interpolation::Cubic, track.times, {}};
    for (const Vec3& value : track.values) weights.values.push_back(value);
    EXPECT_EQ(weights.at(1.3), VecX(track.at(1.3)));
}

TEST(Track, CubicUsesTheOutTangentHereAndTheInTangentThere)
{
    const Vec3 none = Vec3::Zero(), one(1.0, 0.0, 0.0), far(100.0, 0.0, 0.0);
    const Track<Vec3> track{Interpolation::Cubic, {0.0, 2.0}, {far, none, one, none, none, far}};
    EXPECT_NEAR(track.at(1.0)[0], 2.0 * 0.125, 1e-15); // h (s^3 - 2 s^2 + s) of the slope 1
}

TEST(Track, CubicRotationsHaveUnitLength)
{
    Random random(2);
    Track<Quat> track{Interpolation::Cubic, {0.0, 1.0, 1.5}, {}};
    for (int k = 0; k < 3; ++k) {
        const Quat slope(Vec4(0.5, -0.3, 0.2, 0.1 * k));
        track.values.insert(track.values.end(), {slope, exp_quat(random_vector(random)), slope});
    }
    for (double t = 0.0; t < 1.5; t += 0.01) EXPECT_NEAR(track.at(t).norm(), 1.0, 1e-15);
    EXPECT_EQ(track.at(1.0).coeffs(), track.values[4].coeffs());
}

TEST(Track, CubicRotationThatVanishesKeepsTheKeyBefore)
{
    Quat back = Quat::Identity();
    back.coeffs() *= -1.0;
    const Quat none(0.0, 0.0, 0.0, 0.0);
    const Track<Quat> track{
        Interpolation::Cubic, {0.0, 1.0}, {none, Quat::Identity(), none, none, back, none}};
    EXPECT_EQ(track.at(0.5).coeffs(), Quat::Identity().coeffs()); // half way between q and -q is zero
}

// ---- clips

/// Two joints below each other; the clip turns the second and moves the first between 1 s and 3 s.
struct Example {
    Skeleton skeleton;
    Clip clip{.name = "example"};

    Example()
    {
        skeleton.joints = {{"root", -1, {.translation = {0, 1, 0}, .scale = {2, 2, 2}}},
                           {"tip", 0, {.translation = {1, 0, 0}}}};
        clip.joints.push_back(
            {.joint = 0,
             .translation = Track<Vec3>{Interpolation::Linear, {1.0, 2.0}, {Vec3(0, 1, 0), Vec3(0, 3, 0)}}});
        clip.joints.push_back({.joint = 1,
                               .rotation = Track<Quat>{Interpolation::Linear,
                                                       {1.5, 3.0},
                                                       {Quat::Identity(), exp_quat({0, 0, 0.5 * pi})}}});
    }
};

TEST(Clip, LastsFromItsFirstKeyToItsLast)
{
    const Example example;
    EXPECT_EQ(example.clip.begin(), 1.0);
    EXPECT_EQ(example.clip.end(), 3.0);
    EXPECT_EQ(example.clip.duration(), 2.0);
    Clip morphing{.name = "morphs"};
    morphing.morphs.push_back({0, {Interpolation::Linear, {-1.0, 4.0}, {VecX::Zero(2), VecX::Ones(2)}}});
    EXPECT_EQ(morphing.begin(), -1.0);
    EXPECT_EQ(morphing.end(), 4.0);
    EXPECT_EQ(Clip{}.duration(), 0.0);
    EXPECT_EQ(Clip{}.begin(), 0.0);
}

TEST(PoseAt, TakesFromRestWhatTheClipDoesNotSay)
{
    const Example example;
    const Pose pose = pose_at(example.skeleton, example.clip, 1.5);
    EXPECT_EQ(pose[0].translation, Vec3(0, 2, 0));
    EXPECT_EQ(pose[0].scale, Vec3(2, 2, 2));
    EXPECT_EQ(pose[0].rotation.coeffs(), Quat::Identity().coeffs());
    EXPECT_EQ(pose[1].translation, Vec3(1, 0, 0));
    const Pose turned = pose_at(example.skeleton, example.clip, 2.25);
    EXPECT_LT((log_quat(turned[1].rotation) - Vec3(0, 0, 0.25 * pi)).norm(), 1e-14);
}

TEST(PoseAt, ForgetsWhatTheBufferHeld)
{
    const Example example;
    Pose pose(7);
    pose[1].scale = Vec3(9, 9, 9);
    pose_at(example.skeleton, example.clip, 2.0, pose);
    ASSERT_EQ(pose.size(), 2u);
    EXPECT_EQ(pose[1].scale, Vec3(1, 1, 1));
}

TEST(PoseAt, AllocatesNothingInABufferThatFits)
{
    if (!test::MallocCounter::works()) GTEST_SKIP();
    const Example example;
    Pose pose(2);
    const test::MallocCounter counter;
    for (double t = 0.0; t < 4.0; t += 0.1) pose_at(example.skeleton, example.clip, t, pose);
    EXPECT_EQ(counter.count(), 0);
}

TEST(Looped, BeginsAgainAfterTheEnd)
{
    const Example example; // from 1 s to 3 s
    EXPECT_EQ(looped(example.clip, 0.0), 1.0);
    EXPECT_EQ(looped(example.clip, 1.5), 2.5);
    EXPECT_EQ(looped(example.clip, 2.0), 1.0);
    EXPECT_NEAR(looped(example.clip, 6.25), 1.25, 1e-15);
    EXPECT_NEAR(looped(example.clip, -0.5), 2.5, 1e-15);
    EXPECT_EQ(looped(Clip{}, 3.0), 0.0);
}

TEST(FindClip, ByNameByNumberOrWithAList)
{
    const std::vector<Clip> clips = {{.name = "gallop"}, {.name = "walk"}, {.name = "0"}};
    EXPECT_EQ(&find_clip(clips, "walk"), &clips[1]);
    EXPECT_EQ(&find_clip(clips, "1"), &clips[1]);
    EXPECT_EQ(&find_clip(clips, "0"), &clips[2]); // names first
    EXPECT_EQ(test::message_of([&] { (void)find_clip(clips, "wlak"); }),
              "there is no clip 'wlak'; there are 0 'gallop', 1 'walk', 2 '0'; did you mean 'walk'?");
    EXPECT_EQ(test::message_of([&] { (void)find_clip(clips, "3"); }),
              "there is no clip '3'; there are 0 'gallop', 1 'walk', 2 '0'; did you mean '0'?");
    EXPECT_EQ(test::message_of([&] { (void)find_clip({}, "walk"); }),
              "there is no clip 'walk': the character has none; give the file of a motion, such as a .bvh");
}

TEST(FindClip, TakesTheLastPartOfANameWhateverItsCase)
{
    const std::vector<Clip> clips = {
        {.name = "Rig|Walk"}, {.name = "Rig|Run"}, {.name = "Other|Run"}, {.name = "walk.fast"}};
    EXPECT_EQ(find_clip(clips, "walk").name, "Rig|Walk");
    EXPECT_THROW((void)find_clip(clips, "run"), InputError); // which one?
}

} // namespace
} // namespace lithe
