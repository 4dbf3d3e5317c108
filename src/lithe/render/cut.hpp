#pragma once
#include <vector>

#include "lithe/render/scene.hpp"

namespace lithe {

/// What is in front of the plane, normal . x > offset, is taken away.
struct CutPlane {
    Vec3 normal = Vec3::UnitX(); ///< any length above zero
    double offset = 0.0;         ///< [m] for a unit normal
};

/// The surface behind the plane: triangles across it are clipped, fields interpolated along their edges.
/// The result may be empty.
TriangleMesh cut_surface(const TriangleMesh& mesh, const CutPlane& plane);

/// The tets whose centre is behind the plane, whole: their outside as `options` say, and the faces that the cut laid
/// open as flat elements with their edges drawn, in a colour of their own. Surfaces without triangles are left out.
std::vector<RenderSurface> cut_tets(const TetMesh& mesh, const CutPlane& plane,
                                    const SurfaceOptions& options);

} // namespace lithe
