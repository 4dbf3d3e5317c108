// The battery: every law passes every test here.
#include "lithe/material/material.hpp"

#include <cmath>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include "battery.hpp"
#include "lithe/core/error.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// Stretches for which derivatives are smooth enough to be measured: away from sigma_1 + sigma_2 = 0 (the corotational law
/// is singular there) and from the seam of the rubber laws.
bool measurable(const Mat3& F)
{
    const Vec3 s = svd3(F).sigma;
    return s[1] + s[2] > 0.05 && std::abs(F.determinant() - smallest_volume_ratio) > 0.02;
}

Mat9 eigen_clamped(const Mat9& H)
{
    const Eigen::SelfAdjointEigenSolver<Mat9> eigen(0.5 * (H + H.transpose()));
    const Mat9& Q = eigen.eigenvectors();
    return Q * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * Q.transpose();
}

class Battery : public testing::TestWithParam<Specimen> {};

std::vector<Mat3> sample_deformations(std::uint64_t seed, int count)
{
    Random random(seed);
    std::vector<Mat3> samples;
    while (static_cast<int>(samples.size()) < count) {
        const Mat3 F = random_deformation(random, 0.3, 1.8, 0.5);
        if (measurable(F)) samples.push_back(F);
    }
    return samples;
}

} // namespace

TEST_P(Battery, RestsAtRest)
{
    const Specimen& m = GetParam();
    const double stiffness = m.lame.mu + std::abs(m.lame.lambda);
    EXPECT_NEAR(m.psi(Mat3::Identity()), 0.0, 1e-14 * stiffness);
    EXPECT_LT(m.P(Mat3::Identity()).norm(), 1e-14 * stiffness);
}

TEST_P(Battery, IsLinearElasticityAtRest)
{
    const auto [mu, lambda] = GetParam().lame;
    const Mat9 H = GetParam().dPdF(Mat3::Identity());
    for (int k = 0; k < 9; ++k) {
        const Mat3 dF = mat(Vec9::Unit(k));
        const Mat3 dP = mu * (dF + dF.transpose()) + lambda * dF.trace() * Mat3::Identity();
        EXPECT_LT((H.col(k) - vec(dP)).norm(), 1e-12 * (mu + std::abs(lambda)));
    }
    // the energy of a tiny strain keeps its digits
    Mat3 F = Mat3::Identity();
    F(0, 0) += 1e-6;
    EXPECT_NEAR(GetParam().psi(F) / (0.5e-12 * (2.0 * mu + lambda)), 1.0, 1e-3);
}

TEST_P(Battery, DoesNotFeelRotations)
{
    const Specimen& m = GetParam();
    Random random(5);
    if (m.parameters.kind == MaterialKind::Linear) { // that is why it is for small motion only
        EXPECT_GT(m.psi(random_rotation(random)), 0.01 * m.lame.mu);
        return;
    }
    for (const Mat3& F : sample_deformations(11, 30)) {
        const Mat3 R = random_rotation(random), Q = random_rotation(random);
        EXPECT_NEAR(m.psi(R * F * Q), m.psi(F), 1e-11 * std::abs(m.psi(F)));
        EXPECT_LT((m.P(R * F * Q) - R * m.P(F) * Q).norm(), 1e-11 * m.P(F).norm());
    }
}

TEST_P(Battery, StressIsTheDerivativeOfTheEnergy)
{
    const Specimen& m = GetParam();
    Random random(6);
    const auto psi = [&](const VecX& f) { return m.psi(mat(f)); };
    for (const Mat3& F : sample_deformations(12, 20)) {
        const Vec9 d = random_vector(random, 9).normalized();
        EXPECT_GT(m.P(F).norm(), 0.0);
        EXPECT_GT(taylor_order_of_scalar(psi, vec(m.P(F)).dot(d), vec(F), d), 1.9);
    }
}

TEST_P(Battery, HessianIsTheDerivativeOfTheStress)
{
    const Specimen& m = GetParam();
    Random random(7);
    const auto P = [&](const VecX& f) { return VecX(vec(m.P(mat(f)))); };
    for (const Mat3& F : sample_deformations(13, 20)) {
        const Vec9 d = random_vector(random, 9).normalized();
        EXPECT_GT(taylor_order(P, m.dPdF(F) * d, vec(F), d, {1e-4, 1e-5}), 1.9);
    }
}

