#include "lithe/render/model_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/math/color.hpp"
#include "lithe/render/render.hpp"
#include "lithe/render/report_plot.hpp"

namespace lithe {
namespace {

constexpr double shape_share = 0.12;  ///< largest displacement in a picture, of the surface's diagonal
constexpr Index most_dots = 60;       ///< on a curve
constexpr double point_share = 0.008; ///< radius of the heaviest point, likewise

void require_same_length(const char* what, std::size_t a, std::size_t b)
{
    if (a != b) throw InputError(fmt::format("report: {} values for {} {}", b, a, what));
}

std::vector<double> numbers(const VecX& values)
{
    return {values.begin(), values.end()};
}

std::vector<double> counting(std::size_t count)
{
    std::vector<double> all(count);
    std::iota(all.begin(), all.end(), 1.0);
    return all;
}

// ---- plots

void add_tolerance(const ModelReport& model, Plot& plot)
{
    if (model.tolerance <= 0.0) return;
    plot.series.push_back({"tolerance", std::vector<double>(plot.x_values.size(), model.tolerance)});
}

void add_spectrum(const ModelReport& model, Report& report)
{
    if (model.frequencies.size() > 0)
        report.plots.push_back({"Frequencies of the linear modes",
                                {"mode"},
                                {"frequency", "Hz"},
                                counting(static_cast<std::size_t>(model.frequencies.size())),
                                {{"frequency", numbers(model.frequencies), PlotMarks::Dots}}});
    const Index count = model.singular_values.size();
    if (count == 0) return;
    const PlotMarks marks = count <= most_dots ? PlotMarks::Dots : PlotMarks::None;
    std::vector<double> kept = numbers(model.singular_values), cut = kept;
    for (Index k = 0; k < count; ++k) (k < model.rank ? cut : kept)[static_cast<std::size_t>(k)] = NAN;
    report.plots.push_back({"Singular values of the basis",
                            {"direction"},
                            {"singular value, relative to the first", "", PlotScale::Log},
                            counting(static_cast<std::size_t>(count)),
                            {{"kept", std::move(kept), marks}, {"cut off", std::move(cut), marks}}});
    for (PlotSeries& series : report.plots.back().series)
        for (double& value : series.values) value /= model.singular_values[0];
}

/// The same with rising x: training drops points again that it does not need.
Plot sorted(const Plot& plot)
{
    std::vector<std::size_t> order(plot.x_values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return plot.x_values[i]; });
    Plot out = plot;
    for (std::size_t i = 0; i < order.size(); ++i) {
        out.x_values[i] = plot.x_values[order[i]];
        for (std::size_t s = 0; s < plot.series.size(); ++s)
            out.series[s].values[i] = plot.series[s].values[order[i]];
    }
    return out;
}

void add_error_curves(const ModelReport& model, Report& report)
{
    require_same_length("point counts", model.point_counts.size(), model.held_out_errors.size());
    require_same_length("point counts", model.point_counts.size(), model.training_errors.size());
    require_same_length("ranks", model.ranks.size(), model.rank_errors.size());
    if (!model.ranks.empty()) {
        Plot plot{"Error against rank",
                  {"rank"},
                  {"relative error", "", PlotScale::Log},
                  model.ranks,
                  {{"held-out poses", model.rank_errors, PlotMarks::Dots}}};
        add_tolerance(model, plot);
        report.plots.push_back(std::move(plot));
    }
    if (model.point_counts.empty()) return;
    Plot plot{"Error against cubature points",
              {"points"},
              {"relative error of the force", "", PlotScale::Log},
              model.point_counts,
              {{"held-out poses", model.held_out_errors}, {"training poses", model.training_errors}}};
    add_tolerance(model, plot);
    report.plots.push_back(sorted(plot));
}

void add_times(const ModelReport& model, Report& report)
{
    double total = 0.0;
    for (const ModelReport::Stage& stage : model.stages) total += stage.seconds;
    if (total <= 0.0) return;
    ReportShares shares{fmt::format("Time to prepare: {:.3g} s", total), {}};
    for (const ModelReport::Stage& stage : model.stages)
        shares.parts.push_back({stage.name, fmt::format("{:.3g} s", stage.seconds), stage.seconds / total});
    report.shares.push_back(std::move(shares));
}

// ---- pictures

double size_of(const ModelReport& model)
{
    return bounds(model.surface.vertices).diagonal().norm();
}

RenderOptions picture_options(int width, int height, int samples)
{
    return {.width = width, .height = height, .samples = samples, .ground = Ground::None};
}

/// Where the weights lie between the lightest and the heaviest, on a log scale: they differ by orders of magnitude.
VecX weight_shares(const VecX& weights)
{
    const double lightest = weights.minCoeff(), heaviest = weights.maxCoeff();
    if (!(lightest > 0.0 && lightest < heaviest)) return VecX::Ones(weights.size());
    return (weights / lightest).array().log() / std::log(heaviest / lightest);
}

/// A small ball at every point, coloured by its weight.
RenderSurface point_balls(const ModelReport& model)
{
    const double radius = point_share * size_of(model);
    const VecX shares = weight_shares(model.weights);
    const TriangleMesh ball = make_sphere(1.0, 0.5);
    const Index n = ball.vertex_count(), m = ball.triangle_count(), count = model.points.cols();
    TriangleMesh all{Points(3, n * count), Triangles(3, m * count)};
    VecX values(n * count);
    for (Index k = 0; k < count; ++k) {
        all.vertices.middleCols(n * k, n) =
            (radius * (0.6 + 0.4 * shares[k]) * ball.vertices).colwise() + model.points.col(k);
        all.triangles.middleCols(m * k, m) = ball.triangles.array() + static_cast<int>(n * k);
        values.segment(n * k, n).setConstant(shares[k]);
    }
    RenderSurface surface = make_surface(all, {});
    surface.map_values = std::move(values);
    return surface;
}

/// One picture over another. Drawn on black and on white, the upper one tells how much of what lies behind it shows: what
/// the two differ by.
void lay_over(const Image& on_black, const Image& on_white, Image& below)
{
    for (std::size_t i = 0; i < below.rgb8.size(); ++i) {
        const int through = std::max(on_white.rgb8[i] - on_black.rgb8[i], 0);
        const int value = on_black.rgb8[i] + (through * below.rgb8[i] + 127) / 255;
        below.rgb8[i] = static_cast<std::uint8_t>(std::min(value, 255));
    }
}

/// All points, also those inside: the pale surface, and the balls as if it were glass.
void add_points_picture(const ModelReport& model, const ModelReportOptions& options, Report& report)
{
    const Index count = model.points.cols();
    require_same_length("points", static_cast<std::size_t>(count),
                        static_cast<std::size_t>(model.weights.size()));
    Progress quiet; // a picture takes a second or less
    const double aspect = static_cast<double>(options.width) / options.height;
    const Camera camera = frame_content(model.surface.vertices, {.aspect = aspect, .margin = 0.06});
    RenderOptions how = picture_options(options.width, options.height, options.samples);
    TriangleMesh ghost = model.surface;
    ghost.fields.clear();
    Image picture = render({{make_surface(ghost, {.color = {0.80, 0.82, 0.85}})}}, camera, how, quiet);
    how.content = bounds(model.surface.vertices);
    const RenderScene balls{{point_balls(model)}};
    how.background = {Vec3::Zero(), Vec3::Zero()};
    const Image on_black = render(balls, camera, how, quiet);
    how.background = {Vec3::Ones(), Vec3::Ones()};
    lay_over(on_black, render(balls, camera, how, quiet), picture);
    report.pictures.push_back(
        {fmt::format("The {} cubature points, seen through the surface; small and dark at weight {}, large "
                     "and bright at {}, on a log scale",
                     count, short_number(model.weights.minCoeff()), short_number(model.weights.maxCoeff())),
         encode_png(picture)});
}

TriangleMesh deformed(const ModelReport& model, const ModelReport::Shape& shape)
{
    const double largest = shape.displacement.colwise().norm().maxCoeff();
    const double scale = largest > 0.0 ? shape_share * size_of(model) / largest : 0.0;
    return {model.surface.vertices + scale * shape.displacement, model.surface.triangles};
}

/// From pale, where it stays, to red, where it moves most.
Points motion_colors(const Points& displacement)
{
    const Vec3 still = linear_from_srgb({0.85, 0.86, 0.88}), moving = linear_from_srgb({0.80, 0.20, 0.08});
    Eigen::RowVectorXd share = displacement.colwise().norm();
    share /= std::max(share.maxCoeff(), 1e-300);
    return still * (1.0 - share.array()).matrix() + moving * share;
}

/// All from one place, so that they can be compared.
void add_shapes(const ModelReport& model, const ModelReportOptions& options, Report& report,
                Progress& progress)
{
    const Index n = model.surface.vertex_count();
    Points all(3, n * static_cast<Index>(model.shapes.size()));
    for (std::size_t k = 0; k < model.shapes.size(); ++k) {
        require_same_length("vertices", static_cast<std::size_t>(n),
                            static_cast<std::size_t>(model.shapes[k].displacement.cols()));
        all.middleCols(n * static_cast<Index>(k), n) = deformed(model, model.shapes[k]).vertices;
    }
    const double aspect = static_cast<double>(options.shape_width) / options.shape_height;
    const Camera camera = frame_content(all, {.aspect = aspect, .margin = 0.05});
    const RenderOptions how = picture_options(options.shape_width, options.shape_height, options.samples);
    Progress quiet;
    ReportGallery gallery{"First shapes of the basis, coloured by how far they move", {}};
    for (const ModelReport::Shape& shape : model.shapes) {
        RenderSurface surface = make_surface(deformed(model, shape), {});
        surface.colors = motion_colors(shape.displacement);
        gallery.pictures.push_back({shape.caption, encode_png(render({{surface}}, camera, how, quiet))});
        progress.advance();
    }
    report.galleries.push_back(std::move(gallery));
}

} // namespace

Report make_report(const ModelReport& model, const ModelReportOptions& options, Progress& progress)
{
    Report report{.title = model.title, .summary = model.summary};
    report.facts = model.facts;
    add_spectrum(model, report);
    add_error_curves(model, report);
    add_times(model, report);
    if (model.surface.triangle_count() == 0) return report;
    const bool has_points = model.points.cols() > 0;
    progress.begin("pictures", static_cast<std::int64_t>(model.shapes.size()) + (has_points ? 1 : 0));
    if (has_points) {
        add_points_picture(model, options, report);
        progress.advance();
    }
    if (!model.shapes.empty()) add_shapes(model, options, report, progress);
    progress.end();
    return report;
}

} // namespace lithe
