#include "lithe/render/video.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

class VideoTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (std::system("ffmpeg -version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no ffmpeg here";
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    const fs::path folder_ =
        fs::path(testing::TempDir()) /
        (std::string("lithe video ") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(VideoTest, WritesEveryFrameOfOddSizes)
{
    const fs::path target = folder_ / "a b.mp4";
    {
        VideoWriter video(target, {.width = 33, .height = 21, .fps = 25.0});
        for (int i = 0; i < 7; ++i) video.add(make_image(33, 21));
        video.finish();
    }
    ASSERT_TRUE(fs::exists(target));
    EXPECT_EQ(files(), 1u);
    std::ifstream in(target, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(bytes.substr(4, 4), "ftyp");
    // In the box of sample sizes ("stsz": version, common size, count) is the number of frames.
    const std::size_t box = bytes.find("stsz");
    ASSERT_NE(box, std::string::npos);
    EXPECT_EQ(static_cast<int>(bytes[box + 15]), 7);
}

TEST_F(VideoTest, LeavesNothingWhenNotFinished)
{
    {
        VideoWriter video(folder_ / "a.mp4", {.width = 32, .height = 16});
        video.add(make_image(32, 16));
    }
    EXPECT_EQ(files(), 0u);
}

TEST_F(VideoTest, SaysThatAFolderIsMissing)
{
    EXPECT_THROW(VideoWriter(folder_ / "missing" / "a.mp4", {}), InputError);
}

TEST_F(VideoTest, WithoutFfmpegSaysSoAndLeavesNothing)
{
    const std::string path = std::getenv("PATH");
    setenv("PATH", "/nonexistent", 1);
    EXPECT_THROW(VideoWriter(folder_ / "a.mp4", {}), InputError);
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(files(), 0u);
}

} // namespace
} // namespace lithe
