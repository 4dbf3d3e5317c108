#include "lithe/reduce/frame_tensors.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <Eigen/Eigenvalues>

#include "lithe/core/error.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/reduced_model.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// Of the largest principal moment, the least that we take for more than rounding.
constexpr double least_inertia = 1e-9;

/// Every third row, from row c: coordinate c of all vertices.
MatX coordinate_rows(const MatX& U, Index c)
{
    return U(Eigen::seq(c, Eigen::last, 3), Eigen::all);
}

/// X from the centre, as one column.
MatX centred_rest(const FemModel& model, const Vec3& centre)
{
    const Points X = model.rest.colwise() - centre;
    return Eigen::Map<const VecX>(X.data(), X.size());
}

Vec3 centre_of_mass(const FemModel& model)
{
    return model.rest * model.vertex_mass / model.vertex_mass.sum();
}

/// Block c of `second`: the derivative of row c of W.
auto second_block(const FrameTensors& tensors, Index c)
{
    return tensors.second.middleRows(c * tensors.rank(), tensors.rank());
}

/// Fills what pairs of different coordinates of S and X say. Entry k off the diagonal goes with l = k + 1, m = k + 2.
void add_pair(const std::array<MatX, 3>& S, const std::array<MatX, 3>& MS, const std::array<VecX, 3>& X,
              Index k, FrameTensors& out)
{
    const Index r = out.rank();
    const auto l = static_cast<std::size_t>((k + 1) % 3), m = static_cast<std::size_t>((k + 2) % 3);
    const MatX P = transposed_product(S[l], MS[m]); // entry (a, b): sum S_a,l S_b,m
    out.second.middleRows((3 + k) * r, r) = 0.5 * (P + P.transpose());
    out.second.middleRows((6 + k) * r, r) = P.transpose() - P;
    const MatX X_l = transposed_product(X[l], MS[m]), X_m = transposed_product(X[m], MS[l]);
    out.first.row(3 + k) = 0.5 * (X_l + X_m);
    out.first.row(6 + k) = X_l - X_m;
}

/// I as it is, or with a little of its trace where it cannot be inverted.
void set_inverse(FrameConfiguration& out)
{
    const double mean = out.I.trace() / 3.0;
    out.degenerate = !(out.I.determinant() > least_inertia * mean * mean * mean);
    if (out.degenerate) out.I.diagonal().array() += least_inertia * mean;
    out.I_inverse = out.I.inverse();
}

/// What weighs the entries of J in 1/2 Omega . I Omega, times two.
Vec6 spin_weights(const Vec3& Omega)
{
    const Vec3 squares = Omega.cwiseAbs2();
    Vec6 w;
    w.head<3>() = (squares.sum() - squares.array()).matrix();
    w.tail<3>() << -2.0 * Omega[1] * Omega[2], -2.0 * Omega[2] * Omega[0], -2.0 * Omega[0] * Omega[1];
    return w;
}

/// Takes from the columns of S what moves the centre of mass, and what turns the body at rest.
void remove_rigid(const FemModel& model, MatX& S)
{
    const FrameTensors sums = make_frame_tensors(model, S);
    require_inertia(sums);
    // S_i -= (sum S)/m, then S_i += [X_i] I^-1 B
    const MatX turn = inertia_of(sums.J0).inverse() * sums.first.bottomRows<3>();
    for (Index i = 0; i < model.vertex_count(); ++i)
        S.middleRows<3>(3 * i) +=
            skew(Vec3(model.rest.col(i)) - sums.centre) * turn - MatX(sums.linear) / sums.mass;
}

VecX mass_norms(const FemModel& model, const MatX& S)
{
    const MatX MS = mass_product(model, S);
    return S.cwiseProduct(MS).colwise().sum().transpose().cwiseMax(0.0).cwiseSqrt();
}

} // namespace

Rows3 FrameTensors::angular() const
{
    return first.bottomRows<3>() + skew(centre) * linear;
}

MatX FrameTensors::quadratic(int c) const
{
    return -second_block(*this, 6 + c);
}

Vec3 FrameTensors::angular_momentum(const VecX& q, const VecX& v) const
{
    const Index r = rank();
    Vec3 L = centre.cross(Vec3(linear * v));
    for (Index c = 0; c < 3; ++c)
        L[c] += first.row(6 + c).dot(v) + v.dot(second.middleRows((6 + c) * r, r) * q);
    return L;
}

