#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using testing::HasSubstr;

TEST(Error, PlaceIsWrittenAsFarAsItIsKnown)
{
    EXPECT_EQ(to_string(Place{.file = "a.obj"}), "a.obj");
    EXPECT_EQ(to_string(Place{.file = "a.obj", .line = 12}), "a.obj:12");
    EXPECT_EQ(to_string(Place{.file = "a.ply", .byte = 0}), "a.ply at byte 0");
    EXPECT_EQ(to_string(Place{}), "");
}

TEST(Error, InputErrorBeginsWithItsPlace)
{
    EXPECT_STREQ(InputError({.file = "a.obj", .line = 3}, "no such vertex").what(),
                 "a.obj:3: no such vertex");
    EXPECT_STREQ(InputError("plain").what(), "plain");
}

TEST(Error, RequireBetweenReturnsTheValueOrNamesIt)
{
    EXPECT_EQ(require_between("nu", 0.3, -1.0, 0.5), 0.3);
    for (const double bad : {0.5, -1.0, 0.6, -2.0, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        const std::string message = test::message_of([&] { (void)require_between("nu", bad, -1.0, 0.5); });
        EXPECT_THAT(message, HasSubstr("nu = "));
        EXPECT_THAT(message, HasSubstr("(-1, 0.5)"));
    }
}

TEST(Error, RequirePositiveReturnsTheValueOrNamesIt)
{
    EXPECT_EQ(require_positive("h", 1e-300), 1e-300);
    for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL})
        EXPECT_THAT(test::message_of([&] { (void)require_positive("h", bad); }), HasSubstr("h = "));
}

TEST(ErrorDeathTest, ABrokenInvariantAbortsWithFileAndLine)
{
    LITHE_ASSERT(1 + 1 == 2);
    EXPECT_DEATH(LITHE_ASSERT(1 + 1 == 3), "test_error.cpp:[0-9]+: .*1 \\+ 1 == 3");
}
