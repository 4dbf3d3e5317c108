#pragma once
#include "lithe/scene/export_recording.hpp"

namespace lithe::exporting {

/// The motion of a deforming body as few shapes and a rigid motion:
///
///   x_f = R_f (base + sum_k w_kf T_k) + t_f + e,   |e| <= tolerance for every vertex
///
/// The T_k are the leading singular vectors of what the rigid motion leaves over, less its mean: the fewest shapes of all in
/// the sense of least squares; or those of the body itself. The base is such that the weights lie in [0, 1], since Blender
/// and others cut off what does not.
struct Morphs {
    std::vector<RigidPose> poses; ///< R_f, t_f: one per frame
    Eigen::MatrixXf base;         ///< 3n x 1; no pose of the body, unless all weights are 0 in some frame [m]
    Eigen::MatrixXf targets;      ///< 3n x r: T_k [m]
    Eigen::MatrixXf weights;      ///< r x frames, in [0, 1]
    double error = 0.0;           ///< the largest |e| [m]
    VecX offset = {}, scale = {}; ///< of shapes that the body has: its own weights are  offset + scale w

    Index count() const { return targets.cols(); }
    /// base + sum_k w_kf T_k
    Points3f shape(Index frame) const;
};

/// Of a body that publishes weights, its own shapes, all of them, exact up to single precision:
///
///   X + U q = (X + U offset) + (U scale) w
///
/// Of others, the fewest. A body that publishes a moving pose keeps it. For another, the best rigid motion becomes the pose, or the mean
/// translation alone where that needs fewer shapes. `tolerance` [m] > 0.
Morphs find_morphs(const RecordedBody& body, double tolerance);

} // namespace lithe::exporting
