#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/geometry/shapes.hpp"
#include "lithe/render/render.hpp"

namespace lithe::bench {

SuiteReport bench_render(Progress& progress)
{
    Progress silent;
    const TriangleMesh mesh = make_torus(1.0, 0.4, 0.0141);
    RenderScene scene;
    scene.surfaces.push_back(make_surface(mesh, {}));
    const RenderOptions options;
    const Camera camera = frame_content(mesh.vertices, {});
    const Timing timing = measure(5, progress, [&] { (void)render(scene, camera, options, silent); });
    SuiteReport report;
    report.results.push_back(
        result("picture_s", timing, 1.0, "s",
               fmt::format("{}x{}, torus of {} triangles, default quality; bound by rays", options.width,
                           options.height, mesh.triangle_count())));
    return report;
}

} // namespace lithe::bench
