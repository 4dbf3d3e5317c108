#include "lithe/reduce/cubature_columns.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// Forces that nearly vanish do not divide by nothing: they count as this share of the largest.
constexpr double smallest_force_share = 1e-3;

/// vec P of one tet at all poses, times its volume and the scale of the pose: 9 x T.
MatX scaled_stresses(const FemModel& model, Index slot, const MatX& B, const ForceTargets& set)
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

/// The part of the targets that one tet with weight one contributes: r x T.
MatX forces_of(const FemModel& model, const MatX& U, Index slot, const ForceTargets& set)
{
    const MatX B = deformation_rows(model, U, slot);
    return B.transpose() * scaled_stresses(model, slot, B, set);
}

Eigen::Map<const VecX> flat(const MatX& A)
{
    return {A.data(), A.size()};
}

void require_poses(const MatX& U, const MatX& poses)
{
    if (poses.rows() != U.cols())
        throw InputError("the poses have " + std::to_string(poses.rows()) + " coordinates, the basis " +
                         std::to_string(U.cols()));
    if (!poses.allFinite()) throw InputError("a pose is not finite; remove it");
    for (Index t = 0; t < poses.cols(); ++t)
        if (poses.col(t).cwiseAbs().maxCoeff() == 0.0)
            throw InputError("pose " + std::to_string(t) + " is the rest: it has no forces; remove it");
}

} // namespace

double ForceTargets::relative_error(const Eigen::Ref<const VecX>& residual) const
{
    return residual.norm() / std::sqrt(static_cast<double>(pose_count()));
}

ForceTargets make_force_targets(const FemModel& model, const MatX& U, const MatX& poses)
{
    require_poses(U, poses);
    ForceTargets set{poses, VecX(poses.cols()), MatX(poses.rows(), poses.cols())};
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

CubatureProblem::CubatureProblem(const FemModel& model, const MatX& U, const CubaturePoses& poses)
    : model_(model), U_(U), set_(make_force_targets(model, U, poses.training)),
      held_out_(poses.held_out.cols() > 0 ? make_force_targets(model, U, poses.held_out) : ForceTargets{})
{
    double volume = 0.0;
    for (Index slot = 0; slot < model.elements.slot_count(); ++slot)
        if (model.elements.tet_of_slot[static_cast<std::size_t>(slot)] >= 0) {
            slots_.push_back(slot);
            volume += rest_volume(model.elements, slot);
        }
    const double volume_row = std::sqrt(static_cast<double>(set_.pose_count()));
    volume_scale_ = volume_row / volume;
    target_.resize(set_.target.size() + 1);
    target_ << flat(set_.target), volume_row;
}

double CubatureProblem::volume_entry(Index slot) const
{
    return volume_scale_ * rest_volume(model_.elements, slot);
}

VecX CubatureProblem::column(Index slot) const
{
    VecX out(target_.size());
    out << flat(forces_of(model_, U_, slot, set_)), volume_entry(slot);
    return out;
}

VecX CubatureProblem::held_out_column(Index slot) const
{
    return flat(forces_of(model_, U_, slot, held_out_));
}

double CubatureProblem::norm_squared(Index slot) const
{
    const double volume = volume_entry(slot);
    return forces_of(model_, U_, slot, set_).squaredNorm() + volume * volume;
}

double CubatureProblem::product(Index slot, const VecX& residual) const
{
    const Eigen::Map<const MatX> forces(residual.data(), set_.q.rows(), set_.q.cols());
    const MatX B = deformation_rows(model_, U_, slot);
    return scaled_stresses(model_, slot, B, set_).cwiseProduct(B * forces).sum() +
           volume_entry(slot) * residual[residual.size() - 1];
}

VecX CubatureProblem::products(const std::vector<Index>& slots, const VecX& residual) const
{
    VecX out(static_cast<Index>(slots.size()));
    parallel_for(out.size(), 8,
                 [&](Index k) { out[k] = product(slots[static_cast<std::size_t>(k)], residual); });
    return out;
}

double CubatureProblem::training_error(const VecX& residual) const
{
    return set_.relative_error(residual.head(residual.size() - 1));
}

double CubatureProblem::held_out_error(const VecX& sum) const
{
    return has_held_out() ? held_out_.relative_error(flat(held_out_.target) - sum) : 0.0;
}

Cubature CubatureProblem::cubature(const std::vector<Index>& slots, const VecX& weights) const
{
    std::vector<std::pair<int, double>> points;
    for (Index c = 0; c < weights.size(); ++c)
        points.emplace_back(
            model_.elements.tet_of_slot[static_cast<std::size_t>(slots[static_cast<std::size_t>(c)])],
            weights[c]);
    std::ranges::sort(points);
    Cubature out;
    out.weights.resize(weights.size());
    for (std::size_t c = 0; c < points.size(); ++c) {
        out.tets.push_back(points[c].first);
        out.weights[static_cast<Index>(c)] = points[c].second;
    }
    return out;
}

} // namespace lithe
