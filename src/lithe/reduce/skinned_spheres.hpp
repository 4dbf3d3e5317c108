#pragma once
#include <span>
#include <vector>

#include "lithe/math/rigid_pose.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {

/// What a skin has of one bone: the vertices that follow it, and how. The weights of a vertex sum to one over its
/// bones.
struct SkinBone {
    std::vector<int> vertices; ///< of the skin
    VecX weights;              ///< of each, in (0, 1]
    Points rest;               ///< of each, in the frame of the bone [m]
    SurfaceBasis basis;        ///< 3 vertices x r; no columns for a rigid bone
};

/// Where a bone is. Its part of a skin vertex is  frame (X_i + S_i q).
struct BoneMotion {
    RigidPose frame;
    const VecX* q; ///< r
};

/// A hierarchy of spheres over a skin of several bones,  x_i = sum_k w_ik (t_k + R_k (X_ik + S_ik q_k)),  that needs no
/// update when they move: what is asked for is evaluated on the way.
///
///   rho_k = max_i |X_ik - X_k| + sum_a |q_ka| max_i |S_ika - S_ka|,   c_k = t_k + R_k (X_k + S_k q_k),   S_k = mean of the S_ik
///   centre  c = sum_k w_k c_k,   w_k = mean_i w_ik
///   radius  min(sum_k max_i w_ik rho_k,  max_k rho_k) + sum_k max_i |w_ik - w_k| |c_k - c|
///
/// where i runs over the vertices of a sphere, for X and S over those with a weight. x_i - c = sum_k w_ik (x_ik - c_k)
/// + sum_k (w_ik - w_k) (c_k - c), so that every vertex stays inside, whatever the pose. Binary, split in the middle of
/// the longest side at rest.
class SkinnedSpheres {
public:
    SkinnedSpheres() = default;
    /// `rest` is the skin. At most `leaf_size` vertices to a leaf. Throws InputError for weights of a vertex that are
    /// not above zero or do not sum to one.
    SkinnedSpheres(const Points& rest, std::span<const SkinBone> bones, Index leaf_size);

    struct Ball {
        Vec3 centre;
        double radius;
    };

    /// Goes down where keep(ball) is true and calls leaf(vertices) where it ends. Returns the number of balls looked
    /// at.
    template <class Keep, class Leaf>
    Index visit(std::span<const BoneMotion> bones, Keep&& keep, Leaf&& leaf) const;

    /// In the world, around all vertices. As tight as the leaves are.
    Box3 bounds(std::span<const BoneMotion> bones) const;
    Index node_count() const { return static_cast<Index>(nodes_.size()); }

private:
    struct Node {
        int begin, end;            ///< of its vertices
        int first_part, parts_end; ///< of its bones
        int skip;                  ///< the next node that is not below this one
        bool leaf;
    };
    /// What a sphere has of one bone.
    struct Part {
        int bone;
        double weight, most, spread; ///< w_k, max w_ik, max |w_ik - w_k|
        Vec3 centre;                 ///< X_k
        double radius;               ///< of the X_ik
        Index change;                ///< its columns in change_
    };
    struct Follower {
        int bone, place; ///< of the vertex among those of the bone
    };

    void add_nodes(const Points& rest, int begin, int end, Index leaf_size);
    void add_part(const SkinBone& bone, int index, std::span<const Follower> followers, Index vertex_count);
    Ball ball(const Node& node, std::span<const BoneMotion> bones) const;
    Ball part_ball(const Part& part, const BoneMotion& bone) const;

    std::vector<int> vertices_; ///< of the leaves, one after the other
    std::vector<Node> nodes_;
    std::vector<Part> parts_;
    /// A column for each part and coordinate: S_k, and the growth of the radius.
    std::vector<Eigen::Vector4f> change_;
};

template <class Keep, class Leaf>
Index SkinnedSpheres::visit(std::span<const BoneMotion> bones, Keep&& keep, Leaf&& leaf) const
{
    Index looked_at = 0;
    for (std::size_t at = 0; at < nodes_.size();) {
        const Node& node = nodes_[at];
        ++looked_at;
        const bool kept = keep(ball(node, bones));
        if (kept && node.leaf)
            leaf(std::span<const int>(vertices_).subspan(static_cast<std::size_t>(node.begin),
                                                         static_cast<std::size_t>(node.end - node.begin)));
        at = kept ? at + 1 : static_cast<std::size_t>(node.skip); // depth first
    }
    return looked_at;
}

} // namespace lithe
