#include "lithe/contact/friction_state.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"

using namespace lithe;

TEST(FrictionState, SurvivesItsBytes)
{
    const FrictionState saved{.obstacle = {3, 3, std::numeric_limits<std::uint64_t>::max()},
                              .sample = {0, 7, 2},
                              .anchor = {{0.1, -0.2, 1e-300}, {1.0, 2.0, 3.0}, {-0.0, 5.0, 6.0}}};
    StateWriter out;
    write(saved, out);
    FrictionState loaded{.obstacle = {1}, .sample = {1}, .anchor = {Vec3::Ones()}};
    StateReader in(out.bytes());
    read(loaded, in);
    EXPECT_TRUE(in.at_end());
    EXPECT_TRUE(loaded == saved);
    clear(loaded);
    EXPECT_EQ(loaded.size(), 0u);
}

TEST(FrictionState, RefusesBytesThatEndEarly)
{
    StateWriter out;
    write(FrictionState{.obstacle = {3}, .sample = {0}, .anchor = {Vec3::Ones()}}, out);
    FrictionState kept{.obstacle = {1}, .sample = {1}, .anchor = {Vec3::Ones()}};
    const FrictionState before = kept;
    const std::string bytes = out.bytes().substr(0, out.bytes().size() - 1);
    StateReader in(bytes);
    EXPECT_THROW(read(kept, in), InputError);
    EXPECT_TRUE(kept == before);
}
