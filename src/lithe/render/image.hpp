#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lithe/math/color.hpp"

namespace lithe {

/// A picture as a screen shows it: rows from the top, three bytes (sRGB) a pixel.
struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb8 = {};

    std::uint8_t* pixel(int x, int y) { return rgb8.data() + 3 * (static_cast<std::size_t>(y) * width + x); }
    const std::uint8_t* pixel(int x, int y) const { return const_cast<Image*>(this)->pixel(x, y); }
};

/// A black picture. Throws InputError when a side is not in 1..16384.
Image make_image(int width, int height);

/// The bytes of a PNG file.
std::string encode_png(const Image& image);
/// Writes it whole or not at all.
void write_png(const std::filesystem::path& path, const Image& image);

} // namespace lithe
