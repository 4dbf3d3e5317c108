#include "lithe/reduce/cubature_training.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/math/nnls.hpp"
#include "lithe/reduce/cubature_columns.hpp"

namespace lithe {
namespace {

/// How many points the rule Importance draws at a time.
constexpr Index importance_draws = 10;

/// The points chosen so far, their columns and weights.
class Trainer {
public:
    Trainer(const CubatureProblem& problem, const CubatureOptions& options)
        : problem_(problem), options_(options), random_(options.seed), pool_(problem.slots()),
          residual_(problem.target())
    {
    }

    /// Adds the next point (several for Importance), at most `room`, and fits the weights again. False when none helps.
    bool add_points(Index room)
    {
        const std::vector<Index> added = next_points(room);
        for (const Index slot : added) append(slot);
        fit_weights();
        std::vector<Index> left;
        for (std::size_t k = 0; k < added.size(); ++k)
            if (!(weights_[size() - static_cast<Index>(added.size() - k)] > 0.0)) left.push_back(added[k]);
        if (left.size() < added.size()) banned_.clear();
        banned_.insert(banned_.end(), left.begin(), left.end());
        drop_zeros();
        residual_ = problem_.target() - columns_.leftCols(size()) * weights_;
        return !added.empty();
    }

    Index size() const { return static_cast<Index>(slots_.size()); }
    double training_error() const { return problem_.training_error(residual_); }
    double held_out_error() const
    {
        return problem_.has_held_out()
                   ? problem_.held_out_error(held_out_columns_.leftCols(size()) * weights_)
                   : 0.0;
    }
    Cubature cubature() const { return problem_.cubature(slots_, weights_); }

private:
    bool is_free(Index slot) const
    {
        return std::ranges::find(slots_, slot) == slots_.end() &&
               std::ranges::find(banned_, slot) == banned_.end();
    }

    /// Slots to look at this time: all, or so many drawn without repetition; those in use or banned are left out.
    std::vector<Index> draw_candidates()
    {
        std::vector<Index> drawn;
        const auto all = static_cast<Index>(pool_.size());
        const Index count = options_.candidates == 0 ? all : std::min(options_.candidates, all);
        for (Index k = 0; k < count; ++k) {
            if (count < all)
                std::swap(
                    pool_[static_cast<std::size_t>(k)],
                    pool_[static_cast<std::size_t>(k) + random_.index(static_cast<std::uint64_t>(all - k))]);
            const Index slot = pool_[static_cast<std::size_t>(k)];
            if (is_free(slot)) drawn.push_back(slot);
        }
        return drawn;
    }

    /// How much each candidate helps; 0 for those that do not.
    VecX scores(const std::vector<Index>& candidates) const
    {
        VecX out = problem_.products(candidates, residual_);
        if (options_.rule != CubatureRule::NonNegativeOmp)
            parallel_for(out.size(), 8, [&](Index k) {
                const double squared = problem_.norm_squared(candidates[static_cast<std::size_t>(k)]);
                out[k] = squared > 0.0 ? out[k] / std::sqrt(squared) : 0.0;
            });
        const double least = 1e-12 * residual_.norm();
        return (out.array() > least).select(out, 0.0);
    }

    std::vector<Index> choose(const std::vector<Index>& candidates, Index room)
    {
        if (candidates.empty()) return {};
        const VecX score = scores(candidates);
        if (options_.rule == CubatureRule::Importance)
            return draw_by_importance(candidates, score.cwiseAbs2(), std::min(importance_draws, room));
        Index best = 0;
        for (Index k = 1; k < score.size(); ++k)
            if (score[k] > score[best] ||
                (score[k] == score[best] &&
                 candidates[static_cast<std::size_t>(k)] < candidates[static_cast<std::size_t>(best)]))
                best = k;
        if (!(score[best] > 0.0)) return {};
        return {candidates[static_cast<std::size_t>(best)]};
    }

    /// Draws without repetition, each candidate with a probability in proportion to p.
    std::vector<Index> draw_by_importance(const std::vector<Index>& candidates, VecX p, Index count)
    {
        std::vector<Index> out;
        while (static_cast<Index>(out.size()) < count && p.maxCoeff() > 0.0) {
            double mark = random_.uniform() * p.sum();
            Index last = 0; // the sum may be rounded up: then the last that can be drawn is
            for (Index k = 0; k < p.size(); ++k) {
                if (!(p[k] > 0.0)) continue;
                last = k;
                mark -= p[k];
                if (mark < 0.0) break;
            }
            out.push_back(candidates[static_cast<std::size_t>(last)]);
            p[last] = 0.0;
        }
        return out;
    }

