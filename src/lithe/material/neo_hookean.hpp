#pragma once
#include "lithe/material/isotropic.hpp"

namespace lithe {

/// Stable Neo-Hookean with the logarithm that keeps the collapsed state F = 0 unstable.       [SdGK18]
///
///   psi = m/2 (I_1 - 3) + l/2 (J - a)^2 - m/2 log(I_1 + 1) - psi(rest),
///   m = 4/3 mu,  l = lambda + 5/6 mu,  a = 1 + 3 m / (4 l)   so that mu, lambda are those of small strain.
class StableNeoHookean : public Isotropic<StableNeoHookean> {
public:
    explicit StableNeoHookean(const ElasticConstants& constants);
    StretchDerivatives stretch_derivatives(const Vec3& sigma) const;

private:
    double m_, l_;
};
static_assert(Hyperelastic<StableNeoHookean> && StretchLaw<StableNeoHookean>);

/// The cheaper form without the logarithm: psi = mu/2 (I_1 - 3) - mu (J - 1) + l/2 (J - 1)^2, l = lambda + mu.
class StableNeoHookeanLogFree : public Isotropic<StableNeoHookeanLogFree> {
public:
    explicit StableNeoHookeanLogFree(const ElasticConstants& constants);
    StretchDerivatives stretch_derivatives(const Vec3& sigma) const;

private:
    double mu_, l_;
};
static_assert(Hyperelastic<StableNeoHookeanLogFree> && StretchLaw<StableNeoHookeanLogFree>);

} // namespace lithe
