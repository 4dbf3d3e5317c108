#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/geometry/mesh_io.hpp"
#include "lithe/meshing/cgal/delaunay.hpp"
#include "lithe/meshing/remesh.hpp"
#include "lithe/meshing/tetrahedralise.hpp"

namespace lithe::bench {

void bench_tets(SuiteReport& report, Progress& progress)
{
    const std::string file = data_file("meshes/stanford/armadillo_52k.obj");
    if (file.empty()) {
        report.skipped.push_back("tets_s: no armadillo_52k.obj; set LITHE_DATA");
        return;
    }
    Progress silent;
    const TriangleMesh surface = read_surface(file);
    Index tets = 0;
    const Timing stuffing =
        measure(5, progress, [&] { tets = tetrahedralise(surface, {.count = 100000}, silent).report.tets; });
    report.results.push_back(
        result("tets_s", stuffing, 1.0, "s",
               fmt::format("isosurface stuffing, armadillo_52k to {} tets, with the report", tets)));
    if (delaunay_available()) {
        progress.check();
        const Stopwatch watch;
        const Index peer_tets = delaunay_tets(surface, {.count = 100000}, silent).tet_count();
        report.results.back().peer =
            Peer{fmt::format("CGAL Mesh_3, {} tets, one run", peer_tets), watch.seconds()};
    }
}

SuiteReport bench_meshing(Progress& progress)
{
    SuiteReport report;
    bench_tets(report, progress);
    const std::string file = data_file("meshes/stanford/armadillo_52k.obj");
    if (file.empty()) {
        report.skipped.push_back("simplify_s: no armadillo_52k.obj; set LITHE_DATA");
        return report;
    }
    const TriangleMesh surface = read_surface(file);
    const Timing simplifying = measure(5, progress, [&] { (void)simplify(surface, 5200); });
    report.results.push_back(
        result("simplify_s", simplifying, 1.0, "s", "armadillo_52k to 5,200 triangles, one core"));
    return report;
}

} // namespace lithe::bench
