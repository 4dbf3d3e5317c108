#pragma once
// Products under the steps, for any number of lanes; see lithe/math/lanes.hpp for why this is closed in itself. Blocks
// are arrays [entries][8] of eight points, as in lithe/math/batch.hpp.
#include "lithe/math/lane_sums.hpp"
#include "lithe/math/svd3_kernel.hpp"

namespace lithe {

enum class SimdLevel; // of lithe/math/batch.hpp

/// Hessians of eight points in their principal frames: blocks of U, V and the twelve modes of lithe/fem/kernel.hpp.
struct PrincipalBlock {
    const double *U, *V, *modes;
};

namespace {

/// D = U^T B V for each column of B (3 x 3 per point), and C = H D with H the Hessian in the principal frame:
///   C_ii = sum_j A_ij D_jj,   C_ij = p D_ij + q D_ji.
/// Columns are `stride` apart in all three.
template <class T>
inline void to_principal_frame(const PrincipalBlock& frame, const double* B, double* D_out, double* C_out,
                               long columns, long stride)
{
    for (int lane = 0; lane < 8; lane += T::width) {
        const LaneMat3<T> U = load_lanes<T>(frame.U, lane), V = load_lanes<T>(frame.V, lane);
        const auto mode = [&](int k) { return T::load(frame.modes + 8 * k + lane); };
        for (long column = 0; column < columns; ++column) {
            const LaneMat3<T> D = transposed_times(U, times(load_lanes<T>(B + stride * column, lane), V));
            LaneMat3<T> C;
            for (int k = 0; k < 3; ++k) {
                const int i = (k + 1) % 3, j = (k + 2) % 3;
                C.e[4 * k] = fma(mode(k), D(k, k), fma(mode(3 + j), D(i, i), mode(3 + i) * D(j, j)));
                C.e[i + 3 * j] = fma(mode(6 + k), D(i, j), mode(9 + k) * D(j, i));
                C.e[j + 3 * i] = fma(mode(6 + k), D(j, i), mode(9 + k) * D(i, j));
            }
            store_lanes(D.e, 9, D_out + stride * column, lane);
            store_lanes(C.e, 9, C_out + stride * column, lane);
        }
    }
}

/// As many sums as the registers hold beside the operands: 16 of AVX2, 32 of AVX-512.
template <class T>
struct ProductTile {
    static constexpr int rows = T::width == 8 ? 6 : 4, columns = T::width == 8 ? 4 : 3;
};

/// Entries (i .. , j .. ) of A^T B, each with its mirror image; columns beyond the last are computed as the last and not
/// stored.
template <class T>
inline void set_product_tile(const double* A, const double* B, long rows, long columns, long i, long j,
                             double* K)
{
    using Tile = ProductTile<T>;
    const double *a[Tile::rows], *b[Tile::columns];
    for (int s = 0; s < Tile::rows; ++s) a[s] = A + rows * (i + s < columns ? i + s : columns - 1);
    for (int t = 0; t < Tile::columns; ++t) b[t] = B + rows * (j + t < columns ? j + t : columns - 1);
    T sum[Tile::rows][Tile::columns];
    for (auto& row : sum)
        for (T& entry : row) entry = T(0.0);
    for (long p = 0; p < rows; p += T::width) {
        T b_p[Tile::columns];
        for (int t = 0; t < Tile::columns; ++t) b_p[t] = T::load(b[t] + p);
        for (int s = 0; s < Tile::rows; ++s) {
            const T a_p = T::load(a[s] + p);
            for (int t = 0; t < Tile::columns; ++t) sum[s][t] = fma(a_p, b_p[t], sum[s][t]);
        }
    }
    for (int s = 0; s < Tile::rows; ++s)
        for (int t = 0; t < Tile::columns; ++t)
            if (i + s < columns && j + t <= i + s)
                K[i + s + columns * (j + t)] = K[j + t + columns * (i + s)] = sum_of(sum[s][t]);
}

/// K = A^T B where the result is known to be symmetric.
template <class T>
inline void symmetric_product_lanes(const double* A, const double* B, long rows, long columns, double* K)
{
    using Tile = ProductTile<T>;
    for (long i = 0; i < columns; i += Tile::rows)
        for (long j = 0; j < columns && j < i + Tile::rows; j += Tile::columns)
            set_product_tile<T>(A, B, rows, columns, i, j, K);
}

} // namespace

/// The kernels of one instruction set.
struct ReduceKernels {
    void (*to_principal_frame)(const PrincipalBlock& frame, const double* B, double* D, double* C,
                               long columns, long stride);
    void (*symmetric_product)(const double* A, const double* B, long rows, long columns, double* K);
    int lanes; ///< the rows of a product are a multiple of this
};
ReduceKernels reduce_kernels(SimdLevel level);

namespace {

template <class T>
inline ReduceKernels make_reduce_kernels()
{
    return {to_principal_frame<T>, symmetric_product_lanes<T>, T::width};
}

} // namespace
} // namespace lithe