    /// From a draw of candidates; when none helps, from a few more draws, and at last from all tets.
    std::vector<Index> next_points(Index room)
    {
        for (int attempt = 0; attempt < 4; ++attempt) {
            const std::vector<Index> chosen = choose(draw_candidates(), room);
            if (!chosen.empty() || options_.candidates == 0) return chosen;
        }
        std::vector<Index> rest;
        std::ranges::copy_if(pool_, std::back_inserter(rest), [&](Index slot) { return is_free(slot); });
        return choose(rest, room);
    }

    void append(Index slot)
    {
        const Index n = size();
        if (n == columns_.cols()) {
            const Index capacity = std::max<Index>(64, 2 * n);
            columns_.conservativeResize(problem_.target().size(), capacity);
            gram_.conservativeResize(capacity, capacity);
            if (problem_.has_held_out())
                held_out_columns_.conservativeResize(problem_.held_out_rows(), capacity);
        }
        columns_.col(n) = problem_.column(slot);
        if (problem_.has_held_out()) held_out_columns_.col(n) = problem_.held_out_column(slot);
        gram_.col(n).head(n + 1).noalias() = columns_.leftCols(n + 1).transpose() * columns_.col(n);
        gram_.row(n).head(n) = gram_.col(n).head(n).transpose();
        slots_.push_back(slot);
        weights_.conservativeResize(n + 1);
        weights_[n] = 0.0;
    }

    void fit_weights()
    {
        const Index n = size();
        const VecX h = columns_.leftCols(n).transpose() * problem_.target();
        const VecX before = weights_;
        if (solve_nnls(gram_.topLeftCorner(n, n), h, weights_, nnls_) == NnlsStatus::NotPositiveDefinite)
            weights_ = before; // the new column is spanned already: leave it out
    }

    void drop_zeros()
    {
        Index kept = 0;
        for (Index c = 0; c < size(); ++c) {
            if (!(weights_[c] > 0.0)) continue;
            if (c != kept) {
                columns_.col(kept) = columns_.col(c);
                if (problem_.has_held_out()) held_out_columns_.col(kept) = held_out_columns_.col(c);
                gram_.col(kept) = gram_.col(c);
                gram_.row(kept) = gram_.row(c);
                slots_[static_cast<std::size_t>(kept)] = slots_[static_cast<std::size_t>(c)];
                weights_[kept] = weights_[c];
            }
            ++kept;
        }
        slots_.resize(static_cast<std::size_t>(kept));
        weights_.conservativeResize(kept);
    }

    const CubatureProblem& problem_;
    const CubatureOptions& options_;
    Random random_;
    std::vector<Index> pool_;   ///< slots of all tets, shuffled by the draws
    std::vector<Index> slots_;  ///< chosen
    std::vector<Index> banned_; ///< left at once; until another one stays
    VecX residual_, weights_;
    MatX columns_, held_out_columns_, gram_;
    NnlsWork nnls_;
};

void require_usable(const CubaturePoses& poses, const CubatureOptions& options)
{
    (void)require_positive("tolerance", options.tolerance);
    if (poses.training.cols() < 1) throw InputError("training a cubature needs at least one pose");
    if (options.candidates < 0 || options.max_points < 0)
        throw InputError("candidates and max_points must not be negative");
}

/// Tells how far the error has come; it falls about exponentially with the points, so by its logarithm.
class ErrorProgress {
public:
    ErrorProgress(double tolerance, Progress& progress) : tolerance_(tolerance), progress_(progress)
    {
        progress_.begin("cubature", steps);
    }
    void tell(double error)
    {
        const double share = tolerance_ < 1.0 ? std::log(error) / std::log(tolerance_) : 1.0;
        const auto reached = static_cast<std::int64_t>(steps * std::clamp(share, 0.0, 1.0));
        if (reached > done_) progress_.advance(reached - done_);
        done_ = std::max(done_, reached);
        progress_.check();
    }

private:
    static constexpr std::int64_t steps = 1000;
    double tolerance_;
    Progress& progress_;
    std::int64_t done_ = 0;
};

Index point_limit(const CubatureProblem& problem, const CubatureOptions& options)
{
    const auto most = static_cast<Index>(problem.slots().size());
    return options.max_points > 0 ? std::min(options.max_points, most) : most;
}

/// Adds points until the error is small enough.
TrainedCubature add_until(const CubatureProblem& problem, const CubatureOptions& options,
                          ErrorProgress& error_progress)
{
    Trainer trainer(problem, options);
    const Index limit = point_limit(problem, options);
    TrainedCubature out;
    while (trainer.add_points(limit - trainer.size())) {
        const double before = out.training_error;
        out.training_error = trainer.training_error();
        out.held_out_error = trainer.held_out_error();
        out.training_errors.push_back(out.training_error);
        if (problem.has_held_out()) out.held_out_errors.push_back(out.held_out_error);
        out.point_counts.push_back(trainer.size());

        const double error = problem.has_held_out() ? out.held_out_error : out.training_error;
        if (error <= options.tolerance) {
            out.status = CubatureStatus::Converged;
            break;
        }
        if (trainer.size() >= limit) {
            out.status = CubatureStatus::PointLimit;
            break;
        }
        if (out.training_error < 1e-13 && before < 1e-13) break; // only rounding is left to fit
        error_progress.tell(error);
    }
    out.cubature = trainer.cubature();
    return out;
}

/// Looks for the smallest number of points whose error is small enough: doubles it until it is, then bisects.
class SizeSearch {
public:
    SizeSearch(const CubatureProblem& problem, const CubatureOptions& options, ErrorProgress& progress)
        : problem_(problem), options_(options), progress_(progress)
    {
    }

