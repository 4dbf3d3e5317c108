#include "lithe/scene/export_morphs.hpp"

#include <algorithm>

#include "lithe/core/parallel.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe::exporting {
namespace {

using MatXf = Eigen::MatrixXf;

constexpr Index block_rows = 3 * 256; ///< a block of vertices stays in the cache

MatX rows_of(const MatXf& D, Index begin, Index end)
{
    return D.middleRows(begin, end - begin).cast<double>();
}

/// The same, less the mean of each row.
MatX centred_rows_of(const MatXf& D, Index begin, Index end)
{
    const MatX rows = rows_of(D, begin, end);
    return rows.colwise() - rows.rowwise().mean();
}

enum class Fit { Translation, RigidMotion };

/// The motion that brings X closest to y, all vertices counted alike.
RigidPose fit_pose(const Points& X, const Points& y, Fit fit)
{
    const Vec3 X_mean = X.rowwise().mean(), y_mean = y.rowwise().mean();
    if (fit == Fit::Translation) return {Quat::Identity(), y_mean - X_mean};
    const Mat3 A = (y.colwise() - y_mean) * (X.colwise() - X_mean).transpose();
    const Mat3 R = polar_rotation(A);
    return {Quat(R).normalized(), y_mean - R * X_mean};
}

std::vector<RigidPose> fit_poses(const RecordedBody& body, Fit fit)
{
    std::vector<RigidPose> poses(body.positions.size());
    parallel_for(static_cast<Index>(poses.size()), 1, [&](Index f) {
        poses[f] = fit_pose(body.shown.surface.vertices, body.positions[f].cast<double>(), fit);
    });
    return poses;
}

/// Column f: R_f^T (y_f - t_f) - X, flattened. (Less X, which all frames share, for the sake of digits.)
MatXf left_over(const RecordedBody& body, const std::vector<RigidPose>& poses)
{
    const Points& X = body.shown.surface.vertices;
    MatXf D(X.size(), static_cast<Index>(poses.size()));
    parallel_for(D.cols(), 1, [&](Index f) {
        const Mat3 R = poses[f].rotation.toRotationMatrix();
        const Points y = body.positions[f].cast<double>().colwise() - poses[f].translation;
        Eigen::Map<Points3f>(D.col(f).data(), 3, X.cols()) = (R.transpose() * y - X).cast<float>();
    });
    return D;
}

double largest_column(const MatX& E) ///< of all 3-vectors in it
{
    double largest = 0.0;
    for (Index f = 0; f < E.cols(); ++f)
        largest = std::max(
            largest,
            Eigen::Map<const Points>(E.col(f).data(), 3, E.rows() / 3).colwise().squaredNorm().maxCoeff());
    return std::sqrt(largest);
}

/// The right singular vectors of the centred D, largest first, by the eigenvectors of D^T D. (Squaring loses what is
/// below 1e-8 of the largest, far under any tolerance in single precision.) The largest entry of each is positive.
MatX right_singular_vectors(const MatXf& D)
{
    MatX gram = MatX::Zero(D.cols(), D.cols());
    for (Index begin = 0; begin < D.rows(); begin += block_rows)
        gram.selfadjointView<Eigen::Lower>().rankUpdate(
            centred_rows_of(D, begin, std::min(begin + block_rows, D.rows())).transpose());
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(gram);
    MatX V = eigen.eigenvectors().rowwise().reverse();
    for (Index k = 0; k < V.cols(); ++k) {
        Index at = 0;
        V.col(k).cwiseAbs().maxCoeff(&at);
        if (V(at, k) < 0.0) V.col(k) *= -1.0;
    }
    return V;
}

/// How many of the shapes along V bring every vertex within the tolerance.
Index count_needed(const MatXf& D, const MatX& V, double tolerance)
{
    const auto needed_in_block = [&](Index begin, Index end) {
        MatX E = centred_rows_of(D, begin, end);
        Index count = 0;
        for (; count < V.cols() && largest_column(E) > tolerance; ++count) {
            const VecX shape = E * V.col(count);
            E.noalias() -= shape * V.col(count).transpose();
        }
        return count;
    };
    return parallel_reduce(D.rows(), block_rows, Index(0), needed_in_block,
                           [](Index a, Index b) { return std::max(a, b); });
}

/// Of base, shapes and weights as they are written.
double largest_error(const MatXf& D, const Points& X, const Morphs& morphs)
{
    const MatX weights = morphs.weights.cast<double>();
    const auto in_block = [&](Index begin, Index end) {
        const VecX base = rows_of(morphs.base, begin, end) - X.reshaped().segment(begin, end - begin);
        const MatX shown = (rows_of(morphs.targets, begin, end) * weights).colwise() + base;
        return largest_column(rows_of(D, begin, end) - shown);
    };
    return parallel_reduce(D.rows(), block_rows, 0.0, in_block,
                           [](double a, double b) { return std::max(a, b); });
}

/// D = mean + S v^T with S = D v, and v_kf = low_k + range_k w_kf.
void take_shapes(const MatXf& D, const Points& X, const MatX& v, Morphs& morphs)
{
    const Eigen::RowVectorXd low = v.colwise().minCoeff(), range = v.colwise().maxCoeff() - low;
    morphs.weights = ((v.rowwise() - low).array().rowwise() / range.array()).cast<float>().transpose();
    morphs.base.resize(D.rows(), 1);
    morphs.targets.resize(D.rows(), v.cols());
    parallel_blocks(D.rows(), block_rows, [&](Index begin, Index end) {
        const MatX rows = rows_of(D, begin, end);
        const MatX S = (rows.colwise() - rows.rowwise().mean()) * v;
        const VecX base = rows.rowwise().mean() + S * low.transpose();
        morphs.base.middleRows(begin, end - begin) =
            (X.reshaped().segment(begin, end - begin) + base).cast<float>();
        morphs.targets.middleRows(begin, end - begin) = (S * range.asDiagonal()).cast<float>();
    });
    morphs.error = largest_error(D, X, morphs);
}

/// The shapes of what these poses leave over.
Morphs with_poses(const RecordedBody& body, std::vector<RigidPose> poses, double tolerance)
{
    const MatXf D = left_over(body, poses);
    const MatX V = right_singular_vectors(D);
    Morphs morphs{.poses = std::move(poses), .base = {}, .targets = {}, .weights = {}};
    // Blocks count for themselves, and the error of a block may rise again a little with more shapes: hence the check.
    for (Index count = count_needed(D, V, tolerance); count <= V.cols(); ++count) {
        take_shapes(D, body.shown.surface.vertices, V.leftCols(count), morphs);
        if (morphs.error <= tolerance) break;
    }
    return morphs;
}

/// The body's own shapes. A weight that never changes keeps its shape, in the body's units, at 0.
Morphs own_morphs(const RecordedBody& body)
{
    const Points& X = body.shown.surface.vertices;
    const SurfaceMorphs& U = *body.shown.morphs;
    MatX q(U.cols(), static_cast<Index>(body.weights.size()));
    for (Index f = 0; f < q.cols(); ++f) q.col(f) = body.weights[f];
    Morphs morphs{.poses = body.poses, .base = {}, .targets = {}, .weights = {}};
    morphs.offset = q.rowwise().minCoeff();
    morphs.scale = q.rowwise().maxCoeff() - morphs.offset;
    morphs.scale = (morphs.scale.array() > 0.0).select(morphs.scale, 1.0);
    morphs.weights = ((q.colwise() - morphs.offset).array().colwise() / morphs.scale.array()).cast<float>();
    morphs.base = (X.reshaped() + U.cast<double>() * morphs.offset).cast<float>();
    morphs.targets = U * morphs.scale.cast<float>().asDiagonal();
    return morphs;
}

} // namespace

Points3f Morphs::shape(Index frame) const
{
    const Eigen::VectorXf flat = base + targets * weights.col(frame);
    return flat.reshaped(3, flat.size() / 3);
}

Morphs find_morphs(const RecordedBody& body, double tolerance)
{
    if (body.positions.empty()) return own_morphs(body);
    if (moves(body.poses)) {
        std::vector<RigidPose> none(body.poses.size());
        Morphs morphs = with_poses(body, std::move(none), tolerance);
        morphs.poses = body.poses;
        return morphs;
    }
    Morphs morphs = with_poses(body, fit_poses(body, Fit::RigidMotion), tolerance);
    if (morphs.count() > 1) { // one shape or none cannot become much fewer
        Morphs upright = with_poses(body, fit_poses(body, Fit::Translation), tolerance);
        if (upright.count() < morphs.count()) morphs = std::move(upright);
    }
    for (std::size_t f = 0; f < morphs.poses.size(); ++f) {
        const RigidPose fit = morphs.poses[f];
        morphs.poses[f] = {body.poses[f].rotation * fit.rotation, body.poses[f].apply(fit.translation)};
    }
    return morphs;
}

} // namespace lithe::exporting
