#include "lithe/material/elastic_constants.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"

using namespace lithe;

TEST(ElasticConstants, ConvertBackAndForth)
{
    const LameParameters lame = lame_parameters({3e5, 0.3});
    const double E = lame.mu * (3.0 * lame.lambda + 2.0 * lame.mu) / (lame.lambda + lame.mu);
    EXPECT_NEAR(E, 3e5, 1e-9);
    EXPECT_NEAR(lame.lambda / (2.0 * (lame.lambda + lame.mu)), 0.3, 1e-15);
    EXPECT_NEAR(lame.bulk_modulus(), 3e5 / (3.0 * (1.0 - 0.6)), 1e-9);
}

TEST(ElasticConstants, RejectsWhatIsOutOfRange)
{
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    for (const double E : {0.0, -1.0, nan, inf})
        EXPECT_THROW((void)lame_parameters({E, 0.3}), InputError) << E;
    for (const double nu : {0.5, 0.6, -1.0, nan, inf})
        EXPECT_THROW((void)lame_parameters({1e3, nu}), InputError) << nu;
    EXPECT_EQ(lame_parameters({1e3, 0.0}).lambda, 0.0); // a legal special value stays legal
}
