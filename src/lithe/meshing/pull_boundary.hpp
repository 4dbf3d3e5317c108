#pragma once
#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {

struct PullOptions {
    double distance = 0.0; ///< vertices of the boundary farther from the surface are pulled in [m], > 0
    double smallest_angle = 10.0; ///< no dihedral angle around a moved vertex falls below this [degrees]
};

/// Moves vertices of the boundary of a tet mesh towards a surface, as far as the tets around them allow.
/// Returns the number of vertices that moved.
Index pull_boundary(TetMesh& mesh, const SurfaceQuery& surface, const PullOptions& options);

} // namespace lithe
