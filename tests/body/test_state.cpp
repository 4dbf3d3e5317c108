#include <gtest/gtest.h>

#include "lithe/body/state.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

StateWriter sample_state()
{
    StateWriter out;
    out.write(std::int64_t{-7});
    out.write(0.1);
    out.write(std::string("a name"));
    out.write(Points(Points::Random(3, 5)));
    out.write(std::vector<int>{3, 1, 2});
    out.write(RigidPose{Quat(0.6, 0.8, 0.0, 0.0), Vec3(1, 2, 3)});
    return out;
}

TEST(State, ReadsBackWhatWasWrittenToTheLastBit)
{
    srand(1);
    const Points points = Points::Random(3, 5);
    srand(1);
    const StateWriter state = sample_state();
    StateReader in(state.bytes());
    EXPECT_EQ(in.read_integer(), -7);
    EXPECT_EQ(in.read_number(), 0.1);
    EXPECT_EQ(in.read_text(), "a name");
    Points back;
    in.read(back);
    EXPECT_EQ(back, points);
    std::vector<int> values;
    in.read(values);
    EXPECT_EQ(values, (std::vector<int>{3, 1, 2}));
    const RigidPose pose = in.read_pose();
    EXPECT_EQ(pose.rotation.coeffs(), Quat(0.6, 0.8, 0.0, 0.0).coeffs());
    EXPECT_EQ(pose.translation, Vec3(1, 2, 3));
    EXPECT_TRUE(in.at_end());
}

TEST(State, EveryTruncationIsNoticed)
{
    const std::string bytes = sample_state().bytes();
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        StateReader in(std::string_view(bytes).substr(0, length));
        const auto read_all = [&] {
            (void)in.read_integer();
            (void)in.read_number();
            (void)in.read_text();
            Points points;
            in.read(points);
            std::vector<int> values;
            in.read(values);
            (void)in.read_pose();
        };
        EXPECT_THROW(read_all(), InputError) << length;
    }
}

TEST(State, ImpossibleCountsAreRefusedBeforeMemoryIsTaken)
{
    StateWriter out;
    out.write(std::int64_t{1} << 60);
    Points points;
    EXPECT_THROW(StateReader(out.bytes()).read(points), InputError);
    StateWriter negative;
    negative.write(std::int64_t{-1});
    EXPECT_THROW((void)StateReader(negative.bytes()).read_text(), InputError);
}

} // namespace
} // namespace lithe
