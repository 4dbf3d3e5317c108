#pragma once
#include <span>

#include "lithe/rig/skin_weights.hpp"

namespace lithe {

enum class SkinningMethod { Linear, DualQuaternion };

/// The posed vertices, on all threads. M are the skinning matrices (bone_transforms).
///
///   Linear           x = sum_b w_b M_b [X; 1]
///   DualQuaternion   x = c(X'),  c the normalised blend of the bones' dual quaternions, signs towards the heaviest [KCZO08];
///                    X' = sum_b w_b S_b X where M_b = R_b S_b + t_b has a stretch S_b
///
/// `x` is resized when needed; nothing is allocated when it fits (and there are no more than 256 bones).
void skin(SkinningMethod method, const SkinWeights& weights, std::span<const Affine3> M, const Points& X,
          Points& x);

/// The affine map of each vertex: x = A_v X + t_v, and A_v is  dx / dX  at fixed weights. With dual quaternions and rigid bones
/// A_v is a rotation. One column per vertex: A column by column, then t.
using VertexFrames = Eigen::Matrix<double, 12, Eigen::Dynamic>;
void skin_frames(SkinningMethod method, const SkinWeights& weights, std::span<const Affine3> M,
                 VertexFrames& frames);

/// A_v X + t_v, and the way back: X = A_v^-1 (x - t_v), for pulling a posed mesh back to rest. Where A_v is nearly singular (linear
/// blending of a half turn) its small singular values are held at 0.05 of the largest.
void apply_frames(const VertexFrames& frames, const Points& X, Points& x);
void pull_back(const VertexFrames& frames, const Points& x, Points& X);

/// Unit normals of the posed surface from those at rest:  n = A_v^-T N, normalised.
void skin_normals(const VertexFrames& frames, const Points& N, Points& n);

/// How a posed vertex moves with a bone: 3 x 6, for a twist (angular velocity, then velocity of the world's origin) of the bone's
/// matrix in world axes,  dM = [w] M + v.
Eigen::Matrix<double, 3, 6> skin_jacobian(SkinningMethod method, const SkinWeights& weights,
                                          std::span<const Affine3> M, const Points& X, Index vertex,
                                          int bone);

} // namespace lithe
