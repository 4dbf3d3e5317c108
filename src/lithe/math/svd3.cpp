#include "lithe/math/svd3.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/math/svd3_kernel.hpp"

namespace lithe {

namespace detail {
void svd3_blocks_avx512(const double* F, double* U, double* sigma, double* V, long blocks);
void polar_blocks_avx512(const double* F, double* R, long blocks);
} // namespace detail

namespace {

constexpr Index blocks_per_task = 32;

LaneMat3<Lanes1> one_lane(const Mat3& A)
{
    LaneMat3<Lanes1> lanes;
    for (int e = 0; e < 9; ++e) lanes.e[e] = Lanes1(A.data()[e]);
    return lanes;
}

Mat3 from_lane(const LaneMat3<Lanes1>& lanes)
{
    Mat3 A;
    for (int e = 0; e < 9; ++e) A.data()[e] = lanes.e[e].v;
    return A;
}

} // namespace

SimdLevel best_simd_level()
{
    static const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    return avx512 ? SimdLevel::Avx512 : SimdLevel::Avx2;
}

Svd3 svd3(const Mat3& F)
{
    const LaneSvd3<Lanes1> svd = svd3_lanes(one_lane(F));
    return {from_lane(svd.U), Vec3(svd.sigma[0].v, svd.sigma[1].v, svd.sigma[2].v), from_lane(svd.V)};
}

Polar3 polar3(const Mat3& F)
{
    const Mat3 R = polar_rotation(F);
    const Mat3 S = R.transpose() * F;
    return {R, 0.5 * (S + S.transpose())};
}

Mat3 polar_rotation(const Mat3& F)
{
    return from_lane(polar_rotation_lanes(one_lane(F)));
}

Mat9 polar_rotation_derivative(const Polar3& polar)
{
    const Mat3 G = polar.S.trace() * Mat3::Identity() - polar.S;
    const Mat3 G_inverse = G.inverse();
    Mat9 dRdF;
    for (int e = 0; e < 9; ++e) {
        Mat3 dF = Mat3::Zero();
        dF.data()[e] = 1.0;
        const Vec3 w = G_inverse * (2.0 * axial(polar.R.transpose() * dF));
        dRdF.col(e) = vec(polar.R * skew(w));
    }
    return dRdF;
}

void svd3(const Mat3Batch& F, Mat3Batch& U, Vec3Batch& sigma, Mat3Batch& V, SimdLevel level)
{
    U.resize(F.size());
    sigma.resize(F.size());
    V.resize(F.size());
    const auto kernel = level == SimdLevel::Avx512 ? detail::svd3_blocks_avx512
                        : level == SimdLevel::Avx2 ? svd3_blocks<Lanes4>
                                                   : svd3_blocks<Lanes1>;
    parallel_blocks(F.block_count(), blocks_per_task, [&](Index begin, Index end) {
        kernel(F.block(begin), U.block(begin), sigma.block(begin), V.block(begin), end - begin);
    });
}

void polar_rotations_of_blocks(const double* F, double* R, Index blocks, SimdLevel level)
{
    const auto kernel = level == SimdLevel::Avx512 ? detail::polar_blocks_avx512
                        : level == SimdLevel::Avx2 ? polar_blocks<Lanes4>
                                                   : polar_blocks<Lanes1>;
    kernel(F, R, blocks);
}

void polar_rotations(const Mat3Batch& F, Mat3Batch& R, SimdLevel level)
{
    R.resize(F.size());
    parallel_blocks(F.block_count(), blocks_per_task, [&](Index begin, Index end) {
        polar_rotations_of_blocks(F.block(begin), R.block(begin), end - begin, level);
    });
}

void polar_rotations(std::span<const Mat3> F, std::span<Mat3> R, SimdLevel level)
{
    LITHE_ASSERT(F.size() == R.size());
    constexpr Index lanes = Mat3Batch::lane_count;
    parallel_blocks(static_cast<Index>(F.size()), blocks_per_task * lanes, [&](Index begin, Index end) {
        alignas(64) double block[Mat3Batch::block_size] = {};
        for (Index first = begin; first < end; first += lanes) {
            const Index count = std::min(lanes, end - first);
            for (Index k = 0; k < count; ++k)
                for (int e = 0; e < 9; ++e) block[lanes * e + k] = F[first + k].data()[e];
            polar_rotations_of_blocks(block, block, 1, level);
            for (Index k = 0; k < count; ++k)
                for (int e = 0; e < 9; ++e) R[first + k].data()[e] = block[lanes * e + k];
        }
    });
}

} // namespace lithe
