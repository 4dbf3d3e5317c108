#pragma once
#include "lithe/reduce/cubature_training.hpp"

namespace lithe {

/// Poses with the reduced forces that a cubature should give there.
struct ForceTargets {
    MatX q;      ///< r x T
    VecX scale;  ///< 1 / |dPsi/dq|, per pose
    MatX target; ///< dPsi/dq scaled, r x T: columns of length one

    Index pose_count() const { return q.cols(); }
    double relative_error(const Eigen::Ref<const VecX>& residual) const;
};
/// Throws InputError for poses of another rank, not finite, or at rest.
ForceTargets make_force_targets(const FemModel& model, const MatX& U, const MatX& poses);

/// min |A w - b|^2, w >= 0: a column of A for every tet, rows for the forces of the training poses and one for the
/// volume. A is never made whole: columns are made when they are asked for.
class CubatureProblem {
public:
    CubatureProblem(const FemModel& model, const MatX& U, const CubaturePoses& poses);

    const std::vector<Index>& slots() const { return slots_; } ///< of all tets
    const VecX& target() const { return target_; }             ///< b
    VecX column(Index slot) const;                             ///< a
    double norm_squared(Index slot) const;                     ///< a.a
    double product(Index slot, const VecX& residual) const;    ///< a.residual, without making a
    VecX products(const std::vector<Index>& slots, const VecX& residual) const; ///< of many, on all threads

    bool has_held_out() const { return held_out_.pose_count() > 0; }
    VecX held_out_column(Index slot) const;
    Index held_out_rows() const { return held_out_.target.size(); }

    double training_error(const VecX& residual) const; ///< of b - A w
    /// 0 where no poses are held out. `sum` is A w of the held-out poses.
    double held_out_error(const VecX& sum) const;

    Cubature cubature(const std::vector<Index>& slots, const VecX& weights) const;

private:
    double volume_entry(Index slot) const;

    const FemModel& model_;
    const MatX& U_;
    ForceTargets set_, held_out_;
    std::vector<Index> slots_;
    double volume_scale_ = 0.0;
    VecX target_;
};

/// The rule HardThresholding: the best weights on `size` tets that the iteration finds.
struct ThresholdedWeights {
    std::vector<Index> slots;
    VecX weights;
    double training_error = 1.0, held_out_error = 0.0;
};
ThresholdedWeights threshold_weights(const CubatureProblem& problem, Index size, Index candidates,
                                     std::uint64_t seed);

} // namespace lithe
