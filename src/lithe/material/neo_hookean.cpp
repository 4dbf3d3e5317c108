#include "lithe/material/neo_hookean.hpp"

#include <cmath>

namespace lithe {
namespace {

/// I_1 - 3 and J - 1 from sigma - 1, so that the energy of tiny strains keeps its digits.
struct RestDifferences {
    double I1, J;
};
RestDifferences differences_to_rest(const Vec3& sigma)
{
    const Vec3 e = sigma - Vec3::Ones();
    return {e.squaredNorm() + 2.0 * e.sum(),
            e.sum() + e[0] * e[1] + e[1] * e[2] + e[2] * e[0] + e[0] * e[1] * e[2]};
}

} // namespace

StableNeoHookean::StableNeoHookean(const ElasticConstants& constants)
{
    const LameParameters lame = lame_parameters(constants);
    m_ = 4.0 / 3.0 * lame.mu;
    l_ = lame.lambda + 5.0 / 6.0 * lame.mu;
}

StretchDerivatives StableNeoHookean::stretch_derivatives(const Vec3& sigma) const
{
    const auto [dI1, dJ] = differences_to_rest(sigma);
    const double I = 1.0 / (dI1 + 4.0); // 1 / (I_1 + 1)
    InvariantDerivatives d;
    // l/2 (J - a)^2 = l/2 (J - 1)^2 - 3/4 m (J - 1) + constant
    d.psi = 0.5 * m_ * (dI1 - std::log1p(0.25 * dI1)) + (0.5 * l_ * dJ - 0.75 * m_) * dJ;
    d.d1 = 0.5 * m_ * (dI1 + 3.0) * I;
    d.d11 = 0.5 * m_ * I * I;
    d.dJ = l_ * dJ - 0.75 * m_;
    d.dJJ = l_;
    return lithe::stretch_derivatives(d, sigma);
}

StableNeoHookeanLogFree::StableNeoHookeanLogFree(const ElasticConstants& constants)
{
    const LameParameters lame = lame_parameters(constants);
    mu_ = lame.mu;
    l_ = lame.lambda + lame.mu;
}

StretchDerivatives StableNeoHookeanLogFree::stretch_derivatives(const Vec3& sigma) const
{
    const auto [dI1, dJ] = differences_to_rest(sigma);
    InvariantDerivatives d;
    d.psi = 0.5 * mu_ * dI1 + (0.5 * l_ * dJ - mu_) * dJ;
    d.d1 = 0.5 * mu_;
    d.dJ = l_ * dJ - mu_;
    d.dJJ = l_;
    return lithe::stretch_derivatives(d, sigma);
}

} // namespace lithe
