#include <gtest/gtest.h>

#include "lithe/core/suggest.hpp"

using namespace lithe;

TEST(Suggest, NamesTheNearestWord)
{
    const std::vector<std::string> words = {"young", "poisson", "density"};
    EXPECT_EQ(closest_word("yong", words), "young");
    EXPECT_EQ(closest_word("desnity", words), "density"); // neighbours swapped
    EXPECT_EQ(did_you_mean("poison", words), "; did you mean 'poisson'?");
}

TEST(Suggest, SaysNothingWhenNothingIsNear)
{
    EXPECT_EQ(closest_word("friction", {"young", "density"}), "");
    EXPECT_EQ(did_you_mean("x", {}), "");
    EXPECT_EQ(closest_word(std::string(100000, 'a'), {"young"}), "");
}
