#include "lithe/render/wireframe.hpp"

#include <gtest/gtest.h>

namespace lithe {
namespace {

using Eigen::Vector2f;
const std::array<Vector2f, 3> large = {Vector2f(0, 0), Vector2f(100, 0), Vector2f(0, 100)};

TEST(LineCoverage, IsFullOnEdgesAndNothingInside)
{
    EXPECT_FLOAT_EQ(line_coverage(large, {50, 0.0f}, 2.0f), 1.0f);
    EXPECT_FLOAT_EQ(line_coverage(large, {0.3f, 50}, 2.0f), 1.0f);
    EXPECT_FLOAT_EQ(line_coverage(large, {30, 30}, 2.0f), 0.0f);
}

TEST(LineCoverage, FallsOverOnePixelAtHalfTheWidth)
{
    EXPECT_FLOAT_EQ(line_coverage(large, {50, 1.0f}, 2.0f), 0.5f);
    EXPECT_FLOAT_EQ(line_coverage(large, {50, 1.25f}, 2.0f), 0.25f);
    EXPECT_FLOAT_EQ(line_coverage(large, {50, 2.0f}, 4.0f), 0.5f);
}

TEST(LineCoverage, IsFaintOnTrianglesOfAPixel)
{
    const std::array<Vector2f, 3> tiny = {Vector2f(0, 0), Vector2f(1, 0), Vector2f(0, 1)};
    EXPECT_LT(line_coverage(tiny, {0.3f, 0.3f}, 1.5f), 0.4f);
}

} // namespace
} // namespace lithe
