#include <gtest/gtest.h>

#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

VecX curved(const VecX& x)
{
    return x.array().sin() + 0.5 * x.array().square() * x.array().reverse();
}

VecX curved_derivative(const VecX& x, const VecX& d)
{
    return x.array().cos() * d.array() + x.array() * d.array() * x.array().reverse() +
           0.5 * x.array().square() * d.array().reverse();
}

struct Fixture {
    Random random{7};
    VecX x = random_vector(random, 6);
    VecX d = random_vector(random, 6);
};

} // namespace

TEST(Taylor, OrderOfARightDerivativeIsTwo)
{
    const Fixture s;
    EXPECT_NEAR(taylor_order(curved, curved_derivative(s.x, s.d), s.x, s.d), 2.0, 0.02);
}

TEST(Taylor, OrderDoesNotDependOnTheScaleOfTheFunction)
{
    const Fixture s;
    for (const double scale : {1e-30, 1e30}) {
        const auto f = [&](const VecX& x) { return VecX(scale * curved(x)); };
        EXPECT_NEAR(taylor_order(f, scale * curved_derivative(s.x, s.d), s.x, s.d), 2.0, 0.02);
    }
}

TEST(Taylor, APlantedErrorOfOnePercentIsSeen)
{
    const Fixture s;
    const VecX wrong = 1.01 * curved_derivative(s.x, s.d);
    EXPECT_LT(taylor_order(curved, wrong, s.x, s.d), 1.6);
    VecX one_entry = curved_derivative(s.x, s.d);
    one_entry[2] *= 0.9;
    EXPECT_LT(taylor_order(curved, one_entry, s.x, s.d), 1.6);
}

TEST(Taylor, ScalarFunctionsWork)
{
    const Fixture s;
    const auto energy = [](const VecX& x) { return x.array().exp().sum(); };
    const double slope = (s.x.array().exp() * s.d.array()).sum();
    EXPECT_NEAR(taylor_order_of_scalar(energy, slope, s.x, s.d), 2.0, 0.02);
    EXPECT_LT(taylor_order_of_scalar(energy, 1.01 * slope, s.x, s.d), 1.6);
}

TEST(Taylor, ALinearFunctionSaysInfinity)
{
    const Fixture s;
    const auto twice = [](const VecX& x) { return VecX(2.0 * x); };
    EXPECT_EQ(taylor_order(twice, 2.0 * s.d, s.x, s.d), std::numeric_limits<double>::infinity());
    EXPECT_LT(taylor_order(twice, 2.02 * s.d, s.x, s.d), 1.1); // and a wrong slope of it is still seen
}

TEST(Taylor, AConstantFunctionSaysNothing)
{
    const Fixture s;
    const auto constant = [](const VecX& x) { return VecX(VecX::Ones(x.size())); };
    EXPECT_TRUE(std::isnan(taylor_order(constant, VecX::Zero(6), s.x, s.d)));
}
