#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lithe/math/rotation.hpp"

namespace lithe {

using Affine3 = Eigen::Transform<double, 3, Eigen::AffineCompact>; ///< x = A X + t, a 3 x 4 matrix

/// Where a joint is in its parent:  x = R diag(scale) X + t.
struct JointTransform {
    Vec3 translation = Vec3::Zero();
    Quat rotation = Quat::Identity(); ///< unit
    Vec3 scale = Vec3::Ones();

    Affine3 matrix() const;
};

/// The nearest of them to a matrix: exact for every product of the three, which a sheared matrix is not. A
/// mirrored one gets a negative scale along x.
JointTransform decomposed(const Affine3& matrix);

struct Joint {
    std::string name;    ///< may be empty, may repeat
    int parent = -1;     ///< -1: a root; else below its own index
    JointTransform rest; ///< where it is when nothing moves it
};

/// A tree of frames: the joints of a character, and all that is between and around them.
struct Skeleton {
    std::vector<Joint> joints; ///< parents before children
    /// From the frame of the roots into the world: scale and up axis of the file, and where the character is put.
    Affine3 placement = Affine3::Identity();

    int joint_count() const { return static_cast<int>(joints.size()); }
    /// The first of that name, or -1.
    int find(std::string_view name) const;
};

/// Of each joint in its parent.
using Pose = std::vector<JointTransform>;

Pose rest_pose(const Skeleton& skeleton);

/// Of each joint in the world, placement included.
std::vector<Affine3> world_transforms(const Skeleton& skeleton, const Pose& pose);
/// The same into a buffer, which is resized when needed; allocates nothing when it fits.
void world_transforms(const Skeleton& skeleton, const Pose& pose, std::vector<Affine3>& world);

} // namespace lithe
