#include "lithe/reduce/cubature_training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/math/nnls.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// Poses with the reduced forces that a cubature should give there.
struct TrainingSet {
    MatX q;      ///< r x T
    VecX scale;  ///< 1 / |dPsi/dq|, per pose
    MatX target; ///< dPsi/dq scaled, r x T: columns of length one
};

/// Forces that nearly vanish do not divide by nothing: they count as this share of the largest.
constexpr double smallest_force_share = 1e-3;

TrainingSet make_training_set(const FemModel& model, const MatX& U, const MatX& poses)
{
    if (poses.rows() != U.cols())
        throw InputError("the poses have " + std::to_string(poses.rows()) + " coordinates, the basis " +
                         std::to_string(U.cols()));
    if (!poses.allFinite()) throw InputError("a pose is not finite; remove it");
    for (Index t = 0; t < poses.cols(); ++t)
        if (poses.col(t).cwiseAbs().maxCoeff() == 0.0)
            throw InputError("pose " + std::to_string(t) + " is the rest: it has no forces; remove it");
    TrainingSet set{poses, VecX(poses.cols()), MatX(poses.rows(), poses.cols())};
    ElasticWork work;
    Points gradient;
    constexpr Index chunk = 16; // enough for products of matrices, little against U
    for (Index first = 0; first < poses.cols(); first += chunk) {
        const Index count = std::min(chunk, poses.cols() - first);
        MatX u = tall_product(U, poses.middleCols(first, count));
        for (Index t = 0; t < count; ++t) {
            elastic_gradient(model,
                             model.rest + Eigen::Map<const Points>(u.col(t).data(), 3, model.vertex_count()),
                             gradient, work);
            u.col(t) = Eigen::Map<const VecX>(gradient.data(), gradient.size());
        }
        set.target.middleCols(first, count) = transposed_product(U, u);
    }
    const VecX norms = set.target.colwise().norm();
    const double floor = smallest_force_share * norms.maxCoeff();
    if (!(floor > 0.0)) throw InputError("no pose deforms the body; give larger ones");
    set.scale = norms.cwiseMax(floor).cwiseInverse();
    set.target = set.target * set.scale.asDiagonal();
    return set;
}

/// vec P of one tet at all poses, times its volume and the scale of the pose: 9 x T.
MatX scaled_stresses(const FemModel& model, Index slot, const MatX& B, const TrainingSet& set)
{
    const auto region = std::ranges::find_if(model.elements.regions,
                                             [&](const ElementRegion& r) { return slot < 8 * r.last_batch; });
    MatX F = B * set.q;
    const double volume = rest_volume(model.elements, slot);
    std::visit(
        [&](const auto& law) {
            for (Index t = 0; t < F.cols(); ++t) {
                Eigen::Map<Mat3> at(F.col(t).data());
                const Mat3 P = law.P(Mat3(at + Mat3::Identity()));
                at = volume * set.scale[t] * P;
            }
        },
        region->material);
    return F;
}

MatX deformation_rows(const FemModel& model, const MatX& U, Index slot)
{
    MatX B(9, U.cols());
    set_deformation_rows(model.elements, U, slot, B);
    return B;
}

/// The part of the targets that one tet with weight one contributes: r T entries.
VecX column_of(const FemModel& model, const MatX& U, Index slot, const TrainingSet& set)
{
    const MatX B = deformation_rows(model, U, slot);
    const MatX column = B.transpose() * scaled_stresses(model, slot, B, set);
    return Eigen::Map<const VecX>(column.data(), column.size());
}

VecX flat(const MatX& A)
{
    return Eigen::Map<const VecX>(A.data(), A.size());
}

double relative_error(const VecX& residual, const TrainingSet& set)
{
    return residual.norm() / std::sqrt(static_cast<double>(set.q.cols()));
}

