#include "lithe/render/render.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/render/filter.hpp"
#include "lithe/render/path.hpp"

namespace lithe {

namespace {

constexpr int tile = 16; ///< side of the squares of pixels that threads take [pixels]

class Renderer {
public:
    Renderer(const RenderScene& scene, const Camera& camera, const RenderOptions& options);
    Image draw(Progress& progress);

private:
    void draw_tile(int x0, int y0);
    std::vector<Sample> refine(std::span<const Sample> samples) const;
    void add(std::span<const Sample> samples, PixelLight& pixel) const;
    Image develop() const;
    Vec3 final_color(const PixelLight& pixel, int y) const;

    const RenderOptions& options_;
    PathTracer tracer_;
    Vec3f line_color_ = Vec3f::Zero();
    std::vector<PixelLight> pixels_;
};

Renderer::Renderer(const RenderScene& scene, const Camera& camera, const RenderOptions& options)
    : options_(options), tracer_(scene, camera, options)
{
    if (options.samples < 1 || options.samples > 4096)
        throw InputError(fmt::format("samples = {} must lie in 1..4096", options.samples));
    line_color_ = linear_from_srgb(options.wireframe.value_or(Wireframe{}).color).cast<float>();
}

Image Renderer::draw(Progress& progress)
{
    const int width = options_.width, height = options_.height;
    pixels_.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), {});
    const int columns = (width + tile - 1) / tile, rows = (height + tile - 1) / tile;
    progress.begin("render", columns * rows);
    parallel_for(columns * rows, 1, [&](std::ptrdiff_t i) {
        draw_tile(static_cast<int>(i) % columns * tile, static_cast<int>(i) / columns * tile);
        progress.advance();
    });
    progress.end();
    filter_light(pixels_, width, options_.samples <= 24 ? 2 : options_.samples <= 96 ? 1 : 0);
    return develop();
}

/// Whether the samples of a pixel see different things, so that it needs more of them.
bool sees_an_edge(std::span<const Sample> samples)
{
    const Sample& a = samples[0];
    return std::any_of(samples.begin() + 1, samples.end(), [&](const Sample& b) {
        return a.id != b.id || a.point.normal.dot(b.point.normal) < 0.85f || a.line != b.line;
    });
}

/// Further samples for the pixels that see an edge, in the same order.
std::vector<Sample> Renderer::refine(std::span<const Sample> samples) const
{
    const auto count = static_cast<std::uint32_t>(options_.samples);
    std::vector<Sample> more;
    for (; !samples.empty(); samples = samples.subspan(count)) {
        const SampleIndex& at = samples[0].index;
        if (!sees_an_edge(samples.first(count))) continue;
        for (std::uint32_t s = 0; s < 2 * count; ++s)
            more.push_back({{at.x, at.y, s, 2 * count}, Refinement});
    }
    tracer_.take(more);
    return more;
}

void Renderer::draw_tile(int x0, int y0)
{
    const int x1 = std::min(x0 + tile, options_.width), y1 = std::min(y0 + tile, options_.height);
    const auto count = static_cast<std::uint32_t>(options_.samples);
    std::vector<Sample> samples;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
            for (std::uint32_t s = 0; s < count; ++s) samples.push_back({{x, y, s, count}});
    tracer_.take(samples);
    const std::vector<Sample> more = refine(samples);

    std::vector<Sample> of_pixel;
    auto extra = more.begin();
    for (auto first = samples.begin(); first != samples.end(); first += count) {
        const int x = first->index.x, y = first->index.y;
        of_pixel.assign(first, first + count);
        for (; extra != more.end() && extra->index.x == x && extra->index.y == y; ++extra)
            of_pixel.push_back(*extra);
        add(of_pixel, pixels_[static_cast<std::size_t>(y) * options_.width + x]);
    }
}

void Renderer::add(std::span<const Sample> samples, PixelLight& pixel) const
{
    float shaded = 0.0f;
    pixel.id = samples[0].id;
    for (const Sample& s : samples) {
        if (s.id != pixel.id) pixel.id = Hit::none;
        if (s.id == Hit::none) continue;
        const Reflection r = response(tracer_.studio(), s.point, -s.ray.direction);
        const float share = s.alpha * (1.0f - s.line);
        pixel.alpha += s.alpha;
        pixel.sun += share * r.sun;
        pixel.sky += share * r.sky;
        pixel.color += share * (s.visibility * r.sun + r.sky.cwiseProduct(s.irradiance)) +
                       s.alpha * s.line * line_color_;
        pixel.visibility += s.visibility;
        pixel.irradiance += s.irradiance;
        pixel.normal += s.point.normal;
        pixel.position += s.point.position;
        shaded += 1.0f;
    }
    const float n = 1.0f / static_cast<float>(samples.size()), m = 1.0f / std::max(shaded, 1.0f);
    for (Vec3f* v : {&pixel.color, &pixel.sun, &pixel.sky}) *v *= n;
    pixel.alpha *= n;
    for (Vec3f* v : {&pixel.irradiance, &pixel.normal, &pixel.position}) *v *= m;
    pixel.visibility *= m;
    pixel.footprint = (pixel.position - tracer_.lens().position).norm() * tracer_.lens().pixel;
}

/// The picture as the screen shows it.
Image Renderer::develop() const
{
    Image image = make_image(options_.width, options_.height);
    parallel_for(image.height, 8, [&](std::ptrdiff_t row) {
        const int y = static_cast<int>(row);
        for (int x = 0; x < image.width; ++x) {
            const auto i = static_cast<std::size_t>(y) * image.width + x;
            const Vec3 color = srgb_from_linear(final_color(pixels_[i], y));
            for (int c = 0; c < 3; ++c)
                image.pixel(x, y)[c] = static_cast<std::uint8_t>(255.0 * color[c] + 0.5);
        }
    });
    return image;
}

/// Linear display light: the tone-mapped content over the background.
Vec3 Renderer::final_color(const PixelLight& pixel, int y) const
{
    const double t = (y + 0.5) / options_.height;
    const Vec3 top = linear_from_srgb(options_.background.top),
               bottom = linear_from_srgb(options_.background.bottom);
    const Vec3 behind = top + t * (bottom - top);
    if (pixel.alpha <= 0.0f) return behind;
    const double alpha = static_cast<double>(pixel.alpha);
    return alpha * tone_map(pixel.color / pixel.alpha).cast<double>() + (1.0 - alpha) * behind;
}

} // namespace

Image render(const RenderScene& scene, const Camera& camera, const RenderOptions& options, Progress& progress)
{
    (void)make_image(options.width, options.height); // refuses a size before any work
    return Renderer(scene, camera, options).draw(progress);
}

} // namespace lithe
