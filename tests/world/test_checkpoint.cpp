#include <gtest/gtest.h>

#include <fstream>

#include "lithe/core/atomic_file.hpp"
#include "lithe/world/checkpoint.hpp"
#include "support/bodies.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using test::make_ground;
using test::make_soft_cube;
using test::message_of;
using test::TemporaryFolder;

constexpr double h = 1.0 / 60.0; ///< [s]

World sliding_cube()
{
    World world;
    world.add(make_ground());
    world.add(make_soft_cube("cube", Vec3(0, 0.101, 0), Vec3(1, 0, 0)));
    return world;
}

void step(World& world, int count)
{
    for (int k = 0; k < count; ++k) ASSERT_TRUE(world.step(h).done);
}

std::string bytes_of(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Checkpoint, ContinuesBitForBitWithFrictionInPlay)
{
    const TemporaryFolder folder;
    World whole = sliding_cube(), first = sliding_cube(), second = sliding_cube();
    step(whole, 25);
    step(first, 12);
    write_checkpoint(folder / "c", first, {.inputs = 42, .frame = 12});
    EXPECT_EQ(read_checkpoint(folder / "c", 42, second), 12);
    EXPECT_EQ(second.state_hash(), first.state_hash());
    step(second, 13);
    EXPECT_EQ(second.state_hash(), whole.state_hash());
}

TEST(Checkpoint, RefusesWhatIsDamagedOrForeign)
{
    const TemporaryFolder folder;
    World world = sliding_cube();
    write_checkpoint(folder / "good", world, {.inputs = 1, .frame = 0});
    const std::string good = bytes_of(folder / "good");
    const std::uint64_t before = world.state_hash();
    const auto message = [&](const std::string& bytes, std::uint64_t inputs) {
        write_file(folder / "bad", bytes);
        return message_of([&] { (void)read_checkpoint(folder / "bad", inputs, world); });
    };
    EXPECT_NE(message("", 1).find("not a checkpoint"), std::string::npos);
    EXPECT_NE(message("LitheCkq" + good.substr(8), 1).find("not a checkpoint"), std::string::npos);
    EXPECT_NE(message(good.substr(0, good.size() - 1), 1).find("damaged"), std::string::npos);
    EXPECT_NE(message(good, 2).find("another scene"), std::string::npos);
    std::string newer = good;
    newer[8] = 9;
    EXPECT_NE(message(newer, 1).find("version 9"), std::string::npos);
    for (std::size_t i = 40; i < good.size(); i += 97) { // one bit anywhere in the state
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 4);
        EXPECT_NE(message(bad, 1).find("damaged"), std::string::npos) << i;
    }
    EXPECT_NE(
        message_of([&] { (void)read_checkpoint(folder / "absent", 1, world); }).find("cannot be opened"),
        std::string::npos);
    EXPECT_EQ(world.state_hash(), before);
}

} // namespace
} // namespace lithe
