#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/math/color.hpp"
#include "lithe/rig/gltf_scene.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace lithe::gltf {
namespace {

constexpr std::int64_t most_pixels = std::int64_t(1) << 26; ///< of one image: 8192 x 8192

enum class Wrap { Clamp, Mirror, Repeat };

Wrap wrap_of(const Json& sampler, const char* key)
{
    const int mode = int_at(sampler, key, 10497);
    return mode == 33071 ? Wrap::Clamp : mode == 33648 ? Wrap::Mirror : Wrap::Repeat;
}

/// The texel of a row of `size` that stands at place i, which may lie outside.
std::int64_t wrapped(std::int64_t i, std::int64_t size, Wrap wrap)
{
    if (wrap == Wrap::Clamp) return std::clamp<std::int64_t>(i, 0, size - 1);
    const std::int64_t period = wrap == Wrap::Mirror ? 2 * size : size;
    const std::int64_t rest = ((i % period) + period) % period;
    return rest < size ? rest : period - 1 - rest;
}

/// x = M u + offset: what KHR_texture_transform makes of texture coordinates.
struct TextureTransform {
    Eigen::Matrix2d M = Eigen::Matrix2d::Identity();
    Vec2 offset = Vec2::Zero();
};

/// Extensions are not checked when a document is read: what they should hold may be anything.
bool has_numbers(const Json& array, std::size_t count)
{
    if (!array.is_array() || array.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i)
        if (!array[i].is_number()) return false;
    return true;
}

Vec2 vec2_at(const Json& object, const char* key, const Vec2& otherwise)
{
    const Json* pair = find(object, {key});
    return pair && has_numbers(*pair, 2) ? Vec2((*pair)[0].get<double>(), (*pair)[1].get<double>())
                                         : otherwise;
}

/// Scaled first, then turned counter-clockwise as the image is seen (its second coordinate points down), then moved.
TextureTransform texture_transform(const Json& extension)
{
    const Json* rotation = find(extension, {"rotation"});
    const double angle = rotation && rotation->is_number() ? rotation->get<double>() : 0.0;
    const double c = std::cos(angle), s = std::sin(angle);
    TextureTransform transform{.offset = vec2_at(extension, "offset", Vec2::Zero())};
    transform.M << c, s, -s, c;
    transform.M *= vec2_at(extension, "scale", Vec2::Ones()).asDiagonal();
    return transform;
}

Vec3 factor_of(const Json* numbers)
{
    if (!numbers || !has_numbers(*numbers, 3)) return Vec3::Ones();
    return {(*numbers)[0].get<double>(), (*numbers)[1].get<double>(), (*numbers)[2].get<double>()};
}

/// The colour of a material: its factor in linear light, and its texture if it has one.
struct MaterialColor {
    Vec3 factor = Vec3::Ones();
    const Json* texture = nullptr; ///< the textureInfo
};

/// The older way of saying it (specular and gloss) counts where the usual one says nothing.
MaterialColor material_color(const Json& material)
{
    const MaterialColor usual{factor_of(find(material, {"pbrMetallicRoughness", "baseColorFactor"})),
                              find(material, {"pbrMetallicRoughness", "baseColorTexture"})};
    const Json* old = find(material, {"extensions", "KHR_materials_pbrSpecularGlossiness"});
    if (!old || usual.texture || usual.factor != Vec3::Ones()) return usual;
    return {factor_of(find(*old, {"diffuseFactor"})), find(*old, {"diffuseTexture"})};
}

} // namespace

/// A decoded image and how it goes on beyond its borders. Without pixels: it could not be read.
struct PrimitiveColors::Texture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb; ///< sRGB, row by row from the top
    Wrap wrap_s = Wrap::Repeat, wrap_t = Wrap::Repeat;

    Vec3 texel(std::int64_t column, std::int64_t row) const
    {
        const std::int64_t at = wrapped(row, height, wrap_t) * width + wrapped(column, width, wrap_s);
        const std::uint8_t* p = rgb.data() + 3 * at;
        return linear_from_srgb(Vec3(p[0], p[1], p[2]) / 255.0);
    }

    /// Bilinear between the centres of the texels, in linear light.
    Vec3 at(const Vec2& uv) const
    {
        constexpr double far = 1e6; // beyond it the coordinate has no digits left for the texel
        const Vec2 bounded = uv.array().isFinite().select(uv, 0.0).cwiseMax(-far).cwiseMin(far);
        const double x = bounded[0] * width - 0.5, y = bounded[1] * height - 0.5;
        const double column = std::floor(x), row = std::floor(y);
        const double a = x - column, b = y - row;
        const auto i = static_cast<std::int64_t>(column), j = static_cast<std::int64_t>(row);
        return (1 - b) * ((1 - a) * texel(i, j) + a * texel(i + 1, j)) +
               b * ((1 - a) * texel(i, j + 1) + a * texel(i + 1, j + 1));
    }
};

