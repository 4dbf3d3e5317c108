#include "lithe/render/report_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

// The picture in units of about a pixel.
constexpr double width = 720.0, height = 300.0;
constexpr double left = 74.0, right = 14.0, top = 14.0, bottom = 50.0;

std::string superscript(int number)
{
    static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string out;
    for (const char c : std::to_string(number)) out += c == '-' ? "⁻" : digits[c - '0'];
    return out;
}

/// Ticks of a log scale are powers of ten, and look alike.
std::string tick_label(double value, PlotScale scale)
{
    if (scale == PlotScale::Linear) return short_number(value);
    return "10" + superscript(static_cast<int>(std::lround(std::log10(value))));
}

bool is_drawn(double value, PlotScale scale)
{
    return std::isfinite(value) && (scale == PlotScale::Linear || value > 0.0);
}

/// The distance of about `count` ticks: 1, 2 or 5 times a power of ten.
double round_step(double range, int count)
{
    const double rough = range / count, decade = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (rough <= step * decade) return step * decade;
    return 10.0 * decade;
}

void set_linear_ticks(AxisRange& range, AxisEnds ends)
{
    if (range.low > 0.0 && range.low < 0.3 * range.high && ends == AxisEnds::Round) range.low = 0.0;
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    if (range.high - range.low <= 1e-9 * size || size == 0.0) { // a constant: in the middle
        const double half = size > 0.0 ? 0.5 * size : 1.0;
        range.low -= half;
        range.high += half;
    }
    const double step = round_step(range.high - range.low, 6);
    const double slack = 1e-9 * (range.high - range.low);
    if (ends == AxisEnds::Round) {
        range.low = step * std::floor((range.low + slack) / step);
        range.high = step * std::ceil((range.high - slack) / step);
    }
    for (double k = std::ceil((range.low - slack) / step); k * step <= range.high + slack; ++k)
        range.ticks.push_back(k * step);
}

void set_log_ticks(AxisRange& range)
{
    double first = std::floor(std::log10(range.low) + 1e-9), last = std::ceil(std::log10(range.high) - 1e-9);
    if (first >= last) last = first + 1.0;
    range.low = std::pow(10.0, first);
    range.high = std::pow(10.0, last);
    const double step = std::ceil((last - first) / 8.0);
    for (double e = first; e <= last; e += step) range.ticks.push_back(std::pow(10.0, e));
}

/// From values to the picture.
struct Frame {
    AxisRange x, y;
    double across(double value) const { return left + (width - left - right) * x.share(value); }
    double down(double value) const { return height - bottom - (height - top - bottom) * y.share(value); }
};

Frame frame_of(const Plot& plot)
{
    std::vector<double> values;
    for (const PlotSeries& series : plot.series) {
        LITHE_ASSERT(series.values.size() == plot.x_values.size());
        values.insert(values.end(), series.values.begin(), series.values.end());
    }
    return {axis_range(plot.x_values, plot.x.scale, AxisEnds::AsTheyAre),
            axis_range(values, plot.y.scale, AxisEnds::Round)};
}

std::string ticks(const Frame& frame)
{
    std::string out;
    const auto tick = [&](const char* axis, double value, double x, double y, const std::string& inside) {
        out += fmt::format(
            "<g class=\"tick {}\" data-value=\"{}\" transform=\"translate({:.2f} {:.2f})\">{}</g>\n", axis,
            value, x, y, inside);
    };
    for (const double value : frame.x.ticks)
        tick("x", value, frame.across(value), height - bottom,
             fmt::format("<line y2=\"{:.0f}\"/><text y=\"18\" text-anchor=\"middle\">{}</text>",
                         top + bottom - height, tick_label(value, frame.x.scale)));
    for (const double value : frame.y.ticks)
        tick("y", value, left, frame.down(value),
             fmt::format("<line x2=\"{:.0f}\"/><text x=\"-8\" dy=\"0.32em\" text-anchor=\"end\">{}</text>",
                         width - left - right, tick_label(value, frame.y.scale)));
    return out;
}

