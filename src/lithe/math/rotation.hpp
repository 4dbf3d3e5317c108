#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

using Quat = Eigen::Quaterniond;

/// [w] with [w] x = w x x.
Mat3 skew(const Vec3& w);

/// The w of the skew part of A:   (A - A^T) / 2 = [w].
Vec3 axial(const Mat3& A);

/// The rotation about w by |w| radians (Rodrigues), accurate for any angle, small ones by their Taylor series.
Mat3 exp_so3(const Vec3& w);

/// The w with exp_so3(w) = R and |w| <= pi; R must be a rotation. At |w| = pi one of the two answers.
Vec3 log_so3(const Mat3& R);

/// The left Jacobian J of exp:   exp(w + dw) = exp(J dw) exp(w) + O(|dw|^2).
///
///   J = I + (1 - cos a) / a^2 [w] + (a - sin a) / a^3 [w]^2,   a = |w|
Mat3 exp_so3_jacobian(const Vec3& w);

/// d (exp_so3(w) x) / d w   =   -[exp(w) x] J(w).
Mat3 rotated_derivative(const Vec3& w, const Vec3& x);

/// The smallest rotation that takes the direction of a to that of b (neither zero: InputError). For opposite
/// directions, half a turn about some axis at a right angle to them.
Mat3 rotation_between(const Vec3& a, const Vec3& b);

/// exp and log for unit quaternions; log gives |w| <= pi, q and -q the same w.
Quat exp_quat(const Vec3& w);
Vec3 log_quat(const Quat& q);

/// exp(w) q, normalised: turns the orientation q by w, given in world axes.
Quat turned(const Quat& q, const Vec3& w);

/// The orientation a share t of the way from q_0 to q_1, the short way round, at constant speed.
Quat interpolated(const Quat& q_0, const Quat& q_1, double t);

} // namespace lithe
