#pragma once
#include "lithe/render/report.hpp"

namespace lithe {

/// Text that may stand in HTML, between tags and in attributes.
std::string html_text(std::string_view text);

/// "energy [J]"
std::string axis_title(const PlotAxis& axis);

/// A number for a tick or a table: "0.25", "1200", "3·10⁻⁷".
std::string short_number(double value);

/// Where an axis begins and ends, and its ticks between. Round numbers in steps of 1, 2 or 5; decades on a log scale.
struct AxisRange {
    double low = 0.0, high = 1.0;
    std::vector<double> ticks = {};
    PlotScale scale = PlotScale::Linear;

    /// 0 at `low`, 1 at `high`.
    double share(double value) const;
};
enum class AxisEnds { AsTheyAre, Round };
AxisRange axis_range(const std::vector<double>& values, PlotScale scale, AxisEnds ends);

/// The plot as an SVG element: axes with ticks, and a path per series, with its marks. `id` makes the ids in it differ from those of
/// other plots on the page. Ticks carry their value (data-value), paths their series (data-series).
std::string to_svg(const Plot& plot, const std::string& id);

} // namespace lithe
