#include "lithe/rig/joint_path.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe {
namespace {

JointTransform interpolated(const JointTransform& a, const JointTransform& b, double s)
{
    return {.translation = a.translation + s * (b.translation - a.translation),
            .rotation = lithe::interpolated(a.rotation, b.rotation, s),
            .scale = a.scale + s * (b.scale - a.scale)};
}

/// From 0 to 1, level at both ends.
double eased(double s)
{
    const double x = std::clamp(s, 0.0, 1.0);
    return x * x * (3.0 - 2.0 * x);
}

} // namespace

void apply_tracks(const JointTracks& tracks, double t, JointTransform& local)
{
    if (tracks.translation) local.translation = tracks.translation->at(t);
    if (tracks.rotation) local.rotation = tracks.rotation->at(t);
    if (tracks.scale) local.scale = tracks.scale->at(t);
}

JointPath::JointPath(const Skeleton& skeleton, std::shared_ptr<const Clip> clip, const Bone& bone,
                     const Playback& playback, double blend)
    : clip_(std::move(clip)), placement_(skeleton.placement), inverse_bind_(bone.inverse_bind),
      joint_at_rest_(bone.inverse_bind.inverse().translation()), playback_(playback), blend_(blend)
{
    if (!(blend >= 0.0)) throw InputError("the blend of a clip must be at least 0");
    if (bone.joint < 0 || bone.joint >= skeleton.joint_count())
        throw InputError("a bone follows a joint that the skeleton does not have");
    for (int j = bone.joint; j >= 0; j = skeleton.joints[static_cast<std::size_t>(j)].parent) {
        const auto tracks = std::ranges::find(clip_->joints, j, &JointTracks::joint);
        chain_.push_back({skeleton.joints[static_cast<std::size_t>(j)].rest,
                          tracks == clip_->joints.end() ? nullptr : &*tracks});
    }
    std::ranges::reverse(chain_);
}

RigidPose JointPath::at(double t) const
{
    const double clip_time = playback_.clip_time(*clip_, t);
    const double share = blend_ > 0.0 ? eased(t / blend_) : 1.0;
    Affine3 world = placement_;
    for (const Link& link : chain_) {
        JointTransform local = link.rest;
        if (link.tracks) apply_tracks(*link.tracks, clip_time, local);
        world = world * (share < 1.0 ? interpolated(link.rest, local, share) : local).matrix();
    }
    const Quat R(polar_rotation((world * inverse_bind_).linear()));
    return {R.normalized(), world.translation() - R.normalized() * joint_at_rest_};
}

} // namespace lithe
