#include "lithe/render/image.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "render/decode_png.hpp"

namespace lithe {
namespace {

TEST(Image, PngDecodesToTheSameBytes)
{
    Image image = make_image(37, 23);
    Random random(1);
    for (std::uint8_t& byte : image.rgb8) byte = static_cast<std::uint8_t>(random.index(256));
    const Image decoded = test::decode_png(encode_png(image));
    EXPECT_EQ(decoded.width, 37);
    EXPECT_EQ(decoded.height, 23);
    EXPECT_EQ(decoded.rgb8, image.rgb8);
}

TEST(Image, IsWrittenToNonAsciiNamesAndNotIntoMissingFolders)
{
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lithe bildér";
    std::filesystem::create_directories(folder);
    write_png(folder / "ö x.png", make_image(2, 2));
    EXPECT_TRUE(std::filesystem::exists(folder / "ö x.png"));
    EXPECT_THROW(write_png(folder / "missing" / "x.png", make_image(2, 2)), InputError);
    std::filesystem::remove_all(folder);
}

TEST(Image, RefusesSizesThatAreNone)
{
    EXPECT_THROW(make_image(0, 5), InputError);
    EXPECT_THROW(make_image(5, -1), InputError);
    EXPECT_THROW(make_image(100000, 5), InputError);
}

TEST(Image, SrgbRoundTripAndKnownValue)
{
    for (int i = 0; i <= 255; ++i) {
        const Vec3 c = Vec3::Constant(i / 255.0);
        EXPECT_NEAR(srgb_from_linear(linear_from_srgb(c))[0], c[0],
                    1e-7); // the standard's two pieces meet to 3e-8
    }
    EXPECT_NEAR(linear_from_srgb(Vec3::Constant(0.5))[1], 0.21404, 1e-5);
}

} // namespace
} // namespace lithe
