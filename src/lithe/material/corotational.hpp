#pragma once
#include "lithe/material/isotropic.hpp"

namespace lithe {

/// psi = mu sum (sigma_i - 1)^2 + lambda/2 (sum sigma_i - 3)^2, linear elasticity in the frame of the
/// polar decomposition F = R S. Recovers from any inversion; the default.                     [MZS11]
class Corotational : public Isotropic<Corotational> {
public:
    explicit Corotational(const ElasticConstants& constants) : lame_(lame_parameters(constants)) {}

    StretchDerivatives stretch_derivatives(const Vec3& sigma) const
    {
        const auto [mu, lambda] = lame_;
        const Vec3 e = sigma - Vec3::Ones();
        const double trace = e.sum();
        StretchDerivatives d;
        d.psi = mu * e.squaredNorm() + 0.5 * lambda * trace * trace;
        d.gradient = 2.0 * mu * e + Vec3::Constant(lambda * trace);
        d.hessian = 2.0 * mu * Mat3::Identity() + lambda * Mat3::Ones(); // positive definite
        d.flip.setConstant(2.0 * mu);
        for (int k = 0; k < 3; ++k) { // the only modes that can be negative; singular where R is not unique
            const double sum = sigma[(k + 1) % 3] + sigma[(k + 2) % 3];
            d.twist[k] = 2.0 * mu + 2.0 * (lambda * trace - 2.0 * mu) / std::max(sum, smallest_sum);
        }
        return d;
    }
    const LameParameters& lame() const { return lame_; }

    /// Keeps the twist finite at sigma_i + sigma_j = 0; the clamp of the projection then removes it.
    static constexpr double smallest_sum = 1e-9;

private:
    LameParameters lame_;
};
static_assert(Hyperelastic<Corotational> && StretchLaw<Corotational>);

} // namespace lithe
