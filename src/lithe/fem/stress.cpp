#include "lithe/fem/stress.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

Mat3 deformation_gradient(const TetBatch& batch, int lane, const Points& x)
{
    Mat3 edges, inverse_rest;
    for (int a = 0; a < 3; ++a)
        edges.col(a) = x.col(batch.corner[a + 1][lane]) - x.col(batch.corner[0][lane]);
    for (int e = 0; e < 9; ++e) inverse_rest.data()[e] = batch.inverse_rest[e][lane];
    return edges * inverse_rest;
}

/// Of every slot; padding has none.
VecX slot_stress(const Elements& elements, const Points& x)
{
    VecX out = VecX::Zero(elements.slot_count());
    for (const ElementRegion& region : elements.regions)
        std::visit(
            [&](const auto& material) {
                parallel_for(region.last_batch - region.first_batch, 64, [&](Index k) {
                    const Index b = region.first_batch + k;
                    const TetBatch& batch = elements.batches[static_cast<std::size_t>(b)];
                    for (int lane = 0; lane < TetBatch::lane_count; ++lane) {
                        if (!(batch.volume[lane] > 0.0)) continue;
                        const Mat3 F = deformation_gradient(batch, lane, x);
                        out[TetBatch::lane_count * b + lane] = von_mises(F, material.P(F));
                    }
                });
            },
            region.material);
    return out;
}

} // namespace

std::span<const FieldLabel> stress_labels()
{
    static const FieldLabel labels[] = {{"stress (von Mises)", "Pa"}};
    return labels;
}

double von_mises(const Mat3& F, const Mat3& P)
{
    constexpr double smallest = 1e-9; // of det F: a flat tet has no volume to spread its force on
    const Mat3 sigma = P * F.transpose() / std::max(std::abs(F.determinant()), smallest);
    const Mat3 s = sigma - sigma.trace() / 3.0 * Mat3::Identity();
    return std::sqrt(1.5) * s.norm();
}

VecX surface_stress(const Elements& elements, const Points& x, const Embedding& surface)
{
    const VecX slots = slot_stress(elements, x);
    VecX nodes = VecX::Zero(elements.vertex_count), volumes = nodes;
    for (Index slot = 0; slot < slots.size(); ++slot) {
        const TetBatch& batch = elements.batches[static_cast<std::size_t>(slot / TetBatch::lane_count)];
        const auto lane = slot % TetBatch::lane_count;
        for (const auto& corner : batch.corner) {
            nodes[corner[lane]] += batch.volume[lane] * slots[slot];
            volumes[corner[lane]] += batch.volume[lane];
        }
    }
    nodes.array() /= volumes.array();
    VecX out(surface.point_count());
    for (Index i = 0; i < out.size(); ++i) {
        out[i] = 0.0;
        for (Index a = 0; a < 4; ++a) out[i] += surface.weights(a, i) * nodes[surface.corners(a, i)];
        out[i] = std::max(out[i], 0.0);
    }
    return out;
}

} // namespace lithe
