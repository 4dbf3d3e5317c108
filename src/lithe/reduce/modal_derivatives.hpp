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

/// How the body gives way, with small strains, to gravity along x, y and z: K u = M e. Mass norm one each. A body that
/// nothing holds does not deform under its weight and has none.
MatX gravity_responses(RestSystem& system);

/// Modes, responses to gravity and the derivatives of both as one basis: first the responses to gravity as they are, then
/// the principal directions of what all of them show in a large motion, mode i by a_i phi_i with a_i = a lambda_0/lambda_i, gravity by a, derivatives by a_i a_j Phi_ij (half of
/// it where i = j): the terms of the body's static answer up to second order.
/// Differs from [BJ05]: there a = 1 whatever the units, so that a body in centimetres gets another basis than the same in
/// metres; here the first mode moves some vertex by 0.3 of the body's size. And a body that hangs must sag right.
PrincipalBasis modal_derivative_basis(RestSystem& system, const Modes& modes, const Truncation& truncation,
                                      Progress& progress);

} // namespace lithe
