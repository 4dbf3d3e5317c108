#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"

using namespace lithe;

TEST(Parallel, ForVisitsEachIndexOnce)
{
    for (const std::ptrdiff_t count : {0, 1, 7, 1000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        parallel_for(count, 3, [&](std::ptrdiff_t i) { ++visits[static_cast<std::size_t>(i)]; });
        for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
}

TEST(Parallel, BlocksTileTheRangeWhateverTheThreads)
{
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        std::vector<std::atomic<std::ptrdiff_t>> begin_of(1003);
        parallel_blocks(1003, 100, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            EXPECT_EQ(begin % 100, 0);
            EXPECT_EQ(end, std::min<std::ptrdiff_t>(begin + 100, 1003));
            for (std::ptrdiff_t i = begin; i < end; ++i) begin_of[static_cast<std::size_t>(i)] = begin + 1;
        });
        for (std::size_t i = 0; i < begin_of.size(); ++i)
            EXPECT_EQ(begin_of[i], static_cast<std::ptrdiff_t>(i / 100 * 100 + 1));
    }
}

TEST(Parallel, ReductionHasTheSameBitsForAnyNumberOfThreads)
{
    const auto sum = [](std::ptrdiff_t begin, std::ptrdiff_t end) {
        double total = 0.0;
        for (std::ptrdiff_t i = begin; i < end; ++i) total += std::sin(static_cast<double>(i)) * 1e10;
        return total;
    };
    const auto with_threads = [&](int threads) {
        const ThreadLimit limit(threads);
        return parallel_reduce(100000, 37, 0.0, sum, std::plus<>());
    };
    const double one = with_threads(1);
    EXPECT_NE(one, sum(0, 100000)); // the order of summation does matter here
    for (int repeat = 0; repeat < 10; ++repeat)
        for (const int threads : {2, 3, 4}) EXPECT_EQ(with_threads(threads), one);
}

TEST(Parallel, ReductionJoinsLeftToRight)
{
    const auto text = [](std::ptrdiff_t begin, std::ptrdiff_t end) {
        return std::to_string(begin) + "-" + std::to_string(end) + " ";
    };
    EXPECT_EQ(parallel_reduce(10, 4, std::string(), text, std::plus<>()), "0-4 4-8 8-10 ");
    EXPECT_EQ(parallel_reduce(0, 4, std::string("start"), text, std::plus<>()), "start");
}

TEST(Parallel, ReductionWithKeptScratchIsTheSameAndReusesIt)
{
    const auto count = [](std::ptrdiff_t begin, std::ptrdiff_t end) { return end - begin; };
    std::vector<std::ptrdiff_t> partial;
    EXPECT_EQ(parallel_reduce(1000, 10, std::ptrdiff_t(0), count, std::plus<>(), partial), 1000);
    const auto* place = partial.data();
    EXPECT_EQ(parallel_reduce(990, 10, std::ptrdiff_t(0), count, std::plus<>(), partial), 990);
    EXPECT_EQ(partial.data(), place);
}

TEST(Parallel, ThreadLimitHoldsAndEnds)
{
    const int before = thread_count();
    {
        const ThreadLimit one(1);
        EXPECT_EQ(thread_count(), 1);
        const auto main_thread = std::this_thread::get_id();
        parallel_for(1000, 1, [&](std::ptrdiff_t) { EXPECT_EQ(std::this_thread::get_id(), main_thread); });
    }
    EXPECT_EQ(thread_count(), before);
    for (const int count : {2, 3, 4}) {
        const ThreadLimit limit(count);
        EXPECT_EQ(thread_count(), std::min(count, before)); // no more than cores
    }
    const ThreadLimit all(0);
    EXPECT_EQ(thread_count(), before);
}

TEST(Parallel, AnExceptionReachesTheCaller)
{
    const auto fails = [](std::ptrdiff_t i) {
        if (i == 500) throw std::runtime_error("in the loop");
    };
    EXPECT_THROW(parallel_for(1000, 1, fails), std::runtime_error);
}
