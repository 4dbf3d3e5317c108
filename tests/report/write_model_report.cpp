// Writes a report about a model with known curves, and what they show as JSON of its own: what the test in a browser opens.
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/render/model_report.hpp"

namespace {

using namespace lithe;

ModelReport ring()
{
    ModelReport model{.title = "A <soft> ring", .summary = "6 coordinates, 40 points."};
    model.facts = {{"rank", "6"}, {"points", "40"}, {"held-out error", "1.9 %"}};
    model.frequencies = VecX::LinSpaced(12, 3.0, 30.0).array().pow(1.2);
    model.singular_values = (-0.4 * VecX::LinSpaced(20, 0.0, 19.0)).array().exp();
    model.rank = 6;
    model.tolerance = 0.02;
    for (int n = 1; n <= 40; ++n) {
        model.point_counts.push_back(n);
        model.training_errors.push_back(0.9 * std::exp(-0.11 * n));
        model.held_out_errors.push_back(0.95 * std::exp(-0.1 * n));
    }
    for (int r = 2; r <= 12; r += 2) {
        model.ranks.push_back(r);
        model.rank_errors.push_back(0.5 * std::exp(-0.35 * r));
    }
    model.surface = make_torus(0.5, 0.18, 0.04);
    model.points.resize(3, 40);
    for (int k = 0; k < 40; ++k) {
        const double angle = 2.4 * k, radius = 0.5 + 0.1 * std::cos(5.0 * k);
        model.points.col(k) =
            Vec3(radius * std::cos(angle), 0.1 * std::sin(5.0 * k), radius * std::sin(angle));
    }
    model.weights = VecX::LinSpaced(40, 0.2, 6.0).array().square();
    for (int k = 1; k <= 6; ++k) {
        Points u = model.surface.vertices;
        for (Index v = 0; v < u.cols(); ++v) {
            const double angle = std::atan2(u(2, v), u(0, v));
            u.col(v) = Vec3(0.0, std::cos((k / 2 + 1) * angle + k), 0.3 * std::sin(k * angle));
        }
        model.shapes.push_back({"shape " + std::to_string(k), std::move(u)});
    }
    model.stages = {{"modes", 0.4}, {"poses", 1.2}, {"cubature", 2.4}};
    return model;
}

nlohmann::json numbers_of(const Report& report)
{
    nlohmann::json all;
    for (const Plot& plot : report.plots)
        for (const PlotSeries& series : plot.series) {
            all[plot.title]["x"] = plot.x_values;
            all[plot.title]["series"][series.name] = series.values; // NaN becomes null
        }
    return all;
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2) return std::fputs("usage: write_model_report FOLDER\n", stderr), 2;
    const std::filesystem::path folder = arguments[1];
    Progress progress;
    const ModelReport model = ring();
    const Report report = make_report(
        model, {.width = 640, .height = 360, .shape_width = 240, .shape_height = 180, .samples = 4},
        progress);
    write_file(folder / "report.html", to_html(report));
    write_file(folder / "metrics.json", numbers_of(report).dump());
}
