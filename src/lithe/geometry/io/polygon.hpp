#pragma once
#include <span>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe::io {

/// Cuts the polygon with these corners (three or more, in order) into corners.size() - 2 triangles of the same
/// orientation and appends their corners to `triangles`. Concave polygons are cut by clipping ears in the plane they
/// are closest to; what is not simple there (or has more corners than `longest_clipped`) becomes a fan.
void triangulate_polygon(const double* coordinates, std::span<const int> corners,
                         std::vector<int>& triangles);

/// Clipping ears takes time up to the cube of the corners; beyond this a file is taken to be damaged or hostile.
constexpr std::size_t longest_clipped = 1000;

} // namespace lithe::io
