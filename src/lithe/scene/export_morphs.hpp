#pragma once
#include "lithe/scene/export_recording.hpp"

namespace lithe::exporting {

/// The motion of a deforming body as few shapes and a rigid motion:
///
///   x_f = R_f (X + sum_k w_kf T_k) + t_f + e,   |e| <= tolerance for every vertex
///
/// The T_k and w_kf are the leading singular vectors of what the rigid motion leaves over: the fewest shapes of all in the
/// sense of least squares.
struct Morphs {
    std::vector<RigidPose> poses; ///< R_f, t_f: one per frame
    Eigen::MatrixXf targets;      ///< 3n x r: T_k, each scaled so that its largest weight is 1 [m]
    Eigen::MatrixXf weights;      ///< r x frames, in [-1, 1]
    MatX projector;     ///< frames x r: other data D (any rows) of the frames has the targets D projector
    double error = 0.0; ///< the largest |e| [m]
};

/// A body that publishes a moving pose keeps it. For another, the mean translation or the best rigid motion becomes the
/// pose, whichever needs fewer shapes. `tolerance` [m] > 0.
Morphs find_morphs(const RecordedBody& body, double tolerance);

} // namespace lithe::exporting
