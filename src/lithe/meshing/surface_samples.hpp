#pragma once
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {

struct SurfaceSample {
    Vec3 point;
    Vec3 normal; ///< unit, outward
    double area; ///< that it stands for; zero at vertices [m^2]
};

/// Points all over a surface: every vertex that is used (with area 0), and in every triangle the centroids of as many equal
/// parts as make them nearer than `spacing`. Triangles without area are skipped.
std::vector<SurfaceSample> sample_surface(const TriangleMesh& mesh, double spacing);

/// The largest distance from the samples to the surface.
double largest_distance(const std::vector<SurfaceSample>& samples, const SurfaceQuery& surface);

} // namespace lithe
