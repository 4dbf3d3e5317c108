#pragma once
// The algorithm of svd3.hpp for any number of lanes; see lanes.hpp for why it is closed in itself.
#include "lithe/math/lanes.hpp"

namespace lithe {
namespace {

/// A 3x3 matrix per lane, entry (i, j) at i + 3 j.
template <class T>
struct LaneMat3 {
    T e[9];
    T* col(int j) { return e + 3 * j; }
    const T* col(int j) const { return e + 3 * j; }
    T operator()(int i, int j) const { return e[i + 3 * j]; }
};

template <class T>
struct LaneSvd3 {
    LaneMat3<T> U, V;
    T sigma[3];
};

template <class T>
inline T dot(const T* a, const T* b)
{
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]));
}

template <class T>
inline void cross(const T* a, const T* b, T* c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/// A B, and A^T B, and A B^T.
template <class T>
inline LaneMat3<T> times(const LaneMat3<T>& A, const LaneMat3<T>& B)
{
    LaneMat3<T> C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
            C.e[i + 3 * j] = fma(A(i, 2), B(2, j), fma(A(i, 1), B(1, j), A(i, 0) * B(0, j)));
    return C;
}
template <class T>
inline LaneMat3<T> transposed_times(const LaneMat3<T>& A, const LaneMat3<T>& B)
{
    LaneMat3<T> C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) C.e[i + 3 * j] = dot(A.col(i), B.col(j));
    return C;
}
template <class T>
inline LaneMat3<T> times_transposed(const LaneMat3<T>& A, const LaneMat3<T>& B)
{
    LaneMat3<T> C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
            C.e[i + 3 * j] = fma(A(i, 2), B(j, 2), fma(A(i, 1), B(j, 1), A(i, 0) * B(j, 0)));
    return C;
}

/// Divides F by a power of two so that its largest entry is in [1, 2); says which. Zero stays zero.
template <class T>
inline T normalise_scale(LaneMat3<T>& F)
{
    T largest = abs(F.e[0]);
    for (int k = 1; k < 9; ++k) largest = max(largest, abs(F.e[k]));
    T power, inverse;
    T::power_of_two(largest, power, inverse);
    for (T& entry : F.e) entry = entry * inverse;
    return power;
}

/// Zero where every entry is finite, else NaN: added to the results, it keeps a bad input from looking good.
template <class T>
inline T poison(const LaneMat3<T>& F)
{
    T sum = F.e[0] * T(0.0);
    for (int k = 1; k < 9; ++k) sum = fma(F.e[k], T(0.0), sum);
    return sum;
}

/// Columns p, q of M become c p - s q, s p + c q, in the lanes of `moves`; the others keep their bits.
template <class T>
inline void turn_columns(LaneMat3<T>& M, int p, int q, T c, T s, typename T::Mask moves)
{
    for (int i = 0; i < 3; ++i) {
        const T x = M.col(p)[i], y = M.col(q)[i];
        M.col(p)[i] = select(moves, fma(c, x, -(s * y)), x);
        M.col(q)[i] = select(moves, fma(s, x, c * y), y);
    }
}

/// One Jacobi rotation of columns p, q of B (and of V) that makes them orthogonal. Lanes whose columns are so
/// already, to rounding, stay as they are, bit for bit. Returns the lanes that moved.
///
///   tan 2t = 2 b_p.b_q / (|b_q|^2 - |b_p|^2),   |t| <= pi / 4
template <class T>
inline typename T::Mask orthogonalise(LaneMat3<T>& B, LaneMat3<T>& V, int p, int q)
{
    const T a = dot(B.col(p), B.col(p)), b = dot(B.col(q), B.col(q)), g = dot(B.col(p), B.col(q));
    const T tolerance(0x1.0p-100);  // (4 ulp)^2
    const T negligible(0x1.0p-900); // below this, the squares underflow
    const auto moves = g * g > max(tolerance * (a * b), negligible);
    if (!T::any(moves)) return moves;

    const T d = b - a, h = g + g;
    const T hh = h * h;
    const T w = abs(d) + sqrt(fma(d, d, hh));
    const T n = T(1.0) / sqrt(fma(w, w, hh));
    const T c = w * n, s = with_sign_of(n, d) * h;
    turn_columns(B, p, q, c, s, moves);
    turn_columns(V, p, q, c, s, moves);
    return moves;
}

