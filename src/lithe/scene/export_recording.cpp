#include "lithe/scene/export_recording.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"

namespace lithe::exporting {

bool moves(const std::vector<RigidPose>& poses)
{
    return std::ranges::any_of(poses, [&](const RigidPose& pose) {
        return pose.translation != poses[0].translation ||
               pose.rotation.coeffs() != poses[0].rotation.coeffs();
    });
}

Points3f RecordedBody::positions_in_pose(std::size_t frame) const
{
    if (!positions.empty()) return positions[frame];
    const VecX w = weights.empty() ? VecX() : weights[frame];
    return surface_in_frame(shown, {.frame = {}, .weights = w}).cast<float>();
}

Points3f world_positions(const RecordedBody& body, std::size_t frame)
{
    const RigidPose& pose = body.poses[frame];
    const Mat3 R = pose.rotation.toRotationMatrix();
    const Points X =
        body.deforms() ? body.positions_in_pose(frame).cast<double>() : body.shown.surface.vertices;
    return ((R * X).colwise() + pose.translation).cast<float>();
}

void RecordingSink::begin(const std::vector<Shown>& bodies, double fps)
{
    LITHE_ASSERT(recording_.bodies.empty());
    recording_.fps = require_positive("fps", fps);
    recording_.names = plain_names(bodies);
    for (const Shown& shown : bodies) {
        recording_.bodies.push_back({.shown = shown});
        recording_.bodies.back().shown.volume = {};
    }
}

void RecordingSink::frame(const Frame& frame)
{
    LITHE_ASSERT(frame.bodies.size() == recording_.bodies.size());
    for (std::size_t b = 0; b < frame.bodies.size(); ++b) {
        RecordedBody& body = recording_.bodies[b];
        const Published& now = frame.bodies[b];
        body.poses.push_back(now.frame);
        if (skins_ == Skins::AsSkeletons && body.shown.character) {
            body.joints.push_back(now.joints);
            body.weights.push_back(now.weights);
            if (body.shown.flesh) body.positions.push_back(now.positions.cast<float>());
            continue;
        }
        const bool by_vertex = now.positions.cols() > 0 || !now.bones.empty();
        if (body.shown.rigid || (!by_vertex && now.weights.size() == 0)) continue;
        if (by_vertex) {
            body.positions.push_back(surface_in_frame(body.shown, now).cast<float>());
            LITHE_ASSERT(body.positions.back().cols() == body.vertex_count());
        } else {
            LITHE_ASSERT(body.shown.morphs && body.shown.morphs->cols() == now.weights.size());
            body.weights.push_back(now.weights);
        }
        // It deforms in all frames or in none, and always in the same way.
        LITHE_ASSERT(std::max(body.positions.size(), body.weights.size()) == body.poses.size());
    }
    recording_.numbers.push_back(frame.number);
    recording_.times.push_back(frame.t);
}

void RecordingSink::finish()
{
    if (recording_.frame_count() > 0 && !recording_.bodies.empty()) write();
}

} // namespace lithe::exporting
