#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/reduce/basis.hpp"

namespace lithe {

enum class RankStatus {
    Converged,
    BasisTooSmall ///< so close to the whole basis that it cannot be told; the rank is that of the basis
};

/// How well the first columns of a basis do.
struct [[nodiscard]] RankChoice {
    Index rank = 0;
    RankStatus status = RankStatus::BasisTooSmall;
    std::vector<Index> ranks;   ///< that were tried, rising
    std::vector<double> errors; ///< of each
};

/// The smallest rank at which equilibria are found to within the tolerance (> 0). The basis is mass-orthonormal, most
/// important columns first. References are poses of it, R x count, none at rest: of random_poses with a seed that the training does not
/// have, or projected snapshots. Each is an equilibrium of the whole basis under the load f = dPsi/dq there; with the first r
/// columns and the first r entries of f, the body comes to rest at q_r, and
///
///   error(r) = root mean square over the poses of |(q_r, 0) - q| / |q|,
///
/// in the mass norm: not just what the columns left out would show, but also how their absence stiffens the rest. A pose that
/// cannot be solved counts as 1. Elasticity is summed over some 1000 tets, the same for all ranks.
///
/// The whole basis has error 0 by definition, so ranks above three quarters of it are not taken for an answer. Same result
/// for any number of threads. Throws InputError for references that do not fit, and for a basis of another kind.
RankChoice choose_rank(const FemModel& model, const Basis& basis, const MatX& references, double tolerance,
                       Progress& progress);

/// The errors of some ranks, as above.
std::vector<double> rank_errors(const FemModel& model, const Basis& basis, const MatX& references,
                                const std::vector<Index>& ranks, Progress& progress);

} // namespace lithe