    TrainedCubature find(Index first)
    {
        const Index limit = point_limit(problem_, options_);
        Index high = std::min(first, limit), low = 0;
        TrainedCubature out;
        for (double before = 1.0; error_with(high) > options_.tolerance; high = std::min(2 * high, limit)) {
            low = high;
            out.status = high == limit ? CubatureStatus::PointLimit : CubatureStatus::Stalled;
            const double error = error_with(high);
            if (high == limit || error > 0.95 * before) return finish(out, high);
            before = error;
        }
        while (high - low > 1 + high / 50) {
            const Index middle = (low + high) / 2;
            (error_with(middle) <= options_.tolerance ? high : low) = middle;
        }
        out.status = CubatureStatus::Converged;
        return finish(out, high);
    }

private:
    double error_with(Index size)
    {
        auto [place, fresh] = tried_.try_emplace(size);
        if (fresh) place->second = threshold_weights(problem_, size, options_.candidates, options_.seed);
        const double error =
            problem_.has_held_out() ? place->second.held_out_error : place->second.training_error;
        progress_.tell(error);
        return error;
    }
    TrainedCubature finish(TrainedCubature out, Index size) const
    {
        for (const auto& [asked, found] : tried_) {
            out.point_counts.push_back(found.weights.size());
            out.training_errors.push_back(found.training_error);
            if (problem_.has_held_out()) out.held_out_errors.push_back(found.held_out_error);
        }
        const ThresholdedWeights& chosen = tried_.at(size);
        out.training_error = chosen.training_error;
        out.held_out_error = chosen.held_out_error;
        out.cubature = problem_.cubature(chosen.slots, chosen.weights);
        return out;
    }

    const CubatureProblem& problem_;
    const CubatureOptions& options_;
    ErrorProgress& progress_;
    std::map<Index, ThresholdedWeights> tried_;
};

} // namespace

TrainedCubature train_cubature(const FemModel& model, const MatX& U, const CubaturePoses& poses,
                               const CubatureOptions& options, Progress& progress)
{
    require_usable(poses, options);
    const CubatureProblem problem(model, U, poses);
    ErrorProgress error_progress(options.tolerance, progress);
    TrainedCubature out = options.rule == CubatureRule::HardThresholding
                              ? SizeSearch(problem, options, error_progress).find(2 * U.cols())
                              : add_until(problem, options, error_progress);
    progress.end();
    return out;
}

double cubature_error(const FemModel& model, const MatX& U, const Cubature& cubature, const MatX& poses)
{
    const ForceTargets set = make_force_targets(model, U, poses);
    const CubatureElastic elastic(model, U, cubature);
    CubatureElastic::Work work;
    ReducedElastic at;
    MatX error = set.target;
    for (Index t = 0; t < poses.cols(); ++t) {
        elastic.evaluate(poses.col(t), at, work);
        error.col(t) -= set.scale[t] * at.gradient;
    }
    return set.relative_error(Eigen::Map<const VecX>(error.data(), error.size()));
}

} // namespace lithe
