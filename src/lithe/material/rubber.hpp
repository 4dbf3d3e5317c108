#pragma once
#include <array>

#include "lithe/material/isotropic.hpp"

namespace lithe {

/// The rubber laws are written in Ibar_1 = J^(-2/3) I_1 and Ibar_2 = J^(-4/3) I_2, which end at J = 0. Below this J
/// the powers of J continue as their quadratic Taylor polynomials, and a term 4 c (1 - J/J_0)^3 is added, c being
/// what Ibar_1 -> 0 would release, so that the body does not prefer to collapse. The whole is
/// C2 in F, smooth for inverted F, and nowhere below zero (tests "Rubber"). We extend in J and not in the stretches: a
/// quadratic in the stretches is not bounded below under inversion, and has a kink where sigma_1 + sigma_2 = 0.
inline constexpr double smallest_volume_ratio = 0.1;

/// psi = c1 (Ibar_1 - 3) + c2 (Ibar_2 - 3) + k/2 (J - 1)^2,  2 (c1 + c2) = mu,  k = lambda + 2/3 mu.   [BW08]
class MooneyRivlin : public Isotropic<MooneyRivlin> {
public:
    /// `ratio` is c2/c1, at least 0.
    explicit MooneyRivlin(const ElasticConstants& constants, double ratio = 0.25);
    StretchDerivatives stretch_derivatives(const Vec3& sigma) const;

private:
    double c1_, c2_, k_;
};
static_assert(Hyperelastic<MooneyRivlin> && StretchLaw<MooneyRivlin>);

/// Eight chains of limited length in a cube, first five terms of the series:                    [AB93]
///
///   psi = C sum_i a_i / l^(2i-2) (Ibar_1^i - 3^i) + k/2 (J - 1)^2,  a = 1/2, 1/20, 11/1050, 19/7000, 519/673750
class ArrudaBoyce : public Isotropic<ArrudaBoyce> {
public:
    /// `limit_stretch` l, above 1, is where the chains are straight.
    explicit ArrudaBoyce(const ElasticConstants& constants, double limit_stretch = 5.0);
    StretchDerivatives stretch_derivatives(const Vec3& sigma) const;

private:
    std::array<double, 5> c_; ///< C a_i / l^(2i-2) [Pa]
    double k_;
    double rest_; ///< sum c_i 3^i
};
static_assert(Hyperelastic<ArrudaBoyce> && StretchLaw<ArrudaBoyce>);

} // namespace lithe
