#include "lithe/reduce/cubature.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/fem/kernel.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/kernel.hpp"
#include "lithe/reduce/symmetric_product.hpp"

namespace lithe {

namespace detail {
FemKernels fem_kernels_avx512();
}

namespace {

FemKernels fem_kernels(SimdLevel level)
{
    if (level == SimdLevel::Avx512)
        return detail::fem_kernels_avx512(); // itself compiled for it: call it only there
    return level == SimdLevel::Avx2 ? make_kernels<Lanes4>() : make_kernels<Lanes1>();
}

/// The slot of every tet.
std::vector<Index> slots_of_tets(const Elements& elements)
{
    std::vector<Index> slot_of(elements.tet_of_slot.size(), -1);
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        const int tet = elements.tet_of_slot[static_cast<std::size_t>(slot)];
        if (tet >= 0) slot_of[static_cast<std::size_t>(tet)] = slot;
    }
    return slot_of;
}

struct Point {
    Index slot;
    double weight;
};

/// The points in the order of the slots, so that regions are together.
std::vector<Point> sorted_points(const Elements& elements, const Cubature& cubature)
{
    if (cubature.weights.size() != static_cast<Index>(cubature.tets.size()))
        throw InputError("the cubature has " + std::to_string(cubature.tets.size()) + " tets and " +
                         std::to_string(cubature.weights.size()) + " weights; give one for each");
    const std::vector<Index> slot_of = slots_of_tets(elements);
    std::vector<Point> points;
    for (std::size_t c = 0; c < cubature.tets.size(); ++c) {
        const int tet = cubature.tets[c];
        if (tet < 0 || tet >= static_cast<int>(slot_of.size()) || slot_of[static_cast<std::size_t>(tet)] < 0)
            throw InputError("cubature tet " + std::to_string(tet) +
                             " does not exist: is it of another mesh?");
        points.push_back({slot_of[static_cast<std::size_t>(tet)],
                          require_positive("weight of cubature tet " + std::to_string(tet),
                                           cubature.weights[static_cast<Index>(c)])});
    }
    std::ranges::sort(points, {}, &Point::slot);
    return points;
}

constexpr Index lanes = 8, block_rows = 9 * lanes;

/// Where entry e of vec F of a lane is in the blocks.
constexpr Index row_of(Index lane, Index e)
{
    return lane / lanes * block_rows + lanes * e + lane % lanes;
}

/// Entries of eight small matrices, in the layout of the kernels.
template <int Entries>
struct alignas(64) LaneBlock {
    double at[Entries][lanes];

    double* data() { return &at[0][0]; }
    Vec3 vector(int lane) const { return {at[0][lane], at[1][lane], at[2][lane]}; }
    Mat3 matrix(int lane) const
    {
        Mat3 A;
        for (int e = 0; e < 9; ++e) A.data()[e] = at[e][lane];
        return A;
    }
};

Mat3 lane_matrix(const double* block, int lane)
{
    Mat3 A;
    for (int e = 0; e < 9; ++e) A.data()[e] = block[lanes * e + lane];
    return A;
}
void set_lane_matrix(double* block, int lane, const Mat3& A)
{
    for (int e = 0; e < 9; ++e) block[lanes * e + lane] = A.data()[e];
}

/// Energy densities and stresses of a block.
void set_stresses(const Corotational& law, const FemKernels& kernel, const double* F, double* psi, double* P)
{
    kernel.corotational_stress(F, law.lame().mu, law.lame().lambda, psi, P);
}

template <class Law>
void set_stresses(const Law& law, const FemKernels&, const double* F, double* psi, double* P)
{
    for (int lane = 0; lane < lanes; ++lane) {
        const Mat3 F_lane = lane_matrix(F, lane);
        psi[lane] = law.psi(F_lane);
        set_lane_matrix(P, lane, law.P(F_lane));
    }
}

template <StretchLaw Law>
void set_stresses(const Law& law, const FemKernels& kernel, const double* F, double* psi, double* P)
{
    LaneBlock<9> U, V;
    LaneBlock<3> sigma;
    kernel.svd(F, U.data(), sigma.data(), V.data(), 1);
    for (int lane = 0; lane < lanes; ++lane) {
        const StretchDerivatives d = law.stretch_derivatives(sigma.vector(lane));
        psi[lane] = d.psi;
        set_lane_matrix(P, lane, U.matrix(lane) * d.gradient.asDiagonal() * V.matrix(lane).transpose());
    }
}

/// Hessians of a block as modes in their principal frames; see lithe/fem/kernel.hpp.
struct BlockModes {
    LaneBlock<9> U, V;
    LaneBlock<12> modes;

