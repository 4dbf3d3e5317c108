#include "lithe/render/render.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/render/colormap.hpp"
#include "lithe/render/filter.hpp"
#include "lithe/render/sampling.hpp"
#include "lithe/render/shading.hpp"

namespace lithe {

namespace {

constexpr float ray_offset = 2e-4f; ///< new rays start this far from their surface; the content has radius 1
constexpr std::uint32_t ground_id = 0x7fffffffu; ///< where a surface's number is expected
constexpr int tile = 16;                         ///< side of the squares of pixels that threads take [pixels]

enum Purpose : std::uint32_t { PixelPosition, SunPosition, SkyDirection, BounceSun, Refinement = 16 };

/// The camera in normalised units and pixels.
struct Lens {
    Vec3f position;
    Eigen::Matrix3f axes;
    float pixel; ///< size of a pixel at distance 1
    float width, height;

    Vec3f direction(const Eigen::Vector2f& at) const
    {
        return (axes * Vec3f((at.x() - 0.5f * width) * pixel, (0.5f * height - at.y()) * pixel, -1.0f))
            .normalized();
    }
    /// In pixels; z is the depth.
    Vec3f project(const Vec3f& point) const
    {
        const Vec3f local = axes.transpose() * (point - position);
        const float scale = 1.0f / (-local.z() * pixel);
        return {0.5f * width + local.x() * scale, 0.5f * height - local.y() * scale, -local.z()};
    }
};

/// One sample of a pixel on its way from the eye to a colour.
struct Sample {
    SampleIndex index;
    std::uint32_t salt; ///< makes the refinement's points differ from the first ones
    Ray ray;
    Hit hit;
    SurfacePoint point;
    std::uint32_t id = Hit::none;
    float alpha = 0.0f, line = 0.0f;
    float visibility = 1.0f;
    Vec3f irradiance = Vec3f::Zero();

    Eigen::Vector2f square(Purpose purpose) const { return sample_square(index, purpose + salt); }
};

class Renderer {
public:
    Renderer(const RenderScene& scene, const Camera& camera, const RenderOptions& options);
    Image draw(Progress& progress);

private:
    void draw_tile(int x0, int y0);
    void take(std::vector<Sample>& samples) const;
    void find_points(std::vector<Sample>& samples) const;
    void place(Sample& sample) const;
    void light_by_sun(std::vector<Sample>& samples) const;
    void light_by_sky(std::vector<Sample>& samples) const;
    SurfacePoint surface_point(const Hit& hit, const Ray& ray) const;
    Vec3f albedo(const Hit& hit, bool outside) const;
    float line(const Hit& hit, const Eigen::Vector2f& at) const;
    bool meets_ground(const Ray& ray, float limit, float& t) const;
    void add(std::span<const Sample> samples, PixelLight& pixel) const;
    Vec3 final_color(const PixelLight& pixel, int y) const;

