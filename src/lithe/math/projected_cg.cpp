#include "lithe/math/projected_cg.hpp"

#include <cmath>

namespace lithe {

LinearConstraints::LinearConstraints(const MatX& C, const VecX& a)
{
    constexpr double dependent = 1e-8;
    Eigen::ColPivHouseholderQR<MatX> qr(C);
    qr.setThreshold(dependent);
    const Index r = qr.rank();
    Q_ = MatX(qr.householderQ() * MatX::Identity(C.rows(), r));
    const VecX wanted = (qr.colsPermutation().transpose() * a).head(r);
    const MatX R = qr.matrixR().topLeftCorner(r, r);
    start_ = Q_ * R.triangularView<Eigen::Upper>().transpose().solve(wanted);
}

void LinearConstraints::project(VecX& x) const
{
    if (rank() > 0) x -= Q_ * (Q_.transpose() * x);
}

ProjectedCgReport solve_projected(const LinearMap& A, const VecX& b, const LinearConstraints& constraints,
                                  const LinearMap& preconditioner, const CgOptions& options, VecX& x)
{
    if (constraints.rank() > 0) {
        constraints.project(x);
        x += constraints.start();
    }
    VecX r(b.size()), z(b.size()), Ap(b.size());
    A(x, r);
    r = b - r;
    constraints.project(r);
    const auto precondition = [&] {
        preconditioner(r, z);
        constraints.project(z);
    };
    precondition();
    VecX p = z;
    double rz = r.dot(z);
    const double first = r.norm(), goal = options.relative_residual * b.norm();
    ProjectedCgReport report;
    for (; report.iterations < options.max_iterations; ++report.iterations) {
        report.residual = first > 0.0 ? r.norm() / first : 0.0;
        if (r.norm() <= goal) {
            report.converged = true;
            return report;
        }
        A(p, Ap);
        constraints.project(Ap);
        const double curvature = p.dot(Ap);
        if (!(curvature > 0.0)) return report;
        const double length = rz / curvature;
        x += length * p;
        r -= length * Ap;
        precondition();
        const double next = r.dot(z);
        p = z + next / rz * p;
        rz = next;
    }
    return report;
}

} // namespace lithe
