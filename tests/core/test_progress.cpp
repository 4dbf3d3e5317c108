#include <cstdio>
#include <regex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/progress.hpp"
#include "lithe/core/timer.hpp"

using namespace lithe;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

namespace {

struct Heard {
    std::string stage;
    double fraction;
};

/// A stream that keeps what is printed.
class PrintedText {
public:
    ~PrintedText() { std::fclose(file_); }
    std::FILE* stream() const { return file_; }
    std::string text() const
    {
        std::fflush(file_);
        std::string all;
        std::rewind(file_);
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
        return all;
    }

private:
    std::FILE* file_ = std::tmpfile();
};

} // namespace

TEST(Progress, ADefaultOneWatchesNothingAndNeverStops)
{
    Progress progress;
    progress.begin("stage", 10);
    for (int i = 0; i < 20; ++i) progress.advance();
    progress.check();
    progress.end();
}

TEST(Progress, TellsTheStageAndRisingFractions)
{
    std::vector<Heard> heard;
    Progress progress([&](const ProgressEvent& e) { heard.push_back({std::string(e.stage), e.fraction}); },
                      {});
    progress.begin("weld", 4);
    progress.advance();
    progress.advance(2);
    progress.end();
    progress.begin("stuff", 1);
    ASSERT_EQ(heard.size(), 5u);
    const double fractions[] = {0.0, 0.25, 0.75, 1.0, 0.0};
    for (std::size_t i = 0; i < heard.size(); ++i) EXPECT_EQ(heard[i].fraction, fractions[i]);
    EXPECT_EQ(heard[3].stage, "weld");
    EXPECT_EQ(heard[4].stage, "stuff");
}

TEST(Progress, ManySmallStepsAreToldAtMostOncePerPercentAndEndOnce)
{
    std::vector<double> fractions;
    Progress progress([&](const ProgressEvent& e) { fractions.push_back(e.fraction); }, {});
    progress.begin("stage", 1000000);
    parallel_for(1000000, 1000, [&](std::ptrdiff_t) { progress.advance(); });
    progress.end();
    EXPECT_LE(fractions.size(), 101u);
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(std::count(fractions.begin(), fractions.end(), 1.0), 1);
}

TEST(Progress, AStageOfNothingStillEnds)
{
    double last = -1.0;
    Progress progress([&](const ProgressEvent& e) { last = e.fraction; }, {});
    progress.begin("empty", 0);
    progress.end();
    EXPECT_EQ(last, 1.0);
}

TEST(Progress, AStopIsThrownFromTheNextCallInAnyThread)
{
    std::stop_source source;
    Progress progress({}, source.get_token());
    progress.begin("stage", 1000);
    progress.advance();
    source.request_stop();
    EXPECT_THROW(progress.advance(), Interrupted);
    EXPECT_THROW(progress.check(), Interrupted);
    EXPECT_THROW(progress.begin("next", 1), Interrupted);
    EXPECT_NO_THROW(progress.end()); // may be called while the stack unwinds
    EXPECT_THROW(parallel_for(1000, 1, [&](std::ptrdiff_t) { progress.advance(); }), Interrupted);
}

TEST(ProgressPrinter, AFileIsNotATerminal)
{
    const PrintedText printed;
    EXPECT_EQ(ProgressPrinter::style_for(printed.stream()), ProgressPrinter::Style::Lines);
}

TEST(ProgressPrinter, ShortStagesPrintNothing)
{
    for (const auto style : {ProgressPrinter::Style::Bar, ProgressPrinter::Style::Lines}) {
        const PrintedText printed;
        ProgressPrinter printer(printed.stream(), style);
        for (const double fraction : {0.0, 0.5, 1.0}) printer({"quick", fraction});
        EXPECT_EQ(printed.text(), "");
    }
}

/// The number that stands before `unit`, as in "12 s left"; -1 when there is none.
int number_before(const std::string& text, const std::string& unit)
{
    std::smatch found;
    return std::regex_search(text, found, std::regex("([0-9]+)" + unit)) ? std::stoi(found[1]) : -1;
}

TEST(ProgressPrinter, TheBarFillsAndTellsTheTimeLeft)
{
    const PrintedText printed;
    ProgressPrinter printer(printed.stream(), ProgressPrinter::Style::Bar);
    const Stopwatch watch;
    printer({"mesh", 0.0});
    std::this_thread::sleep_for(600ms);
    printer({"mesh", 0.1}); // 0.6 s for a tenth: 5.4 s to go, more on a busy machine
    const double most = 9.0 * watch.seconds();
    const std::string tenth = printed.text();
    EXPECT_THAT(tenth, HasSubstr("mesh"));
    EXPECT_THAT(tenth, HasSubstr("[###" + std::string(27, '.') + "]"));
    EXPECT_THAT(tenth, HasSubstr(" 10 %"));
    EXPECT_GE(number_before(tenth, " s left"), 5);
    EXPECT_LE(number_before(tenth, " s left"), most + 1.0);
    printer({"mesh", 1.0});
    EXPECT_THAT(printed.text(), HasSubstr("[" + std::string(30, '#') + "] 100 %"));
    EXPECT_THAT(printed.text(), EndsWith("s\n"));
}

TEST(ProgressPrinter, LinesComeOncePerQuarterWithTheTimeLeft)
{
    const PrintedText printed;
    ProgressPrinter printer(printed.stream(), ProgressPrinter::Style::Lines);
    const Stopwatch watch;
    printer({"mesh", 0.0});
    printer({"mesh", 0.3}); // too early
    EXPECT_EQ(printed.text(), "");
    std::this_thread::sleep_for(1100ms);
    for (const double fraction : {0.5, 0.51, 0.6, 1.0}) printer({"mesh", fraction});
    const std::string text = printed.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_THAT(text, HasSubstr("mesh: 50 % after "));
    EXPECT_GE(number_before(text, " s left"), 1); // half done: as long again
    EXPECT_LE(number_before(text, " s left"), watch.seconds() + 1.0);
    EXPECT_THAT(text, HasSubstr("mesh: 100 % after "));
    EXPECT_THAT(text, EndsWith(" s\n"));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(ProgressPrinter, DurationsReadLikeWords)
{
    EXPECT_EQ(format_duration(-1.0), "0 s");
    EXPECT_EQ(format_duration(7.4), "7 s");
    EXPECT_EQ(format_duration(59.6), "1 min 0 s");
    EXPECT_EQ(format_duration(200.0), "3 min 20 s");
    EXPECT_EQ(format_duration(7500.0), "2 h 5 min");
}
