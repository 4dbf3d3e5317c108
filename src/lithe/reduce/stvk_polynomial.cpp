#include "lithe/reduce/stvk_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/lanes.hpp"
#include "lithe/reduce/deformation_rows.hpp"

namespace lithe {
namespace {

/// A triangle of entries (k, l), l <= k <= last, is stored as tiles m = 0, 1, ..: rows k = 4 m .. 4 m + 3 of
/// 4 (m + 1) entries each, zeros where l > k or k > last.
constexpr Index tile_width(Index m)
{
    return 4 * (m + 1);
}
constexpr Index tile_start(Index m)
{
    return 8 * m * (m + 1);
}
constexpr Index triangle_size(Index last)
{
    return tile_start(last / 4 + 1);
}
constexpr Index place(Index k, Index l)
{
    return tile_start(k / 4) + k % 4 * tile_width(k / 4) + l;
}

/// Place of the pair i >= j among all pairs.
constexpr Index pair_index(Index i, Index j)
{
    return i * (i + 1) / 2 + j;
}

LameParameters lame_of(const Material& material)
{
    const auto* law = std::get_if<StVenantKirchhoff>(&material);
    if (law == nullptr)
        throw InputError("polynomials are exact for the material 'stvk' only; use cubature for another");
    const Mat9 C = law->dPdF(Mat3::Identity()); // P_00 by F_11, and by F_10
    return {.mu = C(1, 1), .lambda = C(0, 4)};
}

/// The symmetric part of A as a vector whose squared length is 2 mu |sym A|^2 + lambda tr(A)^2.
Eigen::Matrix<double, 6, 1> energy_vector(const Mat3& A, double deviatoric, double spherical)
{
    const double mean = A.trace() / 3.0;
    Eigen::Matrix<double, 6, 1> z;
    for (int c = 0; c < 3; ++c) z[c] = deviatoric * (A(c, c) - mean) + spherical * mean;
    const double shear = deviatoric / std::sqrt(2.0);
    z[3] = shear * (A(1, 2) + A(2, 1));
    z[4] = shear * (A(2, 0) + A(0, 2));
    z[5] = shear * (A(0, 1) + A(1, 0));
    return z;
}

/// The Green strain of a tet is linear in z = (q_i; q_i q_j of i >= j, halved where i = j):
///   E = sum_i q_i sym(D_i) + sum_pairs (..) sym(D_i^T D_j).
/// Six rows of its coefficients, scaled so that the energy is |rows z|^2/2.
void set_strain_rows(const MatX& B, const LameParameters& lame, double volume, Eigen::Ref<MatX> rows)
{
    const Index r = B.cols();
    const double deviatoric = std::sqrt(2.0 * lame.mu * volume);
    const double spherical = std::sqrt((2.0 * lame.mu + 3.0 * lame.lambda) * volume);
    for (Index i = 0; i < r; ++i) {
        const Eigen::Map<const Mat3> D_i(B.col(i).data());
        rows.col(i) = energy_vector(D_i, deviatoric, spherical);
        for (Index j = 0; j <= i; ++j) {
            const Eigen::Map<const Mat3> D_j(B.col(j).data());
            rows.col(r + pair_index(i, j)) = energy_vector(D_i.transpose() * D_j, deviatoric, spherical);
        }
    }
}

/// H += Z^T Z, lower tiles only, each tile by one thread: same bits for any number of them.
void add_gram(const MatX& Z, MatX& H)
{
    constexpr Index tile = 192;
    const Index tiles = (Z.cols() + tile - 1) / tile;
    parallel_for(tiles * (tiles + 1) / 2, 1, [&](Index task) {
        Index I = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(task) + 1.0) - 1.0) / 2.0);
        while (pair_index(I + 1, 0) <= task) ++I;
        while (pair_index(I, 0) > task) --I;
        const Index J = task - pair_index(I, 0);
        const Index rows = std::min(tile, Z.cols() - I * tile), columns = std::min(tile, Z.cols() - J * tile);
        H.block(I * tile, J * tile, rows, columns).noalias() +=
            Z.middleCols(I * tile, rows).transpose() * Z.middleCols(J * tile, columns);
    });
}

/// For every region its tets, in chunks of at most `chunk` slots.
template <class F>
void for_each_chunk(const Elements& elements, Index chunk, const F& f)
{
    for (const ElementRegion& region : elements.regions)
        for (Index first = 8 * region.first_batch; first < 8 * region.last_batch; first += chunk)
            f(region, first, std::min(first + chunk, 8 * region.last_batch));
}

