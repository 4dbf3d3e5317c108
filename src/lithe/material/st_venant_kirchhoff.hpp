#pragma once
#include "lithe/material/isotropic.hpp"

namespace lithe {

/// psi = mu |E|^2 + lambda/2 tr(E)^2 with the Green strain E = (F^T F - I)/2. Polynomial of degree four in F, so
/// cubic reduced models are exact; softens and collapses under compression: not for contact.   [SB12]
class StVenantKirchhoff : public Isotropic<StVenantKirchhoff> {
public:
    explicit StVenantKirchhoff(const ElasticConstants& constants) : lame_(lame_parameters(constants)) {}

    /// |E|^2 = (sum sigma^4 - 2 I_1 + 3)/4, and sum sigma^4 = I_1^2 - 2 I_2.
    StretchDerivatives stretch_derivatives(const Vec3& sigma) const
    {
        const auto [mu, lambda] = lame_;
        const Vec3 E = 0.5 * (sigma.array() - 1.0) * (sigma.array() + 1.0);
        const double trace = E.sum();
        InvariantDerivatives d;
        d.psi = mu * E.squaredNorm() + 0.5 * lambda * trace * trace;
        d.d1 = mu * (trace + 1.0) + 0.5 * lambda * trace; // mu/4 (2 I_1 - 2) + lambda/4 (I_1 - 3)
        d.d2 = -0.5 * mu;
        d.d11 = 0.5 * mu + 0.25 * lambda;
        return lithe::stretch_derivatives(d, sigma);
    }

private:
    LameParameters lame_;
};
static_assert(Hyperelastic<StVenantKirchhoff> && StretchLaw<StVenantKirchhoff>);

} // namespace lithe
