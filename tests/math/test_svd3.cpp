#include <cstring>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/SVD>

#include "lithe/core/parallel.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/math/svd3.hpp"
#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

using Mat3l = Eigen::Matrix<long double, 3, 3>;

/// Matrices with a name for every trouble we know of; |F| from 1e-300 to 1e300.
std::vector<Mat3> hard_matrices()
{
    Random random(11);
    std::vector<Mat3> list = {Mat3::Zero(),
                              Mat3::Identity(),
                              -Mat3::Identity(),
                              Mat3::Ones(),
                              Vec3(1, 1, -1).asDiagonal(),
                              Vec3(1, -1, -1).asDiagonal(),
                              Vec3(3, 2, 2).asDiagonal(),
                              Vec3(0, 0, 5).asDiagonal(),
                              Vec3(0, 1, 0).asDiagonal(),
                              Vec3(1, 1, 0).asDiagonal(),
                              1e-300 * Mat3::Ones(),
                              1e300 * Mat3::Identity(),
                              5e-324 * Mat3::Identity()};
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) list.push_back(Vec3::Unit(a) * Vec3::Unit(b).transpose());
    const auto with = [&](double s_1, double s_2, double s_3) {
        const Mat3 U = random_rotation(random), V = random_rotation(random);
        list.push_back(U * Vec3(s_1, s_2, s_3).asDiagonal() * V.transpose());
    };
    for (const double scale : {1.0, 1e-290, 1e290, 1e-7, 1e7}) {
        with(scale, scale, scale);
        with(scale, scale, -scale);
        with(scale, 0.0, 0.0);
        with(scale, scale, 0.0);
        with(scale, 1e-8 * scale, 1e-16 * scale);
        with(scale, scale * (1 + 1e-9), -1e-12 * scale);
        with(scale, 1e-12 * scale, -1e-12 * scale);
        with(scale, 0.5 * scale, -0.5 * scale);
        with(scale, 0.5 * scale, -0.499999999 * scale);
    }
    list.push_back(Vec3(1, 1e-100, 1e-200).asDiagonal());
    list.push_back(random_rotation(random) * Mat3(Vec3(1, 1e-70, 1e-75).asDiagonal()) *
                   random_rotation(random));
    for (int i = 0; i < 300; ++i) {
        Mat3 F = random_matrix(random, 3, 3);
        for (double& entry : F.reshaped()) entry *= std::pow(10.0, random.uniform(-12.0, 0.0));
        list.push_back(F);
    }
    return list;
}

std::vector<Mat3> random_matrices(int count, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Mat3> list;
    for (int i = 0; i < count; ++i) {
        const Mat3 noise = random_matrix(random, 3, 3);
        list.push_back(i % 2 == 0 ? noise : Mat3(random_rotation(random) * (Mat3::Identity() + 0.1 * noise)));
    }
    return list;
}

std::vector<Mat3> all_matrices()
{
    std::vector<Mat3> list = hard_matrices();
    for (const Mat3& F : random_matrices(2000, 12)) list.push_back(F);
    return list;
}

long double norm(const Mat3& F)
{
    return std::max(F.cast<long double>().norm(), 1e-4930L);
}

double rotation_error(const Mat3& R)
{
    return (R.transpose() * R - Mat3::Identity()).norm() + std::abs(R.determinant() - 1.0);
}

Mat3Batch batch_of(const std::vector<Mat3>& list)
{
    Mat3Batch batch(static_cast<Index>(list.size()));
    for (std::size_t k = 0; k < list.size(); ++k) batch.set(static_cast<Index>(k), list[k]);
    return batch;
}

template <class Matrix>
bool same_bits(const Matrix& A, const Matrix& B)
{
    return std::memcmp(A.data(), B.data(), sizeof(Matrix)) == 0;
}

std::vector<SimdLevel> levels_here()
{
    std::vector<SimdLevel> levels = {SimdLevel::Scalar, SimdLevel::Avx2};
    if (best_simd_level() == SimdLevel::Avx512) levels.push_back(SimdLevel::Avx512);
    return levels;
}

} // namespace

