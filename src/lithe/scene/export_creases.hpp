#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe::exporting {

/// A surface whose vertices are doubled along sharp edges, so that one normal per vertex shows it as it is: smooth
/// where it is smooth, sharp where it is sharp.
struct CreasedSurface {
    std::vector<int> origin; ///< of each vertex, in the surface that it was made from
    Triangles triangles;     ///< in the order of that surface

    Index vertex_count() const { return static_cast<Index>(origin.size()); }
};

/// Edges between faces that meet at more than `angle` [rad] are sharp. Without any, nothing changes.
CreasedSurface split_at_creases(const TriangleMesh& surface, double angle = 1.0);

/// Area-weighted unit normals, 3 x vertex_count, of the surface with these positions (of the vertices that it was made
/// from). Upward where there is no area.
Eigen::Matrix3Xf crease_normals(const CreasedSurface& surface, const Eigen::Matrix3Xf& positions);

} // namespace lithe::exporting
