#include <algorithm>
#include <numeric>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/math/nnls.hpp"
#include "lithe/reduce/cubature_columns.hpp"

namespace lithe {

double exact_step_length(const MatX& A, const VecX& gradient)
{
    const double length = (A * gradient).squaredNorm();
    return length > 0.0 ? gradient.squaredNorm() / (2.0 * length) : 0.0;
}

namespace {

constexpr int most_rounds = 30;
constexpr Index fewest_candidates = 5; ///< times the points that are asked for

/// The places of the largest entries above zero, `count` at most, rising.
std::vector<Index> largest_positive(const VecX& values, Index count)
{
    std::vector<Index> places;
    for (Index k = 0; k < values.size(); ++k)
        if (values[k] > 0.0) places.push_back(k);
    const auto kept = std::min(places.size(), static_cast<std::size_t>(count));
    std::ranges::partial_sort(
        places, places.begin() + static_cast<std::ptrdiff_t>(kept),
        [&](Index a, Index b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    places.resize(kept);
    std::ranges::sort(places);
    return places;
}

/// Some points with columns and weights.
class Support {
public:
    Support(const CubatureProblem& problem, Index size) : problem_(problem), size_(size)
    {
        A_.resize(problem.target().size(), 0);
    }

    VecX residual() const { return slots_.empty() ? problem_.target() : VecX(problem_.target() - A_ * w_); }
    const std::vector<Index>& slots() const { return slots_; }
    const VecX& weights() const { return w_; }

    /// One round: takes in the candidates with the largest descent, makes the exact gradient step on all that are there,
    /// keeps the largest, fits them.
    void improve(const std::vector<Index>& candidates)
    {
        const VecX r = residual();
        take_in(candidates, problem_.products(candidates, r));
        const VecX gradient = -2.0 * (A_.transpose() * r);
        const VecX stepped = w_ - exact_step_length(A_, gradient) * gradient;
        keep(largest_positive(stepped, size_), stepped);
        const MatX G = A_.transpose() * A_;
        VecX fitted = w_;
        if (solve_nnls(G, A_.transpose() * problem_.target(), fitted, nnls_) !=
            NnlsStatus::NotPositiveDefinite)
            w_ = fitted;
        keep(largest_positive(w_, size_), w_);
    }

private:
    void take_in(const std::vector<Index>& candidates, const VecX& descent)
    {
        const std::vector<Index> best = largest_positive(descent, size_);
        const Index before = w_.size(), after = before + static_cast<Index>(best.size());
        A_.conservativeResize(Eigen::NoChange, after);
        w_.conservativeResize(after);
        w_.tail(after - before).setZero();
        for (const Index k : best) slots_.push_back(candidates[static_cast<std::size_t>(k)]);
        parallel_for(after - before, 8, [&](Index k) {
            A_.col(before + k) = problem_.column(slots_[static_cast<std::size_t>(before + k)]);
        });
    }
    void keep(const std::vector<Index>& places, const VecX& weights)
    {
        std::vector<Index> slots;
        for (const Index k : places) slots.push_back(slots_[static_cast<std::size_t>(k)]);
        slots_ = std::move(slots);
        A_ = MatX(A_(Eigen::all, places));
        w_ = VecX(weights(places));
    }

    const CubatureProblem& problem_;
    Index size_;
    std::vector<Index> slots_;
    MatX A_;
    VecX w_;
    NnlsWork nnls_;
};

/// All tets, or so many of them drawn anew, without those in use.
std::vector<Index> draw_candidates(const CubatureProblem& problem, Index count, std::vector<Index> used,
                                   Random& random)
{
    std::vector<Index> pool = problem.slots();
    const auto all = static_cast<Index>(pool.size());
    if (count > 0 && count < all) {
        for (Index k = 0; k < count; ++k)
            std::swap(pool[static_cast<std::size_t>(k)],
                      pool[static_cast<std::size_t>(k) + random.index(static_cast<std::uint64_t>(all - k))]);
        pool.resize(static_cast<std::size_t>(count));
        std::ranges::sort(pool);
    }
    std::ranges::sort(used);
    std::vector<Index> out;
    std::ranges::set_difference(pool, used, std::back_inserter(out));
    return out;
}

double held_out_error(const CubatureProblem& problem, const Support& support)
{
    if (!problem.has_held_out()) return 0.0;
    VecX sum = VecX::Zero(problem.held_out_rows());
    for (std::size_t c = 0; c < support.slots().size(); ++c)
        sum += support.weights()[static_cast<Index>(c)] * problem.held_out_column(support.slots()[c]);
    return problem.held_out_error(sum);
}

} // namespace

ThresholdedWeights threshold_weights(const CubatureProblem& problem, Index size, Index candidates,
                                     std::uint64_t seed)
{
    Random random(seed);
    Support support(problem, size);
    ThresholdedWeights best;
    std::vector<Index> before;
    const Index drawn = candidates == 0 ? 0 : std::max(candidates, fewest_candidates * size);
    for (int round = 0, idle = 0; round < most_rounds && idle < 4; ++round) {
        support.improve(draw_candidates(problem, drawn, support.slots(), random));
        const double error = problem.training_error(support.residual());
        if (error < best.training_error) {
            idle = error < 0.99 * best.training_error ? 0 : idle + 1;
            best = {support.slots(), support.weights(), error, held_out_error(problem, support)};
        } else
            ++idle; // it can cycle
        std::vector<Index> now = support.slots();
        std::ranges::sort(now);
        if (now == before) break;
        before = std::move(now);
    }
    return best;
}

} // namespace lithe
