#include "lithe/prepare/collision_proxy.hpp"

#include <limits>

#include "lithe/core/error.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/meshing/remesh.hpp"

namespace lithe {

CollisionProxy make_collision_proxy(const TriangleMesh& surface, const CollisionProxyOptions& options)
{
    if (options.vertices < 4)
        throw InputError("a collision proxy needs at least 4 vertices, not " +
                         std::to_string(options.vertices));
    if (!(options.max_error >= 0.0))
        throw InputError("max_error of a collision proxy must not be below zero");
    if (surface.triangle_count() == 0) throw InputError("a surface without triangles has no collision proxy");

    // Euler: a closed surface of v vertices has 2 v triangles, less a few. Vertices that nothing uses are dropped.
    const Index target = 2 * options.vertices - 4;
    SimplifyResult simple = simplify(
        surface, target,
        {.placement = SimplifyOptions::Placement::Subset,
         .max_error = options.max_error > 0.0 ? options.max_error : std::numeric_limits<double>::infinity()});
    CollisionProxy proxy{.surface = std::move(simple.mesh),
                         .origin = std::move(simple.origin),
                         .reached = simple.reached,
                         .notes = std::move(simple.notes)};
    proxy.surface.fields.clear();
    const SurfaceQuery query(proxy.surface);
    for (Index v = 0; v < surface.vertex_count(); ++v)
        proxy.distance = std::max(proxy.distance, query.closest_point(surface.vertices.col(v)).distance);
    return proxy;
}

} // namespace lithe
