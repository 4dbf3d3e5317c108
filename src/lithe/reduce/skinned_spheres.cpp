#include "lithe/reduce/skinned_spheres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/geometry/box.hpp"

namespace lithe {
namespace {

constexpr double rounding = 1e-6; ///< what single precision may hide of the growth

void require_whole(Index vertex_count, std::span<const SkinBone> bones)
{
    VecX sum = VecX::Zero(vertex_count);
    for (const SkinBone& bone : bones) {
        LITHE_ASSERT(bone.weights.size() == static_cast<Index>(bone.vertices.size()) &&
                     bone.rest.cols() == bone.weights.size() && bone.basis.rows() == 3 * bone.weights.size());
        for (std::size_t i = 0; i < bone.vertices.size(); ++i) {
            const double weight = bone.weights[static_cast<Index>(i)];
            if (!(weight > 0.0))
                throw InputError("skin vertex " + std::to_string(bone.vertices[i]) +
                                 " follows a bone with a weight that is not above zero: leave the bone out");
            sum[bone.vertices[i]] += weight;
        }
    }
    for (Index v = 0; v < vertex_count; ++v)
        if (!(std::abs(sum[v] - 1.0) < 1e-9))
            throw InputError("the weights of skin vertex " + std::to_string(v) + " sum to " +
                             std::to_string(sum[v]) + " instead of 1: normalise them");
}

} // namespace

SkinnedSpheres::SkinnedSpheres(const Points& rest, std::span<const SkinBone> bones, Index leaf_size)
    : vertices_(static_cast<std::size_t>(rest.cols()))
{
    require_whole(rest.cols(), bones);
    std::iota(vertices_.begin(), vertices_.end(), 0);
    if (vertices_.empty()) return;
    add_tree(rest, 0, static_cast<int>(rest.cols()), leaf_size, vertices_, nodes_);

    std::vector<std::vector<Follower>> of_vertex(vertices_.size());
    for (std::size_t k = 0; k < bones.size(); ++k)
        for (std::size_t i = 0; i < bones[k].vertices.size(); ++i)
            of_vertex[static_cast<std::size_t>(bones[k].vertices[i])].push_back(
                {static_cast<int>(k), static_cast<int>(i)});
    std::vector<Follower> followers;
    for (Node& node : nodes_) {
        followers.clear();
        for (int i = node.begin; i < node.end; ++i) {
            const auto& some = of_vertex[static_cast<std::size_t>(vertices_[static_cast<std::size_t>(i)])];
            followers.insert(followers.end(), some.begin(), some.end());
        }
        std::ranges::stable_sort(followers, {}, &Follower::bone);
        node.first_part = static_cast<int>(parts_.size());
        for (std::size_t begin = 0, end = 0; begin < followers.size(); begin = end) {
            while (end < followers.size() && followers[end].bone == followers[begin].bone) ++end;
            const int k = followers[begin].bone;
            add_part(bones[static_cast<std::size_t>(k)], k, std::span(followers).subspan(begin, end - begin),
                     node.end - node.begin);
        }
        node.parts_end = static_cast<int>(parts_.size());
    }
}

/// One bone of a sphere over `vertex_count` vertices, of which `followers` have a weight.
void SkinnedSpheres::add_part(const SkinBone& bone, int index, std::span<const Follower> followers,
                              Index vertex_count)
{
    Part part{.bone = index,
              .weight = 0.0,
              .most = 0.0,
              .spread = 0.0,
              .centre = {},
              .radius = 0.0,
              .change = static_cast<Index>(change_.size())};
    const auto count = static_cast<double>(followers.size());
    Box3 box;
    for (const Follower& at : followers) {
        box.extend(bone.rest.col(at.place));
        part.weight += bone.weights[at.place] / static_cast<double>(vertex_count);
        part.most = std::max(part.most, bone.weights[at.place]);
    }
    part.centre = box.center();
    part.spread =
        static_cast<Index>(followers.size()) < vertex_count ? part.weight : 0.0; // who does not follow
    for (const Follower& at : followers) {
        part.spread = std::max(part.spread, std::abs(bone.weights[at.place] - part.weight));
        part.radius = std::max(part.radius, (bone.rest.col(at.place) - part.centre).norm());
    }
    for (Index a = 0; a < bone.basis.cols(); ++a) {
        const auto column = [&](const Follower& at) {
            return Vec3(bone.basis.col(a).segment<3>(3 * at.place).cast<double>());
        };
        Vec3 mean = Vec3::Zero();
        for (const Follower& at : followers) mean += column(at) / count;
        Eigen::Vector4f change(static_cast<float>(mean[0]), static_cast<float>(mean[1]),
                               static_cast<float>(mean[2]), 0.0F);
        mean = change.head<3>().cast<double>();
        double growth = 0.0;
        for (const Follower& at : followers) growth = std::max(growth, (column(at) - mean).norm());
        change[3] = static_cast<float>((1.0 + rounding) * growth);
        change_.push_back(change);
    }
    parts_.push_back(part);
}

SkinnedSpheres::Ball SkinnedSpheres::part_ball(const Part& part, const BoneMotion& bone) const
{
    Vec4 sum = Vec4::Zero();
    const Eigen::Vector4f* change = change_.data() + part.change;
    for (Index a = 0; a < bone.q->size(); ++a) {
        const double q = (*bone.q)[a];
        sum += Vec4(q, q, q, std::abs(q)).cwiseProduct(change[a].cast<double>());
    }
    return {bone.frame.apply(part.centre + sum.head<3>()), part.radius + sum[3]};
}

SkinnedSpheres::Ball SkinnedSpheres::ball(const Node& node, std::span<const BoneMotion> bones) const
{
    const auto parts = std::span(parts_).subspan(static_cast<std::size_t>(node.first_part),
                                                 static_cast<std::size_t>(node.parts_end - node.first_part));
    Vec3 centre = Vec3::Zero();
    double sum = 0.0, largest = 0.0;
    for (const Part& part : parts) {
        const Ball at = part_ball(part, bones[static_cast<std::size_t>(part.bone)]);
        centre += part.weight * at.centre;
        sum += part.most * at.radius;
        largest = std::max(largest, at.radius);
    }
    double radius = std::min(sum, largest);
    for (const Part& part : parts)
        if (part.spread > 0.0)
            radius += part.spread *
                      (part_ball(part, bones[static_cast<std::size_t>(part.bone)]).centre - centre).norm();
    return {centre, radius * (1.0 + 1e-12)};
}

Box3 SkinnedSpheres::bounds(std::span<const BoneMotion> bones) const
{
    Box3 box;
    for (const Node& node : nodes_) {
        if (!node.leaf) continue;
        const Ball at = ball(node, bones);
        box.extend(Box3(at.centre.array() - at.radius, at.centre.array() + at.radius));
    }
    return widened_by_rounding(box);
}

} // namespace lithe
