#include "lithe/render/shading.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lithe {

namespace {

constexpr float pi = std::numbers::pi_v<float>;

/// Two unit vectors that complete the unit vector n to a frame. [DBC17]
void complete_frame(const Vec3f& n, Vec3f& a, Vec3f& b)
{
    const float sign = std::copysign(1.0f, n.z());
    const float f = -1.0f / (sign + n.z()), g = n.x() * n.y() * f;
    a = {1.0f + sign * n.x() * n.x() * f, sign * g, -sign * n.x()};
    b = {g, sign + n.y() * n.y() * f, -n.y()};
}

Eigen::Vector2f sample_disc(const Eigen::Vector2f& u)
{
    const float r = std::sqrt(u.x()), angle = 2.0f * pi * u.y();
    return {r * std::cos(angle), r * std::sin(angle)};
}

float smooth_step(float lo, float hi, float x)
{
    const float t = std::clamp((x - lo) / (hi - lo), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

float fresnel(float cosine)
{
    return 0.04f + 0.96f * std::pow(std::clamp(1.0f - cosine, 0.0f, 1.0f), 5.0f);
}

/// GGX distribution times the Smith visibility term, for one roughness. [WMLT07]
float ggx(float n_h, float n_l, float n_v)
{
    constexpr float a2 = 0.26f * 0.26f;
    const float d = n_h * n_h * (a2 - 1.0f) + 1.0f;
    const float smith =
        n_l * std::sqrt(n_v * n_v * (1.0f - a2) + a2) + n_v * std::sqrt(n_l * n_l * (1.0f - a2) + a2);
    return a2 / (pi * d * d) * 0.5f / std::max(smith, 1e-4f);
}

/// Mean of the square wave sign(sin(pi x)) over a box of width w around x.
float filtered_wave(float x, float w)
{
    const auto integral = [](float s) { // of the wave: a triangle wave
        const float f = s * 0.5f - std::floor(s * 0.5f);
        return 2.0f * std::min(f, 1.0f - f);
    };
    return (integral(x + 0.5f * w) - integral(x - 0.5f * w)) / w;
}

} // namespace

Studio make_studio(const Camera& camera)
{
    constexpr double azimuth = 0.95, elevation = 0.82; // [rad]
    const Mat3 axes = camera_axes(camera);
    const Vec3 right = axes.col(0), back = right.cross(Vec3::UnitY()).stableNormalized();
    Studio studio;
    studio.sun = (std::cos(elevation) * (std::cos(azimuth) * back - std::sin(azimuth) * right) +
                  std::sin(elevation) * Vec3::UnitY())
                     .normalized()
                     .cast<float>();
    return studio;
}

Vec3f sky_radiance(const Vec3f& direction)
{
    const Vec3f zenith(0.42f, 0.52f, 0.70f), horizon(0.62f, 0.66f, 0.73f);
    const float t = std::sqrt(std::max(direction.y(), 0.0f));
    return horizon + t * (zenith - horizon);
}

Vec3f sample_sun(const Studio& studio, const Eigen::Vector2f& u)
{
    Vec3f a, b;
    complete_frame(studio.sun, a, b);
    const Eigen::Vector2f d = studio.sun_radius * sample_disc(u);
    return (studio.sun + d.x() * a + d.y() * b).normalized();
}

Vec3f sample_cosine(const Vec3f& normal, const Eigen::Vector2f& u)
{
    Vec3f a, b;
    complete_frame(normal, a, b);
    const Eigen::Vector2f d = sample_disc(u);
    return (d.x() * a + d.y() * b + std::sqrt(std::max(0.0f, 1.0f - d.squaredNorm())) * normal).normalized();
}

Reflection response(const Studio& studio, const SurfacePoint& point, const Vec3f& to_viewer)
{
    Reflection out;
    const Vec3f diffuse = point.albedo / pi;
    const float n_l = std::max(point.normal.dot(studio.sun), 0.0f);
    out.sky = diffuse;
    out.sun = (n_l * diffuse).cwiseProduct(studio.sun_irradiance);
    if (point.gloss == 0.0f) return out;

    const float n_v = std::max(point.normal.dot(to_viewer), 0.05f);
    const Vec3f half = (studio.sun + to_viewer).normalized();
    const float n_h = std::clamp(point.normal.dot(half), 0.0f, 1.0f);
    out.sun += point.gloss * n_l * ggx(n_h, n_l, n_v) * fresnel(half.dot(to_viewer)) * studio.sun_irradiance;
    out.sky += Vec3f::Constant(point.gloss * 0.5f * fresnel(n_v) / pi);
    return out;
}

Vec3f bounced_radiance(const Studio& studio, const SurfacePoint& point, float sun_visibility)
{
    constexpr float sky_share = 0.45f; // of the open sky: bounces happen in corners
    const float n_l = std::max(point.normal.dot(studio.sun), 0.0f);
    const Vec3f open_sky = pi * sky_radiance(Vec3f(0.0f, 0.3f, 0.0f));
    const Vec3f light = sun_visibility * n_l * studio.sun_irradiance + sky_share * open_sky;
    return light.cwiseProduct(point.albedo) / pi;
}

SurfacePoint ground_point(const Studio& studio, const Vec3f& position, const Eigen::Vector2f& footprint)
{
    const Vec3f light(0.56f, 0.56f, 0.55f), dark(0.42f, 0.43f, 0.44f);
    const float wx = std::max(footprint.x() / studio.cell, 1e-3f),
                wz = std::max(footprint.y() / studio.cell, 1e-3f);
    const float checker =
        filtered_wave(position.x() / studio.cell, wx) * filtered_wave(position.z() / studio.cell, wz);
    SurfacePoint point;
    point.position = position;
    point.albedo = dark + (0.5f + 0.5f * checker) * (light - dark);
    return point;
}

float ground_presence(const Vec3f& position)
{
    return 1.0f - smooth_step(1.2f, 5.0f, std::hypot(position.x(), position.z()));
}

Vec3f tone_map(const Vec3f& light)
{
    return light.unaryExpr([](float c) {
        const float x = 0.62f * std::max(c, 0.0f);
        return std::clamp(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f), 0.0f, 1.0f);
    });
}

} // namespace lithe
