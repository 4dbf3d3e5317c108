#include <array>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"

using namespace lithe;

TEST(Random, IsSplitMix64) // the first outputs for seed 1234567, from the published generator
{
    Random random(1234567);
    EXPECT_EQ(random.bits(), 6457827717110365317u);
    EXPECT_EQ(random.bits(), 3203168211198807973u);
    EXPECT_EQ(random.bits(), 9817491932198370423u);
}

TEST(Random, SameSeedSameNumbersAndCopiesGoOnAlike)
{
    Random a(5), b(5), c(6);
    EXPECT_EQ(a.bits(), b.bits());
    EXPECT_NE(a.bits(), c.bits());
    Random copy = a;
    EXPECT_EQ(copy.uniform(), a.uniform());
}

TEST(Random, UniformFillsItsRangeEvenly)
{
    Random random(1);
    constexpr int count = 100000;
    std::array<int, 10> bins = {};
    for (int i = 0; i < count; ++i) {
        const double x = random.uniform(-2.0, 3.0);
        ASSERT_TRUE(-2.0 <= x && x < 3.0);
        ++bins[static_cast<std::size_t>((x + 2.0) * 2.0)];
    }
    for (const int bin : bins) EXPECT_NEAR(bin, count / 10, 500); // five deviations
}

TEST(Random, IndexIsBelowTheCountAndEven)
{
    Random random(2);
    std::array<int, 7> bins = {};
    for (int i = 0; i < 70000; ++i) ++bins[random.index(7)];
    for (const int bin : bins) EXPECT_NEAR(bin, 10000, 500);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(random.index(1), 0u);
    bool high = false; // and reaches the top half of a range beyond 32 bits
    for (int i = 0; i < 100; ++i)
        high = high || random.index(std::uint64_t(1) << 60) >= std::uint64_t(1) << 59;
    EXPECT_TRUE(high);
}

TEST(Random, NormalHasItsMoments)
{
    Random random(3);
    constexpr int count = 200000;
    double mean = 0.0, variance = 0.0, fourth = 0.0;
    for (int i = 0; i < count; ++i) {
        const double x = random.normal();
        ASSERT_TRUE(std::isfinite(x));
        mean += x / count;
        variance += x * x / count;
        fourth += x * x * x * x / count;
    }
    EXPECT_NEAR(mean, 0.0, 0.012);
    EXPECT_NEAR(variance, 1.0, 0.016);
    EXPECT_NEAR(fourth, 3.0, 0.12);
}
