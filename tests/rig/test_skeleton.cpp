#include "lithe/rig/skeleton.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "support/count_mallocs.hpp"

namespace lithe {
namespace {

Vec3 random_vector(Random& random, double half = 1.0)
{
    return {random.uniform(-half, half), random.uniform(-half, half), random.uniform(-half, half)};
}

JointTransform random_transform(Random& random)
{
    return {.translation = random_vector(random, 3.0),
            .rotation = exp_quat(random_vector(random, 2.0)),
            .scale = Vec3(1.1, 1.1, 1.1) + random_vector(random)};
}

/// A chain, a branch and a second root, in a placement that scales and turns z up.
Skeleton small_skeleton()
{
    Random random(7);
    Skeleton skeleton;
    const int parents[] = {-1, 0, 1, 1, -1};
    for (const int parent : parents)
        skeleton.joints.push_back({"joint " + std::to_string(parent), parent, random_transform(random)});
    skeleton.placement.linear() = 0.01 * exp_so3({-1.5707963267948966, 0.0, 0.0});
    skeleton.placement.translation() = Vec3(1.0, 2.0, 3.0);
    return skeleton;
}

TEST(JointTransform, ScalesThenTurnsThenMoves)
{
    const JointTransform local{{1.0, 2.0, 3.0}, exp_quat({0.0, 0.0, 1.5707963267948966}), {2.0, 3.0, 4.0}};
    EXPECT_LT((local.matrix() * Vec3(1.0, 1.0, 1.0) - Vec3(-2.0, 4.0, 7.0)).norm(), 1e-14);
}

TEST(Decomposed, FindsWhatAProductWasMadeOf)
{
    Random random(1);
    for (int trial = 0; trial < 200; ++trial) {
        const JointTransform made = random_transform(random);
        const JointTransform found = decomposed(made.matrix());
        EXPECT_EQ(found.translation, made.translation);
        EXPECT_LT((found.scale - made.scale).norm(), 1e-13);
        EXPECT_LT(log_quat(found.rotation * made.rotation.conjugate()).norm(), 1e-13);
    }
}

TEST(Decomposed, GivesAMirrorANegativeScaleAlongX)
{
    Random random(2);
    for (int axis = 0; axis < 3; ++axis) {
        JointTransform made = random_transform(random);
        made.scale[axis] *= -1.0;
        const JointTransform found = decomposed(made.matrix());
        EXPECT_LT(found.scale[0], 0.0);
        EXPECT_GT(found.scale[1], 0.0);
        EXPECT_GT(found.scale[2], 0.0);
        EXPECT_LT((found.matrix().matrix() - made.matrix().matrix()).norm(), 1e-13);
    }
}

TEST(Decomposed, ReproducesMatricesWithoutFullRank)
{
    Random random(3);
    for (const Vec3& scale :
         {Vec3(0.0, 2.0, 1.0), Vec3(1.0, 0.0, 2.0), Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0)}) {
        JointTransform made = random_transform(random);
        made.scale = scale;
        const JointTransform found = decomposed(made.matrix());
        EXPECT_NEAR(found.rotation.norm(), 1.0, 1e-14);
        EXPECT_LT((found.matrix().matrix() - made.matrix().matrix()).norm(), 1e-13);
    }
}

TEST(Decomposed, IsTheNearestToAShearedMatrix)
{
    Random random(4);
    Affine3 sheared = random_transform(random).matrix();
    sheared.linear()(0, 1) += 0.3;
    const JointTransform best = decomposed(sheared);
    const double least = (best.matrix().linear() - sheared.linear()).norm();
    EXPECT_GT(least, 0.01); // no product is it
    for (int trial = 0; trial < 500; ++trial) {
        JointTransform other = best;
        other.rotation = turned(best.rotation, random_vector(random, 0.01));
        other.scale += random_vector(random, 0.01);
        EXPECT_GT((other.matrix().linear() - sheared.linear()).norm(), least);
    }
}

TEST(Skeleton, FindsTheFirstOfAName)
{
    Skeleton skeleton;
    for (const char* name : {"hips", "arm", "arm"}) skeleton.joints.push_back({name, -1, {}});
    EXPECT_EQ(skeleton.find("arm"), 1);
    EXPECT_EQ(skeleton.find("leg"), -1);
}

TEST(WorldTransforms, AreProductsFromTheRootDown)
{
    const Skeleton skeleton = small_skeleton();
    Pose pose = rest_pose(skeleton);
    pose[1].rotation = exp_quat({0.3, 0.2, 0.1}) * pose[1].rotation;
    const std::vector<Affine3> world = world_transforms(skeleton, pose);

    for (int j = 0; j < skeleton.joint_count(); ++j) {
        Vec3 x(0.3, -0.4, 0.5); // of the joint's frame, carried up to the world point by point
        const Vec3 inner = x;
        for (int k = j; k >= 0; k = skeleton.joints[k].parent)
            x = pose[k].rotation * pose[k].scale.cwiseProduct(x) + pose[k].translation;
        EXPECT_LT((world[j] * inner - skeleton.placement * x).norm(), 1e-13) << j;
    }
}

TEST(WorldTransforms, AllocateNothingInABufferThatFits)
{
    if (!test::MallocCounter::works()) GTEST_SKIP();
    const Skeleton skeleton = small_skeleton();
    const Pose pose = rest_pose(skeleton);
    std::vector<Affine3> world = world_transforms(skeleton, pose);
    const test::MallocCounter counter;
    world_transforms(skeleton, pose, world);
    EXPECT_EQ(counter.count(), 0);
}

} // namespace
} // namespace lithe
