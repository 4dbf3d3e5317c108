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

constexpr Index padded(Index length)
{
    return (length + Lanes4::width - 1) / Lanes4::width * Lanes4::width;
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

inline double sum_of(Lanes4 a)
{
    alignas(32) double v[4];
    a.store(v);
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/// A row t (entries 0 .. last, padded) of a symmetric tensor contracted with q over its last index; and over the others
/// what t adds to the rows a, b and c, which hold the same last index.
struct RowTargets {
    double* a; ///< row of all but the last but one index; gets t q_a, but not its last entry
    double* b; ///< or null where that index is the same again
    double* c; ///< or null
    double q_a, q_b, q_c;
};

inline void contract_row(const double* t, const double* q, Index last, const RowTargets& to)
{
    Lanes4 dot(0.0);
    const Lanes4 q_a(to.q_a), q_b(to.q_b), q_c(to.q_c);
    for (Index l = 0; l <= last; l += Lanes4::width) {
        const Lanes4 x = Lanes4::load(t + l);
        dot = fma(x, Lanes4::load(q + l), dot);
        fma(x, q_a, Lanes4::load(to.a + l)).store(to.a + l);
        if (to.b) fma(x, q_b, Lanes4::load(to.b + l)).store(to.b + l);
        if (to.c) fma(x, q_c, Lanes4::load(to.c + l)).store(to.c + l);
    }
    to.a[last] += sum_of(dot) - t[last] * to.q_a;
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
    for (Index i = 0; i < r; ++i)
        for (Index j = 0; j <= i; ++j) {
            row_of_.push_back(cubic_.size());
            cubic_.resize(cubic_.size() + static_cast<std::size_t>(padded(j + 1)), 0.0);
            for (Index k = 0; k <= j; ++k) {
                cubic_[row_of_.back() + static_cast<std::size_t>(k)] =
                    H(i, pair(j, k)) + H(j, pair(i, k)) + H(k, pair(i, j));
                const std::size_t start = quartic_.size();
                quartic_.resize(start + static_cast<std::size_t>(padded(k + 1)), 0.0);
                for (Index l = 0; l <= k; ++l)
                    quartic_[start + static_cast<std::size_t>(l)] =
                        H(pair(i, j), pair(k, l)) + H(pair(i, k), pair(j, l)) + H(pair(i, l), pair(j, k));
            }
        }
}

namespace {

/// The symmetric matrix that a symmetric tensor of three indices (rows of pairs) makes with q; lower triangle by rows
/// of `A`'s columns, that is A(k, i) for k <= i, columns padded.
void contract_cubic(const std::vector<double>& rows, const double* q, Index r, MatX& A)
{
    A.setZero(padded(r), r);
    const double* row = rows.data();
    for (Index i = 0; i < r; ++i)
        for (Index j = 0; j <= i; ++j, row += padded(j)) {
            const bool same = i == j;
            contract_row(row, q, j,
                         {A.col(i).data(), same ? nullptr : A.col(j).data(), nullptr, q[j], q[i], 0.0});
        }
}

} // namespace

void StvkPolynomial::evaluate(const VecX& q, ReducedElastic& out, Work& work) const
{
    const Index r = rank();
    LITHE_ASSERT(q.size() == r);
    work.q.assign(static_cast<std::size_t>(padded(r)), 0.0);
    std::copy(q.begin(), q.end(), work.q.begin());
    work.cubic.assign(cubic_.size(), 0.0);
    const double* t = quartic_.data();
    const auto row = [&](Index i, Index j) {
        return work.cubic.data() + row_of_[static_cast<std::size_t>(pair_index(i, j))];
    };
    for (Index i = 0; i < r; ++i)
        for (Index j = 0; j <= i; ++j) {
            double* const row_ij = row(i, j);
            for (Index k = 0; k <= j; ++k, t += padded(k))
                contract_row(
                    t, work.q.data(), k,
                    {row_ij, j > k ? row(i, k) : nullptr, i > j ? row(j, k) : nullptr, q[k], q[j], q[i]});
        }
    contract_cubic(cubic_, work.q.data(), r, work.quadratic_of_C);
    contract_cubic(work.cubic, work.q.data(), r, work.quadratic_of_T);

    const auto C_q = work.quadratic_of_C.topRows(r).selfadjointView<Eigen::Upper>();
    const auto T_qq = work.quadratic_of_T.topRows(r).selfadjointView<Eigen::Upper>();
    out.stiffness = C_q;
    out.gradient.noalias() = 0.5 * (C_q * q);
    out.energy = out.gradient.dot(q) / 3.0;
    work.quadratic_of_C.topRows(r) = T_qq;
    out.stiffness += 0.5 * work.quadratic_of_C.topRows(r) + linear_;
    const double third = out.gradient.dot(q);
    out.gradient.noalias() += (1.0 / 6.0) * (T_qq * q);
    out.energy += (out.gradient.dot(q) - third) / 4.0;
    const double fourth = out.gradient.dot(q);
    out.gradient.noalias() += linear_ * q;
    out.energy += 0.5 * (out.gradient.dot(q) - fourth);
}

} // namespace lithe
