#pragma once
#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/render/report.hpp"

namespace lithe {

/// What there is to show of a reduced model, as plain data; what is empty is left out of the page.
struct ModelReport {
    std::string title;
    std::string summary = {};
    std::vector<ReportFact> facts = {}; ///< source, settings, rank, points, errors, memory, file size ...

    VecX frequencies = {};     ///< of the linear modes, rising [Hz]
    VecX singular_values = {}; ///< of the directions that the basis was cut from, falling; any unit
    Index rank = 0;            ///< how many of them were kept

    double tolerance = 0.0;                ///< that the errors were held against; 0 for none
    std::vector<double> point_counts = {}; ///< while points were added and dropped ...
    std::vector<double> training_errors = {}, held_out_errors = {}; ///< ... the errors with them
    std::vector<double> ranks = {};                                 ///< that were tried, rising ...
    std::vector<double> rank_errors = {};                           ///< ... the errors with them

    TriangleMesh surface = {}; ///< at rest
    Points points = {};        ///< of the cubature, at rest [m]
    VecX weights = {};         ///< one for each of them, > 0; any unit

    /// A shape of the basis, on the vertices of the surface; drawn so large that it can be seen.
    struct Shape {
        std::string caption;
        Points displacement;
    };
    std::vector<Shape> shapes = {};

    struct Stage {
        std::string name;
        double seconds;
    };
    std::vector<Stage> stages = {}; ///< of its making
};

struct ModelReportOptions {
    int width = 1200, height = 720;            ///< of the picture of the points [pixels]
    int shape_width = 480, shape_height = 360; ///< of each shape [pixels]
    int samples = 8;                           ///< per pixel
};

/// Draws the pictures and makes the plots. Throws InputError for curves whose lengths differ.
Report make_report(const ModelReport& model, const ModelReportOptions& options, Progress& progress);

} // namespace lithe
