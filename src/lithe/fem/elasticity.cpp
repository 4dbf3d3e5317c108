#include "lithe/fem/elasticity.hpp"

#include <limits>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/fem/kernel.hpp"

namespace lithe {

namespace detail {
FemKernels fem_kernels_avx512();
}

namespace {

constexpr Index batches_per_task = 64;
constexpr Index vertices_per_task = 1024;
constexpr Index blocks_per_task = 2048;

FemKernels kernels(SimdLevel level)
{
    if (level == SimdLevel::Avx512)
        return detail::fem_kernels_avx512(); // itself compiled for it: call it only there
    return level == SimdLevel::Avx2 ? make_kernels<Lanes4>() : make_kernels<Lanes1>();
}

/// Entries of eight small matrices, in the layout of the kernels.
template <int Entries>
struct alignas(64) LaneBlock {
    double at[Entries][8];

    double* data() { return &at[0][0]; }
    const double* data() const { return &at[0][0]; }
};
using LaneMatrix = LaneBlock<9>;

Mat3 lane_matrix(const LaneMatrix& block, int lane)
{
    Mat3 A;
    for (int e = 0; e < 9; ++e) A.data()[e] = block.at[e][lane];
    return A;
}
void set_lane_matrix(LaneMatrix& block, int lane, const Mat3& A)
{
    for (int e = 0; e < 9; ++e) block.at[e][lane] = A.data()[e];
}
Vec3 lane_vector(const LaneBlock<3>& block, int lane)
{
    return {block.at[0][lane], block.at[1][lane], block.at[2][lane]};
}

LaneMatrix deformation_gradients(const FemKernels& kernel, const TetBatch& batch, const Points& x)
{
    LaneMatrix edges, F;
    for (int lane = 0; lane < 8; ++lane) {
        const double* x_0 = x.data() + 3 * batch.corner[0][lane];
        for (int a = 0; a < 3; ++a) {
            const double* x_a = x.data() + 3 * batch.corner[a + 1][lane];
            for (int i = 0; i < 3; ++i) edges.at[i + 3 * a][lane] = x_a[i] - x_0[i];
        }
    }
    kernel.deformation_gradients(edges.data(), &batch.inverse_rest[0][0], F.data());
    return F;
}

/// Energy density and stress of eight tets.
struct BatchStress {
    LaneBlock<1> psi;
    LaneMatrix P;
};

void evaluate(const Corotational& law, const FemKernels& kernel, const LaneMatrix& F, BatchStress& out)
{
    kernel.corotational_stress(F.data(), law.lame().mu, law.lame().lambda, out.psi.data(), out.P.data());
}

void evaluate(const Linear& law, const FemKernels&, const LaneMatrix& F, BatchStress& out)
{
    for (int lane = 0; lane < 8; ++lane) {
        const Mat3 F_lane = lane_matrix(F, lane);
        out.psi.at[0][lane] = law.psi(F_lane);
        set_lane_matrix(out.P, lane, law.P(F_lane));
    }
}

template <StretchLaw Law>
void evaluate(const Law& law, const FemKernels& kernel, const LaneMatrix& F, BatchStress& out)
{
    LaneMatrix U, V;
    LaneBlock<3> sigma;
    kernel.svd(F.data(), U.data(), sigma.data(), V.data(), 1);
    for (int lane = 0; lane < 8; ++lane) {
        const StretchDerivatives d = law.stretch_derivatives(lane_vector(sigma, lane));
        out.psi.at[0][lane] = d.psi;
        set_lane_matrix(out.P, lane,
                        lane_matrix(U, lane) * d.gradient.asDiagonal() * lane_matrix(V, lane).transpose());
    }
}

/// The Hessians of eight tets as modes in their principal frames; see kernel.hpp.
struct BatchModes {
    LaneMatrix U, V;
    LaneBlock<12> modes;
};

void set_lane_modes(LaneBlock<12>& modes, int lane, const StretchDerivatives& d)
{
    for (int k = 0; k < 3; ++k) {
        modes.at[k][lane] = d.hessian(k, k);
        modes.at[3 + k][lane] = d.hessian((k + 1) % 3, (k + 2) % 3);
        modes.at[6 + k][lane] = 0.5 * (d.flip[k] + d.twist[k]);
        modes.at[9 + k][lane] = 0.5 * (d.flip[k] - d.twist[k]);
    }
}

void evaluate(const Corotational& law, const FemKernels& kernel, const LaneMatrix& F,
              Definiteness definiteness, BatchModes& out)
{
    const double floor =
        definiteness == Definiteness::Projected ? 0.0 : -std::numeric_limits<double>::infinity();
    LaneBlock<3> sigma;
    kernel.svd(F.data(), out.U.data(), sigma.data(), out.V.data(), 1);
    kernel.corotational_modes(sigma.data(), law.lame().mu, law.lame().lambda, floor, out.modes.data());
}

void evaluate(const Linear& law, const FemKernels&, const LaneMatrix&, Definiteness, BatchModes& out)
{
    const StretchDerivatives d = law.rest_derivatives();
    for (int lane = 0; lane < 8; ++lane) {
        set_lane_matrix(out.U, lane, Mat3::Identity());
        set_lane_matrix(out.V, lane, Mat3::Identity());
        set_lane_modes(out.modes, lane, d);
    }
}

template <StretchLaw Law>
void evaluate(const Law& law, const FemKernels& kernel, const LaneMatrix& F, Definiteness definiteness,
              BatchModes& out)
{
    LaneBlock<3> sigma;
    kernel.svd(F.data(), out.U.data(), sigma.data(), out.V.data(), 1);
    for (int lane = 0; lane < 8; ++lane) {
        StretchDerivatives d = law.stretch_derivatives(lane_vector(sigma, lane));
        if (definiteness == Definiteness::Projected) project_psd(d);
        set_lane_modes(out.modes, lane, d);
    }
}

/// Calls f(law, b) for every batch b, with the concrete law of its region, on all threads.
template <class F>
void for_each_batch(const Elements& elements, const F& f)
{
    for (const ElementRegion& region : elements.regions)
        std::visit(
            [&](const auto& law) {
                parallel_blocks(region.last_batch - region.first_batch, batches_per_task,
                                [&](Index begin, Index end) {
                                    for (Index b = begin; b < end; ++b)
                                        f(law, static_cast<std::size_t>(region.first_batch + b));
                                });
            },
            region.material);
}

double batch_energy(const TetBatch& batch, const BatchStress& stress)
{
    double sum = 0.0;
    for (int lane = 0; lane < 8; ++lane) sum += batch.volume[lane] * stress.psi.at[0][lane];
    return sum;
}

double total(const std::vector<double>& parts)
{
    double sum = 0.0;
    for (const double part : parts) sum += part;
    return sum;
}

} // namespace

double elastic_energy(const FemModel& model, const Points& x, ElasticWork& work, SimdLevel level)
{
    LITHE_ASSERT(x.cols() == model.vertex_count());
    const FemKernels kernel = kernels(level);
    work.batch_energy.resize(model.elements.batches.size());
    for_each_batch(model.elements, [&](const auto& law, std::size_t b) {
        const TetBatch& batch = model.elements.batches[b];
        BatchStress stress;
        evaluate(law, kernel, deformation_gradients(kernel, batch, x), stress);
        work.batch_energy[b] = batch_energy(batch, stress);
    });
    return total(work.batch_energy);
}

double elastic_gradient(const FemModel& model, const Points& x, Points& gradient, ElasticWork& work,
                        SimdLevel level)
{
    LITHE_ASSERT(x.cols() == model.vertex_count());
    const FemKernels kernel = kernels(level);
    work.batch_energy.resize(model.elements.batches.size());
    work.corner_gradients.resize(static_cast<std::size_t>(12 * model.elements.slot_count()));
    for_each_batch(model.elements, [&](const auto& law, std::size_t b) {
        const TetBatch& batch = model.elements.batches[b];
        BatchStress stress;
        evaluate(law, kernel, deformation_gradients(kernel, batch, x), stress);
        work.batch_energy[b] = batch_energy(batch, stress);
        LaneBlock<12> corners;
        kernel.corner_gradients(stress.P.data(), &batch.inverse_rest[0][0], batch.volume, corners.data());
        double* out = work.corner_gradients.data() + 96 * b;
        for (int lane = 0; lane < 8; ++lane)
            for (int e = 0; e < 12; ++e) out[12 * lane + e] = corners.at[e][lane];
    });

    const StiffnessPattern& pattern = model.pattern;
    gradient.resize(3, model.vertex_count());
    parallel_for(model.vertex_count(), vertices_per_task, [&](Index i) {
        Vec3 sum = Vec3::Zero();
        for (int k = pattern.vertex_start[static_cast<std::size_t>(i)];
             k < pattern.vertex_start[static_cast<std::size_t>(i) + 1]; ++k)
            sum += Eigen::Map<const Vec3>(work.corner_gradients.data() +
                                          pattern.vertex_corners[static_cast<std::size_t>(k)]);
        gradient.col(i) = sum;
    });
    return total(work.batch_energy);
}

void elastic_hessian(const FemModel& model, const Points& x, Definiteness definiteness, SparseMatrix& K,
                     ElasticWork& work, SimdLevel level)
{
    LITHE_ASSERT(x.cols() == model.vertex_count());
    const StiffnessPattern& pattern = model.pattern;
    adopt_pattern(pattern, K);
    const FemKernels kernel = kernels(level);
    work.element_blocks.resize(static_cast<std::size_t>(90 * model.elements.slot_count()));
    for_each_batch(model.elements, [&](const auto& law, std::size_t b) {
        const TetBatch& batch = model.elements.batches[b];
        BatchModes modes;
        evaluate(law, kernel, deformation_gradients(kernel, batch, x), definiteness, modes);
        kernel.element_hessians(modes.U.data(), modes.V.data(), modes.modes.data(), &batch.inverse_rest[0][0],
                                batch.volume, work.element_blocks.data() + 720 * b);
    });

    double* values = K.valuePtr();
    parallel_for(static_cast<Index>(pattern.blocks.size()) - 1, blocks_per_task, [&](Index k) {
        const auto& block = pattern.blocks[static_cast<std::size_t>(k)];
        Mat3 sum = Mat3::Zero();
        for (int p = block.first_part; p < pattern.blocks[static_cast<std::size_t>(k) + 1].first_part; ++p) {
            const int code = pattern.parts[static_cast<std::size_t>(p)];
            const Eigen::Map<const Mat3> part(work.element_blocks.data() + code / 2);
            if (code % 2 == 0)
                sum += part;
            else
                sum += part.transpose();
        }
        for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r) {
                values[block.upper.value + r + block.upper.stride * c] = sum(r, c);
                values[block.lower.value + c + block.lower.stride * r] = sum(r, c);
            }
    });
}

} // namespace lithe
