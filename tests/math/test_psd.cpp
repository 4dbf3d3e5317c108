#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "lithe/math/psd.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// Q diag(values) Q^T for some orthogonal Q.
template <int n>
Eigen::Matrix<double, n, n> symmetric_with(Random& random, const Eigen::Matrix<double, n, 1>& values)
{
    using Matrix = Eigen::Matrix<double, n, n>;
    const Matrix Q = Eigen::HouseholderQR<Matrix>(Matrix(random_matrix(random, n, n))).householderQ();
    const Matrix A = Q * values.asDiagonal() * Q.transpose();
    return 0.5 * (A + A.transpose());
}

template <class Matrix>
class Psd : public testing::Test {};
using Sizes = testing::Types<Mat3, Mat9, Mat12>;
TYPED_TEST_SUITE(Psd, Sizes);

} // namespace

TYPED_TEST(Psd, NegativeEigenvaluesBecomeZeroAndTheOthersStay)
{
    constexpr int n = TypeParam::RowsAtCompileTime;
    using Vector = Eigen::Matrix<double, n, 1>;
    Random random(1);
    for (int trial = 0; trial < 200; ++trial) {
        const double scale = std::pow(10.0, random.uniform(-20.0, 20.0));
        const Vector values = scale * Vector(random_vector(random, n));
        Random frame(static_cast<std::uint64_t>(trial)), same_frame(static_cast<std::uint64_t>(trial));
        const TypeParam A = symmetric_with<n>(frame, values);
        const TypeParam expected = symmetric_with<n>(same_frame, values.cwiseMax(0.0));
        EXPECT_LT((project_psd(A) - expected).norm(), 3e-14 * scale);
    }
}

TYPED_TEST(Psd, RepeatedEigenvaluesDoNotMatter)
{
    constexpr int n = TypeParam::RowsAtCompileTime;
    using Vector = Eigen::Matrix<double, n, 1>;
    Random frame(3), same_frame(3);
    Vector values = Vector::Ones();
    values.template tail<n / 2>().setConstant(-1.0); // |values| all equal
    const TypeParam A = symmetric_with<n>(frame, values);
    EXPECT_LT((project_psd(A) - symmetric_with<n>(same_frame, values.cwiseMax(0.0))).norm(), 1e-14);
}

TYPED_TEST(Psd, APositiveMatrixStaysAndANegativeOneVanishes)
{
    Random random(4);
    const TypeParam B = random_matrix(random, TypeParam::RowsAtCompileTime, TypeParam::RowsAtCompileTime);
    const TypeParam A = B * B.transpose() + 0.1 * TypeParam::Identity();
    EXPECT_LT((project_psd(A) - A).norm(), 1e-14 * A.norm());
    EXPECT_LT(project_psd(TypeParam(-A)).norm(), 1e-14 * A.norm());
    EXPECT_EQ(project_psd(TypeParam(TypeParam::Zero())), TypeParam(TypeParam::Zero()));
}

TYPED_TEST(Psd, OnlyTheSymmetricPartCounts)
{
    Random random(5);
    const TypeParam A = random_matrix(random, TypeParam::RowsAtCompileTime, TypeParam::RowsAtCompileTime);
    const TypeParam P = project_psd(A);
    EXPECT_LT((P - project_psd(TypeParam(A.transpose()))).norm(), 1e-15);
    EXPECT_LT((P - P.transpose()).norm(), 1e-15);
}
