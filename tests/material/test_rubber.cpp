#include "lithe/material/rubber.hpp"

#include <gtest/gtest.h>

#include "battery.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

std::vector<Specimen> rubbers()
{
    std::vector<Specimen> all;
    for (const Specimen& s : all_specimens())
        if (s.parameters.kind == MaterialKind::MooneyRivlin || s.parameters.kind == MaterialKind::ArrudaBoyce)
            all.push_back(s);
    return all;
}

} // namespace

TEST(Rubber, IsTwiceDifferentiableAcrossTheSeam)
{
    const double s = std::cbrt(smallest_volume_ratio);
    const Mat3 F = Vec3(1.4 * s, 0.8 * s, s / (1.4 * 0.8)).asDiagonal();
    for (const Specimen& m : rubbers()) {
        const Mat3 below = F * (1.0 - 1e-9), above = F * (1.0 + 1e-9);
        EXPECT_NEAR(m.psi(below), m.psi(above), 1e-7 * m.psi(F)) << m.name();
        EXPECT_LT((m.P(below) - m.P(above)).norm(), 1e-6 * m.P(F).norm()) << m.name();
        EXPECT_LT((m.dPdF(below) - m.dPdF(above)).norm(), 1e-6 * m.dPdF(F).norm()) << m.name();
    }
}

TEST(Rubber, IsNowhereBelowItsRest)
{
    Random random(3);
    for (const Specimen& m : rubbers())
        for (int i = 0; i < 3000; ++i) {
            const double size = std::pow(10.0, random.uniform(-3.0, 0.5));
            const Mat3 F = size * Mat3(random_matrix(random, 3, 3));
            ASSERT_GE(m.psi(F), 0.0) << m.name() << "\n" << F;
        }
}

TEST(Rubber, PushesBackOnEvenCompressionToAHundredthOfTheVolume)
{
    for (const Specimen& m : rubbers())
        for (double s = 0.99; s > 0.215; s -= 0.01) {
            const Mat3 F = s * Mat3::Identity();
            ASSERT_LT(m.P(F).trace(), 0.0) << m.name() << " at " << s;
            ASSERT_GT(m.psi(F), m.psi(F * 1.005)) << m.name() << " at " << s;
        }
}

TEST(Rubber, ArrudaBoyceStiffensTowardsItsLimit)
{
    const ElasticConstants constants{1e5, 0.49};
    const auto pull = [&](double limit, double stretch) {
        const double side = 1.0 / std::sqrt(stretch);
        return ArrudaBoyce(constants, limit).psi(Vec3(stretch, side, side).asDiagonal());
    };
    EXPECT_GT(pull(1.5, 3.0), 2.0 * pull(10.0, 3.0));
    EXPECT_NEAR(pull(1.5, 1.02) / pull(10.0, 1.02), 1.0, 0.01); // the same for small strain
}
