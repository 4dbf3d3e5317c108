#pragma once
#include <Eigen/Dense>

namespace lithe {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Vec9 = Eigen::Matrix<double, 9, 1>;
using Vec12 = Eigen::Matrix<double, 12, 1>;
using VecX = Eigen::VectorXd;
using Mat3 = Eigen::Matrix3d;
using Mat4 = Eigen::Matrix4d;
using Mat9 = Eigen::Matrix<double, 9, 9>;
using Mat12 = Eigen::Matrix<double, 12, 12>;
using MatX = Eigen::MatrixXd;
using Box3 = Eigen::AlignedBox3d;
using Eigen::Index;

/// Column-major flattening, the house convention for every 3x3 -> 9 vector.
inline Vec9 vec(const Mat3& A)
{
    return Eigen::Map<const Vec9>(A.data());
}
inline Mat3 mat(const Vec9& a)
{
    return Eigen::Map<const Mat3>(a.data());
}

} // namespace lithe
