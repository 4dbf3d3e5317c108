#include "lithe/math/block_ldlt.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"

using namespace lithe;

namespace {

/// Positive definite, with blocks where two numbers of a shuffled grid are neighbours.
BlockMatrix grid_matrix(int n, std::uint64_t seed)
{
    Random random(seed);
    BlockMatrix A;
    A.start = {0};
    for (int c = 0; c < n * n; ++c) {
        for (int r = c; r < n * n; ++r) {
            const int dx = std::abs(r % n - c % n), dy = r / n - c / n;
            if (dx > 1 || dy > 1) continue;
            Mat3 block;
            for (double& value : block.reshaped()) value = random.uniform(-1.0, 1.0);
            A.row.push_back(r);
            A.value.push_back(r == c ? Mat3(block + block.transpose() + 20.0 * Mat3::Identity()) : block);
        }
        A.start.push_back(static_cast<int>(A.row.size()));
    }
    return A;
}

MatX dense(const BlockMatrix& A)
{
    MatX full = MatX::Zero(3 * A.size(), 3 * A.size());
    for (int c = 0; c < A.size(); ++c)
        for (int k = A.start[c]; k < A.start[c + 1]; ++k) {
            full.block<3, 3>(3 * A.row[k], 3 * c) = A.value[k];
            full.block<3, 3>(3 * c, 3 * A.row[k]) = A.value[k].transpose();
        }
    return full;
}

Eigen::Matrix3Xd random_vector(Index n, std::uint64_t seed)
{
    Random random(seed);
    Eigen::Matrix3Xd x(3, n);
    for (double& value : x.reshaped()) value = random.uniform(-1.0, 1.0);
    return x;
}

TEST(BlockLdlt, SolvesAsADenseFactorDoes)
{
    for (const int n : {1, 2, 5, 9}) {
        const BlockMatrix A = grid_matrix(n, 3);
        BlockLdlt ldlt;
        ASSERT_TRUE(ldlt.factorise(A));
        Eigen::Matrix3Xd x = random_vector(A.size(), 5);
        const VecX expected = dense(A).ldlt().solve(VecX(x.reshaped()));
        BlockLdlt::Work work;
        ldlt.solve(x, work);
        EXPECT_LE((x.reshaped() - expected).norm(), 1e-13 * expected.norm());
    }
}

TEST(BlockLdlt, HalvesMakeTheInverse)
{
    const BlockMatrix A = grid_matrix(6, 4);
    BlockLdlt ldlt;
    ASSERT_TRUE(ldlt.factorise(A));
    BlockLdlt::Work work;
    Eigen::Matrix3Xd a = random_vector(A.size(), 1), b = random_vector(A.size(), 2);
    Eigen::Matrix3Xd solved = b;
    ldlt.solve(solved, work);
    const double expected = a.cwiseProduct(solved).sum();
    ldlt.half_solve(a, work);
    ldlt.half_solve(b, work);
    EXPECT_NEAR(a.cwiseProduct(b).sum(), expected, 1e-13 * std::abs(expected));
}

TEST(BlockLdlt, MultipliesBothTriangles)
{
    const BlockMatrix A = grid_matrix(4, 8);
    const Eigen::Matrix3Xd x = random_vector(A.size(), 7);
    Eigen::Matrix3Xd y = Eigen::Matrix3Xd::Zero(3, A.size());
    multiply_add(A, x, y);
    EXPECT_LE((y.reshaped() - dense(A) * VecX(x.reshaped())).norm(), 1e-13 * y.norm());
}

TEST(BlockLdlt, RefusesWhatIsNotPositiveDefinite)
{
    BlockMatrix A = grid_matrix(3, 3);
    A.value[0](0, 0) = -1.0;
    BlockLdlt ldlt;
    EXPECT_FALSE(ldlt.factorise(A));
    A.value[0](0, 0) = std::nan("");
    EXPECT_FALSE(ldlt.factorise(A));
}

} // namespace
