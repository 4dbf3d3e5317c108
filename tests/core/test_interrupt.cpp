#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include <unistd.h>

#include "lithe/core/error.hpp"
#include "lithe/core/interrupt.hpp"
#include "lithe/core/progress.hpp"

using namespace lithe;
using namespace std::chrono_literals;

namespace {

/// Waits a while for the watcher thread.
bool stops(const std::stop_token& token)
{
    for (int i = 0; i < 1000 && !token.stop_requested(); ++i) std::this_thread::sleep_for(5ms);
    return token.stop_requested();
}

} // namespace

TEST(Interrupt, ASignalStopsTheTokenAndTheProgram)
{
    for (const int number : {SIGINT, SIGTERM}) {
        const InterruptGuard guard;
        EXPECT_FALSE(guard.token().stop_requested());
        std::raise(number);
        EXPECT_TRUE(stops(guard.token()));
        Progress progress({}, guard.token());
        EXPECT_THROW(progress.check(), Interrupted);
    }
}

TEST(Interrupt, WithoutASignalNothingStopsAndTheOldHandlersComeBack)
{
    const auto ignore = std::signal(SIGINT, SIG_IGN);
    {
        const InterruptGuard guard;
        EXPECT_FALSE(guard.token().stop_requested());
    }
    EXPECT_EQ(std::signal(SIGINT, ignore), SIG_IGN);
}

TEST(Interrupt, TheTokenOutlivesTheGuard)
{
    std::stop_token token;
    {
        const InterruptGuard guard;
        token = guard.token();
        std::raise(SIGINT);
        EXPECT_TRUE(stops(token));
    }
    EXPECT_TRUE(token.stop_requested());
}

TEST(Interrupt, TheHandlerLeavesErrnoAlone)
{
    const InterruptGuard guard;
    errno = EDOM;
    std::raise(SIGINT);
    EXPECT_EQ(errno, EDOM);
    EXPECT_TRUE(stops(guard.token()));
}

TEST(InterruptDeathTest, TheSecondSignalKills)
{
    const auto twice = [] {
        const InterruptGuard guard;
        std::raise(SIGINT);
        if (!stops(guard.token())) _exit(3);
        std::raise(SIGINT);
        _exit(4);
    };
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(twice(), testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, WithoutAGuardASignalKills)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}
