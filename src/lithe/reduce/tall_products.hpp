#pragma once
#include "lithe/fem/model.hpp"

namespace lithe {

/// Products with matrices of 3n rows, on all threads. Rows are taken in blocks of a fixed size and sums joined in their
/// order: same bits for any number of threads.
using TallRef = Eigen::Ref<const MatX>;

MatX transposed_product(const TallRef& A, const TallRef& B);                ///< A^T B
MatX tall_product(const TallRef& A, const MatX& C);                         ///< A C
void subtract_product(const TallRef& A, const MatX& C, Eigen::Ref<MatX> B); ///< B -= A C
MatX mass_product(const FemModel& model, const TallRef& X);                 ///< M X, 3n x columns
MatX stiffness_product(const SparseMatrix& K, const TallRef& X);            ///< K X, K symmetric

} // namespace lithe
