#include "lithe/material/isotropic.hpp"

#include <gtest/gtest.h>

#include "lithe/material/corotational.hpp"
#include "lithe/material/st_venant_kirchhoff.hpp"
#include "lithe/math/psd.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// psi = I_1 I_1 + I_1 J + I_2 J + J^2 + I_2: every derivative that the chain rule handles is alive.
double sample_energy(const Vec3& s)
{
    const Vec3 q = s.cwiseAbs2();
    const double I1 = q.sum(), I2 = q[0] * q[1] + q[1] * q[2] + q[2] * q[0], J = s.prod();
    return I1 * I1 + I1 * J + I2 * J + J * J + I2;
}
StretchDerivatives sample_derivatives(const Vec3& s)
{
    const Vec3 q = s.cwiseAbs2();
    const double I1 = q.sum(), I2 = q[0] * q[1] + q[1] * q[2] + q[2] * q[0], J = s.prod();
    return stretch_derivatives({.psi = sample_energy(s),
                                .d1 = 2.0 * I1 + J,
                                .d2 = J + 1.0,
                                .dJ = I1 + I2 + 2.0 * J,
                                .d11 = 2.0,
                                .d1J = 1.0,
                                .d2J = 1.0,
                                .dJJ = 2.0},
                               s);
}

} // namespace

TEST(Isotropic, ChainRuleFromInvariantsMatchesDifferences)
{
    const Vec3 s(1.3, 0.9, -0.4);
    const StretchDerivatives d = sample_derivatives(s);
    const double e = 1e-5;
    for (int i = 0; i < 3; ++i) {
        const Vec3 step = e * Vec3::Unit(i);
        EXPECT_NEAR((sample_energy(s + step) - sample_energy(s - step)) / (2.0 * e), d.gradient[i], 1e-8);
        const Vec3 row =
            (sample_derivatives(s + step).gradient - sample_derivatives(s - step).gradient) / (2.0 * e);
        EXPECT_LT((row - d.hessian.col(i)).norm(), 1e-7);
    }
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        EXPECT_NEAR(d.flip[k], (d.gradient[i] - d.gradient[j]) / (s[i] - s[j]), 1e-12);
        EXPECT_NEAR(d.twist[k], (d.gradient[i] + d.gradient[j]) / (s[i] + s[j]), 1e-12);
    }
}

TEST(Isotropic, FlipHasItsLimitAtEqualStretches)
{
    const StretchDerivatives d = sample_derivatives(Vec3(1.1, 1.1, 0.7));
    EXPECT_NEAR(d.flip[2], 0.5 * (d.hessian(0, 0) + d.hessian(1, 1)) - d.hessian(0, 1), 1e-12);
}

TEST(Isotropic, HessianHasTheNineModes)
{
    Random random(1);
    const Mat3 F = random_matrix(random, 3, 3);
    const Svd3 svd = svd3(F);
    const StretchDerivatives d = sample_derivatives(svd.sigma);
    const Mat9 H = principal_hessian(svd, d);
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        Mat3 E = Mat3::Zero();
        E(i, j) = 1.0;
        const Vec9 flip = vec(svd.U * (E + E.transpose()) * svd.V.transpose());
        const Vec9 twist = vec(svd.U * (E - E.transpose()) * svd.V.transpose());
        EXPECT_LT((H * flip - d.flip[k] * flip).norm(), 1e-12);
        EXPECT_LT((H * twist - d.twist[k] * twist).norm(), 1e-12);
    }
}

TEST(Isotropic, StVenantKirchhoffMatchesItsTensorForm)
{
    Random random(2);
    const ElasticConstants constants{1e3, 0.3};
    const auto [mu, lambda] = lame_parameters(constants);
    for (int i = 0; i < 20; ++i) {
        const Mat3 F = random_matrix(random, 3, 3);
        const Mat3 E = 0.5 * (F.transpose() * F - Mat3::Identity());
        const Mat3 P = F * (2.0 * mu * E + lambda * E.trace() * Mat3::Identity());
        EXPECT_LT((StVenantKirchhoff(constants).P(F) - P).norm(), 1e-12 * mu);
    }
}

TEST(Isotropic, CorotationalMatchesItsPolarForm)
{
    Random random(3);
    const ElasticConstants constants{1e3, 0.3};
    const auto [mu, lambda] = lame_parameters(constants);
    for (int i = 0; i < 20; ++i) {
        const Mat3 F = random_matrix(random, 3, 3);
        const auto [R, S] = polar3(F);
        const Mat3 P = 2.0 * mu * (F - R) + lambda * (S.trace() - 3.0) * R;
        EXPECT_LT((Corotational(constants).P(F) - P).norm(), 1e-12 * mu);
        const Mat9 H = 2.0 * mu * Mat9::Identity() + lambda * vec(R) * vec(R).transpose() +
                       (lambda * (S.trace() - 3.0) - 2.0 * mu) * polar_rotation_derivative({R, S});
        EXPECT_LT((Corotational(constants).dPdF(F) - H).norm(), 1e-9 * H.norm());
    }
}