    const RenderScene& scene_;
    const RenderOptions& options_;
    Normalization normalization_;
    Tracer tracer_;
    Lens lens_;
    Studio studio_;
    ColorMap map_;
    Vec3f line_color_ = Vec3f::Zero();
    float line_width_ = 1.0f;
    std::vector<std::vector<Vec3f>> normals_; ///< per surface and corner
    std::vector<PixelLight> pixels_;
};

Normalization normalization_for(const RenderScene& scene, const RenderOptions& options)
{
    const Box3 box = options.content.value_or(bounds(scene));
    if (box.isEmpty()) throw InputError("there is nothing to draw: the scene has no points");
    if (!box.min().allFinite() || !box.max().allFinite())
        throw InputError("the scene has coordinates that are not finite; `lithe inspect` tells where");
    const double radius = 0.5 * box.diagonal().norm();
    return {box.center(), radius > 0.0 ? 1.0 / radius : 1.0};
}

const RenderScene& checked(const RenderScene& scene)
{
    Index triangles = 0;
    for (const RenderSurface& s : scene.surfaces) {
        LITHE_ASSERT(s.corner_normals.cols() == 3 * s.triangles.cols());
        LITHE_ASSERT(s.colors.cols() == 1 || s.colors.cols() == s.vertices.cols());
        LITHE_ASSERT(s.map_values.size() == 0 || s.map_values.size() == s.vertices.cols());
        triangles += s.triangles.cols();
    }
    if (triangles == 0) throw InputError("there is nothing to draw: the scene has no triangles");
    return scene;
}

/// 1, 2 or 5 times a power of ten, in metres, near `size`.
double round_length(double size)
{
    const double power = std::pow(10.0, std::floor(std::log10(size)));
    const double lead = size / power;
    return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

Lens make_lens(const Camera& camera, const Normalization& normalization, const RenderOptions& options)
{
    const double fov = require_between("fov", camera.fov, 0.0, std::numbers::pi);
    Lens lens;
    lens.position = normalization.apply(camera.position).cast<float>();
    lens.axes = camera_axes(camera).cast<float>();
    lens.pixel = static_cast<float>(2.0 * std::tan(0.5 * fov) / options.height);
    lens.width = static_cast<float>(options.width);
    lens.height = static_cast<float>(options.height);
    return lens;
}

/// A triangle-shaped filter of two pixels' width, by importance.
float tent(float u)
{
    return u < 0.5f ? std::sqrt(2.0f * u) - 1.0f : 1.0f - std::sqrt(2.0f - 2.0f * u);
}

Ray ray_from(const SurfacePoint& point, const Vec3f& direction)
{
    return {point.position + ray_offset * point.facing, direction};
}

/// Keeps a direction on the outer side of the triangle, where a smooth normal would send it through.
Vec3f above(const Vec3f& direction, const Vec3f& facing)
{
    const float height = direction.dot(facing);
    return height > 0.0f ? direction : Vec3f(direction - 2.0f * height * facing);
}

Renderer::Renderer(const RenderScene& scene, const Camera& camera, const RenderOptions& options)
    : scene_(checked(scene)), options_(options), normalization_(normalization_for(scene, options)),
      tracer_(scene, normalization_), lens_(make_lens(camera, normalization_, options)),
      studio_(make_studio(camera))
{
    if (options.samples < 1 || options.samples > 4096)
        throw InputError(fmt::format("samples = {} must lie in 1..4096", options.samples));
    const Wireframe wireframe = options.wireframe.value_or(Wireframe{});
    line_color_ = linear_from_srgb(wireframe.color).cast<float>();
    line_width_ = static_cast<float>(require_positive("wireframe width", wireframe.width));

    const Box3 box = options.content.value_or(bounds(scene));
    const double ground = normalization_.apply(box.min()).y();
    if (options.ground == Ground::Checker && lens_.position.y() > ground) {
        studio_.ground_height = static_cast<float>(ground);
        studio_.cell = static_cast<float>(normalization_.scale * round_length(0.3 / normalization_.scale));
    }
    for (const RenderSurface& surface : scene.surfaces) {
        std::vector<Vec3f>& normals =
            normals_.emplace_back(static_cast<std::size_t>(surface.corner_normals.cols()));
        for (std::size_t i = 0; i < normals.size(); ++i)
            normals[i] = surface.corner_normals.col(static_cast<Index>(i)).cast<float>();
    }
}

Image Renderer::draw(Progress& progress)
{
    Image image = make_image(options_.width, options_.height);
    pixels_.assign(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height), {});
    const int columns = (image.width + tile - 1) / tile, rows = (image.height + tile - 1) / tile;
    progress.begin("render", columns * rows);
    parallel_for(columns * rows, 1, [&](std::ptrdiff_t i) {
        draw_tile(static_cast<int>(i) % columns * tile, static_cast<int>(i) / columns * tile);
        progress.advance();
    });
    progress.end();

    filter_light(pixels_, image.width, options_.samples <= 24 ? 2 : options_.samples <= 96 ? 1 : 0);
    parallel_for(image.height, 8, [&](std::ptrdiff_t y) {
        for (int x = 0; x < image.width; ++x) {
            const auto i = static_cast<std::size_t>(y) * image.width + x;
            const Vec3 color = srgb_from_linear(final_color(pixels_[i], static_cast<int>(y)));
            for (int c = 0; c < 3; ++c)
                image.pixel(x, static_cast<int>(y))[c] = static_cast<std::uint8_t>(255.0 * color[c] + 0.5);
        }
    });
    return image;
}

void Renderer::draw_tile(int x0, int y0)
{
    const int x1 = std::min(x0 + tile, options_.width), y1 = std::min(y0 + tile, options_.height);
    const auto count = static_cast<std::uint32_t>(options_.samples);
    const auto pixel = [&](const Sample& s) -> PixelLight& {
        return pixels_[static_cast<std::size_t>(s.index.y) * options_.width + s.index.x];
    };

    std::vector<Sample> samples;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
            for (std::uint32_t s = 0; s < count; ++s) samples.push_back({{x, y, s, count}, 0, {}, {}, {}});
    take(samples);

    // Pixels that see an edge take more samples, and count all of them.
    std::vector<Sample> more;
    const auto mixed = [&](std::size_t first) {
        const Sample& a = samples[first];
        for (std::size_t s = first + 1; s < first + count; ++s) {
            const Sample& b = samples[s];
            if (a.id != b.id || a.point.normal.dot(b.point.normal) < 0.85f || a.line != b.line) return true;
        }
        return false;
    };
    for (std::size_t first = 0; first < samples.size(); first += count)
        if (mixed(first))
            for (std::uint32_t s = 0; s < 2 * count; ++s)
                more.push_back(
                    {{samples[first].index.x, samples[first].index.y, s, 2 * count}, Refinement, {}, {}, {}});
    take(more);

    std::vector<Sample> all;
    auto extra = more.begin();
    for (std::size_t first = 0; first < samples.size(); first += count) {
        const Sample& a = samples[first];
        all.assign(samples.begin() + static_cast<std::ptrdiff_t>(first),
                   samples.begin() + static_cast<std::ptrdiff_t>(first + count));
        for (; extra != more.end() && extra->index.x == a.index.x && extra->index.y == a.index.y; ++extra)
            all.push_back(*extra);
        add(all, pixel(a));
    }
}

void Renderer::take(std::vector<Sample>& samples) const
{
    find_points(samples);
    light_by_sun(samples);
    light_by_sky(samples);
}

void Renderer::find_points(std::vector<Sample>& samples) const
{
    std::vector<Ray> rays;
    for (Sample& s : samples) {
        const Eigen::Vector2f u = s.square(PixelPosition);
        const Eigen::Vector2f at(static_cast<float>(s.index.x) + 0.5f + tent(u.x()),
                                 static_cast<float>(s.index.y) + 0.5f + tent(u.y()));
        s.ray = {lens_.position, lens_.direction(at)};
        rays.push_back(s.ray);
    }
    std::vector<Hit> hits(samples.size());
    tracer_.intersect(rays, hits, Coherence::Coherent);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i].hit = hits[i];
        place(samples[i]);
    }
}

