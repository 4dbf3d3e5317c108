#pragma once
#include "lithe/geometry/mesh.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe {

/// The Laplacian of linear functions on tets, as a stiffness:  L_ij = sum_t V_t grad_i . grad_j,  so that
/// w^T L w  is the integral of |grad w|^2. Tets without volume add nothing; inverted ones add as others do.
struct TetLaplacian {
    SparseMatrix L; ///< [m], symmetric, rows sum to zero; zero rows for vertices without a tet
    VecX V;         ///< a quarter of the volume of the tets around each vertex [m^3]
};

TetLaplacian tet_laplacian(const TetMesh& mesh);

} // namespace lithe
