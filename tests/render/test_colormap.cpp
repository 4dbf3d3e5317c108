#include "lithe/render/colormap.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace lithe {
namespace {

TEST(ColorMap, LightnessGrowsInEqualSteps)
{
    const ColorMap map;
    constexpr int steps = 64;
    const double first = perceived_lightness(map(0.0)), last = perceived_lightness(map(1.0));
    EXPECT_GT(last - first, 0.6);
    for (int i = 1; i <= steps; ++i) {
        const double step =
            perceived_lightness(map(double(i) / steps)) - perceived_lightness(map(double(i - 1) / steps));
        EXPECT_NEAR(step, (last - first) / steps, 0.05 * (last - first) / steps) << i;
    }
}

TEST(ColorMap, StaysInGamutAndClampsValues)
{
    const ColorMap map;
    for (int i = 0; i <= 1000; ++i) {
        const Vec3 color = map(i / 1000.0);
        EXPECT_GE(color.minCoeff(), 0.0);
        EXPECT_LE(color.maxCoeff(), 1.0);
    }
    EXPECT_EQ(map(-3.0), map(0.0));
    EXPECT_EQ(map(7.0), map(1.0));
    EXPECT_EQ(map(std::nan("")), map(0.0));
}

TEST(ColorMap, LightnessOfGreys)
{
    EXPECT_NEAR(perceived_lightness(Vec3::Zero()), 0.0, 1e-6);
    EXPECT_NEAR(perceived_lightness(Vec3::Ones()), 1.0, 1e-6);
    EXPECT_NEAR(perceived_lightness(Vec3::Constant(0.125)), 0.5, 1e-6); // the cube root of the light
}

} // namespace
} // namespace lithe
