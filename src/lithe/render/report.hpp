#pragma once
#include <string>
#include <vector>

namespace lithe {

// A page about a run or a model: a table of facts, plots, pictures. One HTML file with everything in it, in light and dark, that asks
// for nothing from outside. All texts are UTF-8 and are escaped here.

struct ReportFact {
    std::string name;
    std::string value; ///< as it shall be read, with its unit
};

enum class PlotScale {
    Linear,
    Log, ///< values that are not above zero are left out of the curve
};

struct PlotAxis {
    std::string label;
    std::string unit = {}; ///< "" for none
    PlotScale scale = PlotScale::Linear;
};

enum class PlotMarks {
    None,
    Dots, ///< on every value: for few of them, or ones that are no samples of a curve
};

struct PlotSeries {
    std::string name;
    std::vector<double> values; ///< one per entry of Plot::x_values; what is not finite is a gap
    PlotMarks marks = PlotMarks::None;
};

struct Plot {
    std::string title;
    PlotAxis x, y;
    std::vector<double> x_values; ///< rising
    std::vector<PlotSeries> series;
};

struct ReportPicture {
    std::string caption; ///< also read to those who do not see it
    std::string png;     ///< bytes of the file
};

/// Small pictures side by side.
struct ReportGallery {
    std::string title;
    std::vector<ReportPicture> pictures;
};

/// What a whole is made of: each part with a bar.
struct ReportShares {
    struct Part {
        std::string name;
        std::string value; ///< as it shall be read, with its unit
        double share;      ///< of the whole, in [0, 1]
    };
    std::string title;
    std::vector<Part> parts;
};

/// In this order on the page.
struct Report {
    std::string title;
    std::string summary = {}; ///< a sentence under the title
    std::vector<ReportPicture> pictures = {};
    std::vector<ReportFact> facts = {};
    std::vector<ReportGallery> galleries = {};
    std::vector<Plot> plots = {};
    std::vector<ReportShares> shares = {};
};

/// The page. What the plots show is in it a second time as JSON, in the script element with the id "report-data":
/// {"version":1,"title","facts":[{"name","value"}],"plots":[{"title","x":{"label","unit","scale","values"},
/// "y":{"label","unit","scale"},"series":[{"name","values"}]}]}, null for a gap, and, where there are any,
/// "shares":[{"title","parts":[{"name","value","share"}]}].
std::string to_html(const Report& report);

} // namespace lithe