TEST(Svd3, RebuildsTheMatrixFromProperRotationsAndSortedValues)
{
    for (const Mat3& F : all_matrices()) {
        const Svd3 s = svd3(F);
        const Mat3l rebuilt = s.U.cast<long double>() * s.sigma.cast<long double>().asDiagonal() *
                              s.V.transpose().cast<long double>();
        EXPECT_LT((rebuilt - F.cast<long double>()).norm(), 1e-14L * norm(F) + 1e-323L) << F;
        EXPECT_LT(rotation_error(s.U), 1e-14) << F;
        EXPECT_LT(rotation_error(s.V), 1e-14) << F;
        EXPECT_GE(s.sigma[0], s.sigma[1]);
        EXPECT_GE(s.sigma[1], std::abs(s.sigma[2]));
    }
}

TEST(Svd3, ValuesAreThoseOfEigenInLongDouble)
{
    for (const Mat3& F : all_matrices()) {
        const long double scale = norm(F);
        const Mat3l G = F.cast<long double>() / scale;
        const auto expected = Eigen::JacobiSVD<Mat3l>(G).singularValues();
        const Eigen::Matrix<long double, 3, 1> values = svd3(F).sigma.cast<long double>() / scale;
        if (scale > 1e-300L) {
            EXPECT_LT((values.cwiseAbs() - expected).norm(), 3e-15L) << F;
        }
        if (G.determinant() > 1e-14L) {
            EXPECT_GT(values[2], 0.0L) << F;
        }
        if (G.determinant() < -1e-14L) {
            EXPECT_LT(values[2], 0.0L) << F;
        }
    }
}

TEST(Svd3, SmallValuesOfScaledColumnsKeepTheirDigits) // what F^T F would lose
{
    Random random(3);
    for (int i = 0; i < 100; ++i) {
        const Mat3 R = random_rotation(random);
        const Mat3 F = R * Vec3(1.0, 1e-10, 1e-25).asDiagonal();
        EXPECT_NEAR(std::abs(svd3(F).sigma[2]) / 1e-25, 1.0, 1e-12);
        EXPECT_NEAR(svd3(F).sigma[1] / 1e-10, 1.0, 1e-12);
    }
}

TEST(Svd3, NanAndInfinityPoisonEverything)
{
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        for (int e = 0; e < 9; ++e) {
            Mat3 F = Mat3::Identity() + 0.1 * Mat3::Ones();
            F.data()[e] = bad;
            const Svd3 s = svd3(F);
            EXPECT_TRUE(s.U.array().isNaN().all() && s.V.array().isNaN().all() &&
                        s.sigma.array().isNaN().all());
            EXPECT_TRUE(polar_rotation(F).array().isNaN().all()) << F;
        }
    }
}

TEST(Svd3, EveryVectorWidthGivesTheBitsOfTheScalarCode)
{
    const std::vector<Mat3> list = all_matrices();
    const Mat3Batch F = batch_of(list);
    for (const SimdLevel level : levels_here()) {
        Mat3Batch U, V, R;
        Vec3Batch sigma;
        svd3(F, U, sigma, V, level);
        polar_rotations(F, R, level);
        for (std::size_t k = 0; k < list.size(); ++k) {
            const auto at = static_cast<Index>(k);
            const Svd3 s = svd3(list[k]);
            ASSERT_TRUE(same_bits(U.get(at), s.U)) << static_cast<int>(level) << "\n" << list[k];
            ASSERT_TRUE(same_bits(V.get(at), s.V)) << static_cast<int>(level) << "\n" << list[k];
            ASSERT_TRUE(same_bits(sigma.get(at), s.sigma)) << static_cast<int>(level) << "\n" << list[k];
            ASSERT_TRUE(same_bits(R.get(at), polar_rotation(list[k]))) << static_cast<int>(level) << "\n"
                                                                       << list[k];
        }
    }
}

TEST(Svd3, SpanBatchAndThreadsGiveTheSameBits)
{
    std::vector<Mat3> list = random_matrices(10001, 5); // not a multiple of eight
    std::vector<Mat3> rotations(list.size());
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        polar_rotations(list, rotations);
        for (std::size_t k = 0; k < list.size(); ++k)
            ASSERT_TRUE(same_bits(rotations[k], polar_rotation(list[k])));
    }
    polar_rotations(list, list); // in place
    for (std::size_t k = 0; k < list.size(); ++k) ASSERT_TRUE(same_bits(rotations[k], list[k]));
}

