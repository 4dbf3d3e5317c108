#pragma once
#include <optional>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct DelaunayOptions {
    /// Bound for the circumradius of the tets and of the surface's triangles [m], > 0. Exactly one of the two is given.
    std::optional<double> cell = std::nullopt;
    std::optional<Index> count = std::nullopt; ///< tets wanted, met within 20 %
    /// Edges whose triangles turn by more than this stay edges of the mesh [degrees], in (0, 180]; 180: none.
    /// Not if they are loose pieces (more than one dangling end for twenty edges), as on scanned surfaces.
    double feature_angle = 60.0;
};

/// Whether this build has CGAL (LITHE_GPL).
bool delaunay_available();

/// Fills a closed surface with tets by Delaunay refinement, then perturbs and exudes slivers.  [JAYB15]
///
/// The surface must be closed, manifold and free of self-intersections: InputError names the first fault and the way out. Which
/// way its triangles face does not matter: a shell inside another bounds a hollow.
/// For a `count` the mesher runs several times; `progress` is asked between the runs whether to stop.
/// The same input gives the same bits. Needs a build with LITHE_GPL, else throws InputError.
TetMesh delaunay_tets(const TriangleMesh& surface, const DelaunayOptions& options, Progress& progress);

} // namespace lithe