template <class T>
inline void swap_columns(LaneMat3<T>& M, int p, int q, typename T::Mask swaps)
{
    for (int i = 0; i < 3; ++i) {
        const T x = M.col(p)[i], y = M.col(q)[i];
        M.col(p)[i] = select(swaps, y, x);
        M.col(q)[i] = select(swaps, -x, y);
    }
}

/// Puts the longer of columns p, q first; the other takes a minus sign, so that det V stays 1.
template <class T>
inline void put_longer_first(LaneMat3<T>& B, LaneMat3<T>& V, T* squared, int p, int q)
{
    const auto swaps = squared[q] > squared[p];
    const T longer = select(swaps, squared[q], squared[p]);
    squared[q] = select(swaps, squared[p], squared[q]);
    squared[p] = longer;
    swap_columns(B, p, q, swaps);
    swap_columns(V, p, q, swaps);
}

/// Some unit vector at a right angle to the unit vector n, without a branch.      [DBC17]
template <class T>
inline void perpendicular(const T* n, T* out)
{
    const T sign = with_sign_of(T(1.0), n[2]);
    const T a = T(-1.0) / (sign + n[2]);
    out[0] = fma(sign * n[0] * n[0], a, T(1.0));
    out[1] = sign * (n[0] * n[1] * a);
    out[2] = -(sign * n[0]);
}

/// U and sigma from B = U diag(sigma), whose columns are orthogonal and sorted. u_3 = u_1 x u_2 makes U a
/// rotation, and b_3.u_3 then carries the sign. Columns shorter than 1e-60 (of entries near one) count as zero.
template <class T>
inline void split_columns(const LaneMat3<T>& B, LaneSvd3<T>& svd)
{
    const T zero(0.0), one(1.0), tiny(1e-120);
    T* u_1 = svd.U.col(0);
    T* u_2 = svd.U.col(1);
    T* u_3 = svd.U.col(2);

    const T squared_1 = dot(B.col(0), B.col(0));
    const auto usable_1 = squared_1 > tiny;
    const T length_1 = sqrt(squared_1);
    for (int i = 0; i < 3; ++i) u_1[i] = select(usable_1, B.col(0)[i] / length_1, i == 0 ? one : zero);

    const T along = dot(u_1, B.col(1)); // zero to rounding already; once more costs nothing
    T b_2[3], any_2[3];
    for (int i = 0; i < 3; ++i) b_2[i] = fma(-along, u_1[i], B.col(1)[i]);
    perpendicular(u_1, any_2);
    const T squared_2 = dot(b_2, b_2);
    const auto usable_2 = squared_2 > tiny;
    const T length_2 = sqrt(squared_2);
    for (int i = 0; i < 3; ++i) u_2[i] = select(usable_2, b_2[i] / length_2, any_2[i]);

    cross(u_1, u_2, u_3);
    svd.sigma[0] = select(usable_1, length_1, zero);
    svd.sigma[1] = min(select(usable_2, length_2, zero), svd.sigma[0]);
    svd.sigma[2] = max(min(dot(u_3, B.col(2)), svd.sigma[1]), -svd.sigma[1]);
}

