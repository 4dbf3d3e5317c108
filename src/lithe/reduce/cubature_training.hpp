#pragma once
#include <cstdint>

#include "lithe/core/progress.hpp"
#include "lithe/reduce/cubature.hpp"

namespace lithe {

/// How the next point is chosen among the candidates, from its column a and the residual r.
enum class CubatureRule {
    NonNegativeOmp, ///< largest a.r                                                     [FACC14]
    Greedy          ///< largest a.r/|a|                                                 [AKJ08]
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
    Index candidates = 600; ///< drawn afresh for every point; 0: all tets
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
    double held_out_error = 1.0;         ///< 0 where no poses were held out
    std::vector<double> training_errors; ///< after every point that was added
    std::vector<double> held_out_errors; ///< the same; empty where none were held out
    std::vector<Index> point_counts;     ///< the same
};

/// Chooses tets and weights w >= 0 so that the reduced forces of the poses are met:
///
///   min sum_t |sum_e w_e U_e^T f_e(x_t) - U^T f(x_t)|^2 / |U^T f(x_t)|^2  + the same for the volume,
///   error = sqrt(that sum without the volume / number of poses)
///
/// Points are added one by one and all weights fitted again (solve_nnls, from the last ones). Columns of candidates are made
/// when they are looked at; only those of chosen points are kept, so that memory does not grow with the mesh.
/// Same result for any number of threads. Throws InputError for a tolerance that is not above zero, poses of another rank, too
/// few of them, and the rest pose (its forces are zero).
TrainedCubature train_cubature(const FemModel& model, const MatX& U, const CubaturePoses& poses,
                               const CubatureOptions& options, Progress& progress);

/// The error above of a cubature on some poses, r x count.
double cubature_error(const FemModel& model, const MatX& U, const Cubature& cubature, const MatX& poses);

} // namespace lithe
