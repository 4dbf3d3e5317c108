#include <thread>

#include <gtest/gtest.h>

#include "lithe/core/timer.hpp"

using namespace lithe;
using namespace std::chrono_literals;

TEST(Timer, AStopwatchMeasuresAndRestarts)
{
    Stopwatch watch;
    std::this_thread::sleep_for(30ms);
    const double first = watch.seconds();
    EXPECT_GE(first, 0.03);
    EXPECT_GE(watch.seconds(), first);
    watch.restart();
    EXPECT_LT(watch.seconds(), first);
}

TEST(Timer, StagesAddUpInTheOrderInWhichTheyFirstRan)
{
    StageTimes times;
    {
        const auto scope = times.measure("second name, first run");
        std::this_thread::sleep_for(20ms);
    }
    for (int i = 0; i < 3; ++i) {
        const auto scope = times.measure("loop");
        std::this_thread::sleep_for(5ms);
    }
    ASSERT_EQ(times.stages().size(), 2u);
    EXPECT_EQ(times.stages()[0].name, "second name, first run");
    EXPECT_EQ(times.stages()[0].calls, 1);
    EXPECT_GE(times.stages()[0].seconds, 0.02);
    EXPECT_EQ(times.stages()[1].calls, 3);
    EXPECT_GE(times.stages()[1].seconds, 0.015);
    EXPECT_DOUBLE_EQ(times.total(), times.stages()[0].seconds + times.stages()[1].seconds);
}

TEST(Timer, StagesMayNest)
{
    StageTimes times;
    {
        const auto outer = times.measure("outer");
        for (int i = 0; i < 100; ++i) const auto inner = times.measure("inner " + std::to_string(i));
    }
    EXPECT_EQ(times.stages().size(), 101u);
    EXPECT_EQ(times.stages()[0].name, "outer");
    EXPECT_EQ(times.stages()[0].calls, 1);
}
