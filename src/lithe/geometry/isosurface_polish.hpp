#pragma once
#include "lithe/core/progress.hpp"
#include "lithe/geometry/isosurface.hpp"

namespace lithe {

/// Turns the triangles of a closed manifold surface that lies on f = 0 into well-shaped ones with edges of about
/// `edge` [m]: short edges are collapsed (only where the link condition holds [DEGN99]), edges flipped towards
/// Delaunay, vertices moved to the middle of their neighbours in the tangent plane and back to f = 0 by Newton
/// steps. It stays closed and manifold. The second half of isosurface.
void polish(const ImplicitFunction& f, double edge, TriangleMesh& mesh, Progress& progress);

} // namespace lithe
