#include "lithe/rig/skin_weights.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/math/rotation.hpp"
#include "support/message_of.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

TEST(SkinWeights, KeepsTheHeaviestFirstAndNormalises)
{
    MatX dense(5, 2);
    dense.col(0) << 0.1, 0.0, 0.4, 0.2, 0.3;
    dense.col(1) << 0.0, 0.0, 0.0, 7.0, 0.0;
    const SkinWeights sparse = sparse_weights(dense, 3);
    ASSERT_EQ(sparse.slots(), 3);
    ASSERT_EQ(sparse.vertex_count(), 2);
    EXPECT_EQ(sparse.bones.col(0), Eigen::Vector3i(2, 4, 3));
    EXPECT_LT((sparse.weights.col(0) - Vec3(0.4, 0.3, 0.2) / 0.9).norm(), 1e-15);
    EXPECT_EQ(sparse.bones.col(1), Eigen::Vector3i(3, 0, 0));
    EXPECT_EQ(sparse.weights.col(1), Vec3(1.0, 0.0, 0.0));
}

TEST(SkinWeights, TakesTheFirstOfEqualBones)
{
    const SkinWeights sparse = sparse_weights(MatX::Ones(4, 1), 2);
    EXPECT_EQ(sparse.bones.col(0), Eigen::Vector2i(0, 1));
    EXPECT_EQ(sparse.weights.col(0), Vec2(0.5, 0.5));
}

TEST(SkinWeights, SurvivesTinyAndHugeWeights)
{
    MatX dense(2, 2);
    dense.col(0) << 1e-310, 3e-310;
    dense.col(1) << 1e307, 1e307;
    const SkinWeights sparse = sparse_weights(dense, 2);
    EXPECT_NEAR(sparse.weights(0, 0), 0.75, 1e-8);
    EXPECT_EQ(sparse.weights(0, 1), 0.5);
}

TEST(SkinWeights, DenseAndBackIsTheSame)
{
    Random random(1);
    MatX dense = (random_matrix(random, 6, 3001).array() + 1.0).matrix(); // more vertices than a block
    for (Index v = 0; v < dense.cols(); ++v) dense.col(v) /= dense.col(v).sum();
    const SkinWeights sparse = sparse_weights(dense, 6);
    EXPECT_LT((dense_weights(sparse, 6) - dense).cwiseAbs().maxCoeff(), 1e-15);
    for (Index v = 0; v < dense.cols(); ++v) {
        EXPECT_NEAR(sparse.weights.col(v).sum(), 1.0, 1e-15);
        for (Index k = 1; k < 6; ++k) EXPECT_GE(sparse.weights(k - 1, v), sparse.weights(k, v));
    }
}

TEST(SkinWeights, RefusesWhatIsNoWeight)
{
    MatX dense = MatX::Ones(2, 3);
    EXPECT_EQ(message_of([&] { sparse_weights(dense, 9); }), "skin weights: 9 bones per vertex; give 1 to 8");
    EXPECT_EQ(message_of([&] { sparse_weights(dense, 0); }), "skin weights: 0 bones per vertex; give 1 to 8");
    dense.col(2).setZero();
    EXPECT_EQ(message_of([&] { sparse_weights(dense, 2); }),
              "skin weights: vertex 2 follows no bone; give it a weight above zero for at least one");
    dense(1, 1) = -0.5;
    EXPECT_EQ(
        message_of([&] { sparse_weights(dense, 2); }),
        "skin weights: vertex 1 follows bone 1 with weight -0.5; weights are finite and not below zero");
    dense(1, 1) = std::nan("");
    EXPECT_EQ(message_of([&] { sparse_weights(dense, 2); }),
              "skin weights: vertex 1 follows bone 1 with weight nan; weights are finite and not below zero");
}

TEST(SkinWeights, BonesAtRestMoveNothing)
{
    Random random(2);
    std::vector<Affine3> world(3);
    for (Affine3& M : world) {
        M.linear() = random_rotation(random) * 1.5;
        M.translation() = random_vector(random, 3);
    }
    std::vector<Bone> bones = {{2, world[2].inverse()}, {0, world[0].inverse()}};
    for (const Affine3& M : bone_transforms(bones, world))
        EXPECT_LT((M.matrix() - Affine3::Identity().matrix()).norm(), 1e-14);

    // the second bone's joint moves by a translation, and the skin with it
    world[0].pretranslate(Vec3(1.0, 2.0, 3.0));
    const std::vector<Affine3> M = bone_transforms(bones, world);
    EXPECT_LT((M[0].matrix() - Affine3::Identity().matrix()).norm(), 1e-14);
    EXPECT_LT((M[1].translation() - Vec3(1.0, 2.0, 3.0)).norm(), 1e-14);
}
