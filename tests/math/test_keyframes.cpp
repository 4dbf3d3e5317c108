#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "lithe/math/keyframes.hpp"

namespace lithe {
namespace {

TEST(Keyframes, AreLinearBetweenAndConstantOutside)
{
    const Keyframes<double> track({1.0, 2.0, 4.0}, {10.0, 20.0, 0.0});
    EXPECT_EQ(track.at(0.0), 10.0);
    EXPECT_EQ(track.at(1.0), 10.0);
    EXPECT_DOUBLE_EQ(track.at(1.5), 15.0);
    EXPECT_DOUBLE_EQ(track.at(3.0), 10.0);
    EXPECT_EQ(track.at(4.0), 0.0);
    EXPECT_EQ(track.at(1e9), 0.0);
    EXPECT_FALSE(track.is_constant());
}

TEST(Keyframes, OneValueHoldsAlways)
{
    const Keyframes<Vec3> track(Vec3(1, 2, 3));
    EXPECT_TRUE(track.is_constant());
    EXPECT_EQ(track.at(-5.0), Vec3(1, 2, 3));
}

TEST(Keyframes, PosesTurnTheShortWayAtConstantSpeed)
{
    const RigidPose turned{Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitZ())), Vec3(2, 0, 0)};
    const Keyframes<RigidPose> track({0.0, 1.0}, {RigidPose{}, turned});
    const Vec3 p = track.at(1.0 / 3.0).apply(Vec3::UnitX());
    EXPECT_NEAR(
        (p - Vec3(std::cos(std::numbers::pi / 6) + 2.0 / 3.0, std::sin(std::numbers::pi / 6), 0)).norm(), 0.0,
        1e-14);
    EXPECT_NEAR((turned.apply_inverse(turned.apply(Vec3(1, 2, 3))) - Vec3(1, 2, 3)).norm(), 0.0, 1e-14);
}

TEST(Keyframes, MustHaveRisingTimesAndAsManyValues)
{
    EXPECT_THROW(Keyframes<double>({}, {}), InputError);
    EXPECT_THROW(Keyframes<double>({0.0, 1.0}, {1.0}), InputError);
    EXPECT_THROW(Keyframes<double>({0.0, 0.0}, {1.0, 2.0}), InputError);
    EXPECT_THROW(Keyframes<double>({0.0, std::numeric_limits<double>::quiet_NaN()}, {1.0, 2.0}), InputError);
}

} // namespace
} // namespace lithe
