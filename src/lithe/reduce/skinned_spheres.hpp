#pragma once
#include <span>
#include <vector>

#include "lithe/body/skin.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/reduce/sphere_tree.hpp"

namespace lithe {

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
    struct Node : TreeNode {
        int first_part = 0, parts_end = 0; ///< of its bones
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
    return visit_tree(
        nodes_, vertices_, [&](std::size_t node) { return keep(ball(nodes_[node], bones)); }, leaf);
}

} // namespace lithe