/// What the sample sees: a surface, the ground or nothing.
void Renderer::place(Sample& s) const
{
    float t = 0.0f;
    if (meets_ground(s.ray, s.hit.valid() ? s.hit.t : 1e30f, t)) {
        const Vec3f position = s.ray.origin + t * s.ray.direction;
        s.alpha = ground_presence(position);
        if (s.alpha <= 0.0f) return;
        s.id = ground_id;
        const float size = 1.5f * t * lens_.pixel, slope = std::max(-s.ray.direction.y(), 1e-3f);
        const Vec3f along = s.ray.direction.cwiseAbs();
        s.point = ground_point(studio_, position,
                               {size * (1.0f + along.x() / slope), size * (1.0f + along.z() / slope)});
    } else if (s.hit.valid()) {
        s.id = s.hit.surface;
        s.alpha = 1.0f;
        s.point = surface_point(s.hit, s.ray);
        const bool lines = options_.wireframe || scene_.surfaces[s.hit.surface].lines == Lines::Always;
        if (lines) s.line = line(s.hit, lens_.project(s.ray.origin + s.hit.t * s.ray.direction).head<2>());
    }
}

bool Renderer::meets_ground(const Ray& ray, float limit, float& t) const
{
    if (!studio_.has_ground() || ray.direction.y() >= -1e-6f) return false;
    t = (studio_.ground_height - ray.origin.y()) / ray.direction.y();
    return t > 0.0f && t < limit;
}

SurfacePoint Renderer::surface_point(const Hit& hit, const Ray& ray) const
{
    const TracedSurface& surface = tracer_.surface(hit.surface);
    const auto& corner = surface.triangles[hit.triangle];
    const Vec3f &a = surface.vertices[corner[0]], &b = surface.vertices[corner[1]],
                &c = surface.vertices[corner[2]];
    const Vec3f* normals = &normals_[hit.surface][3 * static_cast<std::size_t>(hit.triangle)];
    const float w = 1.0f - hit.u - hit.v;

    SurfacePoint point;
    const Vec3f face = (b - a).cross(c - a).normalized();
    const bool outside = face.dot(ray.direction) < 0.0f;
    const float side = outside ? 1.0f : -1.0f;
    point.facing = side * face;
    point.normal = side * (w * normals[0] + hit.u * normals[1] + hit.v * normals[2]).normalized();
    if (!(point.normal.dot(point.facing) > 0.05f)) point.normal = point.facing;

    // Light the smooth surface that the normals describe, not its facets: start from between the tangent planes
    // of the corners, so that the border of the light is smooth too. [Han21]
    point.position = w * a + hit.u * b + hit.v * c;
    const Vec3f flat = point.position;
    const auto lift = [&](const Vec3f& vertex, const Vec3f& normal, float weight) {
        const float below = std::min(0.0f, side * (flat - vertex).dot(normal));
        point.position -= weight * below * side * normal;
    };
    lift(a, normals[0], w);
    lift(b, normals[1], hit.u);
    lift(c, normals[2], hit.v);
    point.albedo = albedo(hit, outside);
    point.gloss = 1.0f;
    return point;
}

