#include "lithe/reduce/basis.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/SVD>

#include "lithe/core/error.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// Wide enough for the products with all columns so far, small against them.
constexpr Index qr_block_width = 16;

void require_columns(const FemModel& model, const MatX& A, const char* what)
{
    if (A.rows() != 3 * model.vertex_count())
        throw InputError(std::string(what) + " have " + std::to_string(A.rows()) + " rows; a body of " +
                         std::to_string(model.vertex_count()) + " vertices needs " +
                         std::to_string(3 * model.vertex_count()) + ": are they of another mesh?");
    if (!A.allFinite())
        throw InputError(std::string(what) + " have an entry that is not finite; remove that column");
}

/// Subtracts from W its part in the span of Q and adds the coefficients to C.
// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is a view, and W is written through it
void project_out(const FemModel& model, const TallRef& Q, Eigen::Ref<MatX> W, Eigen::Ref<MatX> C)
{
    if (Q.cols() == 0) return;
    const MatX c = transposed_product(Q, mass_product(model, W));
    subtract_product(Q, c, W);
    C += c;
}

VecX mass_norms(const FemModel& model, const MatX& W)
{
    const MatX MW = mass_product(model, W);
    return W.cwiseProduct(MW).colwise().sum().transpose().cwiseMax(0.0).cwiseSqrt();
}

MatX first_columns(const MatX& A, Index count)
{
    return A.leftCols(count);
}

} // namespace

const char* to_string(BasisKind kind)
{
    switch (kind) {
    case BasisKind::Modes:
        return "modes";
    case BasisKind::ModalDerivatives:
        return "modal derivatives";
    case BasisKind::Snapshots:
        return "snapshots";
    case BasisKind::Shapes:
        return "shapes";
    case BasisKind::ContactModes:
        return "contact modes";
    case BasisKind::Union:
        return "union";
    }
    return "";
}

MassQrBlock mass_qr_block(const FemModel& model, const Eigen::Ref<const MatX>& Q, MatX W, double dependent)
{
    const Index width = W.cols();
    const VecX norms = mass_norms(model, W);
    MassQrBlock out{.Q_new = MatX(W.rows(), width),
                    .C = MatX::Zero(Q.cols(), width),
                    .R = MatX::Zero(width, width),
                    .kept = {}};
    for (int pass = 0; pass < 2; ++pass) project_out(model, Q, W, out.C);

    Index rank = 0;
    for (Index j = 0; j < width; ++j) {
        auto w = W.middleCols(j, 1);
        const double before = mass_norms(model, w)[0];
        for (int pass = 0; pass < 2; ++pass)
            project_out(model, out.Q_new.leftCols(rank), w, out.R.block(0, j, rank, 1));
        double norm = mass_norms(model, w)[0];
        if (norm < 0.1 * before) { // the rounding along Q grew with it
            project_out(model, Q, w, out.C.middleCols(j, 1));
            project_out(model, out.Q_new.leftCols(rank), w, out.R.block(0, j, rank, 1));
            norm = mass_norms(model, w)[0];
        }
        if (!(norm > dependent * norms[j])) continue;
        out.Q_new.col(rank) = w / norm;
        out.R(rank++, j) = norm;
        out.kept.push_back(j);
    }
    out.Q_new.conservativeResize(Eigen::NoChange, rank);
    out.R.conservativeResize(rank, Eigen::NoChange);
    return out;
}

