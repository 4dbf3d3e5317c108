#pragma once
#include <cstdint>

#include "lithe/core/progress.hpp"
#include "lithe/reduce/cubature.hpp"

namespace lithe {

/// How points are chosen among the candidates, from their columns a and the residual r.
enum class CubatureRule {
    NonNegativeOmp, ///< one at a time: largest a.r                                      [FACC14]
    Greedy,         ///< one at a time: largest a.r/|a|                                  [AKJ08]
    Importance,     ///< ten at a time, drawn with probabilities in proportion to max(0, a.r)^2/|a|^2
    /// All at once: a gradient step of exact length, the largest weights kept, fitted, and again until they stay the
    /// same. The number of points is searched for: the smallest that gives the tolerance.
    HardThresholding
};

/// Poses q, r x count; none of them the rest.
struct CubaturePoses {
    MatX training;
    MatX held_out = {}; ///< not trained on; where there are some, the tolerance is for them
};

struct CubatureOptions {
    double tolerance = 0.01; ///< of the error, > 0
    Index max_points = 0;    ///< 0: as many as the tolerance asks for
    CubatureRule rule = CubatureRule::NonNegativeOmp;
    Index candidates =
        600; ///< drawn afresh each time (for HardThresholding at least five times the points); 0: all tets
    std::uint64_t seed = 1;
};

enum class CubatureStatus {
    Converged,  ///< the error is within the tolerance
    PointLimit, ///< max_points, or all tets, came first
    Stalled     ///< no candidate lowers the training error any more: more poses, or fewer held out
};

struct [[nodiscard]] TrainedCubature {
    Cubature cubature;
    CubatureStatus status = CubatureStatus::Stalled;
    double training_error = 1.0;
    double held_out_error = 1.0; ///< 0 where no poses were held out
    std::vector<double>
        training_errors; ///< each time that points were added, or for each number of points tried
    std::vector<double> held_out_errors; ///< the same; empty where none were held out
    std::vector<Index> point_counts;     ///< the same
};

/// Chooses tets and weights w >= 0 so that the reduced forces of the poses are met:
///
///   min sum_t |sum_e w_e U_e^T f_e(x_t) - U^T f(x_t)|^2 / |U^T f(x_t)|^2  + the same for the volume,
///   error = sqrt(that sum without the volume / number of poses)
///
/// Points are added and all weights fitted again (solve_nnls, from the last ones). Columns of candidates are made
/// when they are looked at; only those of chosen points are kept, so that memory does not grow with the mesh.
/// Same result for any number of threads. Throws InputError for a tolerance that is not above zero, poses of another rank, too
/// few of them, and the rest pose (its forces are zero).
TrainedCubature train_cubature(const FemModel& model, const MatX& U, const CubaturePoses& poses,
                               const CubatureOptions& options, Progress& progress);

/// The step along -gradient at which |A w - b|^2 is least, for the gradient 2 A^T (A w - b):  |g|^2 / (2 |A g|^2).
double exact_step_length(const MatX& A, const VecX& gradient);

/// The error above of a cubature on some poses, r x count.
double cubature_error(const FemModel& model, const MatX& U, const Cubature& cubature, const MatX& poses);

} // namespace lithe
