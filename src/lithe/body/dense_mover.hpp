#pragma once
#include "lithe/body/impulse_problem.hpp"

namespace lithe {

/// A body that knows its answer as one matrix: velocities at k points change by  W j,  W = F F^T (3k x 3k).
class DenseMover {
public:
    /// Takes W, symmetric and positive semidefinite up to rounding, into the problem.
    void join(const MatX& compliance, ImpulseProblem& problem);
    /// Adds `weight` times the rows of a point to the constraint that was added last.
    void couple(std::size_t point, double weight, ImpulseProblem& problem) const;
    /// Impulses at the points (3k) that do what  a = F^T j  says.
    VecX impulses(Eigen::Ref<const VecX> change) const;

private:
    MatX F_;         ///< 3k x 3k
    MatX F_inverse_; ///< from a to impulses; zero where nothing answers
    int mover_ = 0;
};

} // namespace lithe