Vec3f Renderer::albedo(const Hit& hit, bool outside) const
{
    const RenderSurface& surface = scene_.surfaces[hit.surface];
    if (!outside) return surface.inside_color.cast<float>();
    const auto corner = surface.triangles.col(hit.triangle);
    const double u = static_cast<double>(hit.u), v = static_cast<double>(hit.v), w = 1.0 - u - v;
    if (surface.map_values.size() > 0) {
        const VecX& value = surface.map_values;
        return map_(w * value[corner[0]] + u * value[corner[1]] + v * value[corner[2]]).cast<float>();
    }
    const Points& color = surface.colors;
    if (color.cols() == 1) return color.col(0).cast<float>();
    return (w * color.col(corner[0]) + u * color.col(corner[1]) + v * color.col(corner[2])).cast<float>();
}

float Renderer::line(const Hit& hit, const Eigen::Vector2f& at) const
{
    const TracedSurface& surface = tracer_.surface(hit.surface);
    std::array<Eigen::Vector2f, 3> corners;
    for (int c = 0; c < 3; ++c) {
        const Vec3f p = lens_.project(surface.vertices[surface.triangles[hit.triangle][c]]);
        if (p.z() <= 0.0f) return 0.0f;
        corners[static_cast<std::size_t>(c)] = p.head<2>();
    }
    return line_coverage(corners, at, line_width_);
}

void Renderer::light_by_sun(std::vector<Sample>& samples) const
{
    std::vector<Ray> rays;
    std::vector<Sample*> lit;
    for (Sample& s : samples) {
        if (s.id == Hit::none) continue;
        const Vec3f direction = sample_sun(studio_, s.square(SunPosition));
        if (s.point.normal.dot(direction) <= 0.0f) continue;
        rays.push_back(ray_from(s.point, direction));
        lit.push_back(&s);
    }
    std::vector<std::uint8_t> blocked(rays.size());
    tracer_.occluded(rays, blocked, Coherence::Coherent);
    for (std::size_t i = 0; i < lit.size(); ++i) lit[i]->visibility = blocked[i] ? 0.0f : 1.0f;
}

/// Sky and one bounce: E = pi L for a direction with density cos / pi.
void Renderer::light_by_sky(std::vector<Sample>& samples) const
{
    constexpr float pi = std::numbers::pi_v<float>;
    std::vector<Ray> rays;
    std::vector<Sample*> seen;
    for (Sample& s : samples) {
        if (s.id == Hit::none) continue;
        rays.push_back(
            ray_from(s.point, above(sample_cosine(s.point.normal, s.square(SkyDirection)), s.point.facing)));
        seen.push_back(&s);
    }
    std::vector<Hit> hits(rays.size());
    tracer_.intersect(rays, hits, Coherence::Incoherent);

    struct Bounce {
        Sample* sample;
        SurfacePoint point;
    };
    std::vector<Bounce> bounces;
    std::vector<Ray> sun_rays;
    for (std::size_t i = 0; i < rays.size(); ++i) {
        float t = 0.0f;
        SurfacePoint point;
        if (meets_ground(rays[i], hits[i].valid() ? hits[i].t : 1e30f, t))
            point = ground_point(studio_, rays[i].origin + t * rays[i].direction,
                                 Eigen::Vector2f::Constant(studio_.cell));
        else if (hits[i].valid())
            point = surface_point(hits[i], rays[i]);
        else {
            seen[i]->irradiance = pi * sky_radiance(rays[i].direction);
            continue;
        }
        bounces.push_back({seen[i], point});
        sun_rays.push_back(ray_from(point, sample_sun(studio_, seen[i]->square(BounceSun))));
    }
    std::vector<std::uint8_t> blocked(sun_rays.size());
    tracer_.occluded(sun_rays, blocked, Coherence::Incoherent);
    for (std::size_t i = 0; i < bounces.size(); ++i)
        bounces[i].sample->irradiance =
            pi * bounced_radiance(studio_, bounces[i].point, blocked[i] ? 0.0f : 1.0f);
}

void Renderer::add(std::span<const Sample> samples, PixelLight& pixel) const
{
    float shaded = 0.0f;
    pixel.id = samples[0].id;
    for (const Sample& s : samples) {
        if (s.id != pixel.id) pixel.id = Hit::none;
        if (s.id == Hit::none) continue;
        const Response r = response(studio_, s.point, -s.ray.direction);
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
    pixel.footprint = (pixel.position - lens_.position).norm() * lens_.pixel;
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
    return Renderer(scene, camera, options).draw(progress);
}

} // namespace lithe
