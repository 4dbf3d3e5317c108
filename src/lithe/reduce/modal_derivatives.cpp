#include "lithe/reduce/modal_derivatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/fem/elasticity.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// The largest displacement gradient (Frobenius norm) of a displacement: its size as strain, whatever the units.
double largest_gradient(const Elements& elements, const MatX& u)
{
    const auto part = [&](Index begin, Index end) {
        double largest = 0.0;
        MatX B(9, 1);
        for (Index slot = begin; slot < end; ++slot) {
            set_deformation_rows(elements, u, slot, B);
            largest = std::max(largest, B.norm());
        }
        return largest;
    };
    return parallel_reduce(elements.slot_count(), 1024, 0.0, part,
                           [](double a, double b) { return std::max(a, b); });
}

/// (dK/dx [u]) V.  Strains of 1e-5 leave an error of their square, and of rounding over them.
MatX stiffness_change(const FemModel& model, const MatX& u, const TallRef& V, SparseMatrix& K,
                      SparseMatrix& K_minus, ElasticWork& work)
{
    const double gradient = largest_gradient(model.elements, u);
    if (gradient == 0.0) return MatX::Zero(V.rows(), V.cols());
    const double step = 1e-5 / gradient;
    const Points displacement = step * Eigen::Map<const Points>(u.data(), 3, model.vertex_count());
    elastic_hessian(model, model.rest + displacement, Definiteness::Exact, K, work);
    elastic_hessian(model, model.rest - displacement, Definiteness::Exact, K_minus, work);
    Eigen::Map<VecX> values(K.valuePtr(), K.nonZeros());
    values -= Eigen::Map<const VecX>(K_minus.valuePtr(), K_minus.nonZeros());
    return stiffness_product(K, V) / (2.0 * step);
}

/// The coordinate at which a mode moves some vertex by 0.3 of the body's size.
double large_amplitude(const FemModel& model, const MatX& mode)
{
    const double size = bounds(model.rest).diagonal().norm();
    const Eigen::Map<const Points> u(mode.data(), 3, model.vertex_count());
    return 0.3 * size / std::sqrt(u.colwise().squaredNorm().maxCoeff());
}

/// The span of the columns, then what the basis adds to it; as many columns as the basis had.
void put_first(const FemModel& model, const MatX& columns, Basis& basis)
{
    const Index rank = basis.rank();
    basis = join(model, std::array{Basis{.U = columns}, basis});
    if (basis.rank() > rank) basis.U = MatX(basis.U.leftCols(rank));
}

} // namespace

ModalDerivatives modal_derivatives(RestSystem& system, const MatX& modes, Progress& progress)
{
    const FemModel& model = system.model();
    if (modes.rows() != 3 * model.vertex_count())
        throw InputError("the modes have " + std::to_string(modes.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": are they of another mesh?");
    const Index r = modes.cols();
    ModalDerivatives out{MatX(modes.rows(), r * (r + 1) / 2), r};
    SparseMatrix K, K_minus;
    ElasticWork work;
    progress.begin("modal derivatives", r);
    for (Index i = 0; i < r; ++i) {
        MatX B = -stiffness_change(model, modes.col(i), modes.rightCols(r - i), K, K_minus, work);
        (void)system.solve(B);
        out.Phi.middleCols(out.column(i, i), r - i) = B;
        progress.advance();
    }
    progress.end();
    return out;
}

MatX gravity_responses(RestSystem& system)
{
    const FemModel& model = system.model();
    MatX B = MatX::Zero(3 * model.vertex_count(), 3);
    for (Index c = 0; c < 3; ++c)
        Eigen::Map<Points>(B.col(c).data(), 3, model.vertex_count()).row(c) = model.vertex_mass.transpose();
    system.clear_pins(B);
    const double scale = B.norm() / system.stiffness().diagonal().maxCoeff();
    (void)system.solve(B);
    const MatX MB = mass_product(model, B);
    MatX out(B.rows(), 0);
    for (Index c = 0; c < 3; ++c) {
        if (!(B.col(c).norm() > 1e-6 * scale)) continue; // free to move that way
        out.conservativeResize(Eigen::NoChange, out.cols() + 1);
        out.col(out.cols() - 1) = B.col(c) / std::sqrt(B.col(c).dot(MB.col(c)));
    }
    return out;
}

PrincipalBasis modal_derivative_basis(RestSystem& system, const Modes& modes, const Truncation& truncation,
                                      Progress& progress)
{
    const FemModel& model = system.model();
    const MatX gravity = gravity_responses(system);
    const Index g = gravity.cols(), r = g + modes.basis.rank();
    MatX directions(gravity.rows(), r);
    directions << gravity, modes.basis.U;
    const ModalDerivatives derivatives = modal_derivatives(system, directions, progress);

    const double amplitude = large_amplitude(model, modes.basis.U.col(0));
    VecX reach(r); // of each direction in a large motion
    reach << VecX::Constant(g, amplitude),
        amplitude * modes.eigenvalues[0] * modes.eigenvalues.cwiseInverse();
    MatX columns(directions.rows(), r + derivatives.Phi.cols());
    columns.leftCols(r) = directions * reach.asDiagonal();
    for (Index i = 0; i < r; ++i)
        for (Index j = i; j < r; ++j) {
            const Index column = derivatives.column(i, j);
            columns.col(r + column) =
                (i == j ? 0.5 : 1.0) * reach[i] * reach[j] * derivatives.Phi.col(column);
        }
    PrincipalBasis out = principal_basis(model, columns, truncation);
    if (g > 0) put_first(model, gravity, out.basis);
    out.basis.kind = BasisKind::ModalDerivatives;
    out.basis.provenance = std::to_string(out.basis.rank()) + " directions of " +
                           std::to_string(modes.basis.rank()) + " linear modes, " + std::to_string(g) +
                           " responses to gravity, and their derivatives";
    return out;
}

} // namespace lithe
