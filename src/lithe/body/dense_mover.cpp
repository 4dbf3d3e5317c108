#include "lithe/body/dense_mover.hpp"

#include <Eigen/Eigenvalues>

namespace lithe {

void DenseMover::join(const MatX& compliance, ImpulseProblem& problem)
{
    constexpr double nothing = 1e-12; // of the largest answer
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(compliance);
    const VecX values = eigen.eigenvalues().cwiseMax(0.0);
    const double least = values.size() > 0 ? nothing * values.maxCoeff() : 0.0;
    const VecX root = values.cwiseSqrt();
    const VecX inverse = root.unaryExpr([&](double s) { return s * s > least ? 1.0 / s : 0.0; });
    F_.noalias() = eigen.eigenvectors() * root.asDiagonal();
    F_inverse_.noalias() = eigen.eigenvectors() * inverse.asDiagonal();
    mover_ = problem.add_body(F_.cols());
}

void DenseMover::couple(std::size_t point, double weight, ImpulseProblem& problem) const
{
    problem.block(mover_) += weight * F_.middleRows<3>(3 * static_cast<Index>(point));
}

VecX DenseMover::impulses(Eigen::Ref<const VecX> change) const
{
    return F_inverse_ * change;
}

} // namespace lithe
