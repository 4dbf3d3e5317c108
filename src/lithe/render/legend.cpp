#include "lithe/render/legend.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lithe/render/colormap.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_easy_font.h>
#pragma GCC diagnostic pop

namespace lithe {

namespace {

struct Rectangle {
    int x0, y0, x1, y1; ///< [pixels], ends not included
};

void fill(Image& image, const Rectangle& area, const Vec3& srgb)
{
    for (int y = std::max(area.y0, 0); y < std::min(area.y1, image.height); ++y)
        for (int x = std::max(area.x0, 0); x < std::min(area.x1, image.width); ++x)
            for (int c = 0; c < 3; ++c)
                image.pixel(x, y)[c] = static_cast<std::uint8_t>(255.0 * srgb[c] + 0.5);
}

/// Text whose right end is at x, top at y; `size` pixels for each of the font's.
void draw_text(Image& image, int x, int y, int size, std::string text)
{
    struct Corner {
        float x, y, z;
        std::uint32_t color;
    };
    std::array<Corner, 4000> corners;
    const int width = stb_easy_font_width(text.data());
    const int quads =
        stb_easy_font_print(0, 0, text.data(), nullptr, corners.data(), static_cast<int>(sizeof corners));
    for (int q = 0; q < quads; ++q) {
        const Corner &a = corners[static_cast<std::size_t>(4 * q)],
                     &b = corners[static_cast<std::size_t>(4 * q + 2)];
        const auto at = [&](float v) { return size * static_cast<int>(v); };
        fill(image, {x + at(a.x) - size * width, y + at(a.y), x + at(b.x) - size * width, y + at(b.y)},
             Vec3(0.13, 0.14, 0.17));
    }
}

} // namespace

void draw_legend(Image& image, const ColorBy& what)
{
    const int size = std::max(1, image.height / 400), edge = 20 * size;
    const int length = image.height * 2 / 5, right = image.width - edge, top = (image.height - length) / 2;
    const Rectangle bar = {right - 12 * size, top, right, top + length};
    fill(image, {bar.x0 - size, bar.y0 - size, bar.x1 + size, bar.y1 + size}, Vec3(0.13, 0.14, 0.17));
    const ColorMap map;
    for (int y = 0; y < length; ++y) {
        const double value = 1.0 - (y + 0.5) / length;
        fill(image, {bar.x0, top + y, bar.x1, top + y + 1}, srgb_from_linear(map(value)));
    }
    const int beside = bar.x0 - 5 * size;
    draw_text(image, beside, top, size, fmt::format("{:.4g}", what.high));
    draw_text(image, beside, top + length - 8 * size, size, fmt::format("{:.4g}", what.low));
    draw_text(image, right, top - 14 * size, size, what.field.substr(0, 40));
}

} // namespace lithe
