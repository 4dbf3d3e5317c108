#pragma once
#include <vector>

#include "lithe/fem/model.hpp"
#include "lithe/math/batch.hpp"

namespace lithe {

enum class Definiteness {
    Exact,    ///< d2Psi/dx2 itself
    Projected ///< every tet's part made positive semidefinite first, so that Newton directions descend
};

/// Per-tet results on their way into the sums. Sized on first use; content means nothing between calls.
struct ElasticWork {
    std::vector<double> batch_energy;     ///< [J]
    std::vector<double> corner_gradients; ///< 12 per slot [N]
    std::vector<double> element_blocks;   ///< 90 per slot [N/m]
};

/// Psi(x) = sum_t V_t psi(F_t), and its derivatives. Every tet writes its own result, then every vertex and every
/// block of the matrix adds up those that are its own, in the order of the tets: same bits for any number of threads,
/// and for any `level` of vector instructions. Allocates nothing after the first call with `work`.
double elastic_energy(const FemModel& model, const Points& x, ElasticWork& work,
                      SimdLevel level = best_simd_level());

/// Psi, and gradient = dPsi/dx = -(elastic force) [N].
double elastic_gradient(const FemModel& model, const Points& x, Points& gradient, ElasticWork& work,
                        SimdLevel level = best_simd_level());

/// K = d2Psi/dx2 [N/m], in the pattern of the model.
void elastic_hessian(const FemModel& model, const Points& x, Definiteness definiteness, SparseMatrix& K,
                     ElasticWork& work, SimdLevel level = best_simd_level());

} // namespace lithe
