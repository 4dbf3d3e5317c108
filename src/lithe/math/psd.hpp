#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

/// The positive semidefinite matrix closest (in the Frobenius norm) to the symmetric matrix A: its eigenvalues
/// below zero become zero.                                                       [Hig88]
/// Only the symmetric part of A counts. Eigenvalues of the result are above -1e-14 |A|.
///
/// For 3x3 as (A + |A|) / 2 with |A| = V |sigma| V^T from the SVD, which needs no eigenvectors and so does not care
/// about repeated eigenvalues; for the larger ones through Eigen. Those that are clearly definite come back as they are.
Mat3 project_psd(const Mat3& A);
Mat9 project_psd(const Mat9& A);
Mat12 project_psd(const Mat12& A);

} // namespace lithe
