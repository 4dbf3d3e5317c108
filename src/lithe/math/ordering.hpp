#pragma once
#include <span>
#include <vector>

#include "lithe/math/sparse.hpp"

namespace lithe {

/// An elimination order with little fill for a symmetric sparse matrix: nested dissection of its graph by METIS
/// [KK98], the same on every run. Entry k is the row that is eliminated k-th. Costs as much as several
/// factorisations of a small matrix, and depends on the pattern only: keep it with the mesh.
///
/// Throws InputError when the matrix is empty, not square, or its pattern is not symmetric.
std::vector<int> nested_dissection(const SparseMatrix& A);

/// Throws InputError unless `order` holds each of 0 .. count-1 once.
void require_permutation(std::span<const int> order, Index count);

/// For each nonzero of A, the place of its mirror image across the diagonal. Throws InputError when A is empty, not
/// square, not compressed, or has an entry without a mirror image.
std::vector<int> transposed_places(const SparseMatrix& A);

} // namespace lithe
