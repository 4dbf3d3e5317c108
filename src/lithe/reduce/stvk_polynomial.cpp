#include "lithe/reduce/stvk_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/lane_sums.hpp"
#include "lithe/reduce/deformation_rows.hpp"

namespace lithe {
namespace {

/// A triangle of entries (k, l), l <= k <= last, is stored as strips m = 0, 1, .. of four rows k = 4 m .. 4 m + 3, and a
/// strip as tiles of 4 x 4 from left to right, row after row: the order in which it is read. Zeros where l > k or
/// k > last.
constexpr Index tile_size = 16;
constexpr Index strip_width(Index m)
{
    return 4 * (m + 1);
}
constexpr Index strip_start(Index m)
{
    return 8 * m * (m + 1);
}
constexpr Index triangle_size(Index last)
{
    return strip_start(last / 4 + 1);
}
constexpr Index place(Index k, Index l)
{
    return strip_start(k / 4) + l / 4 * tile_size + k % 4 * 4 + l % 4;
}

constexpr Index cubic_size(Index r)
{
    return r * (r + 1) * (r + 2) / 6;
}
constexpr Index quartic_size(Index r)
{
    return cubic_size(r) * (r + 3) / 4;
}

/// n! for every index that is there n times; equal ones stand together.
double permutations_lost(std::initializer_list<Index> indices)
{
    int product = 1, run = 0;
    Index last = -1;
    for (const Index index : indices) {
        run = index == last ? run + 1 : 1;
        product *= run;
        last = index;
    }
    return product;
}

void require_rank(Index r)
{
    if (r < 1 || r > StvkPolynomial::largest_rank)
        throw InputError("rank " + std::to_string(r) + " of a polynomial must lie in 1 .. " +
                         std::to_string(StvkPolynomial::largest_rank) + "; use cubature above");
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

/// What the cubic and quartic coefficients are sums of: H(z_a, z_b) summed over the three ways to pair the indices up,
///   <s_i, e_jk> + <s_j, e_ik> + <s_k, e_ij>   and   <e_ij, e_kl> + <e_ik, e_jl> + <e_il, e_jk>,
/// divided by n! for every index that is there n times.
StvkPolynomial::Data coefficients(const MatX& H, Index r)
{
    const auto pair = [r](Index i, Index j) { return r + pair_index(i, j); }; // i >= j
    StvkPolynomial::Data data{.linear = H.topLeftCorner(r, r), .cubic = {}, .quartic = {}};
    data.cubic.reserve(static_cast<std::size_t>(cubic_size(r)));
    data.quartic.reserve(static_cast<std::size_t>(quartic_size(r)));
    for (Index i = 0; i < r; ++i)
        for (Index j = 0; j <= i; ++j)
            for (Index k = 0; k <= j; ++k) {
                const double sum = H(i, pair(j, k)) + H(j, pair(i, k)) + H(k, pair(i, j));
                data.cubic.push_back(sum / permutations_lost({i, j, k}));
                for (Index l = 0; l <= k; ++l) {
                    const double sum_4 =
                        H(pair(i, j), pair(k, l)) + H(pair(i, k), pair(j, l)) + H(pair(i, l), pair(j, k));
                    data.quartic.push_back(sum_4 / permutations_lost({i, j, k, l}));
                }
            }
    return data;
}

/// The coefficients of a body in the basis U.
StvkPolynomial::Data project_energy(const FemModel& model, const MatX& U, Progress& progress)
{
    const Index r = U.cols();
    if (U.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(U.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
    require_rank(r);
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
    return coefficients(H, r);
}

/// Room for numbers of the rank in whole tiles.
struct Padded {
    alignas(32) double at[StvkPolynomial::largest_rank];
};
static_assert(StvkPolynomial::largest_rank % 4 == 0);

/// Strip m of A added to W, and times q from both sides:  W += c A,  y += (A + A^T) q.
inline void add_strip(const double* A, Index m, const double* q, Lanes4 c, double* W, double* y)
{
    Lanes4 dot[4] = {Lanes4(0.0), Lanes4(0.0), Lanes4(0.0), Lanes4(0.0)};
    const Lanes4 q_k[4] = {Lanes4(q[4 * m]), Lanes4(q[4 * m + 1]), Lanes4(q[4 * m + 2]),
                           Lanes4(q[4 * m + 3])};
    for (Index l = 0; l < strip_width(m); l += 4, A += tile_size, W += tile_size) {
        const Lanes4 q_l = Lanes4::load(q + l);
        Lanes4 sum = Lanes4::load(y + l);
        for (int s = 0; s < 4; ++s) {
            const Lanes4 a = Lanes4::load(A + 4 * s);
            fma(c, a, Lanes4::load(W + 4 * s)).store(W + 4 * s);
            dot[s] = fma(a, q_l, dot[s]);
            sum = fma(a, q_k[s], sum);
        }
        sum.store(y + l);
    }
    (Lanes4::load(y + 4 * m) + sums_of(dot)).store(y + 4 * m);
}

/// The same for all rows up to `last`; y is set.
inline void add_triangle(const double* A, Index last, const double* q, double c, double* W, double* y)
{
    const Lanes4 factor(c);
    for (Index m = 0; m <= last / 4; ++m) {
        Lanes4(0.0).store(y + 4 * m);
        add_strip(A + strip_start(m), m, q, factor, W + strip_start(m), y);
    }
}

/// W + W^T is the Hessian of a sum of monomials when W takes, for every pair of its factors, the derivative by both. For
/// all monomials q_i q_j q_k of one i this is, with y = (c_i + c_i^T) q,
///
///   W_jk += q_i c_ijk,   W_i. += y.
void add_cubic(const double* c, Index r, const double* q, double* W)
{
    Padded y;
    for (Index i = 0; i < r; ++i) {
        add_triangle(c, i, q, q[i], W, y.at);
        for (Index l = 0; l <= i; l += 4) {
            double* const W_il = W + place(i, l);
            (Lanes4::load(W_il) + Lanes4::load(y.at + l)).store(W_il);
        }
        c += triangle_size(i);
    }
}

/// Of one (i, j):  row += q_j y,  W_j. += q_i y,  and q.y in four parts.
inline Lanes4 share_out(const double* y, Index j, double q_i, const double* q, double* row, double* W)
{
    const Lanes4 factor_i(q_i), factor_j(q[j]);
    double* W_jl = W + place(j, 0);
    Lanes4 sum(0.0);
    for (Index l = 0; l <= j; l += 4, W_jl += tile_size) {
        const Lanes4 y_l = Lanes4::load(y + l);
        fma(factor_j, y_l, Lanes4::load(row + l)).store(row + l);
        fma(factor_i, y_l, Lanes4::load(W_jl)).store(W_jl);
        sum = fma(Lanes4::load(q + l), y_l, sum);
    }
    return sum;
}

/// The same for q_i q_j q_k q_l of one (i, j), with y = (t_ij + t_ij^T) q:
///
///   W_kl += q_i q_j t_ijkl,   W_i. += q_j y,   W_j. += q_i y,   W_ij += q.y/2.
///
/// Row i waits outside of W until all j are done: a number that is stored alone and read in a vector costs a stall.
void add_quartic(const double* t, Index r, const double* q, double* W)
{
    Padded y, row;
    Lanes4 q_dot_y[StvkPolynomial::largest_rank];
    for (Index i = 0; i < r; ++i) {
        for (Index l = 0; l <= i; l += 4) Lanes4(0.0).store(row.at + l);
        for (Index j = 0; j <= i; ++j) {
            add_triangle(t, j, q, q[i] * q[j], W, y.at);
            q_dot_y[j] = share_out(y.at, j, q[i], q, row.at, W);
            t += triangle_size(j);
        }
        for (Index j = i + 1; j % 4 != 0; ++j) q_dot_y[j] = Lanes4(0.0);
        for (Index j = 0; j <= i; j += 4) {
            double* const W_ij = W + place(i, j);
            const Lanes4 sum = fma(Lanes4(0.5), sums_of(q_dot_y + j), Lanes4::load(row.at + j));
            (Lanes4::load(W_ij) + sum).store(W_ij);
        }
    }
}

/// A += W + W^T + V + V^T, whole.
void add_symmetric(const double* W, const double* V, MatX& A)
{
    for (Index i = 0; i < A.cols(); ++i) {
        for (Index l = 0; l < i; ++l) A(i, l) = A(l, i) += W[place(i, l)] + V[place(i, l)];
        A(i, i) += 2.0 * (W[place(i, i)] + V[place(i, i)]);
    }
}

/// Calls for every coefficient, in the order of the data, with its place in the tiles.
template <class Cubic, class Quartic>
void for_each_coefficient(Index r, const Cubic& cubic, const Quartic& quartic)
{
    Index c_i = 0, t_ij = 0; // where the triangles begin
    for (Index i = 0; i < r; c_i += triangle_size(i), ++i)
        for (Index j = 0; j <= i; t_ij += triangle_size(j), ++j)
            for (Index k = 0; k <= j; ++k) {
                cubic(static_cast<std::size_t>(c_i + place(j, k)));
                for (Index l = 0; l <= k; ++l) quartic(static_cast<std::size_t>(t_ij + place(k, l)));
            }
}

void require_fitting(const StvkPolynomial::Data& data)
{
    const Index r = data.linear.rows();
    require_rank(r);
    if (data.linear.cols() != r || static_cast<Index>(data.cubic.size()) != cubic_size(r) ||
        static_cast<Index>(data.quartic.size()) != quartic_size(r))
        throw InputError("the polynomials of rank " + std::to_string(r) + " need " +
                         std::to_string(cubic_size(r)) + " cubic and " + std::to_string(quartic_size(r)) +
                         " quartic coefficients; there are " + std::to_string(data.cubic.size()) + " and " +
                         std::to_string(data.quartic.size()));
    const auto finite = [](double c) { return std::isfinite(c); };
    if (!data.linear.allFinite() || !std::ranges::all_of(data.cubic, finite) ||
        !std::ranges::all_of(data.quartic, finite))
        throw InputError("the polynomials have a coefficient that is not finite");
}

} // namespace

StvkPolynomial::StvkPolynomial(const FemModel& model, const MatX& U, Progress& progress)
    : StvkPolynomial(project_energy(model, U, progress))
{
}

StvkPolynomial::StvkPolynomial(const Data& data) : linear_(data.linear)
{
    require_fitting(data);
    const Index r = rank();
    Index cubic_room = 0, quartic_room = 0;
    for (Index i = 0; i < r; ++i) {
        cubic_room += triangle_size(i);
        quartic_room += (r - i) * triangle_size(i); // as t_ji, j = i .. r - 1
    }
    cubic_.assign(static_cast<std::size_t>(cubic_room), 0.0);
    quartic_.assign(static_cast<std::size_t>(quartic_room), 0.0);
    auto c = data.cubic.begin(), t = data.quartic.begin();
    for_each_coefficient(
        r, [&](std::size_t place) { cubic_[place] = *c++; },
        [&](std::size_t place) { quartic_[place] = *t++; });
}

StvkPolynomial::Data StvkPolynomial::data() const
{
    const Index r = rank();
    Data data{.linear = linear_, .cubic = {}, .quartic = {}};
    data.cubic.reserve(static_cast<std::size_t>(cubic_size(r)));
    data.quartic.reserve(static_cast<std::size_t>(quartic_size(r)));
    for_each_coefficient(
        r, [&](std::size_t place) { data.cubic.push_back(cubic_[place]); },
        [&](std::size_t place) { data.quartic.push_back(quartic_[place]); });
    return data;
}

void StvkPolynomial::evaluate(const VecX& q, ReducedElastic& out, Work& work) const
{
    const Index r = rank();
    LITHE_ASSERT(q.size() == r);
    Padded q_padded, y;
    std::fill(std::copy(q.begin(), q.end(), q_padded.at), q_padded.at + strip_width((r - 1) / 4), 0.0);

    out.stiffness = linear_;
    out.gradient.noalias() = linear_ * q;
    out.energy = 0.5 * out.gradient.dot(q);
    // What a part of degree n has for a Hessian K, has K q/(n - 1) for a gradient g, and q.g/n for an energy.
    const auto add_part = [&](Aligned& W, const double* coefficients, auto add, int degree) {
        W.assign(static_cast<std::size_t>(triangle_size(r - 1)), 0.0);
        add(coefficients, r, q_padded.at, W.data());
        add_triangle(W.data(), r - 1, q_padded.at, 0.0, W.data(), y.at);
        const Eigen::Map<const VecX> product(y.at, r);
        out.gradient += product / (degree - 1);
        out.energy += product.dot(q) / (degree * (degree - 1));
    };
    add_part(work.from_cubic, cubic_.data(), add_cubic, 3);
    add_part(work.from_quartic, quartic_.data(), add_quartic, 4);
    add_symmetric(work.from_cubic.data(), work.from_quartic.data(), out.stiffness);
}

} // namespace lithe