TEST(Svd3, EmptyBatchesAreFine)
{
    Mat3Batch F, U, V;
    Vec3Batch sigma;
    svd3(F, U, sigma, V);
    polar_rotations(F, U);
    polar_rotations(std::span<const Mat3>(), std::span<Mat3>());
    EXPECT_EQ(U.size(), 0);
}

TEST(Polar, RotationTimesSymmetricIsTheMatrix)
{
    for (const Mat3& F : all_matrices()) {
        const Polar3 polar = polar3(F);
        EXPECT_LT(rotation_error(polar.R), 1e-14) << F;
        EXPECT_EQ(polar.S, polar.S.transpose());
        const Mat3l rebuilt = polar.R.cast<long double>() * polar.S.cast<long double>();
        EXPECT_LT((rebuilt - F.cast<long double>()).norm(), 2e-14L * norm(F) + 1e-323L) << F;
    }
}

TEST(Polar, RotationIsTheOneOfTheSvdAndTheClosest)
{
    for (const Mat3& F : all_matrices()) {
        const Svd3 s = svd3(F);
        const Mat3 R = polar_rotation(F);
        const double best = (s.U * s.V.transpose()).cwiseProduct(F / std::max(s.sigma[0], 1e-320)).sum();
        EXPECT_NEAR(R.cwiseProduct(F / std::max(s.sigma[0], 1e-320)).sum(), best, 1e-14);
        const double gap = (s.sigma[1] + s.sigma[2]) / s.sigma[0]; // its inverse is the condition of R
        if (gap > 1e-10) {
            EXPECT_LT((R - s.U * s.V.transpose()).norm(), 1e-14 / std::min(gap, 1.0)) << F;
        }
    }
}

TEST(Polar, StaysAccurateAsTheGapCloses) // across the switch from the direct formula to the SVD
{
    Random random(10);
    for (double gap = 1.0; gap > 1e-13; gap *= 0.7) {
        const Mat3 U = random_rotation(random), V = random_rotation(random);
        const Mat3 F = U * Vec3(1.0, 0.6, -0.6 + gap).asDiagonal() * V.transpose();
        const Mat3 R = polar_rotation(F), S = R.transpose() * F;
        EXPECT_LT(rotation_error(R), 5e-15) << gap;
        EXPECT_LT((S - S.transpose()).norm(), 1e-14) << gap;
        EXPECT_NEAR(S.trace(), 1.0 + gap, 5e-15) << gap;
        EXPECT_LT((R - U * V.transpose()).norm(), 1e-14 / gap) << gap;
    }
}

TEST(Polar, RotatingAnIsometryGivesItBack)
{
    Random random(8);
    for (int i = 0; i < 100; ++i) {
        const Mat3 R = random_rotation(random);
        EXPECT_LT((polar_rotation(R) - R).norm(), 3e-15);
        const Mat3 stretch = R * Vec3(3, 2, 0.1).asDiagonal();
        EXPECT_LT((polar_rotation(stretch) - R).norm(), 1e-14);
    }
}

TEST(Polar, DerivativeHasOrderTwo)
{
    Random random(9);
    for (int i = 0; i < 20; ++i) {
        const Mat3 F = random_rotation(random) + 0.3 * Mat3(random_matrix(random, 3, 3));
        const VecX d = random_vector(random, 9);
        const auto rotation = [](const VecX& f) { return VecX(vec(polar_rotation(mat(f)))); };
        const VecX slope = polar_rotation_derivative(polar3(F)) * d;
        ASSERT_GT(slope.norm(), 1e-3);
        EXPECT_NEAR(taylor_order(rotation, slope, vec(F), d), 2.0, 0.1);
    }
}

TEST(Batch, LayoutIsOneArrayOfEightPerEntry)
{
    Mat3Batch batch(10);
    Mat3 A;
    A << 1, 2, 3, 4, 5, 6, 7, 8, 9;
    batch.set(9, A);
    EXPECT_EQ(batch.block_count(), 2);
    EXPECT_EQ(batch.block(1)[8 * (1 + 3 * 2) + 1], A(1, 2)); // matrix 9 is lane 1 of block 1
    EXPECT_EQ(batch.get(9), A);
    EXPECT_EQ(batch.block(1)[7], 0.0); // padding
}