PrimitiveColors::PrimitiveColors(const GltfDocument& document)
    : document_(document), textures_(document.count("textures"))
{
}

PrimitiveColors::~PrimitiveColors() = default;

namespace {

/// Why the image cannot be used, or an empty text and its pixels.
std::string decode(const std::string& bytes, int& width, int& height, std::vector<std::uint8_t>& rgb)
{
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const int size = bytes.size() > INT_MAX ? 0 : static_cast<int>(bytes.size());
    int channels = 0;
    if (!stbi_info_from_memory(data, size, &width, &height, &channels)) return "it is no PNG or JPEG";
    if (std::int64_t(width) * height > most_pixels)
        return fmt::format("{} x {} pixels are too many", width, height);
    stbi_uc* pixels = stbi_load_from_memory(data, size, &width, &height, &channels, 3);
    if (!pixels) return fmt::format("it is damaged ({})", stbi_failure_reason());
    rgb.assign(pixels, pixels + std::size_t(3) * width * height);
    stbi_image_free(pixels);
    return {};
}

} // namespace

const PrimitiveColors::Texture* PrimitiveColors::texture(int index, std::vector<std::string>& notes)
{
    std::unique_ptr<Texture>& slot = textures_[index];
    if (!slot) {
        slot = std::make_unique<Texture>();
        const Json& json = document_.list("textures")[index];
        if (const int sampler = int_at(json, "sampler", -1); sampler >= 0) {
            slot->wrap_s = wrap_of(document_.list("samplers")[sampler], "wrapS");
            slot->wrap_t = wrap_of(document_.list("samplers")[sampler], "wrapT");
        }
        std::string trouble = "it is in no format that we read (PNG, JPEG)";
        if (const int image = int_at(json, "source", -1); image >= 0) {
            try {
                trouble = decode(document_.image_bytes(image), slot->width, slot->height, slot->rgb);
            } catch (const InputError& error) {
                trouble = error.what();
            }
        }
        if (!trouble.empty()) notes.push_back(fmt::format("texture {} is left out: {}", index, trouble));
    }
    return slot->rgb.empty() ? nullptr : slot.get();
}

/// Multiplies the colours by those of the texture at the vertices.
void PrimitiveColors::paint_texture(const Json& info, const Json& attributes, MatX& linear,
                                    std::vector<std::string>& notes)
{
    TextureTransform transform;
    int set = int_at(info, "texCoord", 0);
    if (const Json* extension = find(info, {"extensions", "KHR_texture_transform"})) {
        transform = texture_transform(*extension);
        set = int_at(*extension, "texCoord", set);
    }
    const int accessor = int_at(attributes, fmt::format("TEXCOORD_{}", set).c_str(), -1);
    const Texture* image = accessor < 0 ? nullptr : texture(info["index"].get<int>(), notes);
    if (!image) return;
    const MatX uv = document_.numbers(accessor);
    LITHE_ASSERT(uv.rows() == 2 && uv.cols() == linear.cols());
    for (Index v = 0; v < linear.cols(); ++v)
        linear.col(v).array() *= image->at(transform.M * uv.col(v) + transform.offset).array();
    found_ = true;
}

MatX PrimitiveColors::of(const Json& primitive, Index vertex_count, std::vector<std::string>& notes)
{
    const int material = int_at(primitive, "material", -1);
    const MaterialColor color =
        material < 0 ? MaterialColor{} : material_color(document_.list("materials")[material]);
    const Json& attributes = primitive["attributes"];
    MatX linear = color.factor.replicate(1, vertex_count);
    found_ = found_ || color.factor != Vec3::Ones();

    // Colours of vertices: in linear light, with or without an opacity behind them.
    if (const int accessor = int_at(attributes, "COLOR_0", -1); accessor >= 0) {
        const MatX painted = document_.numbers(accessor);
        LITHE_ASSERT(painted.rows() >= 3 && painted.cols() == vertex_count);
        linear.array() *= painted.topRows(3).array();
        found_ = true;
    }
    if (color.texture) paint_texture(*color.texture, attributes, linear, notes);
    MatX srgb(3, vertex_count);
    for (Index v = 0; v < vertex_count; ++v) srgb.col(v) = srgb_from_linear(linear.col(v));
    return srgb;
}

} // namespace lithe::gltf