/// Lines through the values; a new one after every gap. A value between two gaps is a dot.
std::string path_of(const Plot& plot, const PlotSeries& series, const Frame& frame)
{
    std::string d;
    bool begun = false;
    for (std::size_t i = 0; i < series.values.size(); ++i) {
        const double x = plot.x_values[i], y = series.values[i];
        if (!is_drawn(x, plot.x.scale) || !is_drawn(y, plot.y.scale)) {
            begun = false;
            continue;
        }
        fmt::format_to(std::back_inserter(d), "{}{:.2f} {:.2f}", begun ? "L" : "M", frame.across(x),
                       frame.down(y));
        const bool alone =
            !begun && (i + 1 == series.values.size() || !is_drawn(series.values[i + 1], plot.y.scale));
        if (alone) d += "h0";
        begun = true;
    }
    return d;
}

std::string dots_of(const Plot& plot, const PlotSeries& series, const Frame& frame)
{
    std::string out;
    for (std::size_t i = 0; i < series.values.size(); ++i)
        if (is_drawn(plot.x_values[i], plot.x.scale) && is_drawn(series.values[i], plot.y.scale))
            out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\"/>",
                               frame.across(plot.x_values[i]), frame.down(series.values[i]));
    return out;
}

/// In words, for those who do not see the curves.
std::string description(const Plot& plot)
{
    std::string out = fmt::format("{} over {}.", axis_title(plot.y), axis_title(plot.x));
    for (const PlotSeries& series : plot.series) {
        std::vector<double> drawn;
        std::ranges::copy_if(series.values, std::back_inserter(drawn),
                             [](double value) { return std::isfinite(value); });
        if (drawn.empty()) continue;
        const auto [low, high] = std::ranges::minmax(drawn);
        out += fmt::format(" {}: from {} to {}, last {}.", series.name, short_number(low), short_number(high),
                           short_number(drawn.back()));
    }
    return out;
}

} // namespace

std::string html_text(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string axis_title(const PlotAxis& axis)
{
    return axis.unit.empty() ? axis.label : axis.label + " [" + axis.unit + "]";
}

std::string short_number(double value)
{
    const double size = std::abs(value);
    if (value == 0.0) return "0";
    if (!std::isfinite(value)) return "–";
    if (size >= 1e-3 && size < 1e5) {
        const std::string digits = fmt::format("{:.4g}", value);
        return digits[0] == '-' ? "−" + digits.substr(1) : digits;
    }
    const std::string digits = fmt::format("{:.3e}", size);
    std::string mantissa = digits.substr(0, digits.find('e'));
    while (mantissa.ends_with('0')) mantissa.pop_back();
    if (mantissa.ends_with('.')) mantissa.pop_back();
    const int exponent = std::stoi(digits.substr(digits.find('e') + 1));
    return (value < 0.0 ? "−" : "") + (mantissa == "1" ? "" : mantissa + "·") + "10" + superscript(exponent);
}

double AxisRange::share(double value) const
{
    if (scale == PlotScale::Log) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
}

AxisRange axis_range(const std::vector<double>& values, PlotScale scale, AxisEnds ends)
{
    AxisRange range{.scale = scale};
    bool any = false;
    for (const double value : values) {
        if (!is_drawn(value, scale)) continue;
        range.low = any ? std::min(range.low, value) : value;
        range.high = any ? std::max(range.high, value) : value;
        any = true;
    }
    if (scale == PlotScale::Log) {
        if (!any) range.low = 0.1;
        set_log_ticks(range);
    } else {
        set_linear_ticks(range, ends);
    }
    return range;
}

std::string to_svg(const Plot& plot, const std::string& id)
{
    const Frame frame = frame_of(plot);
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
        "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n",
        width, height, id, html_text(plot.title), html_text(description(plot)));
    out += ticks(frame);
    out += fmt::format("<text class=\"label\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                       0.5 * (left + width - right), height - 10.0, html_text(axis_title(plot.x)));
    out += fmt::format("<text class=\"label\" transform=\"translate(16 {:.0f}) rotate(-90)\" "
                       "text-anchor=\"middle\">{}</text>\n",
                       0.5 * (top + height - bottom), html_text(axis_title(plot.y)));
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
        out += fmt::format("<path class=\"s{}\" data-series=\"{}\" d=\"{}\"/>\n", s % 6,
                           html_text(plot.series[s].name), path_of(plot, plot.series[s], frame));
        if (plot.series[s].marks == PlotMarks::Dots)
            out += fmt::format("<g class=\"s{} dots\">{}</g>\n", s % 6, dots_of(plot, plot.series[s], frame));
    }
    out += fmt::format("<line class=\"cursor\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>\n", top, height - bottom);
    return out + "</svg>\n";
}

} // namespace lithe
