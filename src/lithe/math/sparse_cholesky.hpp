#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lithe/math/sparse.hpp"

namespace lithe {

/// Which library factorises. Both work on the same elimination order and agree to rounding.
enum class CholeskyLibrary {
    Eigen,  ///< simplicial; always there
    Cholmod ///< supernodal, several times faster on volumes; only in builds with LITHE_GPL
};

/// Cholmod where this build has it, else Eigen.
CholeskyLibrary default_cholesky_library();

enum class FactorStatus {
    Success,
    NotPositiveDefinite,
    NotFinite ///< the matrix has a NaN or infinite entry
};

/// A = P^T L L^T P for symmetric positive definite A: analysed once per pattern, factorised for each new set of
/// values, solved for as many right-hand sides as wanted.
///
///   SparseCholesky cholesky;
///   if (cholesky.factorise(A) != FactorStatus::Success) ...
///   cholesky.solve(b);   // b becomes A^-1 b
///
/// A is stored whole, both triangles. Throws InputError when it is empty, not square, not compressed, or not
/// symmetric (values: to 1e-9 of the largest). The same bits for any number of threads. One object serves one thread.
class SparseCholesky {
public:
    explicit SparseCholesky(CholeskyLibrary library = default_cholesky_library());
    ~SparseCholesky();
    SparseCholesky(SparseCholesky&&) noexcept;
    SparseCholesky& operator=(SparseCholesky&&) noexcept;

    /// The symbolic phase, for the pattern of A (its values do not matter), in nested-dissection order.
    void analyse(const SparseMatrix& A);
    /// The same in an order that is known already; see nested_dissection in ordering.hpp.
    void analyse(const SparseMatrix& A, std::vector<int> order);

    /// The numeric phase. Analyses first only when the pattern of A is not the one analysed last.
    /// After any status but Success there is no factor.
    [[nodiscard]] FactorStatus factorise(const SparseMatrix& A);

    /// B becomes A^-1 B; needs a factor (InputError). Allocates nothing when called again with as many columns.
    void solve(Eigen::Ref<MatX> B);

    Index size() const;
    bool has_factor() const;
    const std::vector<int>& order() const; ///< entry k: the row that is eliminated k-th
    double factor_nonzeros() const;        ///< of L; known after the analysis
    double factor_flops() const; ///< of a factorisation: the sum of (nonzeros)^2 over the columns of L
    int analysis_count() const;  ///< symbolic phases so far: shows whether they are reused

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace lithe
