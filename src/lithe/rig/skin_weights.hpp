#pragma once
#include "lithe/geometry/mesh.hpp"
#include "lithe/rig/skeleton.hpp"

namespace lithe {

constexpr int most_influences = 8; ///< bones that a vertex may follow

/// A joint that carries skin.
struct Bone {
    int joint = 0;
    Affine3 inverse_bind = Affine3::Identity(); ///< from the rest surface in the world to the joint's frame
};

/// How much each vertex follows which bone. Slots that are not used have weight 0 and bone 0; those in use come first,
/// heaviest first; the weights of a vertex sum to one.
struct SkinWeights {
    Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic> bones; ///< slots x vertices, slots <= most_influences
    MatX weights;                                             ///< the same shape, each in [0, 1]

    Index slots() const { return weights.rows(); }
    Index vertex_count() const { return weights.cols(); }
};

/// From a bones x vertices matrix of values >= 0: the heaviest `slots` of each vertex, normalised. A vertex without any
/// weight is an InputError that names it.
SkinWeights sparse_weights(const MatX& dense, Index slots = most_influences);
/// bones x vertices.
MatX dense_weights(const SkinWeights& weights, Index bone_count);

/// The skinning matrices: from the rest surface to the posed one, in the world. M_b = world_j inverse_bind_b
std::vector<Affine3> bone_transforms(const std::vector<Bone>& bones, const std::vector<Affine3>& world);
void bone_transforms(const std::vector<Bone>& bones, const std::vector<Affine3>& world,
                     std::vector<Affine3>& out);

} // namespace lithe