template <class T>
inline LaneSvd3<T> svd3_lanes(const LaneMat3<T>& F)
{
    constexpr int max_sweeps = 16; // 3 or 4 is usual, and one that finds nothing to do
    LaneSvd3<T> svd;
    LaneMat3<T> B = F;
    const T scale = normalise_scale(B);
    for (int k = 0; k < 9; ++k) svd.V.e[k] = T(k % 4 == 0 ? 1.0 : 0.0);

    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        auto moved = orthogonalise(B, svd.V, 0, 1);
        moved = T::either(moved, orthogonalise(B, svd.V, 0, 2));
        moved = T::either(moved, orthogonalise(B, svd.V, 1, 2));
        if (!T::any(moved)) break;
    }
    T squared[3] = {dot(B.col(0), B.col(0)), dot(B.col(1), B.col(1)), dot(B.col(2), B.col(2))};
    put_longer_first(B, svd.V, squared, 0, 1);
    put_longer_first(B, svd.V, squared, 0, 2);
    put_longer_first(B, svd.V, squared, 1, 2);
    split_columns(B, svd);

    const T bad = poison(F);
    for (T& entry : svd.U.e) entry = entry + bad;
    for (T& entry : svd.V.e) entry = entry + bad;
    for (T& value : svd.sigma) value = fma(value, scale, bad);
    return svd;
}

/// The largest root of the characteristic polynomial of Davenport's matrix, which is s_1 + s_2 + s_3, by Newton
/// from above:   p(x) = x^4 - 2 |F|^2 x^2 - 8 det(F) x + |F|^4 - 4 |cof F|^2.      [Mar93]
/// A lane rests once a step was so short that the next would be below rounding. `converged`: which lanes got there.
template <class T>
inline T largest_root(T norm2, T det, T cof2, typename T::Mask& converged)
{
    constexpr int max_steps =
        10; // 3 or 4 for small strains; a double root (rotation not unique) never gets there
    const T c_2 = T(-2.0) * norm2, c_1 = T(-8.0) * det, c_0 = fma(norm2, norm2, T(-4.0) * cof2);
    T x = sqrt(T(3.0) * norm2);
    converged = T(0.0) > T(0.0);
    for (int k = 0; k < max_steps && !T::all(converged); ++k) {
        const T xx = x * x;
        const T p = fma(fma(xx + c_2, x, c_1), x, c_0);
        const T slope = fma(fma(T(4.0), xx, c_2 + c_2), x, c_1);
        const T step = p / slope;
        x = select(converged, x, x - step);
        converged = T::either(converged, x * T(1e-8) > abs(step));
    }
    return x;
}

