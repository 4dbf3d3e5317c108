#include "lithe/meshing/surface_samples.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// The centroids of the n^2 equal parts of a triangle.
void sample_triangle(const Vec3& a, const Vec3& b, const Vec3& c, double spacing,
                     std::vector<SurfaceSample>& samples)
{
    const Vec3 twice_area = (b - a).cross(c - a);
    if (!(twice_area.norm() > 0.0)) return;
    const double longest =
        std::sqrt(std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}));
    const int n = static_cast<int>(std::clamp(std::ceil(longest / spacing), 1.0, 1000.0));
    const Vec3 u = (b - a) / n, v = (c - a) / n;
    const double area = 0.5 * twice_area.norm() / (n * n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; i + j < n; ++j) {
            samples.push_back({a + (i + 1.0 / 3.0) * u + (j + 1.0 / 3.0) * v, twice_area.normalized(), area});
            if (i + j + 1 < n)
                samples.push_back(
                    {a + (i + 2.0 / 3.0) * u + (j + 2.0 / 3.0) * v, twice_area.normalized(), area});
        }
}

} // namespace

std::vector<SurfaceSample> sample_surface(const TriangleMesh& mesh, double spacing)
{
    std::vector<SurfaceSample> samples;
    const Points normals = vertex_normals(mesh);
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        if (normals.col(v).squaredNorm() > 0.5)
            samples.push_back({mesh.vertices.col(v), normals.col(v), 0.0});
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        sample_triangle(mesh.vertices.col(mesh.triangles(0, t)), mesh.vertices.col(mesh.triangles(1, t)),
                        mesh.vertices.col(mesh.triangles(2, t)), spacing, samples);
    return samples;
}

double largest_distance(const std::vector<SurfaceSample>& samples, const SurfaceQuery& surface)
{
    return parallel_reduce(
        static_cast<Index>(samples.size()), 256, 0.0,
        [&](Index begin, Index end) {
            double largest = 0.0;
            for (Index i = begin; i < end; ++i)
                largest = std::max(
                    largest, surface.closest_point(samples[static_cast<std::size_t>(i)].point).distance);
            return largest;
        },
        [](double a, double b) { return std::max(a, b); });
}

} // namespace lithe
