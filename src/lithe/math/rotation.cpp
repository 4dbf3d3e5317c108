#include "lithe/math/rotation.hpp"

#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// sin(a) / a, (1 - cos a) / a^2 and (a - sin a) / a^3 as functions of a^2.
struct RodriguesCoefficients {
    double sine, cosine, cubic;
};

/// A series each of whose terms is the one before times -x and the next of these:  1 - x c_0 (1 - x c_1 (1 - ...)).
template <class... Shares>
double series(double x, double first, Shares... rest)
{
    if constexpr (sizeof...(rest) == 0)
        return 1.0 - x * first;
    else
        return 1.0 - x * first * series(x, rest...);
}

RodriguesCoefficients rodrigues_coefficients(double a2)
{
    // Below 0.1 rad the closed forms of the last two lose digits to cancellation; the next terms of the series are
    // a^10 / 11!, a^10 / 12! and a^10 / 13!, below 1e-17 there.
    if (a2 < 1e-2)
        return {series(a2, 1.0 / 6, 1.0 / 20, 1.0 / 42, 1.0 / 72, 1.0 / 110),
                series(a2, 1.0 / 12, 1.0 / 30, 1.0 / 56, 1.0 / 90, 1.0 / 132) / 2.0,
                series(a2, 1.0 / 20, 1.0 / 42, 1.0 / 72, 1.0 / 110, 1.0 / 156) / 6.0};
    const double a = std::sqrt(a2), sine = std::sin(a);
    const double half = std::sin(0.5 * a) / a;
    return {sine / a, 2.0 * half * half, (a - sine) / (a2 * a)};
}

} // namespace

Mat3 skew(const Vec3& w)
{
    Mat3 A;
    A << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
    return A;
}

Vec3 axial(const Mat3& A)
{
    return 0.5 * Vec3(A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1));
}

Mat3 exp_so3(const Vec3& w)
{
    return exp_quat(w).toRotationMatrix();
}

Vec3 log_so3(const Mat3& R)
{
    return log_quat(Quat(R));
}

Mat3 exp_so3_jacobian(const Vec3& w)
{
    const auto c = rodrigues_coefficients(w.squaredNorm());
    const Mat3 W = skew(w);
    return Mat3::Identity() + c.cosine * W + c.cubic * W * W;
}

Mat3 rotated_derivative(const Vec3& w, const Vec3& x)
{
    return -skew(exp_so3(w) * x) * exp_so3_jacobian(w);
}

Mat3 rotation_between(const Vec3& a, const Vec3& b)
{
    const double length_a = a.stableNorm(), length_b = b.stableNorm();
    if (!(length_a > 0.0 && length_b > 0.0))
        throw InputError("rotation_between needs two directions, but one is the zero vector");
    return Quat::FromTwoVectors(a / length_a, b / length_b).toRotationMatrix();
}

Quat exp_quat(const Vec3& w)
{
    const double half_angle2 = 0.25 * w.squaredNorm();
    const auto c = rodrigues_coefficients(half_angle2);
    const Vec3 v = 0.5 * c.sine * w;
    return Quat(1.0 - half_angle2 * c.cosine, v[0], v[1], v[2]);
}

Vec3 log_quat(const Quat& q)
{
    const double sine = q.vec().stableNorm(); // of the half angle
    if (sine == 0.0) return Vec3::Zero();
    const double angle = 2.0 * std::atan2(sine, std::abs(q.w()));
    return (q.w() < 0.0 ? -angle : angle) * (q.vec() / sine);
}

Quat turned(const Quat& q, const Vec3& w)
{
    return (exp_quat(w) * q).normalized();
}

Quat interpolated(const Quat& q_0, const Quat& q_1, double t)
{
    if (q_0.coeffs() == q_1.coeffs()) return q_0;
    return turned(q_0, t * log_quat(q_1 * q_0.conjugate()));
}

} // namespace lithe
