#include "lithe/material/rubber.hpp"

#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// A function of J and its first two derivatives.
struct Jet {
    double value, d, dd;
};

/// J^p, below J_0 its quadratic Taylor polynomial at J_0.
Jet extended_power(double J, double p)
{
    const double at = std::max(J, smallest_volume_ratio);
    const double value = std::pow(at, p);
    const double d = p * value / at;
    const double dd = (p - 1.0) * d / at;
    const double x = std::min(J - smallest_volume_ratio, 0.0);
    return {value + d * x + 0.5 * dd * x * x, d + dd * x, dd};
}

/// k/2 (J - 1)^2, and below J_0 also 4 `released` (1 - J/J_0)^3.
Jet volume_energy(double J, double k, double released)
{
    Jet out{0.5 * k * (J - 1.0) * (J - 1.0), k * (J - 1.0), k};
    if (J >= smallest_volume_ratio) return out;
    const double x = 1.0 - J / smallest_volume_ratio;
    out.value += 4.0 * released * x * x * x;
    out.d -= 12.0 * released * x * x / smallest_volume_ratio;
    out.dd += 24.0 * released * x / (smallest_volume_ratio * smallest_volume_ratio);
    return out;
}

double second_invariant(const Vec3& sigma)
{
    const Vec3 s = sigma.cwiseAbs2();
    return s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
}

} // namespace

MooneyRivlin::MooneyRivlin(const ElasticConstants& constants, double ratio)
{
    const LameParameters lame = lame_parameters(constants);
    if (!(ratio >= 0.0 && std::isfinite(ratio)))
        throw InputError("mooney_ratio = " + std::to_string(ratio) + " must be at least 0 and finite");
    c1_ = 0.5 * lame.mu / (1.0 + ratio);
    c2_ = ratio * c1_;
    k_ = lame.bulk_modulus();
}

StretchDerivatives MooneyRivlin::stretch_derivatives(const Vec3& sigma) const
{
    const double I1 = sigma.squaredNorm(), I2 = second_invariant(sigma), J = sigma.prod();
    const Jet p = extended_power(J, -2.0 / 3.0);
    const Jet r = extended_power(J, -4.0 / 3.0);
    const Jet w = volume_energy(J, k_, 3.0 * (c1_ + c2_));
    InvariantDerivatives d;
    d.psi = c1_ * (p.value * I1 - 3.0) + c2_ * (r.value * I2 - 3.0) + w.value;
    d.d1 = c1_ * p.value;
    d.d2 = c2_ * r.value;
    d.dJ = c1_ * p.d * I1 + c2_ * r.d * I2 + w.d;
    d.d1J = c1_ * p.d;
    d.d2J = c2_ * r.d;
    d.dJJ = c1_ * p.dd * I1 + c2_ * r.dd * I2 + w.dd;
    return lithe::stretch_derivatives(d, sigma);
}

ArrudaBoyce::ArrudaBoyce(const ElasticConstants& constants, double limit_stretch)
{
    const LameParameters lame = lame_parameters(constants);
    const double l =
        require_between("limit_stretch", limit_stretch, 1.0, std::numeric_limits<double>::infinity());
    constexpr double a[5] = {1.0 / 2.0, 1.0 / 20.0, 11.0 / 1050.0, 19.0 / 7000.0, 519.0 / 673750.0};
    double shear = 0.0; // 2 dpsi/dI_1 at rest, for C = 1
    for (std::size_t i = 0; i < 5; ++i) {
        c_[i] = a[i] / std::pow(l, 2.0 * static_cast<double>(i));
        shear += 2.0 * static_cast<double>(i + 1) * c_[i] * std::pow(3.0, static_cast<double>(i));
    }
    rest_ = 0.0;
    for (std::size_t i = 0; i < 5; ++i) {
        c_[i] *= lame.mu / shear;
        rest_ += c_[i] * std::pow(3.0, static_cast<double>(i + 1));
    }
    k_ = lame.bulk_modulus();
}

StretchDerivatives ArrudaBoyce::stretch_derivatives(const Vec3& sigma) const
{
    const double I1 = sigma.squaredNorm(), J = sigma.prod();
    const Jet p = extended_power(J, -2.0 / 3.0);
    const Jet w = volume_energy(J, k_, rest_);
    const double I = p.value * I1; // Ibar_1
    // chains(I) = sum c_i I^i with its derivatives, by Horner
    Jet chains{0.0, 0.0, 0.0};
    for (std::size_t i = 5; i-- > 0;) {
        chains.dd = chains.dd * I + 2.0 * chains.d;
        chains.d = chains.d * I + chains.value;
        chains.value = chains.value * I + c_[i];
    }
    chains = {chains.value * I, chains.d * I + chains.value, chains.dd * I + 2.0 * chains.d};

    InvariantDerivatives d;
    d.psi = chains.value - rest_ + w.value;
    d.d1 = chains.d * p.value;
    d.d11 = chains.dd * p.value * p.value;
    d.dJ = chains.d * p.d * I1 + w.d;
    d.d1J = chains.dd * p.value * p.d * I1 + chains.d * p.d;
    d.dJJ = chains.dd * p.d * p.d * I1 * I1 + chains.d * p.dd * I1 + w.dd;
    return lithe::stretch_derivatives(d, sigma);
}

} // namespace lithe
