#pragma once
#include "lithe/math/batch.hpp"

namespace lithe {

/// K = A^T B where the result is known to be symmetric: half of it is computed, whole it is returned. For few columns and
/// many rows, a multiple of four; there it is several times as fast as a general product. On one thread.
void symmetric_product(const MatX& A, const MatX& B, MatX& K, SimdLevel level = best_simd_level());

} // namespace lithe
