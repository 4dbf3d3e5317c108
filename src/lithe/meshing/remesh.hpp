#pragma once
#include <limits>
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct SimplifyOptions {
    enum class Placement {
        Subset, ///< every vertex is one of the input's, to the last bit: for collision proxies, and fields stay exact
        Optimal, ///< vertices move to where the quadric error is least: closer to the surface for the same count
    };
    Placement placement = Placement::Subset;
    /// Collapses that would move the surface further are not done [m], > 0. An estimate: root mean square distance to the
    /// planes of the triangles that a vertex stands for.
    double max_error = std::numeric_limits<double>::infinity();
};

struct [[nodiscard]] SimplifyResult {
    TriangleMesh mesh;
    std::vector<int>
        origin;         ///< for each vertex the input's vertex that it is (Subset) or grew from (Optimal)
    double error = 0.0; ///< largest estimate of a collapse that was done [m]
    bool reached =
        false; ///< false: no more edges could be collapsed without a fold, a tear or too large an error
    std::vector<std::string> notes = {};
};

/// Collapses edges in the order of their quadric error until `target_triangles` are left.  [GH97]
///
/// A collapse is done only if it keeps the topology (link condition [DEGN99]) and turns no triangle over, so that a manifold surface
/// stays manifold, a closed one closed, each part at least a tetrahedron, and each border a loop. Edges at non-manifold
/// places are left alone. Unused vertices are dropped. Serial; 100k triangles take about a second.
SimplifyResult simplify(const TriangleMesh& mesh, Index target_triangles,
                        const SimplifyOptions& options = {});

enum class SubdivisionRule {
    Loop,     ///< smooth in the limit; borders and non-manifold edges become smooth curves  [Loop87], [HDD94]
    Midpoint, ///< each triangle cut into four, the surface unchanged
};

/// Cuts every triangle into four, `levels` times. Vertex fields follow the same weights as the positions.
/// The first vertices are the input's, moved.
TriangleMesh subdivide(const TriangleMesh& mesh, int levels, SubdivisionRule rule = SubdivisionRule::Loop);

} // namespace lithe
