#pragma once
#include <memory>

#include "lithe/math/sparse.hpp"

namespace lithe::detail {

/// What SparseCholesky asks of a library: the factor of a matrix that is already in elimination order, of which
/// only the upper triangle is given (columns compressed and sorted). Private to the math room.
class CholeskyBackend {
public:
    virtual ~CholeskyBackend() = default;
    virtual void analyse(const SparseMatrix& upper) = 0;
    /// Whether the matrix is positive definite. The pattern is the one analysed.
    [[nodiscard]] virtual bool factorise(const SparseMatrix& upper) = 0;
    virtual void solve_in_place(Eigen::Ref<MatX> B) = 0;
    virtual double factor_nonzeros() const = 0; ///< of L with its diagonal
    virtual double factor_flops() const = 0;    ///< sum over columns of (nonzeros)^2
};

std::unique_ptr<CholeskyBackend> make_eigen_cholesky();
#ifdef LITHE_GPL
std::unique_ptr<CholeskyBackend> make_cholmod_cholesky();
#endif

} // namespace lithe::detail
