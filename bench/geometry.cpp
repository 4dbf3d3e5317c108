#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/core/random.hpp"
#include "lithe/geometry/intersections.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe::bench {
namespace {

/// armadillo_52k when the data set is here, else a torus of as many triangles.
TriangleMesh test_surface(std::string& name)
{
    const std::string file = data_file("meshes/stanford/armadillo_52k.obj");
    name = file.empty() ? "torus of 52k triangles" : "armadillo_52k";
    return file.empty() ? make_torus(1.0, 0.4, 0.0195) : read_surface(file);
}

Points random_points(const Box3& box, int count)
{
    Random random(2);
    Points points(3, count);
    for (Index i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) points(k, i) = random.uniform(box.min()[k], box.max()[k]);
    return points;
}

} // namespace

SuiteReport bench_geometry(Progress& progress)
{
    SuiteReport report;
    std::string name;
    const TriangleMesh mesh = test_surface(name);
    const SurfaceQuery query(mesh);
    constexpr int count = 100000;
    const Points points = random_points(bounds(mesh.vertices), count);
    const Vec3 centre = bounds(mesh.vertices).center();
    const double us = 1e6 / count;
    double sink = 0.0;

    const auto per_point = [&](const char* what, const char* note, auto&& ask) {
        const Timing timing = measure(5, progress, [&] {
            for (Index i = 0; i < count; ++i) sink += ask(points.col(i));
        });
        report.results.push_back(
            result(what, timing, us, "us/query", fmt::format("{}, {}, one core", note, name)));
    };
    per_point("closest_point_us", "random points in the bounding box",
              [&](const Vec3& p) { return query.closest_point(p).distance; });
    per_point("winding_number_us", "random points in the bounding box",
              [&](const Vec3& p) { return query.winding_number(p); });
    per_point("cast_ray_us", "rays from random points to the middle", [&](const Vec3& p) {
        const auto hit = query.cast_ray(p, centre - p);
        return hit ? hit->t : 0.0;
    });

    const Timing batch = measure(5, progress, [&] { sink += signed_distances(query, points).sum(); });
    report.results.push_back(
        result("signed_distance_us", batch, us, "us/query", fmt::format("a batch on all threads, {}", name)));
    const Timing crossing =
        measure(5, progress, [&] { sink += static_cast<double>(self_intersections(mesh).size()); });
    report.results.push_back(
        result("self_intersections_s", crossing, 1.0, "s", fmt::format("all pairs, exact signs, {}", name)));
    if (sink == 0.1) report.skipped.push_back("nothing"); // keeps the answers alive
    return report;
}

} // namespace lithe::bench