/// y += c x
inline void add_scaled(Index count, double c, const double* x, double* y)
{
    const Lanes4 factor(c);
    for (Index l = 0; l < count; l += Lanes4::width)
        fma(factor, Lanes4::load(x + l), Lanes4::load(y + l)).store(y + l);
}

inline void add_scaled_twice(Index count, const double* x, double c, double* y, double d, double* z)
{
    const Lanes4 c4(c), d4(d);
    for (Index l = 0; l < count; l += Lanes4::width) {
        const Lanes4 x4 = Lanes4::load(x + l);
        fma(c4, x4, Lanes4::load(y + l)).store(y + l);
        fma(d4, x4, Lanes4::load(z + l)).store(z + l);
    }
}

inline double sum_of(Lanes4 a)
{
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

/// Tile m of a symmetric matrix, whose rows k >= l it holds, times q:  y[k] += sum_l t_kl q_l,  y[l] += sum_k t_kl q_k,
/// the diagonal once.
inline void multiply_tile(const double* t, Index m, const double* q, double* y)
{
    const Index width = tile_width(m);
    Lanes4 dot[4] = {Lanes4(0.0), Lanes4(0.0), Lanes4(0.0), Lanes4(0.0)};
    const Lanes4 q_k[4] = {Lanes4(q[4 * m]), Lanes4(q[4 * m + 1]), Lanes4(q[4 * m + 2]),
                           Lanes4(q[4 * m + 3])};
    for (Index l = 0; l < width; l += 4) {
        const Lanes4 q_l = Lanes4::load(q + l);
        Lanes4 sum = Lanes4::load(y + l);
        for (int s = 0; s < 4; ++s) {
            const Lanes4 x = Lanes4::load(t + s * width + l);
            dot[s] = fma(x, q_l, dot[s]);
            sum = fma(x, q_k[s], sum);
        }
        sum.store(y + l);
    }
    for (Index s = 0; s < 4; ++s) y[4 * m + s] += sum_of(dot[s]) - t[s * width + 4 * m + s] * q[4 * m + s];
}

/// A symmetric tensor of three indices (for each i the triangle of (k, l)) times q: the triangle of a symmetric matrix.
void contract_cubic(const std::vector<double>& tensor, const double* q, Index r, std::vector<double>& A)
{
    A.assign(static_cast<std::size_t>(triangle_size(r - 1)), 0.0);
    const double* t = tensor.data();
    for (Index i = 0; i < r; ++i)
        for (Index m = 0; m <= i / 4; t += 4 * tile_width(m), ++m) {
            multiply_tile(t, m, q, A.data() + place(i, 0));
            const Index rows = m < i / 4 ? 4 : i % 4; // those with k < i
            add_scaled(rows * tile_width(m), q[i], t, A.data() + tile_start(m));
        }
}

/// The same for four indices (for each (i, j) the triangle of (k, l)); `start` is where i begins in the result.
void contract_quartic(const std::vector<double>& tensor, const std::vector<std::size_t>& start,
                      const double* q, std::vector<double>& S)
{
    const double* t = tensor.data();
    for (Index i = 0; i < static_cast<Index>(start.size()); ++i) {
        double* const S_i = S.data() + start[static_cast<std::size_t>(i)];
        for (Index j = 0; j <= i; ++j) {
            double* const S_j = S.data() + start[static_cast<std::size_t>(j)];
            for (Index m = 0; m <= j / 4; t += 4 * tile_width(m), ++m) {
                const Index tile = tile_start(m), size = 4 * tile_width(m);
                multiply_tile(t, m, q, S_i + place(j, 0));
                const Index below = m < j / 4 ? size : j % 4 * tile_width(m); // rows with k < j
                if (i > j)
                    add_scaled_twice(below, t, q[j], S_i + tile, q[i], S_j + tile);
                else
                    add_scaled(below, q[j], t, S_i + tile);
                if (i > j) add_scaled(size - below, q[i], t + below, S_j + tile + below);
            }
        }
    }
}

/// A = the symmetric matrix of a triangle, scaled, added to `A`.
void add_triangle(const std::vector<double>& triangle, double scale, MatX& A)
{
    for (Index i = 0; i < A.cols(); ++i) {
        const double* row = triangle.data() + place(i, 0);
        for (Index l = 0; l < i; ++l) {
            A(l, i) += scale * row[l];
            A(i, l) += scale * row[l];
        }
        A(i, i) += scale * row[i];
    }
}

/// The symmetric matrix of a triangle times q.
void multiply_triangle(const std::vector<double>& triangle, const double* q, Index r, double* y)
{
    for (Index m = 0; m <= (r - 1) / 4; ++m) multiply_tile(triangle.data() + tile_start(m), m, q, y);
}

} // namespace

