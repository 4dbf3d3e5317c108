// Writes a report with known curves, and what they show as JSON of its own: what the test in a browser opens.
#include <cmath>
#include <cstdio>
#include <limits>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/render/image.hpp"
#include "lithe/render/report.hpp"

namespace {

using namespace lithe;

Plot energies()
{
    Plot plot{"Energy",
              {"time", "s"},
              {"energy", "J"},
              {},
              {{"kinetic", {}}, {"elastic", {}}, {"gravity", {}}, {"total", {}}}};
    for (int i = 0; i <= 120; ++i) {
        const double t = i / 60.0, decay = std::exp(-t), c = std::cos(9.0 * t);
        const double kinetic = 4.2 * decay * (1.0 - c * c), elastic = 4.2 * decay * c * c,
                     gravity = 3.0 - 2.5 * t;
        plot.x_values.push_back(t);
        plot.series[0].values.push_back(kinetic);
        plot.series[1].values.push_back(elastic);
        plot.series[2].values.push_back(gravity);
        plot.series[3].values.push_back(kinetic + elastic + gravity);
    }
    return plot;
}

/// With what a plot must live with: a zero on a log scale, a gap, a value alone.
Plot residuals()
{
    Plot plot{"Newton residual <per step>",
              {"step"},
              {"relative decrement", "", PlotScale::Log},
              {},
              {{"first & last", {}}}};
    for (int i = 0; i < 40; ++i) {
        plot.x_values.push_back(i);
        plot.series[0].values.push_back(1e-3 * std::exp(-0.4 * i) * (2.0 + std::sin(i)));
    }
    plot.series[0].values[10] = 0.0;
    plot.series[0].values[12] = std::numeric_limits<double>::quiet_NaN();
    return plot;
}

std::string small_picture()
{
    Image image = make_image(640, 200);
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            image.pixel(x, y)[0] = static_cast<std::uint8_t>(x * 255 / image.width);
            image.pixel(x, y)[1] = static_cast<std::uint8_t>(y);
            image.pixel(x, y)[2] = 140;
        }
    return encode_png(image);
}

nlohmann::json metrics_of(const Report& report)
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
    if (count != 2) return std::fputs("usage: write_report FOLDER\n", stderr), 2;
    const std::filesystem::path folder = arguments[1];
    Report report{.title = "Soft ball on stairs", .summary = "120 frames, 8,012 tets, stable Neo-Hookean."};
    report.facts = {{"frames", "120"},
                    {"time step", "16.7 ms"},
                    {"simulated in", "3.42 s (35 frames/s)"},
                    {"deepest penetration", "0.12 mm"},
                    {"state hash", "9f0c41d2a6b7e835"},
                    {"</script>", "<b>&"}};
    report.plots = {energies(), residuals()};
    report.pictures = {{"The last frame", small_picture()}};
    write_file(folder / "report.html", to_html(report));
    write_file(folder / "metrics.json", metrics_of(report).dump());
}
