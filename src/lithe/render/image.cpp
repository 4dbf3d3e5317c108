#include "lithe/render/image.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace lithe {

Image make_image(int width, int height)
{
    constexpr int longest = 16384;
    if (width < 1 || height < 1 || width > longest || height > longest)
        throw InputError(
            fmt::format("picture size {}x{}: each side must lie in 1..{}", width, height, longest));
    Image image{width, height};
    image.rgb8.resize(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    return image;
}

std::string encode_png(const Image& image)
{
    LITHE_ASSERT(image.rgb8.size() == 3 * static_cast<std::size_t>(image.width) * image.height);
    std::string bytes;
    const auto append = [](void* out, void* data, int size) {
        static_cast<std::string*>(out)->append(static_cast<const char*>(data),
                                               static_cast<std::size_t>(size));
    };
    const int written = stbi_write_png_to_func(append, &bytes, image.width, image.height, 3,
                                               image.rgb8.data(), 3 * image.width);
    LITHE_ASSERT(written != 0);
    return bytes;
}

void write_png(const std::filesystem::path& path, const Image& image)
{
    write_file(path, encode_png(image));
}

} // namespace lithe
