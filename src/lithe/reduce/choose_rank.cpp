#include "lithe/reduce/choose_rank.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/reduced_solve.hpp"
#include "lithe/reduce/tet_sample.hpp"

namespace lithe {
namespace {

constexpr Index smallest_rank = 4;

class RankErrors {
public:
    RankErrors(const FemModel& model, const MatX& U, const MatX& references)
        : model_(model), U_(U), references_(references), cubature_(sample_tets(model).cubature),
          loads_(references.rows(), references.cols())
    {
        const CubatureElastic elastic(model, U, cubature_);
        parallel_blocks(references.cols(), 4, [&](Index begin, Index end) {
            ReducedElastic at;
            CubatureElastic::Work work;
            for (Index t = begin; t < end; ++t) {
                elastic.evaluate(references.col(t), at, work);
                loads_.col(t) = at.gradient;
            }
        });
    }

    double operator()(Index rank) const
    {
        const ReducedModel reduced{.M = MatX::Identity(rank, rank),
                                   .elastic = CubatureElastic(model_, MatX(U_.leftCols(rank)), cubature_)};
        VecX errors(references_.cols());
        parallel_blocks(errors.size(), 4, [&](Index begin, Index end) {
            ReducedWork work;
            for (Index t = begin; t < end; ++t) errors[t] = error(reduced, t, work);
        });
        return errors.norm() / std::sqrt(static_cast<double>(errors.size()));
    }

private:
    double error(const ReducedModel& reduced, Index t, ReducedWork& work) const
    {
        const Index rank = reduced.rank();
        ReducedState state = rest_state(reduced);
        state.q = references_.col(t).head(rank);
        if (!solve_static(reduced, loads_.col(t).head(rank), {.decrement = 1e-8}, state, work).converged())
            return 1.0;
        VecX difference = -references_.col(t);
        difference.head(rank) += state.q;
        return difference.norm() / references_.col(t).norm();
    }

    const FemModel& model_;
    const MatX& U_;
    const MatX& references_;
    Cubature cubature_;
    MatX loads_; ///< dPsi/dq of the references
};

void require_usable(const Basis& basis, const MatX& references)
{
    if (!basis.mass_orthonormal) throw InputError("choosing a rank needs a mass-orthonormal basis");
    if (references.rows() != basis.rank())
        throw InputError("the poses have " + std::to_string(references.rows()) + " coordinates, the basis " +
                         std::to_string(basis.rank()));
    if (references.cols() == 0) throw InputError("choosing a rank needs at least one pose");
    if (!references.allFinite() || references.colwise().norm().minCoeff() == 0.0)
        throw InputError("a pose is at rest or not finite; remove it");
}

} // namespace

RankChoice choose_rank(const FemModel& model, const Basis& basis, const MatX& references, double tolerance,
                       Progress& progress)
{
    require_usable(basis, references);
    (void)require_positive("tolerance", tolerance);
    const RankErrors errors(model, basis.U, references);
    std::map<Index, double> tried;
    const auto suffices = [&](Index rank) {
        tried[rank] = errors(rank);
        progress.advance();
        return tried[rank] <= tolerance;
    };

    // Half as many more each time until they suffice, then bisection.
    const Index most = 3 * basis.rank() / 4;
    progress.begin("rank", 16);
    Index low = 0, high = std::min(smallest_rank, most);
    bool found = high > 0 && suffices(high);
    while (!found && high < most) {
        low = high;
        high = std::min(most, high + std::max<Index>(1, high / 2));
        found = suffices(high);
    }
    while (found && high - low > 1) {
        const Index middle = (low + high) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    progress.end();

    RankChoice out{.rank = found ? high : basis.rank(),
                   .status = found ? RankStatus::Converged : RankStatus::BasisTooSmall,
                   .ranks = {},
                   .errors = {}};
    for (const auto& [rank, error] : tried) {
        out.ranks.push_back(rank);
        out.errors.push_back(error);
    }
    return out;
}

std::vector<double> rank_errors(const FemModel& model, const Basis& basis, const MatX& references,
                                const std::vector<Index>& ranks, Progress& progress)
{
    require_usable(basis, references);
    const RankErrors errors(model, basis.U, references);
    std::vector<double> out;
    progress.begin("rank", static_cast<std::int64_t>(ranks.size()));
    for (const Index rank : ranks) {
        if (rank < 1 || rank > basis.rank())
            throw InputError("a rank of " + std::to_string(rank) + " is not in 1 to " +
                             std::to_string(basis.rank()));
        out.push_back(errors(rank));
        progress.advance();
    }
    progress.end();
    return out;
}

} // namespace lithe