/// The points chosen so far, their columns and weights.
class Trainer {
public:
    Trainer(const FemModel& model, const MatX& U, const CubaturePoses& poses, const CubatureOptions& options)
        : model_(model), U_(U), options_(options), set_(make_training_set(model, U, poses.training)),
          held_out_(poses.held_out.cols() > 0 ? make_training_set(model, U, poses.held_out) : TrainingSet{}),
          random_(options.seed)
    {
        double volume = 0.0;
        for (Index slot = 0; slot < model.elements.slot_count(); ++slot)
            if (model.elements.tet_of_slot[static_cast<std::size_t>(slot)] >= 0) {
                pool_.push_back(slot);
                volume += rest_volume(model.elements, slot);
            }
        volume_row_ = std::sqrt(static_cast<double>(set_.q.cols()));
        volume_scale_ = volume_row_ / volume;
        target_.resize(set_.target.size() + 1);
        target_ << flat(set_.target), volume_row_;
        residual_ = target_;
    }

    /// Adds the best candidate and fits the weights again. False when none helps.
    bool add_point()
    {
        const Index slot = best_candidate();
        if (slot < 0) return false;
        append(slot);
        fit_weights();
        const bool stayed = weights_[weights_.size() - 1] > 0.0;
        if (stayed)
            banned_.clear();
        else
            banned_.push_back(slot);
        drop_zeros();
        residual_ = target_ - columns_.leftCols(size()) * weights_;
        return true;
    }

    Index size() const { return static_cast<Index>(slots_.size()); }
    bool has_held_out() const { return held_out_.q.cols() > 0; }
    double training_error() const { return relative_error(residual_.head(residual_.size() - 1), set_); }
    double held_out_error() const
    {
        return has_held_out()
                   ? relative_error(flat(held_out_.target) - held_out_columns_.leftCols(size()) * weights_,
                                    held_out_)
                   : 0.0;
    }
    Index tet_count() const { return static_cast<Index>(pool_.size()); }

