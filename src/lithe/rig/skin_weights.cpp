#include "lithe/rig/skin_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

void require_weights(const MatX& dense, Index slots)
{
    if (slots < 1 || slots > most_influences)
        throw InputError(
            fmt::format("skin weights: {} bones per vertex; give 1 to {}", slots, most_influences));
    for (Index v = 0; v < dense.cols(); ++v) {
        double sum = 0.0;
        for (Index b = 0; b < dense.rows(); ++b) {
            if (!(dense(b, v) >= 0.0) || !std::isfinite(dense(b, v)))
                throw InputError(
                    fmt::format("skin weights: vertex {} follows bone {} with weight {}; weights are "
                                "finite and not below zero",
                                v, b, dense(b, v)));
            sum += dense(b, v);
        }
        if (!(sum > 0.0) || !std::isfinite(sum))
            throw InputError(fmt::format(
                "skin weights: vertex {} follows no bone; give it a weight above zero for at least one", v));
    }
}

/// The heaviest so far, heaviest first; of equal ones, the first.
struct Heaviest {
    std::array<int, most_influences> bone = {};
    std::array<double, most_influences> weight = {};

    void offer(int b, double w, Index slots)
    {
        const auto last = static_cast<std::size_t>(slots - 1);
        if (w <= weight[last]) return;
        std::size_t k = last;
        for (; k > 0 && w > weight[k - 1]; --k) {
            weight[k] = weight[k - 1];
            bone[k] = bone[k - 1];
        }
        weight[k] = w;
        bone[k] = b;
    }
};

} // namespace

SkinWeights sparse_weights(const MatX& dense, Index slots)
{
    require_weights(dense, slots);
    SkinWeights out;
    out.bones.resize(slots, dense.cols());
    out.weights.resize(slots, dense.cols());
    parallel_for(dense.cols(), 1024, [&](Index v) {
        Heaviest heaviest;
        for (Index b = 0; b < dense.rows(); ++b) heaviest.offer(static_cast<int>(b), dense(b, v), slots);
        for (Index k = 0; k < slots; ++k) {
            out.bones(k, v) = heaviest.bone[k];
            out.weights(k, v) = heaviest.weight[k];
        }
        out.weights.col(v) /= out.weights(0, v); // first, so that the sum of tiny or huge ones is fine
        out.weights.col(v) /= out.weights.col(v).sum();
    });
    return out;
}

MatX dense_weights(const SkinWeights& weights, Index bone_count)
{
    MatX dense = MatX::Zero(bone_count, weights.vertex_count());
    for (Index v = 0; v < weights.vertex_count(); ++v)
        for (Index k = 0; k < weights.slots(); ++k) {
            LITHE_ASSERT(weights.bones(k, v) >= 0 && weights.bones(k, v) < bone_count);
            dense(weights.bones(k, v), v) += weights.weights(k, v);
        }
    return dense;
}

void bone_transforms(const std::vector<Bone>& bones, const std::vector<Affine3>& world,
                     std::vector<Affine3>& out)
{
    out.resize(bones.size());
    for (std::size_t b = 0; b < bones.size(); ++b) {
        LITHE_ASSERT(bones[b].joint >= 0 && static_cast<std::size_t>(bones[b].joint) < world.size());
        out[b] = world[bones[b].joint] * bones[b].inverse_bind;
    }
}

std::vector<Affine3> bone_transforms(const std::vector<Bone>& bones, const std::vector<Affine3>& world)
{
    std::vector<Affine3> out;
    bone_transforms(bones, world, out);
    return out;
}

} // namespace lithe
