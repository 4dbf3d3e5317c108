#pragma once
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

enum class NnlsStatus {
    Converged,
    IterationLimit,     ///< cycled; the weights are feasible, but not the best
    NotPositiveDefinite ///< the columns of the passive set are dependent
};

/// Buffers, sized on first use.
struct NnlsWork {
    std::vector<Index> passive;
    MatX G;
    VecX h, s, dual;
    Eigen::LLT<MatX> llt;
};

/// min |A w - b|^2 over w >= 0, from G = A^T A and h = A^T b alone: the active-set method of Lawson and Hanson with the
/// normal equations of Bro and de Jong.                                                     [LH74] [BJ97]
///
/// `w` is where it starts: entries above zero are free from the first iteration on, so that a problem that has grown by a
/// few columns costs a few iterations. G is regularised by 1e-13 of its mean diagonal.
[[nodiscard]] NnlsStatus solve_nnls(const MatX& G, const VecX& h, VecX& w, NnlsWork& work);

} // namespace lithe
