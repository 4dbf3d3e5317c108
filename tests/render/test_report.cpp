#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/render/report_plot.hpp"

using namespace lithe;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Plot small_plot(std::vector<double> values, PlotScale scale = PlotScale::Linear)
{
    Plot plot{"p", {"time", "s"}, {"energy", "J", scale}, {}, {{"e", std::move(values)}}};
    for (std::size_t i = 0; i < plot.series[0].values.size(); ++i)
        plot.x_values.push_back(static_cast<double>(i));
    return plot;
}

std::size_t count_of(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

} // namespace

TEST(ReportPlot, TicksAreRoundNumbersAroundTheValues)
{
    const AxisRange range = axis_range({-1.3, 7.2}, PlotScale::Linear, AxisEnds::Round);
    EXPECT_EQ(range.low, -2.0);
    EXPECT_EQ(range.high, 8.0);
    EXPECT_THAT(range.ticks, ElementsAre(-2.0, 0.0, 2.0, 4.0, 6.0, 8.0));
    EXPECT_EQ(range.share(3.0), 0.5);
    const AxisRange time = axis_range({0.0, 0.9}, PlotScale::Linear, AxisEnds::AsTheyAre);
    EXPECT_EQ(time.high, 0.9);
    EXPECT_LE(time.ticks.back(), 0.9 + 1e-9);
}

TEST(ReportPlot, ValuesFarFromZeroDoNotStretchToIt)
{
    EXPECT_EQ(axis_range({1.0, 9.0}, PlotScale::Linear, AxisEnds::Round).low, 0.0);
    EXPECT_GT(axis_range({100.0, 101.0}, PlotScale::Linear, AxisEnds::Round).low, 99.0);
}

TEST(ReportPlot, DecadesOnALogScale)
{
    const AxisRange range = axis_range({0.0, -1.0, 3e-4, 0.2}, PlotScale::Log, AxisEnds::Round);
    EXPECT_NEAR(range.low, 1e-4, 1e-15);
    EXPECT_NEAR(range.high, 1.0, 1e-12);
    EXPECT_EQ(range.ticks.size(), 5u);
    EXPECT_NEAR(range.share(1e-2), 0.5, 1e-12);
}

TEST(ReportPlot, OddDataHasARangeToo)
{
    for (const std::vector<double>& values :
         {std::vector<double>{}, {gap}, {infinity}, {0.0}, {5.0}, {5.0, 5.0}, {1e-300, 1e300}})
        for (const PlotScale scale : {PlotScale::Linear, PlotScale::Log})
            for (const AxisEnds ends : {AxisEnds::Round, AxisEnds::AsTheyAre}) {
                const AxisRange range = axis_range(values, scale, ends);
                EXPECT_LT(range.low, range.high);
                EXPECT_GE(range.ticks.size(), 1u);
                EXPECT_LE(range.ticks.size(), 12u);
            }
}

TEST(ReportPlot, NumbersReadWell)
{
    EXPECT_EQ(short_number(0.0), "0");
    EXPECT_EQ(short_number(0.25), "0.25");
    EXPECT_EQ(short_number(-1200.0), "−1200");
    EXPECT_EQ(short_number(1e-4), "10⁻⁴");
    EXPECT_EQ(short_number(-2.5e7), "−2.5·10⁷");
    EXPECT_EQ(short_number(gap), "–");
}

TEST(ReportPlot, GapsBreakTheCurve)
{
    EXPECT_EQ(count_of(to_svg(small_plot({1.0, 2.0, 3.0, 4.0}), "a"), "M"), 1u);
    const std::string gaps = to_svg(small_plot({1.0, 2.0, gap, 4.0, infinity, 3.0, 2.0}), "a");
    EXPECT_EQ(count_of(gaps, "M"), 3u);
    EXPECT_EQ(count_of(gaps, "h0"), 1u); // a value alone is a dot
    EXPECT_THAT(gaps, Not(HasSubstr("nan")));
    EXPECT_THAT(gaps, Not(HasSubstr("inf")));
    EXPECT_EQ(count_of(to_svg(small_plot({1.0, 0.0, 10.0}, PlotScale::Log), "a"), "M"), 2u);
}

TEST(Report, TextsAreEscaped)
{
    Report report{.title = "<script>alert(1)</script>", .facts = {{"a & b", "</script>"}}};
    report.plots = {small_plot({1.0, 2.0})};
    report.plots[0].title = "</script><b>";
    report.plots[0].series[0].name = "\"quoted\"";
    const std::string page = to_html(report);
    EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
    EXPECT_THAT(page, HasSubstr("a &amp; b"));
    EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cb>")); // in the JSON
    EXPECT_EQ(count_of(page, "</script>"), 2u);               // the data and the script of the page
    EXPECT_THAT(page, HasSubstr("data-series=\"&quot;quoted&quot;\""));
}

TEST(Report, TheDataAreThereForPrograms)
{
    Report report{.title = "t"};
    report.plots = {small_plot({0.1, gap, 1.0 / 3.0})};
    EXPECT_THAT(to_html(report), HasSubstr("\"values\":[0.1,null,0.3333333333333333]"));
    EXPECT_THAT(to_html(report),
                HasSubstr("\"y\":{\"label\":\"energy\",\"unit\":\"J\",\"scale\":\"linear\"}"));
}

TEST(Report, LongDataHaveAShortTable)
{
    std::vector<double> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    Report report{.title = "t"};
    report.plots = {small_plot(values)};
    const std::string page = to_html(report);
    EXPECT_EQ(count_of(page, "<tr><td>"), 24u);
    EXPECT_THAT(page, HasSubstr("24 of 1000 rows"));
    EXPECT_THAT(page, HasSubstr("<tr><td>0</td>"));
    EXPECT_THAT(page, HasSubstr("<tr><td>999</td>"));
}

TEST(Report, AnEmptyReportIsAPage)
{
    EXPECT_THAT(to_html({.title = "nothing"}), HasSubstr("<h1>nothing</h1>"));
}

TEST(ReportPlot, MarksEveryValueThatIsDrawn)
{
    Plot plot = small_plot({1.0, gap, 3.0, 0.0}, PlotScale::Log);
    EXPECT_EQ(count_of(to_svg(plot, "p"), "<circle"), 0u);
    plot.series[0].marks = PlotMarks::Dots;
    EXPECT_EQ(count_of(to_svg(plot, "p"), "<circle"), 2u);
}

TEST(Report, GalleriesAndSharesAreEscapedAndInTheData)
{
    Report report{.title = "t"};
    EXPECT_THAT(to_html(report), Not(HasSubstr("\"shares\"")));
    report.galleries = {{"A & B", {{"one", "png"}, {"<two>", "png"}}}};
    report.shares = {{"Time", {{"<modes>", "0.5 s", 0.25}, {"rest", "1.5 s", 0.75}}}};
    const std::string page = to_html(report);
    EXPECT_THAT(page, HasSubstr("A &amp; B"));
    EXPECT_THAT(page, HasSubstr("alt=\"&lt;two&gt;\""));
    EXPECT_EQ(count_of(page, "<figure class=\"picture\">"), 2u);
    EXPECT_THAT(page, HasSubstr("width:25.00%"));
    EXPECT_THAT(page, HasSubstr("&lt;modes&gt;"));
    EXPECT_THAT(page, HasSubstr("\"shares\":[{\"title\":\"Time\""));
}
