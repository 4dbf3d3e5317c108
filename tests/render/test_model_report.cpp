#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/render/model_report.hpp"
#include "render/decode_png.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr ModelReportOptions small = {
    .width = 96, .height = 96, .shape_width = 64, .shape_height = 64, .samples = 2};

Report report_of(const ModelReport& model)
{
    Progress progress;
    return make_report(model, small, progress);
}

std::vector<std::string> titles(const Report& report)
{
    std::vector<std::string> all;
    for (const Plot& plot : report.plots) all.push_back(plot.title);
    return all;
}

} // namespace

TEST(ModelReport, LeavesOutWhatIsNotThere)
{
    const Report report = report_of({.title = "bare"});
    EXPECT_TRUE(report.pictures.empty() && report.galleries.empty() && report.plots.empty() &&
                report.shares.empty());
    EXPECT_THAT(to_html(report), HasSubstr("<h1>bare</h1>"));
}

TEST(ModelReport, PlotsWhatIsThere)
{
    ModelReport model{.title = "m"};
    model.frequencies = Vec3(1.0, 2.0, 3.0);
    model.singular_values = Vec4(8.0, 4.0, 2.0, 0.0);
    model.rank = 2;
    model.ranks = {1.0, 2.0};
    model.rank_errors = {0.1, 0.01};
    const Report exact = report_of(model);
    EXPECT_THAT(titles(exact), ElementsAre("Frequencies of the linear modes", "Singular values of the basis",
                                           "Error against rank"));
    EXPECT_EQ(exact.plots[1].series[0].values[1], 0.5); // relative to the first
    EXPECT_TRUE(std::isnan(exact.plots[1].series[0].values[2]));
    EXPECT_EQ(exact.plots[1].series[1].values[2], 0.25);
    EXPECT_EQ(exact.plots[2].series.size(), 1u);
    model.tolerance = 0.02;
    EXPECT_EQ(report_of(model).plots[2].series[1].values, (std::vector{0.02, 0.02}));
}

TEST(ModelReport, CountsOfPointsThatFallAndRiseAreSorted)
{
    ModelReport model{.title = "m"};
    model.point_counts = {1.0, 3.0, 2.0};
    model.training_errors = {0.3, 0.1, 0.2};
    model.held_out_errors = {0.5, 0.25, 0.4};
    const Plot plot = report_of(model).plots.at(0);
    EXPECT_THAT(plot.x_values, ElementsAre(1.0, 2.0, 3.0));
    EXPECT_THAT(plot.series[0].values, ElementsAre(0.5, 0.4, 0.25));
    EXPECT_THAT(plot.series[1].values, ElementsAre(0.3, 0.2, 0.1));
}

TEST(ModelReport, CurvesOfDifferentLengthAreRefused)
{
    ModelReport model{.title = "m"};
    model.ranks = {1.0, 2.0};
    EXPECT_THAT(test::message_of([&] { (void)report_of(model); }), HasSubstr("0 values for 2 ranks"));
    model.rank_errors = {0.1, 0.01};
    model.point_counts = {1.0};
    EXPECT_THAT(test::message_of([&] { (void)report_of(model); }), HasSubstr("0 values for 1 point counts"));
}

TEST(ModelReport, APointInsideIsSeenThroughTheSurface)
{
    ModelReport model{.title = "m"};
    model.surface = make_sphere(1.0, 0.2);
    model.points = Points::Zero(3, 1); // the middle of the ball, far below its surface
    model.weights = VecX::Ones(1);
    const Report with = report_of(model);
    ASSERT_EQ(with.pictures.size(), 1u);
    EXPECT_THAT(with.pictures[0].caption, HasSubstr("1 cubature points"));
    const Image png = test::decode_png(with.pictures[0].png);
    const auto saturation = [&](int x, int y) {
        const auto* p = png.pixel(x, y);
        return std::max({p[0], p[1], p[2]}) - std::min({p[0], p[1], p[2]});
    };
    EXPECT_GT(saturation(48, 48), 80); // yellow
    EXPECT_LT(saturation(38, 60), 40); // the grey surface beside it
}

TEST(ModelReport, ShapesAreDrawnOnePictureEach)
{
    ModelReport model{.title = "m"};
    model.surface = make_sphere(1.0, 0.4);
    const Points& X = model.surface.vertices;
    model.shapes = {{"up", Points(1e-6 * Vec3::UnitY() * X.row(0))}, {"still", Points::Zero(3, X.cols())}};
    const Report report = report_of(model);
    ASSERT_EQ(report.galleries.size(), 1u);
    ASSERT_EQ(report.galleries[0].pictures.size(), 2u); // one that does not move is drawn at rest
    EXPECT_NE(report.galleries[0].pictures[0].png, report.galleries[0].pictures[1].png);
}
