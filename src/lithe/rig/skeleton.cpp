#include "lithe/rig/skeleton.hpp"

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// The rotation nearest to A, whatever its rank:  argmax_R tr(R^T A).
Mat3 nearest_rotation(const Mat3& A)
{
    const Eigen::JacobiSVD<Mat3> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Mat3 U = svd.matrixU();
    if ((U * svd.matrixV().transpose()).determinant() < 0.0) U.col(2) *= -1.0;
    return U * svd.matrixV().transpose();
}

} // namespace

Affine3 JointTransform::matrix() const
{
    Affine3 M;
    M.linear() = rotation.toRotationMatrix() * scale.asDiagonal();
    M.translation() = translation;
    return M;
}

/// Minimises |A - R diag(s)| in turns: R for fixed s is the rotation nearest to A diag(s), s for fixed R the columns of
/// A along those of R. A product is found by the first turn; shear takes some, each of which brings them nearer.
JointTransform decomposed(const Affine3& matrix)
{
    constexpr int most_turns = 100;
    Mat3 A = matrix.linear();
    const bool mirrored = A.determinant() < 0.0;
    if (mirrored) A.col(0) *= -1.0;

    Vec3 s = A.colwise().norm().transpose();
    Mat3 R = nearest_rotation(
        A * s.unaryExpr([](double length) { return length > 0.0 ? 1.0 / length : 0.0; }).asDiagonal());
    for (int turn = 0; turn < most_turns; ++turn) {
        const Vec3 along = (R.transpose() * A).diagonal();
        const double change = (along - s).norm();
        s = along;
        if (change <= 1e-15 * s.norm()) break;
        R = nearest_rotation(A * s.asDiagonal());
    }
    if (mirrored) s[0] *= -1.0;
    return {.translation = matrix.translation(), .rotation = Quat(R).normalized(), .scale = s};
}

int Skeleton::find(std::string_view name) const
{
    for (int j = 0; j < joint_count(); ++j)
        if (joints[j].name == name) return j;
    return -1;
}

Pose rest_pose(const Skeleton& skeleton)
{
    Pose pose;
    pose.reserve(skeleton.joints.size());
    for (const Joint& joint : skeleton.joints) pose.push_back(joint.rest);
    return pose;
}

std::vector<Affine3> world_transforms(const Skeleton& skeleton, const Pose& pose)
{
    std::vector<Affine3> world;
    world_transforms(skeleton, pose, world);
    return world;
}

void world_transforms(const Skeleton& skeleton, const Pose& pose, std::vector<Affine3>& world)
{
    LITHE_ASSERT(pose.size() == skeleton.joints.size());
    world.resize(pose.size());
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        const int parent = skeleton.joints[j].parent;
        LITHE_ASSERT(parent < j);
        world[j] = (parent < 0 ? skeleton.placement : world[parent]) * pose[j].matrix();
    }
}

} // namespace lithe