// Acceptance M1 of the specification: 300 F, inverted ones among them, central differences.
TEST_P(Battery, DerivativesMatchCentralDifferences)
{
    const Specimen& m = GetParam();
    const double e = 3e-6;
    int inverted = 0;
    for (const Mat3& F : sample_deformations(14, 300)) {
        inverted += F.determinant() < 0.0;
        Mat9 H;
        Vec9 g;
        for (int k = 0; k < 9; ++k) {
            const Mat3 step = e * mat(Vec9::Unit(k));
            g[k] = (m.psi(F + step) - m.psi(F - step)) / (2.0 * e);
            H.col(k) = vec(m.P(F + step) - m.P(F - step)) / (2.0 * e);
        }
        EXPECT_LT((g - vec(m.P(F))).norm(), 1e-7 * (vec(m.P(F)).norm() + m.lame.mu));
        EXPECT_LT((H - m.dPdF(F)).norm(), 1e-7 * m.dPdF(F).norm());
    }
    EXPECT_GT(inverted, 40);
}

TEST_P(Battery, HessianIsSymmetric)
{
    for (const Mat3& F : sample_deformations(15, 20)) {
        const Mat9 H = GetParam().dPdF(F);
        EXPECT_LT((H - H.transpose()).norm(), 1e-14 * H.norm());
    }
}

// Acceptance M2: the clamp of the modes is the best approximation in the Frobenius norm.
TEST_P(Battery, ProjectionIsTheNearestSemidefiniteMatrix)
{
    const Specimen& m = GetParam();
    for (const Mat3& F : sample_deformations(16, 100)) {
        const Mat9 H = m.dPdF(F), projected = m.dPdF_psd(F);
        EXPECT_LT((projected - eigen_clamped(H)).norm(), 1e-8 * H.norm());
        const Vec9 eigenvalues = Eigen::SelfAdjointEigenSolver<Mat9>(projected).eigenvalues();
        EXPECT_GE(eigenvalues[0], -1e-12 * eigenvalues[8]);
    }
}

TEST_P(Battery, SurvivesCollapseAndInversion)
{
    const Specimen& m = GetParam();
    const Mat3 flat = Vec3(1.0, 1.0, 0.0).asDiagonal();
    const Mat3 mirrored = Vec3(1.0, 1.0, -1.0).asDiagonal(); // no unique rotation
    for (const Mat3& F : {Mat3(Mat3::Zero()), flat, mirrored, Mat3(-Mat3::Identity())}) {
        EXPECT_TRUE(std::isfinite(m.psi(F)));
        EXPECT_TRUE(m.P(F).allFinite());
        EXPECT_TRUE(m.dPdF_psd(F).allFinite());
        EXPECT_GE(Eigen::SelfAdjointEigenSolver<Mat9>(m.dPdF_psd(F)).eigenvalues()[0],
                  -1e-9 * m.dPdF_psd(F).norm());
    }
}

TEST_P(Battery, RejectsBadConstants)
{
    MaterialParameters parameters = GetParam().parameters;
    for (const double nu : {0.5, -1.0, std::nan("")}) {
        parameters.elastic.poisson_ratio = nu;
        EXPECT_THROW((void)make_material(parameters), InputError);
    }
    parameters.elastic = {0.0, 0.3};
    EXPECT_THROW((void)make_material(parameters), InputError);
}

INSTANTIATE_TEST_SUITE_P(Materials, Battery, testing::ValuesIn(all_specimens()), [](const auto& tested) {
    return tested.param.name() + "_" + std::to_string(tested.index);
});

TEST(Material, NamesGoThereAndBack)
{
    EXPECT_EQ(material_kinds().size(), std::variant_size_v<Material>);
    for (const MaterialKind kind : material_kinds()) {
        EXPECT_EQ(material_kind(material_name(kind)), kind);
        EXPECT_EQ(make_material({.kind = kind}).index(), static_cast<std::size_t>(kind));
    }
}

TEST(Material, UnknownNameListsTheKnownOnes)
{
    try {
        (void)material_kind("neo-hookean");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("neo_hookean"), std::string::npos);
    }
}

TEST(Material, RefusesNumbersThatItDoesNotHave)
{
    EXPECT_THROW((void)make_material({.kind = MaterialKind::Corotational, .mooney_ratio = 0.1}), InputError);
    EXPECT_THROW((void)make_material({.kind = MaterialKind::MooneyRivlin, .limit_stretch = 3.0}), InputError);
    EXPECT_THROW((void)make_material({.kind = MaterialKind::MooneyRivlin, .mooney_ratio = -0.1}), InputError);
    EXPECT_THROW((void)make_material({.kind = MaterialKind::ArrudaBoyce, .limit_stretch = 1.0}), InputError);
}
