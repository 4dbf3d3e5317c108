#pragma once
#include "lithe/core/progress.hpp"
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/rest_system.hpp"

namespace lithe {

struct ModesOptions {
    Index count = 30; ///< modes above the rigid ones, > 0
    double tolerance =
        1e-9; ///< residual of (K + s M)^-1 M phi = nu phi in the mass norm, as a share of nu; > 0
};

/// omega / (2 pi) [Hz] for each omega^2; of what rounding leaves below zero, 0.
VecX frequencies(const VecX& eigenvalues);

/// The lowest modes of a body:  K phi = omega^2 M phi,  phi^T M phi = 1,  rising omega, rigid motions left out.
struct Modes {
    Basis basis;               ///< of kind Modes; the largest entry of each column is positive
    VecX eigenvalues;          ///< omega^2 [1/s^2]
    Index rigid_count = 0;     ///< dropped: 6 for each connected part that is free
    Index component_count = 0; ///< connected parts of the body
    double rigid_share = 0.0; ///< the largest phi^T K phi of a rigid motion over the lowest omega^2: rounding
    Index krylov_dimension = 0; ///< of the space that they were found in
};

/// Shift-invert block Lanczos with full orthogonalisation in the inner product of M, in the complement of the rigid
/// motions, from a fixed start: no restarts, and eight right-hand sides to a solve.            [GLS94]
///
/// Throws InputError for more modes than the body has, and for a body whose parts hang together by vertices or edges
/// only and so move at no cost.
Modes linear_modes(RestSystem& system, const ModesOptions& options, Progress& progress);

} // namespace lithe
