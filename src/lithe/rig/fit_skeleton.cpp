#include "lithe/rig/fit_skeleton.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/geometry/unit_frame.hpp"
#include "lithe/rig/skeleton_draft.hpp"

namespace lithe {
namespace {

/// From end to end: of the two ends, the one of lower coordinates along the axis on which they differ most is the first.
SkeletonDraft fit_chain(const BodyGraph& graph, int joints, Progress& progress)
{
    progress.check();
    const auto farthest_from = [&](int point) {
        const BodyGraph::Search search = graph.search({point}, BodyGraph::Metric::Length);
        return static_cast<int>(std::max_element(search.distance.begin(), search.distance.end()) -
                                search.distance.begin());
    };
    int first = farthest_from(graph.deepest()), last = farthest_from(first);
    Index axis = 0;
    const Vec3 between = graph.place(last) - graph.place(first);
    between.cwiseAbs().maxCoeff(&axis);
    if (between[axis] < 0.0) std::swap(first, last);

    const CentreLine line = centre_line(graph, first, last);
    SkeletonDraft draft;
    for (int i = 0; i < joints; ++i)
        draft.add(fmt::format("joint_{}", i + 1), i - 1, line.at(static_cast<double>(i) / (joints - 1)));
    return draft;
}

SkeletonDraft fit(const BodyGraph& graph, const FitOptions& options, Progress& progress)
{
    switch (options.kind) {
    case SkeletonTemplate::Biped:
        return fit_biped(graph, progress);
    case SkeletonTemplate::Quadruped:
        return fit_quadruped(graph, progress);
    case SkeletonTemplate::Chain:
        break;
    }
    return fit_chain(graph, options.chain_joints, progress);
}

/// Joints on or beyond the surface (a smoothed line may cut a corner) go to the nearest point of the graph. Returns the depths.
VecX pull_inside(const BodyGraph& graph, const TriangleMesh& surface, SkeletonDraft& draft)
{
    const SurfaceQuery query(surface);
    VecX depth(std::ssize(draft.joints));
    for (Index i = 0; i < depth.size(); ++i) {
        Vec3& x = draft.joints[static_cast<std::size_t>(i)].x;
        if (-query.signed_distance(x) < 0.1 * graph.cell()) x = graph.place(graph.nearest(x));
        depth[i] = -query.signed_distance(x);
    }
    return depth;
}

void require_closed(const TriangleMesh& mesh)
{
    if (mesh.triangle_count() == 0) throw InputError("the body has no surface");
    const EdgeCensus edges = count_edges(mesh.triangles);
    if (edges.border > 0)
        throw InputError(fmt::format(
            "the body's surface is not closed: {} of its edges have one triangle only; wrap it first",
            edges.border));
}

} // namespace

FittedSkeleton fit_skeleton(const TriangleMesh& closed_surface, const FitOptions& options, Progress& progress)
{
    if (options.chain_joints < 2 || options.chain_joints > 100)
        throw InputError(fmt::format("chain_joints = {} must be 2 to 100", options.chain_joints));
    if (options.cell != 0.0) (void)require_positive("cell", options.cell);
    require_closed(closed_surface);

    const UnitFrame frame(closed_surface);
    const TriangleMesh unit = frame.inward(closed_surface);
    const BodyGraph graph(unit, options.cell / frame.size, progress);
    SkeletonDraft draft = fit(graph, options, progress);

    FittedSkeleton fitted;
    fitted.depth = frame.size * pull_inside(graph, unit, draft);
    for (const SkeletonDraft::Place& joint : draft.joints) {
        const bool root = joint.parent < 0;
        const Vec3 origin =
            root ? Vec3::Zero() : frame.outward(draft.joints[static_cast<std::size_t>(joint.parent)].x);
        fitted.skeleton.joints.push_back(
            {joint.name, joint.parent, {.translation = frame.outward(joint.x) - origin}});
    }
    fitted.notes = std::move(draft.notes);
    return fitted;
}

} // namespace lithe
