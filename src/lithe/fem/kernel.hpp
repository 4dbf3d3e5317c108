#pragma once
// What is done to eight tets at a time, for any number of lanes; see lithe/math/lanes.hpp for why this is closed in itself.
// A block is an array [entries][8]: entry e of lane l at 8 e + l, as in lithe/math/batch.hpp.
#include "lithe/math/svd3_kernel.hpp"

namespace lithe {
namespace {

/// The three gradients g_1, g_2, g_3 (rows of the inverse rest matrix) of one group of lanes; g_0 = -g_1 - g_2 - g_3.
template <class T>
struct LaneShape {
    LaneMat3<T> inverse_rest; ///< entry (a, j): g_{a+1}[j]
    T volume;
};

template <class T>
inline LaneShape<T> load_shape(const double* inverse_rest, const double* volume, int lane)
{
    return {load_lanes<T>(inverse_rest, lane), T::load(volume + lane)};
}

/// F = D_s D_m^-1 with D_s = [x_1 - x_0, x_2 - x_0, x_3 - x_0].
template <class T>
inline void deformation_gradients(const double* edges, const double* inverse_rest, double* F)
{
    for (int lane = 0; lane < 8; lane += T::width) {
        const LaneMat3<T> product = times(load_lanes<T>(edges, lane), load_lanes<T>(inverse_rest, lane));
        store_lanes(product.e, 9, F, lane);
    }
}

/// psi = mu |F - R|^2 + lambda/2 (tr(R^T F) - 3)^2,   P = 2 mu (F - R) + lambda (tr(R^T F) - 3) R
template <class T>
inline void corotational_stress(const double* F_block, double mu, double lambda, double* psi, double* P)
{
    for (int lane = 0; lane < 8; lane += T::width) {
        const LaneMat3<T> F = load_lanes<T>(F_block, lane);
        const LaneMat3<T> R = polar_rotation_lanes(F);
        LaneMat3<T> E;
        for (int e = 0; e < 9; ++e) E.e[e] = F.e[e] - R.e[e];
        // tr(R^T F) - 3 = tr(R^T (F - R)): no cancellation near rest
        const T trace = dot(R.col(0), E.col(0)) + dot(R.col(1), E.col(1)) + dot(R.col(2), E.col(2));
        const T norm2 = dot(E.col(0), E.col(0)) + dot(E.col(1), E.col(1)) + dot(E.col(2), E.col(2));
        const T two_mu(2.0 * mu), pressure = T(lambda) * trace;
        fma(T(mu), norm2, T(0.5) * pressure * trace).store(psi + lane);
        for (int e = 0; e < 9; ++e) E.e[e] = fma(two_mu, E.e[e], pressure * R.e[e]);
        store_lanes(E.e, 9, P, lane);
    }
}

/// Gradient of the energy by the corners: V P g_a, entries 3 a + i.
template <class T>
inline void corner_gradients(const double* P_block, const double* inverse_rest, const double* volume,
                             double* gradient)
{
    for (int lane = 0; lane < 8; lane += T::width) {
        const LaneMat3<T> P = load_lanes<T>(P_block, lane);
        const LaneShape<T> shape = load_shape<T>(inverse_rest, volume, lane);
        LaneMat3<T> G = times_transposed(P, shape.inverse_rest);
        for (T& entry : G.e) entry = shape.volume * entry;
        store_lanes(G.e, 9, gradient + 24, lane);
        for (int i = 0; i < 3; ++i) (-(G(i, 0) + G(i, 1) + G(i, 2))).store(gradient + 8 * i + lane);
    }
}

/// The modes of the corotational Hessian (see element_hessians), with the twists clamped so that no mode is below
/// `floor`: 0 for the projection, -infinity for the exact Hessian.
template <class T>
inline void corotational_modes(const double* sigma, double mu, double lambda, double floor, double* modes)
{
    const T two_mu(2.0 * mu), half(0.5);
    for (int lane = 0; lane < 8; lane += T::width) {
        T s[3];
        for (int k = 0; k < 3; ++k) s[k] = T::load(sigma + 8 * k + lane);
        const T c = T(lambda) * (s[0] + s[1] + s[2] - T(3.0)) - two_mu;
        for (int k = 0; k < 3; ++k) {
            const T sum = max(s[(k + 1) % 3] + s[(k + 2) % 3], T(1e-9));
            const T twist = max(two_mu + (c + c) / sum, T(floor));
            (T(2.0 * mu + lambda)).store(modes + 8 * k + lane);
            (T(lambda)).store(modes + 8 * (3 + k) + lane);
            (half * (two_mu + twist)).store(modes + 8 * (6 + k) + lane);
            (half * (two_mu - twist)).store(modes + 8 * (9 + k) + lane);
        }
    }
}

/// K_ab = V U M_ab U^T for one pair of corners, where M_ab is the 9 x 9 Hessian in the principal frame between
/// b_a = V^T g_a and b_b:
///
///   (i, i):  A_ii b_a[i] b_b[i] + sum_{j != i} p_ij b_a[j] b_b[j]
///   (i, k):  A_ik b_a[i] b_b[k] + q_ik b_a[k] b_b[i]
template <class T>
inline LaneMat3<T> corner_block(const LaneMat3<T>& U, const T* modes, const T* b_a, const T* b_b)
{
    LaneMat3<T> M;
    T product[3];
    for (int i = 0; i < 3; ++i) product[i] = b_a[i] * b_b[i];
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M.e[4 * i] = fma(modes[i], product[i], fma(modes[6 + k], product[j], modes[6 + j] * product[k]));
        // the pair (j, k) is opposite to i
        const T jk = b_a[j] * b_b[k], kj = b_a[k] * b_b[j];
        M.e[j + 3 * k] = fma(modes[3 + i], jk, modes[9 + i] * kj);
        M.e[k + 3 * j] = fma(modes[3 + i], kj, modes[9 + i] * jk);
    }
    return times_transposed(times(U, M), U);
}

/// The blocks of the 12 x 12 stiffness of eight tets, tet after tet:  out[90 l + 9 s + i + 3 j] with s running over
/// (0,0) (1,1) (2,2) (3,3) (0,1) (0,2) (0,3) (1,2) (1,3) (2,3).
/// Entries of `modes`: psi_00 psi_11 psi_22; psi_12 psi_20 psi_01; (flip + twist)/2 and (flip - twist)/2 of the pairs
/// (1,2) (2,0) (0,1).
template <class T>
inline void element_hessians(const double* U_block, const double* V_block, const double* mode_block,
                             const double* inverse_rest, const double* volume, double* out)
{
    alignas(64) double lanes[90 * T::width];
    for (int lane = 0; lane < 8; lane += T::width) {
        const LaneMat3<T> U = load_lanes<T>(U_block, lane);
        const LaneShape<T> shape = load_shape<T>(inverse_rest, volume, lane);
        T modes[12];
        for (int m = 0; m < 12; ++m) modes[m] = shape.volume * T::load(mode_block + 8 * m + lane);
        const LaneMat3<T> B = times(shape.inverse_rest, load_lanes<T>(V_block, lane)); // row a: b_{a+1}
        T b[3][3];
        for (int a = 0; a < 3; ++a)
            for (int i = 0; i < 3; ++i) b[a][i] = B(a, i);

        const auto put = [&](int slot, int e, T value) { value.store(lanes + T::width * (9 * slot + e)); };
        constexpr int slots[3][3] = {{1, 7, 8}, {7, 2, 9}, {8, 9, 3}};
        LaneMat3<T> first[3]; // K_0b = -(K_1b + K_2b + K_3b)
        for (auto& block : first)
            for (T& entry : block.e) entry = T(0.0);
        for (int a = 0; a < 3; ++a)
            for (int c = a; c < 3; ++c) {
                const LaneMat3<T> K = corner_block(U, modes, b[a], b[c]);
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        put(slots[a][c], i + 3 * j, K(i, j));
                        first[c].e[i + 3 * j] = first[c].e[i + 3 * j] - K(i, j);
                        if (a != c) first[a].e[i + 3 * j] = first[a].e[i + 3 * j] - K(j, i);
                    }
            }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                for (int a = 0; a < 3; ++a) put(4 + a, i + 3 * j, first[a](i, j));
                put(0, i + 3 * j, -(first[0](i, j) + first[1](i, j) + first[2](i, j)));
            }
        for (int l = 0; l < T::width; ++l)
            for (int e = 0; e < 90; ++e) out[90 * (lane + l) + e] = lanes[T::width * e + l];
    }
}

} // namespace

/// The kernels of one instruction set.
struct FemKernels {
    void (*deformation_gradients)(const double* edges, const double* inverse_rest, double* F);
    void (*corotational_stress)(const double* F, double mu, double lambda, double* psi, double* P);
    void (*corner_gradients)(const double* P, const double* inverse_rest, const double* volume,
                             double* gradient);
    void (*svd)(const double* F, double* U, double* sigma, double* V, long blocks);
    void (*corotational_modes)(const double* sigma, double mu, double lambda, double floor, double* modes);
    void (*element_hessians)(const double* U, const double* V, const double* modes,
                             const double* inverse_rest, const double* volume, double* out);
};

namespace {

template <class T>
inline FemKernels make_kernels()
{
    return {deformation_gradients<T>, corotational_stress<T>, corner_gradients<T>,
            svd3_blocks<T>,           corotational_modes<T>,  element_hessians<T>};
}

} // namespace
} // namespace lithe
