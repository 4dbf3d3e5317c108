#include "lithe/render/path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lithe/core/error.hpp"

namespace lithe {

namespace {

constexpr float ray_offset = 2e-4f; ///< new rays start this far from their surface; the content has radius 1

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

} // namespace

PathTracer::PathTracer(const RenderScene& scene, const Camera& camera, const RenderOptions& options)
    : scene_(checked(scene)), lines_(options.wireframe ? Lines::Always : Lines::WhenAsked),
      line_width_(static_cast<float>(
          require_positive("wireframe width", options.wireframe.value_or(Wireframe{}).width))),
      normalization_(normalization_for(scene, options)), tracer_(scene, normalization_),
      lens_(make_lens(camera, normalization_, options)), studio_(make_studio(camera))
{
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

void PathTracer::take(std::vector<Sample>& samples) const
{
    find_points(samples);
    light_by_sun(samples);
    light_by_sky(samples);
}

void PathTracer::find_points(std::vector<Sample>& samples) const
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
void PathTracer::place(Sample& s) const
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
        const bool lines = lines_ == Lines::Always || scene_.surfaces[s.hit.surface].lines == Lines::Always;
        if (lines) s.line = line(s.hit, lens_.project(s.ray.origin + s.hit.t * s.ray.direction).head<2>());
    }
}

/// Before `limit`, where a surface is: one that lies in the ground hides it.
bool PathTracer::meets_ground(const Ray& ray, float limit, float& t) const
{
    if (!studio_.has_ground() || ray.direction.y() >= -1e-6f) return false;
    t = (studio_.ground_height - ray.origin.y()) / ray.direction.y();
    return t > 0.0f && t < 0.9999f * limit;
}

SurfacePoint PathTracer::surface_point(const Hit& hit, const Ray& ray) const
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

Vec3f PathTracer::albedo(const Hit& hit, bool outside) const
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

float PathTracer::line(const Hit& hit, const Eigen::Vector2f& at) const
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

void PathTracer::light_by_sun(std::vector<Sample>& samples) const
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
void PathTracer::light_by_sky(std::vector<Sample>& samples) const
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

} // namespace lithe
