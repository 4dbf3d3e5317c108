#pragma once
#include <vector>

#include "lithe/fem/model.hpp"

namespace lithe {

/// Three numbers for each of r coordinates, and nine; a row is one stretch of memory, so that sums over the coordinates
/// are fast.
using Rows3 = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;
using Rows9 = Eigen::Matrix<double, 9, Eigen::Dynamic, Eigen::RowMajor>;
/// S q of a point, 3 x r times r, without the detour that a product of any size takes.
inline Vec3 times(const Eigen::Ref<const Rows3>& S, const VecX& q)
{
    return S.lazyProduct(q);
}
/// A symmetric 3 x 3 matrix: xx, yy, zz, yz, zx, xy.
using Vec6 = Eigen::Matrix<double, 6, 1>;

/// Sums over the mass of a body in  x = t + R p,  p = X + S q  (X from the centre of mass), that tell its inertia and its
/// momenta from q alone. `sum` runs over the body's own mass matrix, consistent or lumped: the one that S is
/// orthonormal in.
///
///   J(q) = sum p p^T,   I(q) = tr(J) - J,   B(q) = sum [p] S
///
/// B and dJ/dq are linear in q, and J follows from them: a single product gives all,  W(q) = first + second q, nine rows
/// of r numbers, of which
///
///   rows 0 to 5:  (dJ/dq_a)/2, symmetric;   rows 6 to 8:  B(q)
struct FrameTensors {
    double mass = 0.0;          ///< [kg]
    Vec3 centre = Vec3::Zero(); ///< of mass, at rest, in the axes of the model [m]
    Rows3 linear;               ///< sum S [kg]; zero for a basis that is fit for a frame
    Vec6 J0;                    ///< J at rest [kg m^2]
    Rows9 first;                ///< W at rest
    MatX second;                ///< 9r x r: row c r + a is dW(c, a)/dq
    MatX Mq;                    ///< S^T M S, r x r [kg]

    Index rank() const { return second.cols(); }
    /// sum x x S about the origin of the model, at rest [kg m]; B(0) is about the centre.
    Rows3 angular() const;
    /// sum (S x S)_c, r x r, antisymmetric [kg]: what B gains with q.
    MatX quadratic(int c) const;
    /// sum x x S v about the origin of the model, at q. [kg m^2/s]
    Vec3 angular_momentum(const VecX& q, const VecX& v) const;
};

/// For any basis, 3n x r. Throws InputError when it is of another mesh.
FrameTensors make_frame_tensors(const FemModel& model, const MatX& S);

/// Throws InputError for a body so thin that it has no inertia about its axis (least principal moment below 1e-9 of the
/// largest): its spin is not determined.
void require_inertia(const FrameTensors& tensors);

/// I = tr(J) - J.
Mat3 inertia_of(const Vec6& J);

/// A body's inertia and coupling at some q.
struct FrameConfiguration {
    Rows9 W;
    Mat3 I = Mat3::Identity(); ///< about the centre of mass, in the axes of the frame [kg m^2]
    Mat3 I_inverse = Mat3::Identity();
    Rows3 H;                 ///< I^-1 B, 3 x r
    bool degenerate = false; ///< the mass lies on a line, and I was raised a little

    auto B() const { return W.bottomRows<3>(); }
    auto half_dJ() const { return W.topRows<6>(); }
    /// dI/dt with dq/dt = u.
    Mat3 inertia_rate(const VecX& u) const;
    /// c_a = 1/2 Omega . (dI/dq_a) Omega, r.
    void centrifugal(const Vec3& Omega, VecX& c) const;
    /// Column a is (dI/dq_a) Omega, 3 x r.
    void inertia_gradient(const Vec3& Omega, Rows3& out) const;
};

/// At q, O(r^2). Allocates on first use only.
void configure(const FrameTensors& tensors, const VecX& q, FrameConfiguration& out);
/// W(q), which is linear in q: the costly part, O(r^2).
void frame_rows(const FrameTensors& tensors, const VecX& q, Rows9& W);
/// At q from W(q), which is in `out` already, O(r).
void configure_from_rows(const FrameTensors& tensors, const VecX& q, FrameConfiguration& out);

/// dW/dt with dq/dt = u: rows 6 to 8 are Bdot, O(r^2).
void frame_rates(const FrameTensors& tensors, const VecX& u, Rows9& out);
/// G(Omega) = sum S^T [Omega] S, r x r, antisymmetric. G u = Bdot(u)^T Omega.
void gyroscopic(const FrameTensors& tensors, const Vec3& Omega, MatX& G);
/// dc/dq for Omega, r x r, symmetric: what spin takes from the stiffness.
void centrifugal_stiffness(const FrameTensors& tensors, const Vec3& Omega, MatX& out);

/// Which axes a basis gets within its span.
enum class FrameAxes {
    AsGiven,          ///< those that orthonormalising in order gives
    StiffnessDiagonal ///< eigenvectors of the stiffness at rest, softest first: the cheapest steps
};

/// A basis that is fit for a frame: no column moves the centre of mass or turns the body at rest, S^T M S = 1.
struct FramedBasis {
    Vec3 centre = Vec3::Zero(); ///< of mass: where the frame's origin is in the axes of the model [m]
    MatX S;                     ///< 3n x r
    std::vector<Index> dropped; ///< columns that were rigid or spanned by the ones before them
    VecX eigenvalues;           ///< omega^2 [1/s^2]; with StiffnessDiagonal only
};
/// Throws InputError when U is of another mesh or not finite, and as require_inertia does.
FramedBasis make_framed_basis(const FemModel& model, const MatX& U, FrameAxes axes = FrameAxes::AsGiven);

} // namespace lithe
