#pragma once
#include "lithe/reduce/modes.hpp"

namespace lithe {

/// Phi_ij = d phi_i / d q_j at rest: how a mode must change while another is excited,           [BJ05]
///
///   K Phi_ij = -(dK/dx [phi_i]) phi_j,
///
/// symmetric in i and j. Under the load s K phi_i the body moves by s phi_i + s^2/2 Phi_ii up to s^3.
struct ModalDerivatives {
    MatX Phi; ///< 3n x r (r + 1)/2, pairs (0,0) (0,1) .. (0,r-1) (1,1) ..
    Index mode_count = 0;

    /// The column of Phi_ij, i <= j < mode_count.
    Index column(Index i, Index j) const { return i * mode_count - i * (i - 1) / 2 + (j - i); }
};

/// dK by central differences of the stiffness, all pairs. Zero at the pins, and without rigid motion for bodies that
/// can move rigidly. Throws InputError when the modes are not of the system's body.
ModalDerivatives modal_derivatives(RestSystem& system, const MatX& modes, Progress& progress);

/// Modes and their derivatives as one basis: the principal directions of all of them, mode i weighted by
/// lambda_0/lambda_i and derivative ij by lambda_0^2/(lambda_i lambda_j), as strongly as loads excite them.  [BJ05]
PrincipalBasis modal_derivative_basis(RestSystem& system, const Modes& modes, const Truncation& truncation,
                                      Progress& progress);

} // namespace lithe
