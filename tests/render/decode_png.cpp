#include "render/decode_png.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace lithe::test {

Image decode_png(const std::string& bytes)
{
    Image image;
    int channels = 0;
    stbi_uc* pixels =
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                              &image.width, &image.height, &channels, 0);
    if (!pixels || channels != 3) return {};
    image.rgb8.assign(pixels, pixels + std::size_t{3} * image.width * image.height);
    stbi_image_free(pixels);
    return image;
}

} // namespace lithe::test