    Cubature cubature() const
    {
        std::vector<std::pair<int, double>> points;
        for (Index c = 0; c < size(); ++c)
            points.emplace_back(
                model_.elements.tet_of_slot[static_cast<std::size_t>(slots_[static_cast<std::size_t>(c)])],
                weights_[c]);
        std::ranges::sort(points);
        Cubature out;
        out.weights.resize(size());
        for (std::size_t c = 0; c < points.size(); ++c) {
            out.tets.push_back(points[c].first);
            out.weights[static_cast<Index>(c)] = points[c].second;
        }
        return out;
    }

private:
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
            if (std::ranges::find(slots_, slot) == slots_.end() &&
                std::ranges::find(banned_, slot) == banned_.end())
                drawn.push_back(slot);
        }
        return drawn;
    }

    double score(Index slot, const MatX& residual) const
    {
        const double volume = volume_scale_ * rest_volume(model_.elements, slot);
        const double volume_residual = residual_[residual_.size() - 1];
        if (options_.rule == CubatureRule::NonNegativeOmp) { // without making the column
            const MatX B = deformation_rows(model_, U_, slot);
            return scaled_stresses(model_, slot, B, set_).cwiseProduct(B * residual).sum() +
                   volume * volume_residual;
        }
        const VecX column = column_of(model_, U_, slot, set_);
        const double norm = std::sqrt(column.squaredNorm() + volume * volume);
        return norm > 0.0 ? (column.dot(flat(residual)) + volume * volume_residual) / norm : 0.0;
    }

    Index best_of(const std::vector<Index>& candidates) const
    {
        const MatX residual = Eigen::Map<const MatX>(residual_.data(), set_.q.rows(), set_.q.cols());
        std::vector<double> scores(candidates.size());
        parallel_for(static_cast<Index>(candidates.size()), 8, [&](Index k) {
            scores[static_cast<std::size_t>(k)] = score(candidates[static_cast<std::size_t>(k)], residual);
        });
        Index best = -1;
        double best_score = 1e-12 * residual_.norm();
        for (std::size_t k = 0; k < candidates.size(); ++k)
            if (scores[k] > best_score || (scores[k] == best_score && best >= 0 && candidates[k] < best)) {
                best_score = scores[k];
                best = candidates[k];
            }
        return best;
    }

    /// The best of a draw; when none helps, of a few more draws, and at last of all tets.
    Index best_candidate()
    {
        for (int attempt = 0; attempt < 4; ++attempt) {
            const Index best = best_of(draw_candidates());
            if (best >= 0 || options_.candidates == 0) return best;
        }
        std::vector<Index> rest;
        for (const Index slot : pool_)
            if (std::ranges::find(slots_, slot) == slots_.end() &&
                std::ranges::find(banned_, slot) == banned_.end())
                rest.push_back(slot);
        return best_of(rest);
    }

    void append(Index slot)
    {
        const Index n = size();
        if (n == columns_.cols()) {
            const Index capacity = std::max<Index>(64, 2 * n);
            columns_.conservativeResize(target_.size(), capacity);
            gram_.conservativeResize(capacity, capacity);
            if (has_held_out()) held_out_columns_.conservativeResize(held_out_.target.size(), capacity);
        }
        columns_.col(n) << column_of(model_, U_, slot, set_),
            volume_scale_ * rest_volume(model_.elements, slot);
        if (has_held_out()) held_out_columns_.col(n) = column_of(model_, U_, slot, held_out_);
        gram_.col(n).head(n + 1).noalias() = columns_.leftCols(n + 1).transpose() * columns_.col(n);
        gram_.row(n).head(n) = gram_.col(n).head(n).transpose();
        slots_.push_back(slot);
        weights_.conservativeResize(n + 1);
        weights_[n] = 0.0;
    }

    void fit_weights()
    {
        const Index n = size();
        const VecX h = columns_.leftCols(n).transpose() * target_;
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
                if (has_held_out()) held_out_columns_.col(kept) = held_out_columns_.col(c);
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

    const FemModel& model_;
    const MatX& U_;
    const CubatureOptions& options_;
    TrainingSet set_, held_out_;
    Random random_;
    std::vector<Index> pool_;   ///< slots of all tets, shuffled by the draws
    std::vector<Index> slots_;  ///< chosen
    std::vector<Index> banned_; ///< left at once; until another one stays
    double volume_row_ = 0.0, volume_scale_ = 0.0;
    VecX target_, residual_, weights_;
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

} // namespace

namespace {

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

} // namespace

TrainedCubature train_cubature(const FemModel& model, const MatX& U, const CubaturePoses& poses,
                               const CubatureOptions& options, Progress& progress)
{
    require_usable(poses, options);
    Trainer trainer(model, U, poses, options);
    ErrorProgress error_progress(options.tolerance, progress);
    const Index most = trainer.tet_count();
    const Index limit = options.max_points > 0 ? std::min(options.max_points, most) : most;
    TrainedCubature out;
    while (trainer.add_point()) {
        const double before = out.training_error;
        out.training_error = trainer.training_error();
        out.held_out_error = trainer.held_out_error();
        out.training_errors.push_back(out.training_error);
        if (trainer.has_held_out()) out.held_out_errors.push_back(out.held_out_error);
        out.point_counts.push_back(trainer.size());

        const double error = trainer.has_held_out() ? out.held_out_error : out.training_error;
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
    progress.end();
    out.cubature = trainer.cubature();
    return out;
}

double cubature_error(const FemModel& model, const MatX& U, const Cubature& cubature, const MatX& poses)
{
    const TrainingSet set = make_training_set(model, U, poses);
    const CubatureElastic elastic(model, U, cubature);
    CubatureElastic::Work work;
    ReducedElastic at;
    MatX error = set.target;
    for (Index t = 0; t < poses.cols(); ++t) {
        elastic.evaluate(poses.col(t), at, work);
        error.col(t) -= set.scale[t] * at.gradient;
    }
    return relative_error(flat(error), set);
}

} // namespace lithe