    void set_lane(int lane, const StretchDerivatives& d)
    {
        for (int k = 0; k < 3; ++k) {
            modes.at[k][lane] = d.hessian(k, k);
            modes.at[3 + k][lane] = d.hessian((k + 1) % 3, (k + 2) % 3);
            modes.at[6 + k][lane] = 0.5 * (d.flip[k] + d.twist[k]);
            modes.at[9 + k][lane] = 0.5 * (d.flip[k] - d.twist[k]);
        }
    }
};

void set_modes(const Linear& law, const FemKernels&, const double*, Definiteness, BlockModes& out)
{
    const Mat3 identity = Mat3::Identity();
    for (int lane = 0; lane < lanes; ++lane) {
        set_lane_matrix(out.U.data(), lane, identity);
        set_lane_matrix(out.V.data(), lane, identity);
        out.set_lane(lane, law.rest_derivatives());
    }
}

template <StretchLaw Law>
void set_modes(const Law& law, const FemKernels& kernel, const double* F, Definiteness definiteness,
               BlockModes& out)
{
    LaneBlock<3> sigma;
    kernel.svd(F, out.U.data(), sigma.data(), out.V.data(), 1);
    for (int lane = 0; lane < lanes; ++lane) {
        StretchDerivatives d = law.stretch_derivatives(sigma.vector(lane));
        if (definiteness == Definiteness::Projected) project_psd(d);
        out.set_lane(lane, d);
    }
}

void set_modes(const Corotational& law, const FemKernels& kernel, const double* F, Definiteness definiteness,
               BlockModes& out)
{
    LaneBlock<3> sigma;
    const double floor =
        definiteness == Definiteness::Projected ? 0.0 : -std::numeric_limits<double>::infinity();
    kernel.svd(F, out.U.data(), sigma.data(), out.V.data(), 1);
    kernel.corotational_modes(sigma.data(), law.lame().mu, law.lame().lambda, floor, out.modes.data());
}

/// The chosen tets of a body in the order of their slots, and its materials.
CubatureElastic::Data points_of(const FemModel& model, const MatX& U, const Cubature& cubature)
{
    if (U.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(U.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
    const std::vector<Point> points = sorted_points(model.elements, cubature);
    const Index count = static_cast<Index>(points.size());
    CubatureElastic::Data data{
        .B = MatX(9 * count, U.cols()), .weight = VecX(count), .region = {}, .materials = {}};
    MatX B(9, U.cols());
    Index c = 0;
    for (const ElementRegion& region : model.elements.regions) {
        for (; c < count && points[static_cast<std::size_t>(c)].slot < lanes * region.last_batch; ++c) {
            const auto& [slot, weight] = points[static_cast<std::size_t>(c)];
            set_deformation_rows(model.elements, U, slot, B);
            data.B.middleRows(9 * c, 9) = B;
            data.weight[c] = weight * rest_volume(model.elements, slot);
            data.region.push_back(static_cast<int>(data.materials.size()));
        }
        data.materials.push_back(region.material);
    }
    return data;
}

void require_fitting(const CubatureElastic::Data& data)
{
    const Index count = data.weight.size();
    if (data.B.rows() != 9 * count || static_cast<Index>(data.region.size()) != count)
        throw InputError("a cubature of " + std::to_string(count) +
                         " weights needs 9 rows of B and one region for each; "
                         "there are " +
                         std::to_string(data.B.rows()) + " rows and " + std::to_string(data.region.size()) +
                         " regions");
    if (!data.B.allFinite()) throw InputError("the cubature has a gradient that is not finite");
    for (Index c = 0; c < count; ++c) {
        const int region = data.region[static_cast<std::size_t>(c)];
        if (region < 0 || region >= static_cast<int>(data.materials.size()))
            throw InputError("cubature point " + std::to_string(c) + " is in region " +
                             std::to_string(region) + "; there are " + std::to_string(data.materials.size()) +
                             " materials");
        (void)require_positive("weight of cubature point " + std::to_string(c), data.weight[c]);
    }
}

} // namespace

Cubature all_tets(const FemModel& model)
{
    Cubature all;
    for (const int tet : model.elements.tet_of_slot)
        if (tet >= 0) all.tets.push_back(tet);
    std::ranges::sort(all.tets);
    all.weights = VecX::Ones(static_cast<Index>(all.tets.size()));
    return all;
}

CubatureElastic::CubatureElastic(const FemModel& model, const MatX& U, const Cubature& cubature)
    : CubatureElastic(points_of(model, U, cubature))
{
}

CubatureElastic::CubatureElastic(const Data& data) : point_count_(data.weight.size())
{
    require_fitting(data);
    Index blocks = 0;
    for (std::size_t m = 0; m < data.materials.size(); ++m) {
        const Index points = std::ranges::count(data.region, static_cast<int>(m));
        const Index first = blocks;
        blocks += (points + lanes - 1) / lanes;
        regions_.push_back({data.materials[m], points, first, blocks});
    }
    B_ = MatX::Zero(block_rows * blocks, data.B.cols());
    weight_ = VecX::Zero(lanes * blocks);
    std::vector<Index> next;
    for (const Region& region : regions_) next.push_back(lanes * region.first_block);
    for (Index c = 0; c < point_count_; ++c) {
        const Index lane = next[static_cast<std::size_t>(data.region[static_cast<std::size_t>(c)])]++;
        for (Index e = 0; e < 9; ++e) B_.row(row_of(lane, e)) = data.B.row(9 * c + e);
        weight_[lane] = data.weight[c];
    }
}

CubatureElastic::Data CubatureElastic::data() const
{
    Data data{
        .B = MatX(9 * point_count_, rank()), .weight = VecX(point_count_), .region = {}, .materials = {}};
    Index c = 0;
    for (const Region& region : regions_) {
        for (Index lane = lanes * region.first_block; lane < lanes * region.first_block + region.point_count;
             ++lane, ++c) {
            for (Index e = 0; e < 9; ++e) data.B.row(9 * c + e) = B_.row(row_of(lane, e));
            data.weight[c] = weight_[lane];
            data.region.push_back(static_cast<int>(data.materials.size()));
        }
        data.materials.push_back(region.material);
    }
    return data;
}

void CubatureElastic::evaluate(const VecX& q, ReducedElastic& out, Work& work, SimdLevel level) const
{
    LITHE_ASSERT(q.size() == rank());
    const FemKernels kernel = fem_kernels(level);
    work.F.noalias() = B_ * q;
    work.P.resize(work.F.size());
    out.energy = 0.0;
    const auto block = [&](const auto& law, Index b) {
        double* F = work.F.data() + block_rows * b;
        for (const Index e : {0, 4, 8})
            for (Index lane = 0; lane < lanes; ++lane) F[lanes * e + lane] += 1.0;
        LaneBlock<1> psi;
        double* P = work.P.data() + block_rows * b;
        set_stresses(law, kernel, F, psi.data(), P);
        const double* weight = weight_.data() + lanes * b;
        for (Index lane = 0; lane < lanes; ++lane) out.energy += weight[lane] * psi.at[0][lane];
        for (Index e = 0; e < 9; ++e)
            for (Index lane = 0; lane < lanes; ++lane) P[lanes * e + lane] *= weight[lane];
    };
    for (const Region& region : regions_)
        std::visit(
            [&](const auto& law) {
                for (Index b = region.first_block; b < region.last_block; ++b) block(law, b);
            },
            region.material);
    out.gradient.noalias() = B_.transpose() * work.P;
}

void CubatureElastic::evaluate(const VecX& q, Definiteness definiteness, ReducedElastic& out, Work& work,
                               SimdLevel level) const
{
    evaluate(q, out, work, level);
    const FemKernels kernel = fem_kernels(level);
    const ReduceKernels products = reduce_kernels(level);
    work.D.resize(B_.rows(), B_.cols());
    work.C.resize(B_.rows(), B_.cols());
    BlockModes frame;
    const auto block = [&](const auto& law, Index b) {
        set_modes(law, kernel, work.F.data() + block_rows * b, definiteness, frame);
        for (auto& mode : frame.modes.at)
            for (Index lane = 0; lane < lanes; ++lane) mode[lane] *= weight_[lanes * b + lane];
        const Index start = block_rows * b;
        products.to_principal_frame({frame.U.data(), frame.V.data(), frame.modes.data()}, B_.data() + start,
                                    work.D.data() + start, work.C.data() + start, rank(), B_.rows());
    };
    for (const Region& region : regions_)
        std::visit(
            [&](const auto& law) {
                for (Index b = region.first_block; b < region.last_block; ++b) block(law, b);
            },
            region.material);
    symmetric_product(work.D, work.C, out.stiffness, level);
}

} // namespace lithe
