#pragma once
#include <vector>

#include "lithe/geometry/surface_query.hpp"

namespace lithe {

/// A convex cell by its corners and the directions in which it may be told apart from others.
struct ConvexCell {
    std::vector<Vec3> corners;
    std::vector<Vec3> normals; ///< of its faces, of any length
    std::vector<Vec3> edges;   ///< their directions
};

ConvexCell tet_cell(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
ConvexCell box_cell(const Box3& box);

/// 1 for each cell that comes nearer to the body than `margin` or lies in it; a few that are a little farther may have it too. The
/// cells of any partition of space that have it hold the body in their inside.
std::vector<unsigned char> near_body(const std::vector<ConvexCell>& cells, const SurfaceQuery& body,
                                     double margin);

} // namespace lithe
