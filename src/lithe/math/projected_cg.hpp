#pragma once
#include "lithe/math/conjugate_gradient.hpp"

namespace lithe {

/// Linear constraints  C^T x = a  in a form that can be projected on:  C = Q R, with the columns that depend on others dropped.
class LinearConstraints {
public:
    LinearConstraints() = default;
    /// C is n x m. Columns whose part that is new is below 1e-8 of the largest are dropped, and with them what they ask for.
    LinearConstraints(const MatX& C, const VecX& a);

    Index rank() const { return Q_.cols(); }
    /// The smallest x that meets them:  Q R^-T a.
    const VecX& start() const { return start_; }
    /// x becomes (I - Q Q^T) x.
    void project(VecX& x) const;

private:
    MatX Q_; ///< n x rank
    VecX start_;
};

struct ProjectedCgReport {
    bool converged = false;
    int iterations = 0;
    double residual = 0.0; ///< projected, relative to that of the start
};

/// Solves  min x.Ax/2 - b.x  with  C^T x = a,  for a positive definite A, by conjugate gradients in the space that the constraints
/// leave [CGC02]. They apply one projector I - c c^T / c.c after the other, which is no projector unless the columns are orthogonal, and
/// diverges; this one is the projector. `preconditioner` is symmetric and positive definite. x is where to start; it is moved onto
/// the constraints first.
ProjectedCgReport solve_projected(const LinearMap& A, const VecX& b, const LinearConstraints& constraints,
                                  const LinearMap& preconditioner, const CgOptions& options, VecX& x);

} // namespace lithe