MassQr mass_qr(const FemModel& model, const MatX& A, double dependent)
{
    require_columns(model, A, "the columns");
    MassQr out{.Q = MatX(A.rows(), A.cols()), .R = MatX::Zero(A.cols(), A.cols()), .kept = {}};
    Index rank = 0;
    for (Index first = 0; first < A.cols(); first += qr_block_width) {
        const Index width = std::min(qr_block_width, A.cols() - first);
        const MassQrBlock block =
            mass_qr_block(model, out.Q.leftCols(rank), A.middleCols(first, width), dependent);
        out.R.block(0, first, rank, width) = block.C;
        out.R.block(rank, first, block.R.rows(), width) = block.R;
        out.Q.middleCols(rank, block.Q_new.cols()) = block.Q_new;
        rank += block.Q_new.cols();
        for (const Index j : block.kept) out.kept.push_back(first + j);
    }
    out.Q.conservativeResize(Eigen::NoChange, rank);
    out.R.conservativeResize(rank, Eigen::NoChange);
    return out;
}

Basis mass_orthonormalised(const FemModel& model, const Basis& basis, double dependent)
{
    return {.U = mass_qr(model, basis.U, dependent).Q,
            .kind = basis.kind,
            .provenance = basis.provenance,
            .mass_orthonormal = true};
}

Basis join(const FemModel& model, std::span<const Basis> bases, double dependent)
{
    if (bases.empty()) throw InputError("a union needs at least one basis");
    Basis out = bases[0].mass_orthonormal ? bases[0] : mass_orthonormalised(model, bases[0], dependent);
    for (const Basis& next : bases.subspan(1)) {
        require_columns(model, next.U, "the columns of a basis");
        for (Index first = 0; first < next.rank(); first += qr_block_width) {
            const Index width = std::min(qr_block_width, next.rank() - first);
            const MatX added = mass_qr_block(model, out.U, next.U.middleCols(first, width), dependent).Q_new;
            out.U.conservativeResize(Eigen::NoChange, out.rank() + added.cols());
            out.U.rightCols(added.cols()) = added;
        }
        out.provenance += "; " + next.provenance;
    }
    if (bases.size() > 1) out.kind = BasisKind::Union;
    return out;
}

PrincipalBasis principal_basis(const FemModel& model, const MatX& columns, const Truncation& truncation)
{
    require_columns(model, columns, "the columns");
    if (!(truncation.lost_energy >= 0.0 && truncation.lost_energy < 1.0))
        throw InputError("lost_energy = " + std::to_string(truncation.lost_energy) + " must lie in [0, 1)");
    // Only what rounding made is dropped here: the cut is by energy.
    const MassQr qr = mass_qr(model, columns, 1e-12);
    if (qr.Q.cols() == 0)
        throw InputError("all columns are zero; give displacements that differ from the rest");
    const Eigen::BDCSVD<MatX> svd(qr.R, Eigen::ComputeThinU);
    PrincipalBasis out;
    out.singular_values = svd.singularValues();

    const VecX energy = out.singular_values.cwiseAbs2();
    const double total = energy.sum();
    double lost = total;
    Index rank = 0;
    while (rank < energy.size() && energy[rank] > 0.0 && lost > truncation.lost_energy * total &&
           (truncation.max_rank == 0 || rank < truncation.max_rank)) {
        ++rank;
        lost = energy.tail(energy.size() - rank).sum();
    }
    out.lost_energy = lost / total;
    out.basis.U = tall_product(qr.Q, first_columns(svd.matrixU(), rank));
    out.basis.mass_orthonormal = true;
    return out;
}

PrincipalBasis snapshot_basis(const FemModel& model, const MatX& displacements, const Truncation& truncation)
{
    require_columns(model, displacements, "the snapshots");
    PrincipalBasis out = principal_basis(model, displacements, truncation);
    out.basis.kind = BasisKind::Snapshots;
    out.basis.provenance = std::to_string(out.basis.rank()) + " principal components of " +
                           std::to_string(displacements.cols()) + " snapshots";
    return out;
}

MatX project(const FemModel& model, const Basis& basis, const MatX& displacements)
{
    if (!basis.mass_orthonormal)
        throw InputError("cannot project on a basis that is not mass-orthonormal; orthonormalise it first");
    require_columns(model, displacements, "the displacements");
    return transposed_product(basis.U, mass_product(model, displacements));
}

} // namespace lithe
