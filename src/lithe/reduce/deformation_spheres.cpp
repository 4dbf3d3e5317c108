#include "lithe/reduce/deformation_spheres.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/box.hpp"

namespace lithe {
namespace {

using TransposedRows = Eigen::Matrix<double, Eigen::Dynamic, 3>;

/// The basis at the samples is kept in single precision while the tree is built: what that may hide of it.
constexpr double rounding = 1e-7;

/// All samples: their rest places, and U_s^T, r x 3 each, side by side.
struct Sampled {
    Points rest;
    Eigen::MatrixXf U_T;
};

Sampled take_samples(const ReducedSurface& surface, std::span<const ContactSample> samples)
{
    const auto count = static_cast<Index>(samples.size());
    Sampled out{Points(3, count), Eigen::MatrixXf(surface.rank(), 3 * count)};
    parallel_blocks(count, 256, [&](Index begin, Index end) {
        TransposedRows U_T(surface.rank(), 3);
        for (Index i = begin; i < end; ++i) {
            const ContactSample& sample = samples[static_cast<std::size_t>(i)];
            sample_basis(surface, sample, U_T);
            out.rest.col(i) = sample_rest(surface, sample);
            out.U_T.middleCols<3>(3 * i) = U_T.cast<float>();
        }
    });
    return out;
}

} // namespace

void sample_basis(const ReducedSurface& surface, const ContactSample& sample, Eigen::Ref<TransposedRows> U_T)
{
    const auto of = [&](std::size_t a) {
        using Stored = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, 3>>;
        return Stored(surface.basis.row(3 * static_cast<Index>(sample.vertices[a])).data(), surface.rank(), 3)
            .cast<double>();
    };
    if (sample.count == 1)
        U_T = of(0);
    else
        U_T = (of(0) + of(1) + of(2)) / 3.0;
}

DeformationSpheres::DeformationSpheres(const ReducedSurface& surface, std::span<const ContactSample> samples,
                                       Index leaf_size)
    : rank_(surface.rank()), reach_(VecX::Zero(surface.rank()))
{
    const Sampled sampled = take_samples(surface, samples);
    for (int i = 0; i < static_cast<int>(samples.size()); ++i) {
        const auto U_T = sampled.U_T.middleCols<3>(3 * static_cast<Index>(i));
        if ((U_T.array() == 0.0F).all()) {
            still_.extend(sampled.rest.col(i));
            continue;
        }
        items_.push_back(i);
        reach_ = reach_.cwiseMax((1.0 + rounding) * U_T.cast<double>().rowwise().norm());
    }
    if (items_.empty()) return;
    add_tree(sampled.rest, 0, static_cast<int>(items_.size()), leaf_size, items_, nodes_);
    change_.resize(4, node_count() * rank_);
    parallel_for(node_count(), 1,
                 [&](Index node) { set_ball(sampled.rest, sampled.U_T, static_cast<std::size_t>(node)); });
}

void DeformationSpheres::set_ball(const Points& rest, const Eigen::MatrixXf& U_T, std::size_t index)
{
    Node& node = nodes_[index];
    const std::span<const int> items = std::span<const int>(items_).subspan(
        static_cast<std::size_t>(node.begin), static_cast<std::size_t>(node.end - node.begin));
    const auto basis_of = [&](int i) { return U_T.middleCols<3>(3 * static_cast<Index>(i)).cast<double>(); };

    Box3 box;
    TransposedRows mean = TransposedRows::Zero(rank_, 3);
    for (const int i : items) {
        box.extend(rest.col(i));
        mean += basis_of(i);
    }
    node.centre = box.center();
    auto change = change_.middleCols(static_cast<Index>(index) * rank_, rank_);
    change.topRows<3>() = (mean / static_cast<double>(items.size())).cast<float>().transpose();
    mean = change.topRows<3>().cast<double>().transpose();

    VecX growth = VecX::Zero(rank_), largest = VecX::Zero(rank_);
    for (const int i : items) {
        node.radius = std::max(node.radius, (rest.col(i) - node.centre).norm());
        growth = growth.cwiseMax((basis_of(i) - mean).rowwise().squaredNorm());
        largest = largest.cwiseMax(basis_of(i).rowwise().squaredNorm());
    }
    growth = (1.0 + rounding) * growth.cwiseSqrt() + rounding * largest.cwiseSqrt();
    change.row(3) = growth.cast<float>().transpose();
    node.radius *= 1.0 + rounding;
}

DeformationSpheres::Ball DeformationSpheres::ball(std::size_t node, const VecX& q) const
{
    const float* change = change_.data() + 4 * static_cast<Index>(node) * rank_;
    Vec4 sum = Vec4::Zero();
    for (Index k = 0; k < rank_; ++k) {
        const Vec4 weight(q[k], q[k], q[k], std::abs(q[k]));
        sum += weight.cwiseProduct(Eigen::Map<const Eigen::Vector4f>(change + 4 * k).cast<double>());
    }
    const Node& at = nodes_[node];
    return {at.centre + sum.head<3>(), at.radius + sum[3]};
}

Box3 DeformationSpheres::bounds(const VecX& q, const RigidPose& frame) const
{
    Box3 box;
    const auto add = [&](const Vec3& centre, double radius) {
        const Vec3 at = frame.apply(centre);
        box.extend(Box3(at.array() - radius, at.array() + radius));
    };
    for (int corner = 0; corner < 8 && !still_.isEmpty(); ++corner)
        add(still_.corner(static_cast<Box3::CornerType>(corner)), 0.0);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (!nodes_[node].leaf) continue;
        const Ball at = ball(node, q);
        add(at.centre, at.radius);
    }
    return widened_by_rounding(box);
}

} // namespace lithe