FrameTensors make_frame_tensors(const FemModel& model, const MatX& S)
{
    if (S.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(S.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
    const Index r = S.cols();
    FrameTensors out;
    out.mass = model.vertex_mass.sum();
    out.centre = centre_of_mass(model);
    out.linear = Rows3::Zero(3, r);
    out.first = Rows9::Zero(9, r);
    out.second = MatX::Zero(9 * r, r);
    out.Mq = MatX::Zero(r, r);

    const MatX X = centred_rest(model, out.centre), MX = mass_product(model, X);
    const MatX MS = mass_product(model, S);
    std::array<MatX, 3> S_c, MS_c;
    std::array<VecX, 3> X_c, MX_c;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto row = static_cast<Index>(c);
        S_c[c] = coordinate_rows(S, row);
        MS_c[c] = coordinate_rows(MS, row);
        X_c[c] = coordinate_rows(X, row);
        MX_c[c] = coordinate_rows(MX, row);
        out.linear.row(row) = MS_c[c].colwise().sum();
    }
    for (std::size_t k = 0; k < 3; ++k) {
        const auto row = static_cast<Index>(k);
        const std::size_t l = (k + 1) % 3, m = (k + 2) % 3;
        out.J0[row] = X_c[k].dot(MX_c[k]);
        out.J0[3 + row] = X_c[l].dot(MX_c[m]);
        if (r == 0) continue;
        const MatX P = transposed_product(S_c[k], MS_c[k]);
        out.second.middleRows(row * r, r) = 0.5 * (P + P.transpose());
        out.first.row(row) = transposed_product(X_c[k], MS_c[k]);
        out.Mq += out.second.middleRows(row * r, r);
        add_pair(S_c, MS_c, X_c, row, out);
    }
    return out;
}

Mat3 inertia_of(const Vec6& J)
{
    Mat3 I;
    I << J[1] + J[2], -J[5], -J[4], -J[5], J[2] + J[0], -J[3], -J[4], -J[3], J[0] + J[1];
    return I;
}

void require_inertia(const FrameTensors& tensors)
{
    const Vec3 moments =
        Eigen::SelfAdjointEigenSolver<Mat3>(inertia_of(tensors.J0), Eigen::EigenvaluesOnly).eigenvalues();
    if (!(moments[0] > least_inertia * moments[2]))
        throw InputError("the body's principal moments of inertia are " + std::to_string(moments[0]) + ", " +
                         std::to_string(moments[1]) + " and " + std::to_string(moments[2]) +
                         " kg m^2: it is a line that nothing holds from spinning about itself; give it "
                         "thickness, or pin it");
}

Mat3 FrameConfiguration::inertia_rate(const VecX& u) const
{
    const Vec6 J_rate = 2.0 * (half_dJ() * u);
    return inertia_of(J_rate);
}

void FrameConfiguration::centrifugal(const Vec3& Omega, VecX& c) const
{
    c.noalias() = half_dJ().transpose() * spin_weights(Omega);
}

void FrameConfiguration::inertia_gradient(const Vec3& Omega, Rows3& out) const
{
    // I_,a Omega = tr(J_,a) Omega - J_,a Omega, with J_,a twice the rows of W.
    out.resize(3, W.cols());
    for (Index k = 0; k < 3; ++k) {
        const Index l = (k + 1) % 3, m = (k + 2) % 3;
        out.row(k) = 2.0 * Omega[k] * (W.row(l) + W.row(m)) - 2.0 * Omega[m] * W.row(3 + l) -
                     2.0 * Omega[l] * W.row(3 + m);
    }
}

void configure_from_rows(const FrameTensors& tensors, const VecX& q, FrameConfiguration& out)
{
    // J = J0 + sum_a q_a (W_a(0) + W_a(q))
    Vec6 J = tensors.J0;
    J.noalias() += tensors.first.topRows<6>() * q;
    J.noalias() += out.half_dJ() * q;
    out.I = inertia_of(J);
    set_inverse(out);
    out.H.resize(3, tensors.rank());
    for (Index k = 0; k < 3; ++k)
        out.H.row(k) = out.I_inverse(k, 0) * out.W.row(6) + out.I_inverse(k, 1) * out.W.row(7) +
                       out.I_inverse(k, 2) * out.W.row(8);
}

void frame_rows(const FrameTensors& tensors, const VecX& q, Rows9& W)
{
    frame_rates(tensors, q, W);
    W += tensors.first;
}

void configure(const FrameTensors& tensors, const VecX& q, FrameConfiguration& out)
{
    frame_rows(tensors, q, out.W);
    configure_from_rows(tensors, q, out);
}

void frame_rates(const FrameTensors& tensors, const VecX& u, Rows9& out)
{
    out.resize(9, tensors.rank());
    if (tensors.rank() == 0) return;
    Eigen::Map<VecX>(out.data(), out.size()).noalias() = tensors.second * u;
}

void gyroscopic(const FrameTensors& tensors, const Vec3& Omega, MatX& G)
{
    G = Omega[0] * second_block(tensors, 6) + Omega[1] * second_block(tensors, 7) +
        Omega[2] * second_block(tensors, 8);
}

void centrifugal_stiffness(const FrameTensors& tensors, const Vec3& Omega, MatX& out)
{
    const Vec6 w = spin_weights(Omega);
    out = w[0] * second_block(tensors, 0) + w[1] * second_block(tensors, 1) +
          w[2] * second_block(tensors, 2) + w[3] * second_block(tensors, 3) +
          w[4] * second_block(tensors, 4) + w[5] * second_block(tensors, 5);
}

FramedBasis make_framed_basis(const FemModel& model, const MatX& U, FrameAxes axes)
{
    if (U.rows() == 3 * model.vertex_count() && !U.allFinite())
        throw InputError("the basis has an entry that is not finite; remove that column");
    MatX S = U;
    remove_rigid(model, S); // twice, for what rounding leaves of columns that are almost rigid
    remove_rigid(model, S);
    const VecX before = mass_norms(model, U), left = mass_norms(model, S);
    for (Index a = 0; a < S.cols(); ++a)
        if (!(left[a] > dependent_share * before[a])) S.col(a).setZero();
    MassQr qr = mass_qr(model, S);

    FramedBasis out{.centre = centre_of_mass(model), .S = std::move(qr.Q), .dropped = {}, .eigenvalues = {}};
    for (Index a = 0; a < U.cols(); ++a)
        if (!std::ranges::binary_search(qr.kept, a)) out.dropped.push_back(a);
    if (axes == FrameAxes::StiffnessDiagonal && out.S.cols() > 0) {
        const Eigen::SelfAdjointEigenSolver<MatX> eigen(make_linear_elastic(model, out.S).K);
        out.S = tall_product(out.S, eigen.eigenvectors());
        out.eigenvalues = eigen.eigenvalues();
    }
    return out;
}

} // namespace lithe
