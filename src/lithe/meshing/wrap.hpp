#pragma once
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct WrapOptions {
    double cell = 0.0;   ///< of the grid [m]; 0: a 96th of the longest side
    double offset = 0.0; ///< how far outside the surface the wrap lies [m], >= 0
    double bridge = 0.0; ///< openings up to this width are closed over [m]; 0: twice the cell
};

/// What was wrong with a surface, and what was done.
struct WrapReport {
    Index shells = 0;                    ///< connected parts of the surface, seams welded
    Index open_edges = 0;                ///< with one triangle only, seams welded
    Index seam_vertices = 0;             ///< doubled at the same place
    bool was_closed = false;             ///< one closed shell: only welded
    Index dropped_parts = 0;             ///< separate bits that enclose nothing, or float free and are tiny
    double farthest = 0.0;               ///< largest distance from the wrap to the surface [m]
    double uncovered = 0.0;              ///< largest distance of the surface outside the wrap [m]
    std::vector<std::string> notes = {}; ///< the same in plain words
};

struct Wrap {
    TriangleMesh surface; ///< closed, manifold, outward, one connected part
    WrapReport report;
};

/// One closed surface around a surface that need not be closed: shells are united, doubled seams welded, openings (a mouth, a
/// neck, eye holes) closed over, sheets given a thickness of about a cell. A surface that is closed already is only
/// welded and kept. Throws InputError when it encloses nothing.
Wrap wrap(const TriangleMesh& surface, const WrapOptions& options, Progress& progress);

} // namespace lithe
