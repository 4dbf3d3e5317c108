#pragma once
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

// Each repair changes the mesh in place, keeps its vertex fields in step, and returns what it did: counts, and
// the same in plain words (`notes`, empty when there was nothing to do). They are independent of each other; the order of
// `repair` below is the one that makes sense. All throw InputError for an index out of range or a
// coordinate that is not finite.

struct [[nodiscard]] WeldReport {
    Index welded_vertices = 0;     ///< that became part of another
    Index collapsed_triangles = 0; ///< removed: two corners became one
    Index duplicate_triangles = 0; ///< removed: extra copies of another triangle
    Index inner_wall_triangles =
        0; ///< removed in pairs: back to back, with the surface going on at their whole rim
    std::vector<std::string> notes = {};
};

/// Merges vertices that are closer than `tolerance` [m] (0: those with equal coordinates).
///
/// Vertices are visited in their order; each joins the nearest vertex kept so far if that is close enough, else
/// it is kept itself. So nothing moves further than the tolerance, however long a chain of close
/// vertices is, and what is kept has its first vertex's coordinates and fields. Unused vertices stay.
///
/// Of several triangles with the same corners one is kept. Two that lie back to back are removed both when they are part of an
/// inner wall (two boxes that share a side become one box); a sheet modelled from both sides keeps one side.
WeldReport weld(TriangleMesh& mesh, double tolerance);

struct [[nodiscard]] DegenerateReport {
    Index removed = 0; ///< triangles with a repeated corner
    Index flipped = 0; ///< triangles without height that were exchanged with their neighbour's longest edge
    Index left = 0;    ///< triangles without height that could not be mended
    std::vector<std::string> notes = {};
};

/// Removes triangles with a repeated corner. A triangle without height (less than `flatness` times its longest side) has
/// one corner on the opposite side: the edge there is flipped, so that the surface stays closed.
DegenerateReport drop_degenerate(TriangleMesh& mesh, double flatness = 1e-10);

struct [[nodiscard]] OrientReport {
    Index patches = 0;        ///< connected across edges of two triangles
    Index closed_patches = 0; ///< without a border
    Index turned = 0;         ///< triangles turned round
    Index cavities = 0;       ///< closed patches inside others that bound a hollow: they face inward
    Index inner_solids = 0;   ///< closed patches inside others that face outward, as they did
    Index undecided = 0;      ///< open patches with as much outside on both sides: only made consistent
    Index non_orientable = 0; ///< one-sided patches (Moebius strip): left as they were
    std::vector<std::string> notes = {};
};

/// Makes neighbouring triangles agree, then turns each patch outward.
///
/// Patches end at borders and at edges of three triangles or more. A closed patch is outward when its volume is positive. A closed
/// patch inside another is a cavity if it faced against the one around it; if either was mixed (more than
/// a tenth of its triangles disagreed), parity decides: inside one shell hollow, inside two solid. Open patches are voted on
/// by lines through the surface along its normals: out is the side from which the number of crossings is even
/// [TJKS14], and when those do not tell, the sign of the volume between the patch and its centroid.
OrientReport orient(TriangleMesh& mesh);

struct HoleLoop {
    Index edges = 0;
    double length = 0.0;       ///< [m]
    Vec3 place = Vec3::Zero(); ///< mean of its vertices [m]
};

struct [[nodiscard]] FillReport {
    std::vector<HoleLoop> filled = {};
    std::vector<HoleLoop> left = {};
    Index new_triangles = 0;
    Index new_vertices = 0;
    std::vector<std::string> notes = {};
};

/// Closes border loops of at most `max_edges` edges. A loop of up to 500 edges gets the triangulation of least area [BS95],
/// flat triangles excepted; a longer one, and one whose diagonals are edges of the surface already, a fan around its centroid.
/// No edge gets a third triangle. Triangles should be oriented alike first (`orient`); a loop that runs
/// into a turned triangle or a non-manifold edge is left, as is the rim of a single triangle.
FillReport fill_holes(TriangleMesh& mesh, Index max_edges);

struct [[nodiscard]] ComponentReport {
    Index components = 0;
    Index removed_components = 0;
    Index removed_triangles = 0;
    std::vector<std::string> notes = {};
};

/// Removes connected parts (sharing no vertex with others) of less area than `share` times the largest part's.
/// 1 keeps the largest part only (all of the largest, when several are equal).
ComponentReport drop_small_components(TriangleMesh& mesh, double share);

struct RepairOptions {
    double weld_tolerance = 0.0; ///< [m], >= 0
    Index hole_edges = 0;        ///< loops up to this many edges are closed; 0: none
    double component_share =
        0.0; ///< parts of less than this share of the largest part's area are removed, in [0, 1]
};

struct [[nodiscard]] RepairReport {
    WeldReport weld;
    DegenerateReport degenerate;
    ComponentReport components;
    OrientReport orient;
    FillReport holes;
    std::vector<std::string> notes = {}; ///< of all steps, in their order
};

/// weld, drop_degenerate, drop_small_components, orient, fill_holes, and orient again if a hole was filled
/// (a patch that has become closed is judged by its volume).
RepairReport repair(TriangleMesh& mesh, const RepairOptions& options);

} // namespace lithe
