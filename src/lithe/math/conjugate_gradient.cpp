#include "lithe/math/conjugate_gradient.hpp"

#include <cmath>
#include <string>

#include <Eigen/Cholesky>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr Index entries_per_task = 4096;

/// Calls f(begin, size) for fixed blocks of a vector.
template <class F>
void for_blocks(Index count, const F& f)
{
    parallel_blocks(count, entries_per_task, [&](Index begin, Index end) { f(begin, end - begin); });
}

/// x += a p,  r -= a Ap
void step_along(double a, CgWork& work, VecX& x)
{
    for_blocks(x.size(), [&](Index at, Index n) {
        x.segment(at, n) += a * work.p.segment(at, n);
        work.r.segment(at, n) -= a * work.Ap.segment(at, n);
    });
}

/// p = z + beta p
void turn_direction(double beta, CgWork& work)
{
    for_blocks(work.p.size(), [&](Index at, Index n) {
        work.p.segment(at, n) = work.z.segment(at, n) + beta * work.p.segment(at, n);
    });
}

double norm(const VecX& a, CgWork& work)
{
    return std::sqrt(dot(a, a, work.partial));
}

/// r = b - A x, and its length
double true_residual(LinearMap A, const VecX& b, const VecX& x, CgWork& work)
{
    A(x, work.r);
    for_blocks(b.size(),
               [&](Index at, Index n) { work.r.segment(at, n) = b.segment(at, n) - work.r.segment(at, n); });
    return norm(work.r, work);
}

void size_buffers(Index n, CgWork& work)
{
    for (VecX* v : {&work.r, &work.z, &work.p, &work.Ap}) v->resize(n);
}

} // namespace

CgReport conjugate_gradient(LinearMap A, LinearMap preconditioner, const VecX& b, const CgOptions& options,
                            VecX& x, CgWork& work)
{
    if (x.size() != b.size())
        throw InputError("conjugate_gradient: x has " + std::to_string(x.size()) + " entries, b " +
                         std::to_string(b.size()));
    require_positive("max_iterations", options.max_iterations);
    require_positive("relative_residual", options.relative_residual);
    size_buffers(b.size(), work);

    CgReport report;
    const double b_norm = norm(b, work);
    if (b_norm == 0.0) {
        x.setZero();
        report.status = CgStatus::Converged;
        return report;
    }
    const double target = options.relative_residual * b_norm;
    double residual = true_residual(A, b, x, work);
    double rz_0 = 0.0; // of the last direction; zero: start anew along z
    const auto stop = [&](CgStatus status) {
        report.status = status;
        report.relative_residual = residual / b_norm;
        return report;
    };

    if (!std::isfinite(residual) || !std::isfinite(b_norm)) return stop(CgStatus::NotFinite);
    if (residual <= target) return stop(CgStatus::Converged);
    while (report.iterations < options.max_iterations) {
        preconditioner(work.r, work.z);
        const double rz = dot(work.r, work.z, work.partial);
        if (!std::isfinite(rz)) return stop(CgStatus::NotFinite);
        if (rz <= 0.0) return stop(CgStatus::NotPositiveDefinite);
        if (rz_0 > 0.0)
            turn_direction(rz / rz_0, work);
        else
            work.p = work.z;

        A(work.p, work.Ap);
        const double pAp = dot(work.p, work.Ap, work.partial);
        if (!std::isfinite(pAp)) return stop(CgStatus::NotFinite);
        if (pAp <= 0.0) return stop(CgStatus::NotPositiveDefinite);
        step_along(rz / pAp, work, x);
        ++report.iterations;
        rz_0 = rz;
        residual = norm(work.r, work);
        if (residual <= target) {
            residual = true_residual(A, b, x, work);
            if (residual <= target) return stop(CgStatus::Converged);
            rz_0 = 0.0;
        }
    }
    return stop(CgStatus::IterationLimit);
}

void JacobiPreconditioner::compute(const SparseMatrix& A)
{
    inverse_ = A.diagonal();
    for (double& d : inverse_) d = d > 0.0 ? 1.0 / d : 1.0;
}

void JacobiPreconditioner::operator()(const VecX& r, VecX& z) const
{
    LITHE_ASSERT(r.size() == inverse_.size());
    z.resize(r.size());
    for_blocks(r.size(), [&](Index at, Index n) {
        z.segment(at, n) = inverse_.segment(at, n).cwiseProduct(r.segment(at, n));
    });
}

void BlockJacobiPreconditioner::compute(const SparseMatrix& A)
{
    if (A.rows() != A.cols() || A.cols() % 3 != 0)
        throw InputError("the matrix is " + std::to_string(A.rows()) + " x " + std::to_string(A.cols()) +
                         "; blocks of three need a square one whose size is a multiple of three");
    inverse_.setZero(3, A.cols());
    for (Index j = 0; j < A.cols(); ++j)
        for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry)
            if (entry.row() / 3 == j / 3) inverse_(entry.row() % 3, j) = entry.value();
    parallel_for(A.cols() / 3, 1024, [&](Index v) {
        const Mat3 block = inverse_.middleCols<3>(3 * v);
        const Eigen::LLT<Mat3> llt(block);
        const bool usable = llt.info() == Eigen::Success && block.allFinite();
        inverse_.middleCols<3>(3 * v) = usable ? Mat3(llt.solve(Mat3::Identity())) : Mat3(Mat3::Identity());
    });
}

void BlockJacobiPreconditioner::operator()(const VecX& r, VecX& z) const
{
    LITHE_ASSERT(r.size() == inverse_.cols());
    z.resize(r.size());
    parallel_for(r.size() / 3, 1024, [&](Index v) {
        z.segment<3>(3 * v).noalias() = inverse_.middleCols<3>(3 * v) * r.segment<3>(3 * v);
    });
}

} // namespace lithe
