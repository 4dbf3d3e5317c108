#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// How fine the tets are: exactly one of the two; with neither, `default_count` tets.
///
/// The cell is the edge of the cubes of the lattice: edges of tets inside the body are 0.87 or 1 cell long, and a
/// cube of one cell holds 12 tets.
struct TetrahedraliseOptions {
    std::optional<double> cell = {}; ///< [m], > 0
    std::optional<Index> count = {}; ///< tets, met within 20 %

    static constexpr Index default_count = 8000;
};

/// A connected region of the surface behind which the body is thinner than two cells.
struct ThinPart {
    Vec3 centre = Vec3::Zero(); ///< [m]
    double thickness = 0.0;     ///< a quarter of the region is thinner than this [m]
    double share = 0.0;         ///< of the surface's area, in (0, 1]
    Index count = 0;            ///< tets with which it would be two cells thick
};

struct TetrahedraliseReport {
    double cell = 0.0; ///< [m]
    double level_offset =
        0.0; ///< the surface was moved outward by this to keep the volume [cells], |.| <= 0.1
    Index tets = 0;
    Index parts = 0;                ///< separate bodies
    double smallest_dihedral = 0.0; ///< [degrees]
    /// Volume of the tets over that of the surface; nothing when the surface is open or overlaps itself.
    std::optional<double> volume_ratio = {};
    double surface_to_tets = 0.0; ///< largest distance from the surface to the boundary of the tets [cells]
    double tets_to_surface = 0.0; ///< and back [cells]
    std::vector<ThinPart> thin_parts = {}; ///< largest share first
    /// What was mended, assumed or given up, in plain words.
    std::vector<std::string> assumptions = {};
};

struct TetrahedraliseResult {
    TetMesh mesh;
    TetrahedraliseReport report;
};

/// Fills a surface with tets by isosurface stuffing (`stuff`).                                      [LS07]
///
/// The surface may be broken: it is welded, oriented and its holes are closed first, and what is inside is decided
/// by winding numbers, so overlapping shells unite and shells that face inward are hollows. The boundary
/// of the result is a closed manifold that does not keep the surface's triangles; all dihedral angles are
/// above 8.5 degrees.
///
/// Parts of the body, and gaps of it, that are thinner than the lattice can see are widened
/// to about a cell, so that they are neither lost nor torn; the level set is then offset so that the
/// volume is that of the surface.
///
/// Throws InputError for options out of range, and for a surface that encloses nothing.
TetrahedraliseResult tetrahedralise(TriangleMesh surface, const TetrahedraliseOptions& options,
                                    Progress& progress);

} // namespace lithe
