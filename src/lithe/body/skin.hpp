#pragma once
#include <span>
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

/// Displacements of a surface's vertices, a column per shape: 3 s x r, row 3 i + c is coordinate c of vertex i. [m] per
/// unit of the shape's weight.
using SurfaceMorphs = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What a skin has of one bone: the vertices that follow it, and how. The weights of a vertex sum to one over its
/// bones.
struct SkinBone {
    std::vector<int> vertices; ///< of the skin, rising
    VecX weights;              ///< of each, in (0, 1]
    Points rest;               ///< of each, in the frame of the bone [m]
    SurfaceMorphs basis;       ///< 3 vertices x r; no columns for a rigid bone
};

/// Where a bone is. Its part of a skin vertex is  frame (X_i + S_i q).
struct BoneMotion {
    RigidPose frame;
    const VecX* q; ///< r
};

/// x_i = sum_k w_ik (t_k + R_k (X_ik + S_ik q_k))  for all vertices, on all threads; the same bits for any number of them. `x` is 3 x
/// vertices.
void place_skin(std::span<const SkinBone> skin, std::span<const BoneMotion> bones, Points& x);
/// The same for bodies that share a skin: it is read once.
struct SkinPlacement {
    std::vector<BoneMotion> bones;
    Points* x; ///< 3 x vertices
};
void place_skins(std::span<const SkinBone> skin, std::span<const SkinPlacement> bodies);

} // namespace lithe
