#include "lithe/reduce/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Eigenvalues>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// Eight right-hand sides cost the sparse solve about as much memory traffic as one; wider blocks need a larger space.
constexpr Index block_width = 8;

/// The Krylov space of  (K + s M)^-1 M  in the complement of the rigid motions.
class BlockLanczos {
public:
    explicit BlockLanczos(RestSystem& system) : system_(system) { add_random_block(); }

    Index dimension() const { return dimension_; }
    bool complete() const { return dimension_ == system_.elastic_freedoms(); }

    /// Applies the operator to the last block and adds what is new.
    void grow()
    {
        const MatX& Q = Q_;
        MatX W = mass_product(system_.model(), Q.middleCols(last_, dimension_ - last_));
        system_.solve_shifted(W);
        system_.remove_rigid(W);
        MassQrBlock block = mass_qr_block(system_.model(), Q.leftCols(dimension_), std::move(W), 1e-11);
        const Index width = dimension_ - last_;
        const Index added = std::min(block.Q_new.cols(), system_.elastic_freedoms() - dimension_);
        reserve(dimension_ + added);
        H_.block(0, last_, dimension_, width) = block.C;
        coupling_ = block.R.topRows(added);
        H_.block(dimension_, last_, added, width) = coupling_;
        coupled_from_ = last_;
        Q_.middleCols(dimension_, added) = block.Q_new.leftCols(added);
        last_ = dimension_;
        dimension_ += added;
        solved_ = last_;
        if (added == 0 && !complete()) add_random_block(); // the space was invariant: begin another
    }

    /// Ritz values of the columns that the operator was applied to, largest first, with vectors and residuals.
    struct Ritz {
        VecX values, residuals;
        MatX vectors;
    };
    Ritz ritz() const
    {
        const MatX H = H_.topLeftCorner(solved_, solved_);
        const Eigen::SelfAdjointEigenSolver<MatX> eigen(0.5 * (H + H.transpose()));
        Ritz out{eigen.eigenvalues().reverse(), VecX(solved_), eigen.eigenvectors().rowwise().reverse()};
        out.residuals = (coupling_ * out.vectors.middleRows(coupled_from_, coupling_.cols()))
                            .colwise()
                            .norm()
                            .transpose();
        return out;
    }
    MatX combine(const MatX& coefficients) const
    {
        return tall_product(Q_.leftCols(coefficients.rows()), coefficients);
    }

private:
    void reserve(Index columns)
    {
        if (columns <= H_.cols()) return;
        const Index old = H_.cols(), size = std::max(columns, old + 8 * block_width);
        Q_.conservativeResize(3 * system_.model().vertex_count(), size);
        H_.conservativeResize(size, size);
        H_.rightCols(size - old).setZero();
        H_.bottomRows(size - old).setZero();
    }

    void add_random_block()
    {
        const Index width = std::min(block_width, system_.elastic_freedoms() - dimension_);
        MatX W =
            MatX::NullaryExpr(3 * system_.model().vertex_count(), width, [&] { return random_.normal(); });
        system_.solve_shifted(W); // smooth, and zero at the pins
        system_.remove_rigid(W);
        const MatX Q = Q_.leftCols(dimension_);
        const MatX added = mass_qr_block(system_.model(), Q, std::move(W), 1e-11).Q_new;
        LITHE_ASSERT(added.cols() > 0);
        reserve(dimension_ + added.cols());
        Q_.middleCols(dimension_, added.cols()) = added;
        last_ = dimension_;
        dimension_ += added.cols();
    }

    RestSystem& system_;
    Random random_{1};
    MatX Q_;        ///< 3n x capacity, mass-orthonormal
    MatX H_;        ///< Q^T M (K + s M)^-1 M Q
    MatX coupling_; ///< of the last block with the one before
    Index dimension_ = 0, last_ = 0, solved_ = 0, coupled_from_ = 0;
};

void require_count(const RestSystem& system, const ModesOptions& options)
{
    if (options.count < 1)
        throw InputError("count = " + std::to_string(options.count) + " modes: ask for one or more");
    (void)require_between("tolerance", options.tolerance, 0.0, 1.0);
    if (options.count > system.elastic_freedoms())
        throw InputError("count = " + std::to_string(options.count) + " modes: the mesh has only " +
                         std::to_string(system.elastic_freedoms()) + "; ask for fewer or refine it");
}

Index converged_count(const BlockLanczos::Ritz& ritz, const ModesOptions& options)
{
    Index count = 0;
    while (count < std::min(options.count, ritz.values.size()) &&
           ritz.residuals[count] <= options.tolerance * ritz.values[count])
        ++count;
    return count;
}

/// Grows the space until the wanted Ritz pairs have converged.
BlockLanczos::Ritz converged_ritz(BlockLanczos& lanczos, const ModesOptions& options, Progress& progress)
{
    progress.begin("modes", options.count);
    Index done = 0;
    for (;;) {
        progress.check();
        const bool complete = lanczos.complete(); // then this application of the operator is the last one
        lanczos.grow();
        if (!complete && lanczos.dimension() < options.count + 2 * block_width && !lanczos.complete())
            continue;
        BlockLanczos::Ritz ritz = lanczos.ritz();
        const Index converged = complete ? options.count : converged_count(ritz, options);
        progress.advance(std::max<Index>(converged - done, 0));
        done = std::max(done, converged);
        if (converged == options.count) {
            progress.end();
            return ritz;
        }
    }
}

void make_largest_entries_positive(MatX& U)
{
    for (Index j = 0; j < U.cols(); ++j) {
        Index at = 0;
        U.col(j).cwiseAbs().maxCoeff(&at);
        if (U(at, j) < 0.0) U.col(j) = -U.col(j);
    }
}

/// A gap of eight orders of magnitude in the eigenvalues: the motions below it cost no energy.
void require_no_mechanism(const VecX& eigenvalues)
{
    for (Index i = 0; i + 1 < eigenvalues.size(); ++i)
        if (eigenvalues[i] < 1e-8 * eigenvalues[i + 1])
            throw InputError(
                "the body has " + std::to_string(i + 1) +
                " motions without energy besides the rigid ones: parts of it hang together by a vertex or "
                "an edge only; join them by faces or separate them");
}

} // namespace

VecX frequencies(const VecX& eigenvalues)
{
    return eigenvalues.cwiseMax(0.0).cwiseSqrt() / (2.0 * std::numbers::pi);
}

Modes linear_modes(RestSystem& system, const ModesOptions& options, Progress& progress)
{
    require_count(system, options);
    BlockLanczos lanczos(system);
    const BlockLanczos::Ritz ritz = converged_ritz(lanczos, options, progress);

    Modes out;
    out.eigenvalues = ritz.values.head(options.count).cwiseInverse().array() - system.shift();
    require_no_mechanism(out.eigenvalues);
    out.basis = {.U = lanczos.combine(ritz.vectors.leftCols(options.count)),
                 .kind = BasisKind::Modes,
                 .provenance = std::to_string(options.count) + " linear modes",
                 .mass_orthonormal = true};
    make_largest_entries_positive(out.basis.U);
    out.rigid_count = system.rigid_motions().cols();
    out.component_count = system.component_count();
    out.krylov_dimension = lanczos.dimension();
    const MatX& R = system.rigid_motions();
    if (R.cols() > 0)
        out.rigid_share =
            R.cwiseProduct(stiffness_product(system.stiffness(), R)).colwise().sum().cwiseAbs().maxCoeff() /
            out.eigenvalues[0];
    return out;
}

} // namespace lithe
