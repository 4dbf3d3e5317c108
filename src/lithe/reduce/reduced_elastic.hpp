#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

/// What an elastic model of a basis gives at q.
struct ReducedElastic {
    double energy = 0.0; ///< Psi(X + U q) [J]
    VecX gradient = {};  ///< dPsi/dq, r; minus the reduced elastic force
    MatX stiffness = {}; ///< d2Psi/dq2, r x r; whole
};

} // namespace lithe
