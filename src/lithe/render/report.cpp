#include "lithe/render/report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lithe/geometry/io/bytes.hpp"
#include "lithe/render/report_plot.hpp"

namespace lithe {
namespace {

using Json = nlohmann::ordered_json;

/// Six colours that differ by hue and lightness on white and on black; a second sign of each series is its dashes.
constexpr const char* style = R"css(
:root { color-scheme: light dark; --back: #fbfaf8; --card: #ffffff; --ink: #21242b; --soft: #646b78; --line: #e2e0dc;
  --s0: #c8502d; --s1: #24719a; --s2: #8a6d00; --s3: #3f7d3a; --s4: #a03a73; --s5: #5b4fb0; }
@media (prefers-color-scheme: dark) { :root { --back: #15171b; --card: #1e2127; --ink: #e8e6e1; --soft: #a2a8b4;
  --line: #363b44; --s0: #f08a66; --s1: #6cb6de; --s2: #dcbb4a; --s3: #8cc985; --s4: #e58bbd; --s5: #a99df0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
.summary { color: var(--soft); margin: 0 0 1.75rem; font-size: 1.05rem; }
section, figure { background: var(--card); border: 1px solid var(--line); border-radius: 12px; margin: 0 0 1.25rem;
  padding: 1.1rem 1.25rem; }
figure.picture { padding: 0; overflow: hidden; }
figure.picture img { display: block; width: 100%; height: auto; }
figure.picture figcaption { padding: .6rem 1.25rem; color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.facts { columns: 2 20rem; column-gap: 2.5rem; margin: 0; }
.facts div { display: flex; justify-content: space-between; gap: 1rem; padding: .28rem 0; break-inside: avoid;
  border-bottom: 1px solid var(--line); }
.facts dt { color: var(--soft); }
.facts .long { column-span: all; display: block; }
.facts .long dd { text-align: left; }
.facts dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; overflow: visible; touch-action: pan-y; }
svg text { font-size: 12px; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .label { fill: var(--ink); font-size: 13px; }
.tick line { stroke: var(--line); }
svg path { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); stroke-dasharray: 7 4; } .s2 { stroke: var(--s2); stroke-dasharray: 2 4; }
.s3 { stroke: var(--s3); stroke-dasharray: 10 4 2 4; } .s4 { stroke: var(--s4); stroke-dasharray: 4 3; }
.s5 { stroke: var(--s5); stroke-dasharray: 12 5; }
.dots { stroke-dasharray: none; fill: var(--card); stroke-width: 1.6; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); gap: .8rem; }
.gallery figure { padding: 0; margin: 0; border: 0; background: none; }
.gallery img { display: block; width: 100%; height: auto; border-radius: 8px; }
.gallery figure.picture figcaption { font-size: .875rem; padding: .3rem .1rem 0; text-align: center; }
.shares td { padding: .28rem 0; border-bottom: 1px solid var(--line); }
.shares td:first-child { color: var(--soft); white-space: nowrap; padding-right: 1rem; }
.shares td:last-child { text-align: right; white-space: nowrap; padding-left: 1rem; }
.bar { width: 100%; }
.bar i { display: block; height: .6rem; min-width: 2px; border-radius: 3px; background: var(--s1); }
.cursor { stroke: var(--soft); visibility: hidden; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; list-style: none; margin: 0 0 .3rem; padding: 0; }
.legend li { display: flex; align-items: center; gap: .5rem; }
.legend svg { width: 30px; height: 10px; }
.legend line { stroke-width: 2.5; }
.legend output { color: var(--soft); font-variant-numeric: tabular-nums; }
details { margin-top: .4rem; color: var(--soft); }
summary { cursor: pointer; width: fit-content; }
details table { font-size: .875rem; margin-top: .4rem; }
details th, details td { text-align: right; padding: .15rem .4rem; border-bottom: 1px solid var(--line); }
@media print { body { background: #fff; } section, figure { break-inside: avoid; } details { display: none; } }
)css";

/// Under the pointer, the values of all curves beside their names. The page is complete without it.
constexpr const char* script = R"js(
const plots = JSON.parse(document.getElementById("report-data").textContent).plots;
document.querySelectorAll("figure.plot").forEach((figure, p) => {
  const svg = figure.querySelector("svg[role=img]"), cursor = svg.querySelector(".cursor");
  const outputs = figure.querySelectorAll("output"), plot = plots[p], xs = plot.x.values;
  const ticks = [...svg.querySelectorAll(".tick.x")];
  if (ticks.length < 2) return;
  const place = tick => [Number(tick.dataset.value), tick.transform.baseVal[0].matrix.e];
  const map = plot.x.scale == "log" ? Math.log : v => v;
  const [v0, a0] = place(ticks[0]), [v1, a1] = place(ticks[ticks.length - 1]);
  const across = v => a0 + (map(v) - map(v0)) * (a1 - a0) / (map(v1) - map(v0));
  const show = i => {
    cursor.style.visibility = i === null ? "hidden" : "visible";
    if (i !== null) ["x1", "x2"].forEach(key => cursor.setAttribute(key, across(xs[i])));
    outputs.forEach((output, s) => {
      const value = i === null ? null : plot.series[s].values[i];
      output.textContent = value === null ? "" : Number(value.toPrecision(4));
    });
  };
  svg.addEventListener("pointermove", event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    let best = 0;
    xs.forEach((x, i) => { if (Math.abs(across(x) - at) < Math.abs(across(xs[best]) - at)) best = i; });
    show(best);
  });
  svg.addEventListener("pointerleave", () => show(null));
});
)js";

const char* scale_name(PlotScale scale)
{
    return scale == PlotScale::Log ? "log" : "linear";
}

/// JSON has no infinity and no NaN.
Json numbers(const std::vector<double>& values)
{
    Json all = Json::array();
    for (const double value : values) all.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    return all;
}

Json data_of(const Plot& plot)
{
    Json series = Json::array();
    for (const PlotSeries& one : plot.series)
        series.push_back({{"name", one.name}, {"values", numbers(one.values)}});
    return {{"title", plot.title},
            {"x",
             {{"label", plot.x.label},
              {"unit", plot.x.unit},
              {"scale", scale_name(plot.x.scale)},
              {"values", numbers(plot.x_values)}}},
            {"y", {{"label", plot.y.label}, {"unit", plot.y.unit}, {"scale", scale_name(plot.y.scale)}}},
            {"series", std::move(series)}};
}

std::string data_of(const Report& report)
{
    Json all = {{"version", 1}, {"title", report.title}, {"facts", Json::array()}, {"plots", Json::array()}};
    for (const ReportFact& fact : report.facts)
        all["facts"].push_back({{"name", fact.name}, {"value", fact.value}});
    for (const Plot& plot : report.plots) all["plots"].push_back(data_of(plot));
    for (const ReportShares& shares : report.shares) {
        Json parts = Json::array();
        for (const ReportShares::Part& part : shares.parts)
            parts.push_back({{"name", part.name}, {"value", part.value}, {"share", part.share}});
        all["shares"].push_back({{"title", shares.title}, {"parts", std::move(parts)}});
    }
    std::string out; // nothing in it may look like the end of the script
    for (const char c : all.dump(-1, ' ', false, Json::error_handler_t::replace))
        out += c == '<' ? "\\u003c" : std::string(1, c);
    return out;
}

std::string facts_table(const Report& report)
{
    if (report.facts.empty()) return "";
    constexpr std::size_t long_text = 60; // more than half a line
    std::string out = "<section><h2>At a glance</h2>\n<dl class=\"facts\">\n";
    for (const ReportFact& fact : report.facts)
        out += fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n",
                           fact.value.size() > long_text ? " class=\"long\"" : "", html_text(fact.name),
                           html_text(fact.value));
    return out + "</dl></section>\n";
}

std::string picture(const ReportPicture& picture)
{
    return fmt::format("<figure class=\"picture\"><img src=\"data:image/png;base64,{}\" alt=\"{}\">"
                       "<figcaption>{}</figcaption></figure>\n",
                       io::base64(picture.png), html_text(picture.caption), html_text(picture.caption));
}

std::string gallery(const ReportGallery& gallery)
{
    std::string out =
        fmt::format("<section><h2>{}</h2>\n<div class=\"gallery\">\n", html_text(gallery.title));
    for (const ReportPicture& one : gallery.pictures) out += picture(one);
    return out + "</div></section>\n";
}

std::string shares_table(const ReportShares& shares)
{
    std::string out =
        fmt::format("<section><h2>{}</h2>\n<table class=\"shares\"><tbody>\n", html_text(shares.title));
    for (const ReportShares::Part& part : shares.parts)
        out += fmt::format(
            "<tr><td>{}</td><td class=\"bar\"><i style=\"width:{:.2f}%\"></i></td><td>{}</td></tr>\n",
            html_text(part.name), 100.0 * part.share, html_text(part.value));
    return out + "</tbody></table></section>\n";
}

std::string legend(const Plot& plot)
{
    std::string out = "<ul class=\"legend\">\n";
    for (std::size_t s = 0; s < plot.series.size(); ++s)
        out += fmt::format(
            "<li><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\"><line class=\"s{}\" x1=\"1\" y1=\"5\" "
            "x2=\"29\" y2=\"5\"/></svg>{} <output></output></li>\n",
            s % 6, html_text(plot.series[s].name));
    return out + "</ul>\n";
}

/// At most 24 rows, the first and the last among them.
std::string table(const Plot& plot)
{
    constexpr std::size_t most = 24;
    const std::size_t count = plot.x_values.size(), rows = std::min(count, most);
    std::string out = fmt::format(
        "<details><summary>Numbers{}</summary><table><thead><tr><th scope=\"col\">{}</th>",
        rows < count ? fmt::format(" ({} of {} rows)", rows, count) : "", html_text(axis_title(plot.x)));
    for (const PlotSeries& series : plot.series)
        out += fmt::format("<th scope=\"col\">{}</th>", html_text(series.name));
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = rows < count ? r * (count - 1) / (rows - 1) : r;
        out += fmt::format("<tr><td>{}</td>", short_number(plot.x_values[i]));
        for (const PlotSeries& series : plot.series)
            out += fmt::format("<td>{}</td>", short_number(series.values[i]));
        out += "</tr>\n";
    }
    return out + "</tbody></table></details>\n";
}

std::string plot_figure(const Plot& plot, std::size_t index)
{
    return fmt::format("<figure class=\"plot\"><h2>{}</h2>\n{}{}{}</figure>\n", html_text(plot.title),
                       legend(plot), to_svg(plot, fmt::format("plot{}", index)), table(plot));
}

} // namespace

std::string to_html(const Report& report)
{
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        "style-src 'unsafe-inline'; script-src "
        "'unsafe-inline'\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
        "<body>\n<main>\n<h1>{}</h1>\n<p class=\"summary\">{}</p>\n",
        html_text(report.title), style, html_text(report.title), html_text(report.summary));
    for (const ReportPicture& one : report.pictures) out += picture(one);
    out += facts_table(report);
    for (const ReportGallery& one : report.galleries) out += gallery(one);
    for (std::size_t p = 0; p < report.plots.size(); ++p) out += plot_figure(report.plots[p], p);
    for (const ReportShares& one : report.shares) out += shares_table(one);
    out += fmt::format("</main>\n<script type=\"application/json\" id=\"report-data\">{}</script>\n"
                       "<script>{}</script>\n</body>\n</html>\n",
                       data_of(report), script);
    return out;
}

} // namespace lithe
