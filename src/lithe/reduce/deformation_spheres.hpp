#pragma once
#include <span>
#include <vector>

#include "lithe/contact/contact_model.hpp"
#include "lithe/reduce/prepared_model.hpp"
#include "lithe/reduce/sphere_tree.hpp"

namespace lithe {

/// U_s^T at a sample of the surface, r x 3: the mean of that of its vertices.
void sample_basis(const ReducedSurface& surface, const ContactSample& sample,
                  Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> U_T);
/// Its place at rest. [m]
inline Vec3 sample_rest(const ReducedSurface& surface, const ContactSample& sample)
{
    return sample.position(surface.rest.vertices);
}

/// A hierarchy of spheres over points that follow q, X_i + U_i q, which needs no update when q changes: what is asked for is
/// evaluated on the way.                                                                        [JP04]
///
///   centre  c(q) = c + u q,   radius  R(q) = R + sum_k |q_k| max_i |U_ik - u_k|,   u = mean of the U_i
///
/// By the triangle inequality every point stays in all spheres above it, however large q is. Binary, split in the middle of the
/// longest side at rest; the nodes lie in depth-first order. The same points give the same tree.
class DeformationSpheres {
public:
    DeformationSpheres() = default;
    /// Over those samples that move at all; known by their place in `samples`. At most `leaf_size` to a leaf.
    DeformationSpheres(const ReducedSurface& surface, std::span<const ContactSample> samples,
                       Index leaf_size);

    struct Ball {
        Vec3 centre;
        double radius;
    };

    /// Goes down where keep(ball) is true and calls leaf(items) where it ends. Returns the number of balls looked at.
    template <class Keep, class Leaf>
    Index visit(const VecX& q, Keep&& keep, Leaf&& leaf) const;

    /// In the world, around all points at q, those that do not move too. As tight as the leaves are.
    Box3 bounds(const VecX& q, const RigidPose& frame = {}) const;
    /// No point moves by more than this when q changes by dq. [m]
    double motion(const VecX& dq) const { return dq.cwiseAbs().dot(reach_); }
    /// Radius of the whole at rest. [m]
    double size() const { return nodes_.empty() ? 0.0 : nodes_[0].radius; }
    Index node_count() const { return static_cast<Index>(nodes_.size()); }

private:
    struct Node : TreeNode {
        Vec3 centre = Vec3::Zero();
        double radius = 0.0; ///< at rest
    };
    void set_ball(const Points& rest, const Eigen::MatrixXf& U_T, std::size_t node);
    Ball ball(std::size_t node, const VecX& q) const;

    Index rank_ = 0;
    std::vector<int> items_; ///< of the leaves, one after the other
    std::vector<Node> nodes_;
    /// A column for each node and coordinate k: u_k, and the growth of the radius. Of all layouts this one has no sums
    /// across lanes.
    Eigen::Matrix<float, 4, Eigen::Dynamic> change_;
    VecX reach_; ///< max_i |U_ik|
    Box3 still_; ///< around the points that do not move
};

template <class Keep, class Leaf>
Index DeformationSpheres::visit(const VecX& q, Keep&& keep, Leaf&& leaf) const
{
    return visit_tree(nodes_, items_, [&](std::size_t node) { return keep(ball(node, q)); }, leaf);
}

} // namespace lithe
