#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "support/message_of.hpp"

using namespace lithe;
namespace fs = std::filesystem;
using testing::HasSubstr;

namespace {

/// Every test in an empty folder of its own.
class AtomicFileTest : public testing::Test {
protected:
    AtomicFileTest()
    {
        std::string name = (fs::temp_directory_path() / "lithe_test_XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~AtomicFileTest() override
    {
        chmod(folder_.c_str(), 0700);
        fs::remove_all(folder_);
    }
    std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename());
        std::sort(all.begin(), all.end());
        return all;
    }
    fs::path folder_;
};

std::string content(const fs::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace

TEST_F(AtomicFileTest, AppearsWholeOnCommitAndNotBefore)
{
    const fs::path target = folder_ / "out.bin";
    AtomicFile file(target);
    file.write("one ");
    const std::byte bytes[] = {std::byte{0}, std::byte{255}};
    file.write(bytes);
    EXPECT_FALSE(fs::exists(target));
    file.commit();
    EXPECT_EQ(content(target), std::string("one \0\xff", 6));
    EXPECT_EQ(names(), std::vector<std::string>{"out.bin"});
}

TEST_F(AtomicFileTest, WithoutCommitNothingIsLeftAndTheOldFileStays)
{
    const fs::path target = folder_ / "out.txt";
    write_file(target, "old");
    {
        AtomicFile file(target);
        file.write("new and half");
        EXPECT_EQ(content(target), "old");
    }
    EXPECT_EQ(content(target), "old");
    EXPECT_EQ(names(), std::vector<std::string>{"out.txt"});
    write_file(target, "new");
    EXPECT_EQ(content(target), "new");
}

TEST_F(AtomicFileTest, AnExceptionOnTheWayLeavesNothing)
{
    const auto interrupted = [&] {
        AtomicFile file(folder_ / "out.txt");
        file.write("half");
        throw Interrupted();
    };
    EXPECT_THROW(interrupted(), Interrupted);
    EXPECT_TRUE(names().empty());
}

TEST_F(AtomicFileTest, SpacesAndLettersOfAnyAlphabet)
{
    const fs::path target = folder_ / "ein Häuschen 家.obj";
    write_file(target, "v 0 0 0\n");
    EXPECT_EQ(content(target), "v 0 0 0\n");
}

TEST_F(AtomicFileTest, AFileInTheCurrentFolderNeedsNoFolderName)
{
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    write_file("plain.txt", "text");
    fs::current_path(before);
    EXPECT_EQ(content(folder_ / "plain.txt"), "text");
}

TEST_F(AtomicFileTest, AMissingFolderIsNamed)
{
    const fs::path target = folder_ / "missing" / "out.txt";
    const std::string message = test::message_of([&] { write_file(target, "x"); });
    EXPECT_THAT(message, HasSubstr(target.string()));
    EXPECT_THAT(message, HasSubstr("does not exist"));
    EXPECT_TRUE(names().empty());
}

TEST_F(AtomicFileTest, AFolderIsNoFile)
{
    EXPECT_THAT(test::message_of([&] { write_file(folder_, "x"); }), HasSubstr("is a folder"));
}

TEST_F(AtomicFileTest, AFolderThatMayNotBeWrittenIsNamed)
{
    if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
    chmod(folder_.c_str(), 0500);
    const fs::path target = folder_ / "out.txt";
    EXPECT_THAT(test::message_of([&] { write_file(target, "x"); }), HasSubstr("choose a place"));
}

TEST_F(AtomicFileTest, AFullDiskIsTold)
{
    const fs::path full = "/dev/full";
    if (!fs::exists(full)) GTEST_SKIP() << "no /dev/full";
    const std::string message = test::message_of([&] { write_file(full, "x"); });
    EXPECT_THAT(message, HasSubstr("/dev/full"));
    EXPECT_THAT(message, HasSubstr("free some space"));
    const std::string large(1 << 20, 'x'); // more than a buffer: fails in write already
    EXPECT_THAT(test::message_of([&] { write_file(full, large); }), HasSubstr("free some space"));
    EXPECT_TRUE(fs::exists(full));
}

TEST_F(AtomicFileTest, ADeviceIsWrittenInto)
{
    EXPECT_NO_THROW(write_file("/dev/null", "x"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, ALinkKeepsPointingAndItsFileIsReplaced)
{
    write_file(folder_ / "real.txt", "old");
    fs::create_symlink("real.txt", folder_ / "link.txt");
    write_file(folder_ / "link.txt", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link.txt"));
    EXPECT_EQ(content(folder_ / "real.txt"), "new");
}

TEST_F(AtomicFileTest, PermissionsOfTheOldFileStay)
{
    const fs::path target = folder_ / "secret.txt";
    write_file(target, "old");
    chmod(target.c_str(), 0600);
    write_file(target, "new");
    EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AtomicFileTest, AFileThatMayNotBeWrittenIsNotReplaced)
{
    if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
    const fs::path target = folder_ / "kept.txt";
    write_file(target, "old");
    chmod(target.c_str(), 0444);
    EXPECT_THAT(test::message_of([&] { write_file(target, "new"); }), HasSubstr("choose a place"));
    EXPECT_EQ(content(target), "old");
}

TEST_F(AtomicFileTest, TwoAtOnceDoNotMix)
{
    const fs::path target = folder_ / "out.txt";
    AtomicFile first(target), second(target);
    first.write("first");
    second.write("the second");
    first.commit();
    EXPECT_EQ(content(target), "first");
    second.commit();
    EXPECT_EQ(content(target), "the second");
    EXPECT_EQ(names(), std::vector<std::string>{"out.txt"});
}
