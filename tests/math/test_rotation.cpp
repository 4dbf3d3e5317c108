#include <numbers>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/math/rotation.hpp"
#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double pi = std::numbers::pi;

/// exp by its power series, in long double: slow, and knows nothing of Rodrigues.
Mat3 exp_by_series(const Vec3& w)
{
    using Mat3l = Eigen::Matrix<long double, 3, 3>;
    const Mat3l W = skew(w).cast<long double>();
    Mat3l sum = Mat3l::Identity(), term = Mat3l::Identity();
    for (int k = 1; k < 60; ++k) sum += (term = term * W / static_cast<long double>(k));
    return sum.cast<double>();
}

Vec3 random_direction(Random& random)
{
    return random_vector(random, 3).normalized();
}

} // namespace

TEST(Rotation, ExpIsThePowerSeriesForEveryAngle)
{
    Random random(1);
    for (const double angle : {0.0, 1e-200, 1e-9, 1e-4, 0.0999, 0.1001, 0.1999, 0.2001, 1.0, 3.0, pi, 6.0}) {
        const Vec3 w = angle * random_direction(random);
        EXPECT_LT((exp_so3(w) - exp_by_series(w)).norm(), 4e-15) << angle;
    }
}

TEST(Rotation, LogUndoesExpUpToHalfATurn)
{
    Random random(2);
    for (const double angle : {0.0, 1e-200, 1e-12, 1e-6, 0.1, 1.0, 3.0, 3.1415}) {
        const Vec3 w = angle * random_direction(random);
        EXPECT_LT((log_so3(exp_so3(w)) - w).norm(), 1e-14 * angle + 1e-16) << angle;
        EXPECT_LE((log_quat(exp_quat(w)) - w).norm(), 4e-15 * angle) << angle;
    }
}

TEST(Rotation, LogOfHalfATurn)
{
    Random random(3);
    for (int i = 0; i < 50; ++i) {
        const Vec3 axis = i < 3 ? Vec3(Vec3::Unit(i)) : random_direction(random);
        const Mat3 R = 2.0 * axis * axis.transpose() - Mat3::Identity();
        const Vec3 w = log_so3(R);
        EXPECT_NEAR(w.norm(), pi, 1e-14);
        EXPECT_LT((exp_so3(w) - R).norm(), 1e-14);
    }
}

RC_GTEST_PROP(Rotation, LogIsNeverLongerThanPi, (int seed))
{
    Random random(static_cast<std::uint64_t>(seed));
    const Mat3 R = random_rotation(random);
    const Vec3 w = log_so3(R);
    RC_ASSERT(w.norm() <= pi * (1.0 + 1e-15));
    RC_ASSERT((exp_so3(w) - R).norm() < 1e-14);
}

TEST(Rotation, SkewAndAxialAreInverse)
{
    const Vec3 w(1, -2, 3), x(0.5, 4, -1);
    EXPECT_EQ(skew(w) * x, w.cross(x));
    EXPECT_EQ(axial(skew(w)), w);
    EXPECT_EQ(axial(skew(w) + 7.0 * Mat3::Identity()), w);
}

TEST(Rotation, DerivativeOfARotatedVectorHasOrderTwo)
{
    Random random(4);
    for (const double angle : {0.0, 1e-5, 0.05, 0.15, 2.0, 5.0}) {
        const Vec3 w = angle * random_direction(random), x = random_vector(random, 3),
                   d = random_direction(random);
        const auto rotated = [&](const VecX& at) { return VecX(exp_so3(Vec3(at)) * x); };
        EXPECT_NEAR(taylor_order(rotated, rotated_derivative(w, x) * d, w, d), 2.0, 0.05) << angle;
    }
}

TEST(Rotation, JacobianIsContinuousWhereTheSeriesTakesOver)
{
    const Vec3 axis = Vec3(1, 2, -2) / 3.0;
    const Mat3 below = exp_so3_jacobian((0.1 - 1e-15) * axis), above = exp_so3_jacobian((0.1 + 1e-15) * axis);
    EXPECT_LT((below - above).norm(), 1e-14);
}

TEST(Rotation, BetweenTakesOneDirectionToTheOther)
{
    Random random(5);
    for (int i = 0; i < 100; ++i) {
        const Vec3 a = 1e-3 * random_vector(random, 3), b = 1e5 * random_vector(random, 3);
        const Mat3 R = rotation_between(a, b);
        EXPECT_LT((R * a.normalized() - b.normalized()).norm(), 1e-14);
        EXPECT_NEAR(R.determinant(), 1.0, 1e-14);
        EXPECT_NEAR(log_so3(R).norm(), std::acos(a.normalized().dot(b.normalized())), 1e-7); // the smallest
    }
}

TEST(Rotation, BetweenSameOppositeAndZeroDirections)
{
    const Vec3 a(1, 2, 3);
    EXPECT_LT((rotation_between(a, 2.0 * a) - Mat3::Identity()).norm(), 1e-15);
    EXPECT_LT((rotation_between(a, -a) * a + a).norm(), 1e-7);
    EXPECT_NEAR(rotation_between(a, -a).determinant(), 1.0, 1e-14);
    EXPECT_THROW((void)rotation_between(a, Vec3::Zero()), InputError);
    EXPECT_THROW((void)rotation_between(Vec3::Constant(std::nan("")), a), InputError);
}

TEST(Rotation, TurnedTurnsInWorldAxesAndStaysUnit)
{
    Random random(6);
    Quat q = Quat::Identity();
    Mat3 R = Mat3::Identity();
    for (int i = 0; i < 1000; ++i) {
        const Vec3 w = random_vector(random, 3);
        q = turned(q, w);
        R = exp_so3(w) * R;
    }
    EXPECT_NEAR(q.norm(), 1.0, 1e-15);
    EXPECT_LT((q.toRotationMatrix() - R).norm(), 1e-12);
}

TEST(Rotation, ExpOfQuaternionsIsExactWhereTheSeriesTakesOver)
{
    for (const double angle : {1e-9, 1e-3, 0.05, 0.1999, 0.2001, 0.5, 3.0, 6.0}) {
        const Quat q = exp_quat(angle * Vec3(0.6, 0.0, -0.8));
        EXPECT_NEAR(q.w(), std::cos(0.5 * angle), 3e-16) << angle;
        EXPECT_NEAR(q.x(), 0.6 * std::sin(0.5 * angle), 3e-16) << angle;
        EXPECT_NEAR(q.norm(), 1.0, 4e-16) << angle;
    }
}

TEST(Rotation, NothingLiesBetweenTheSame)
{
    const Quat q = exp_quat(Vec3(0.3, -1.2, 0.7));
    EXPECT_EQ(interpolated(q, q, 0.3).coeffs(), q.coeffs());
}

TEST(Rotation, InterpolationGoesTheShortWayAtConstantSpeed)
{
    const Quat q_0 = exp_quat({0.1, 0.2, 0.3});
    const Vec3 w(0.0, 1.0, 0.5);
    Quat q_1 = turned(q_0, w);
    q_1.coeffs() *= -1.0; // the same orientation
    for (const double t : {0.0, 0.25, 0.5, 1.0}) {
        const Quat expected = turned(q_0, t * w);
        EXPECT_LT(interpolated(q_0, q_1, t).angularDistance(expected), 1e-7) << t;
    }
}
