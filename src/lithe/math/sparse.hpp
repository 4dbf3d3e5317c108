#pragma once
#include <vector>

#include <Eigen/SparseCore>

#include "lithe/math/types.hpp"

namespace lithe {

/// Compressed columns with 32-bit indices. Symmetric matrices are kept whole, both triangles.
using SparseMatrix = Eigen::SparseMatrix<double>;
using Triplet = Eigen::Triplet<double>;

/// y = A x for a symmetric A, on all threads: entry j is column j times x, so nothing is shared between threads
/// and the bits do not depend on their number. Only sizes y on its first use.
void multiply_symmetric(const SparseMatrix& A, const VecX& x, VecX& y);

/// a . b on all threads, the same bits for any number of them. `partial` is scratch, sized on first use.
double dot(const VecX& a, const VecX& b, std::vector<double>& partial);

} // namespace lithe
