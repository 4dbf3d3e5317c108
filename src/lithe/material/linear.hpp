#pragma once
#include "lithe/material/isotropic.hpp"

namespace lithe {

/// Small-strain elasticity: psi = mu |e|^2 + lambda/2 tr(e)^2 with e = sym(F) - I. The cheapest, and exact for small
/// displacements; a rotated body swells, so use it for oracles and small motion only.
class Linear {
public:
    explicit Linear(const ElasticConstants& constants) : lame_(lame_parameters(constants)) {}

    double psi(const Mat3& F) const
    {
        const Mat3 e = strain(F);
        return lame_.mu * e.squaredNorm() + 0.5 * lame_.lambda * e.trace() * e.trace();
    }
    Mat3 P(const Mat3& F) const
    {
        const Mat3 e = strain(F);
        return 2.0 * lame_.mu * e + lame_.lambda * e.trace() * Mat3::Identity();
    }
    /// The same for every F, and positive semidefinite.
    Mat9 dPdF(const Mat3&) const
    {
        return principal_hessian({Mat3::Identity(), Vec3::Ones(), Mat3::Identity()}, rest_derivatives());
    }
    Mat9 dPdF_psd(const Mat3& F) const { return dPdF(F); }

    /// The Hessian as modes in the frame U = V = I: what an isotropic law has at rest.
    StretchDerivatives rest_derivatives() const
    {
        StretchDerivatives d;
        d.hessian = 2.0 * lame_.mu * Mat3::Identity() + lame_.lambda * Mat3::Ones();
        d.flip.setConstant(2.0 * lame_.mu);
        return d;
    }
    const LameParameters& lame() const { return lame_; }

private:
    static Mat3 strain(const Mat3& F) { return 0.5 * (F + F.transpose()) - Mat3::Identity(); }
    LameParameters lame_;
};
static_assert(Hyperelastic<Linear>);

} // namespace lithe