/// The rotation of the polar decomposition without the singular values.
///
///   R = ((k + |F|^2) F + x cof F - F F^T F) / z,  k = (x^2 - |F|^2) / 2,  z = k x - det F        [Mar93]
///
/// with x = s_1 + s_2 + s_3, then one Newton step on the rotations (which squares the error) and one towards
/// orthogonality. `trusted`: the lanes where z = (s_1 + s_2)(s_2 + s_3)(s_3 + s_1) is well away from zero.
template <class T>
inline LaneMat3<T> direct_rotation(LaneMat3<T> F, typename T::Mask& trusted)
{
    normalise_scale(F);
    LaneMat3<T> cof;
    cross(F.col(1), F.col(2), cof.col(0));
    cross(F.col(2), F.col(0), cof.col(1));
    cross(F.col(0), F.col(1), cof.col(2));
    const T det = dot(F.col(0), cof.col(0));
    const T norm2 = dot(F.col(0), F.col(0)) + dot(F.col(1), F.col(1)) + dot(F.col(2), F.col(2));
    const T cof2 = dot(cof.col(0), cof.col(0)) + dot(cof.col(1), cof.col(1)) + dot(cof.col(2), cof.col(2));
    typename T::Mask converged;
    const T x = largest_root(norm2, det, cof2, converged);
    const T k = T(0.5) * fma(x, x, -norm2);
    const T z = fma(k, x, -det);
    trusted = T::both(converged, z > T(1e-3) * (x * x * x));

    const LaneMat3<T> cubic = times(F, transposed_times(F, F));
    const T inverse_z = T(1.0) / z;
    LaneMat3<T> R;
    for (int e = 0; e < 9; ++e) R.e[e] = inverse_z * (fma(k + norm2, F.e[e], x * cof.e[e]) - cubic.e[e]);

    // (tr(S) I - S) w = the axis of S - S^T with S = R^T F;  R <- R (I + [w])
    const LaneMat3<T> S = transposed_times(R, F);
    const T axis[3] = {S(2, 1) - S(1, 2), S(0, 2) - S(2, 0), S(1, 0) - S(0, 1)};
    const T half(0.5);
    LaneMat3<T> G, adj;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) G.e[i + 3 * j] = -half * (S(i, j) + S(j, i));
    G.e[0] = S(1, 1) + S(2, 2);
    G.e[4] = S(0, 0) + S(2, 2);
    G.e[8] = S(0, 0) + S(1, 1);
    cross(G.col(1), G.col(2), adj.col(0));
    cross(G.col(2), G.col(0), adj.col(1));
    cross(G.col(0), G.col(1), adj.col(2));
    const T inverse_det = T(1.0) / dot(G.col(0), adj.col(0));
    T w[3];
    for (int i = 0; i < 3; ++i) w[i] = inverse_det * dot(adj.col(i), axis);
    for (int i = 0; i < 3; ++i) {
        const T r[3] = {R(i, 0), R(i, 1), R(i, 2)};
        T turned[3];
        cross(r, w, turned); // row i of R [w] is r_i x w
        for (int j = 0; j < 3; ++j) R.e[i + 3 * j] = r[j] + turned[j];
    }

    // R <- R (3 I - R^T R) / 2
    LaneMat3<T> Q = transposed_times(R, R);
    for (int e = 0; e < 9; ++e) Q.e[e] = -half * Q.e[e];
    for (int e = 0; e < 9; e += 4) Q.e[e] = Q.e[e] + T(1.5);
    return times(R, Q);
}

/// Direct where that is accurate, through the SVD elsewhere: each lane's bits depend on its own matrix alone.
template <class T>
inline LaneMat3<T> polar_rotation_lanes(const LaneMat3<T>& F)
{
    typename T::Mask trusted;
    LaneMat3<T> R = direct_rotation(F, trusted);
    if (T::all(trusted)) return R;
    const LaneSvd3<T> svd = svd3_lanes(F);
    const LaneMat3<T> exact = times_transposed(svd.U, svd.V);
    for (int e = 0; e < 9; ++e) R.e[e] = select(trusted, R.e[e], exact.e[e]);
    return R;
}

// Loops over blocks in the layout of LaneBatch (batch.hpp): entry e of lane l of a block at 8 e + l.

template <class T>
inline LaneMat3<T> load_lanes(const double* block, int lane)
{
    LaneMat3<T> A;
    for (int e = 0; e < 9; ++e) A.e[e] = T::load(block + 8 * e + lane);
    return A;
}

template <class T>
inline void store_lanes(const T* entries, int count, double* block, int lane)
{
    for (int e = 0; e < count; ++e) entries[e].store(block + 8 * e + lane);
}

template <class T>
inline void svd3_blocks(const double* F, double* U, double* sigma, double* V, long blocks)
{
    for (long b = 0; b < blocks; ++b) {
        for (int lane = 0; lane < 8; lane += T::width) {
            const LaneSvd3<T> svd = svd3_lanes(load_lanes<T>(F + 72 * b, lane));
            store_lanes(svd.U.e, 9, U + 72 * b, lane);
            store_lanes(svd.sigma, 3, sigma + 24 * b, lane);
            store_lanes(svd.V.e, 9, V + 72 * b, lane);
        }
    }
}

template <class T>
inline void polar_blocks(const double* F, double* R, long blocks)
{
    for (long b = 0; b < blocks; ++b) {
        for (int lane = 0; lane < 8; lane += T::width) {
            const LaneMat3<T> rotation = polar_rotation_lanes(load_lanes<T>(F + 72 * b, lane));
            store_lanes(rotation.e, 9, R + 72 * b, lane);
        }
    }
}

} // namespace
} // namespace lithe
