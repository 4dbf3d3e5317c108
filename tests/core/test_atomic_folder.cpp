#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/atomic_folder.hpp"
#include "lithe/core/error.hpp"
#include "support/message_of.hpp"
#include "support/size_limit.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<std::string> names_in(const fs::path& folder)
{
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
}

std::string content(const fs::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace

TEST(AtomicFolder, AppearsWholeOnCommitAndNotBefore)
{
    const test::TemporaryFolder place;
    AtomicFolder folder(place / "out/"); // with or without the stroke at the end
    folder.write("a.txt", "one");
    folder.write("b.txt", "two");
    EXPECT_FALSE(fs::exists(place / "out"));
    folder.commit();
    EXPECT_THAT(names_in(place.path()), ElementsAre("out"));
    EXPECT_THAT(names_in(place / "out"), ElementsAre("a.txt", "b.txt"));
    EXPECT_EQ(content(place / "out" / "b.txt"), "two");
}

TEST(AtomicFolder, WithoutCommitNothingIsLeft)
{
    const test::TemporaryFolder place;
    {
        AtomicFolder folder(place / "out");
        folder.write("a.txt", "one");
    }
    EXPECT_TRUE(place.is_empty());
}

TEST(AtomicFolder, AnExistingFolderKeepsWhatElseIsInIt)
{
    const test::TemporaryFolder place;
    write_file(place / "a.txt", "old");
    write_file(place / "other.txt", "other");
    AtomicFolder folder(place.path());
    folder.write("a.txt", "new");
    EXPECT_EQ(content(place / "a.txt"), "old");
    folder.commit();
    EXPECT_EQ(content(place / "a.txt"), "new");
    EXPECT_THAT(names_in(place.path()), ElementsAre("a.txt", "other.txt"));
}

TEST(AtomicFolder, AFolderInTheWayOfAFileStopsAllOfThem)
{
    const test::TemporaryFolder place;
    fs::create_directory(place / "b.txt");
    const auto write = [&] {
        AtomicFolder folder(place.path());
        folder.write("a.txt", "one");
        folder.write("b.txt", "two");
        folder.commit();
    };
    EXPECT_THAT(test::message_of(write), HasSubstr((place / "b.txt").string() + ": cannot be replaced"));
    EXPECT_THAT(names_in(place.path()), ElementsAre("b.txt"));
}

TEST(AtomicFolder, AMissingParentAndAFileAreTold)
{
    const test::TemporaryFolder place;
    EXPECT_THAT(test::message_of([&] { AtomicFolder(place / "no" / "out"); }), HasSubstr("does not exist"));
    write_file(place / "file", "x");
    EXPECT_THAT(test::message_of([&] { AtomicFolder(place / "file"); }),
                HasSubstr("is a file, not a folder"));
}

TEST(AtomicFolder, AFullDiskLeavesNothing)
{
    const test::TemporaryFolder place;
    const auto write = [&] {
        const test::SizeLimit limit(1000);
        AtomicFolder folder(place / "out");
        folder.write("a.bin", std::string(10, 'x'));
        folder.write("b.bin", std::string(100'000, 'x'));
        folder.commit();
    };
    const std::string message = test::message_of(write);
    EXPECT_THAT(message, HasSubstr((place / "out" / "b.bin").string() + ": cannot be written"));
    EXPECT_TRUE(place.is_empty());
}
