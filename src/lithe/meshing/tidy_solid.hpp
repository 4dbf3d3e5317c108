#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct TidyOptions {
    double speck_share = 1e-4; ///< separate parts of less than this share of the whole volume are dropped
};

struct [[nodiscard]] TidyReport {
    Index parts = 0;             ///< that are left, connected through faces
    Index dropped_parts = 0;     ///< specks
    double dropped_volume = 0.0; ///< of the specks [m^3]
    Index split_vertices = 0;    ///< doubled where two corners of the solid touched in a point
    Index dropped_tets = 0; ///< to part the solid where it touched itself along an edge or around a pinch
};

/// Makes the boundary of a tet mesh a closed manifold surface and drops specks.
///
/// Where the solid touches itself along an edge, the smaller of the fans of tets around it goes. Where two corners
/// touch in a vertex, each gets its own copy of it. Where a hollow is pinched to a point, the smallest tet at
/// the pinch goes until it is open. No tet changes its shape.
TidyReport tidy_solid(TetMesh& mesh, const TidyOptions& options = {});

} // namespace lithe