StvkPolynomial::StvkPolynomial(const FemModel& model, const MatX& U, Progress& progress)
{
    const Index r = U.cols();
    if (U.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(U.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
    if (r < 1 || r > largest_rank)
        throw InputError("rank " + std::to_string(r) + " of a polynomial must lie in 1 .. " +
                         std::to_string(largest_rank) + "; use cubature above");
    constexpr Index chunk = 128;
    const Index unknowns = r + pair_index(r, 0);
    MatX H = MatX::Zero(unknowns, unknowns), Z(6 * chunk, unknowns);
    progress.begin("polynomials", model.elements.slot_count());
    for_each_chunk(model.elements, chunk, [&](const ElementRegion& region, Index first, Index last) {
        const LameParameters lame = lame_of(region.material);
        Z.resize(6 * (last - first), unknowns);
        parallel_for(last - first, 4, [&](Index k) {
            MatX B(9, r);
            set_deformation_rows(model.elements, U, first + k, B);
            set_strain_rows(B, lame, rest_volume(model.elements, first + k), Z.middleRows(6 * k, 6));
        });
        add_gram(Z, H);
        progress.advance(last - first);
    });
    progress.end();
    H.triangularView<Eigen::StrictlyUpper>() = H.transpose();
    linear_ = H.topLeftCorner(r, r);
    set_coefficients(H);
}

/// C_ijk and T_ijkl are sums over the three ways to pair their indices up:
///   C_ijk = <s_i, e_jk> + <s_j, e_ik> + <s_k, e_ij>,   T_ijkl = <e_ij, e_kl> + <e_ik, e_jl> + <e_il, e_jk>.
void StvkPolynomial::set_coefficients(const MatX& H)
{
    const Index r = linear_.rows();
    const auto pair = [r](Index i, Index j) { return r + pair_index(std::max(i, j), std::min(i, j)); };
    const auto grow = [](std::vector<double>& entries, Index last) {
        entries.resize(entries.size() + static_cast<std::size_t>(triangle_size(last)), 0.0);
        return entries.data() + entries.size() - triangle_size(last);
    };
    for (Index i = 0; i < r; ++i) {
        start_.push_back(cubic_.size());
        double* const C_i = grow(cubic_, i);
        for (Index j = 0; j <= i; ++j) {
            for (Index k = 0; k <= j; ++k)
                C_i[place(j, k)] = H(i, pair(j, k)) + H(j, pair(i, k)) + H(k, pair(i, j));
            double* const T_ij = grow(quartic_, j);
            for (Index k = 0; k <= j; ++k)
                for (Index l = 0; l <= k; ++l)
                    T_ij[place(k, l)] =
                        H(pair(i, j), pair(k, l)) + H(pair(i, k), pair(j, l)) + H(pair(i, l), pair(j, k));
        }
    }
}

void StvkPolynomial::evaluate(const VecX& q, ReducedElastic& out, Work& work) const
{
    const Index r = rank();
    LITHE_ASSERT(q.size() == r);
    const Index padded = tile_width((r - 1) / 4);
    work.q.assign(static_cast<std::size_t>(padded), 0.0);
    std::copy(q.begin(), q.end(), work.q.begin());
    work.cubic.assign(cubic_.size(), 0.0);
    contract_quartic(quartic_, start_, work.q.data(), work.cubic);
    contract_cubic(cubic_, work.q.data(), r, work.from_C);
    contract_cubic(work.cubic, work.q.data(), r, work.from_T);

    out.stiffness = linear_;
    add_triangle(work.from_C, 1.0, out.stiffness);
    add_triangle(work.from_T, 0.5, out.stiffness);

    out.gradient.noalias() = linear_ * q;
    out.energy = 0.5 * out.gradient.dot(q);
    const auto add_order = [&](const std::vector<double>& triangle, double gradient_share,
                               double energy_share) {
        work.product.setZero(padded);
        multiply_triangle(triangle, work.q.data(), r, work.product.data());
        out.gradient += gradient_share * work.product.head(r);
        out.energy += energy_share * work.product.head(r).dot(q);
    };
    add_order(work.from_C, 1.0 / 2.0, 1.0 / 6.0);
    add_order(work.from_T, 1.0 / 6.0, 1.0 / 24.0);
}

} // namespace lithe
