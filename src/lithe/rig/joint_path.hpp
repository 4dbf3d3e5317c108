#pragma once
#include <memory>

#include "lithe/math/rigid_pose.hpp"
#include "lithe/rig/clip.hpp"
#include "lithe/rig/skin_weights.hpp"

namespace lithe {

/// What a clip says about one joint at time t, in place of what `local` has.
void apply_tracks(const JointTracks& tracks, double t, JointTransform& local);

/// How a bone goes from its place at rest while the skeleton plays a clip: the joint is where the clip has it, and turns as it turns;
/// a clip that stretches the bone does not stretch this.
class JointPath {
public:
    /// Keeps what it needs of the skeleton. `blend` [s]: so long it takes from the rest pose into the clip, joint by joint, so that
    /// bones stay together. Throws InputError for a clip of another skeleton and for a blend below zero.
    JointPath(const Skeleton& skeleton, std::shared_ptr<const Clip> clip, const Bone& bone,
              const Playback& playback = {}, double blend = 0.0);

    /// In the world of the skeleton, at time t [s] of a run. Allocates nothing.
    RigidPose at(double t) const;

private:
    struct Link {
        JointTransform rest;
        const JointTracks* tracks = nullptr; ///< of *clip_; null: it stays at rest
    };
    std::shared_ptr<const Clip> clip_;
    std::vector<Link> chain_; ///< from the root to the joint
    Affine3 placement_, inverse_bind_;
    Vec3 joint_at_rest_; ///< in the world [m]
    Playback playback_;
    double blend_;
};

} // namespace lithe
