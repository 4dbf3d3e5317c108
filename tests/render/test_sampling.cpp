#include "lithe/render/sampling.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace lithe {
namespace {

/// Every box of area 1/n with power-of-two sides holds exactly one of n = 2^m points: a (0, m, 2)-net.
void expect_net(const std::vector<Eigen::Vector2f>& points)
{
    const auto count = points.size();
    for (std::size_t columns = 1; columns <= count; columns *= 2) {
        const std::size_t rows = count / columns;
        std::set<std::size_t> boxes;
        for (const Eigen::Vector2f& p : points)
            boxes.insert(static_cast<std::size_t>(p.x() * static_cast<float>(columns)) * rows +
                         static_cast<std::size_t>(p.y() * static_cast<float>(rows)));
        EXPECT_EQ(boxes.size(), count) << columns << " x " << rows;
    }
}

TEST(Sampling, SamplesOfAPixelAreANet)
{
    for (std::uint32_t count : {4u, 16u, 64u})
        for (int x : {0, 13, 1279}) {
            std::vector<Eigen::Vector2f> points;
            for (std::uint32_t s = 0; s < count; ++s) points.push_back(sample_square({x, 31, s, count}, 2));
            expect_net(points);
        }
}

TEST(Sampling, SamplesOfABlockOfPixelsAreANet)
{
    std::vector<Eigen::Vector2f> points;
    for (int y = 8; y < 12; ++y)
        for (int x = 4; x < 8; ++x)
            for (std::uint32_t s = 0; s < 4; ++s) points.push_back(sample_square({x, y, s, 4}, 1));
    expect_net(points);
}

TEST(Sampling, PurposesDiffer)
{
    const SampleIndex at = {5, 6, 0, 16};
    EXPECT_NE(sample_square(at, 0), sample_square(at, 1));
}

} // namespace
} // namespace lithe
