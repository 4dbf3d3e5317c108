#pragma once
#include <span>
#include <utility>
#include <vector>

#include "lithe/contact/contact_potential.hpp"
#include "lithe/fem/elasticity.hpp"
#include "lithe/fem/loads.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe {

/// Parts of Newton's matrix beyond elasticity and mass. Matrices are whole, of 3 x 3 blocks by vertex; rows and columns of
/// pinned vertices stay as they are.

/// Adds sum_ab w_a w_b H. All blocks must be in the pattern of A.
void add_contact_stiffness(std::span<const ContactStiffness> parts, std::span<const unsigned char> pinned,
                           SparseMatrix& A);

/// Adds the stiffness of pressures at x, as it is or each triangle's part made positive semidefinite.
void add_pressure_stiffness(std::span<const SurfacePressure> pressures, const Points& x,
                            Definiteness definiteness, std::span<const unsigned char> pinned,
                            SparseMatrix& A);

/// Couplings of vertices that A has no blocks for: (column, row), sorted, both ways round.
using Couplings = std::vector<std::pair<int, int>>;

/// Adds to `couplings` those that the pairs need and `A` has not.
void collect_couplings(std::span<const SelfPair> pairs, const SparseMatrix& A, Couplings& couplings);

/// `coupled` = A with room for the couplings. Allocates only when its pattern is not that already.
void copy_with_couplings(const SparseMatrix& A, const Couplings& couplings, SparseMatrix& coupled);

} // namespace lithe
