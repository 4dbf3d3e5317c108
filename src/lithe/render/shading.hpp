#pragma once
#include <Eigen/Core>

#include "lithe/render/camera.hpp"
#include "lithe/render/tracer.hpp"

namespace lithe {

/// The studio around the content, in normalised units: a warm key light, a cool sky, a checkered ground.
struct Studio {
    Vec3f sun = Vec3f::UnitY(); ///< unit, towards the middle of the key light
    float sun_radius = 0.07f;   ///< angular, how soft the shadows are [rad]
    Vec3f sun_irradiance = {4.6f, 4.1f, 3.45f};
    float ground_height = -1e30f; ///< far below: no ground
    float cell = 0.5f;            ///< side of a square of the checkerboard
    bool has_ground() const { return ground_height > -1e29f; }
};

/// The key light stands behind the viewer's left shoulder, whatever the camera.
Studio make_studio(const Camera& camera);

/// A place that receives light.
struct SurfacePoint {
    Vec3f position = Vec3f::Zero();
    Vec3f normal = Vec3f::UnitY(); ///< for shading, on the viewer's side
    Vec3f facing = Vec3f::UnitY(); ///< of the triangle itself, on the viewer's side
    Vec3f albedo = Vec3f::Zero();  ///< linear RGB
    float gloss = 0.0f;            ///< 0: matt, 1: as shiny as we go
};

/// Light from the sky in a direction that nothing blocks.
Vec3f sky_radiance(const Vec3f& direction);

/// A direction to the disc of the key light, uniform for u uniform in the unit square.
Vec3f sample_sun(const Studio& studio, const Eigen::Vector2f& u);
/// A direction around the normal with a density of cos / pi.
Vec3f sample_cosine(const Vec3f& normal, const Eigen::Vector2f& u);

/// The colour seen is  sun * visibility + sky * E  for a visibility of the key light and a sky irradiance E.
/// Keeping the smooth factors apart from the two noisy ones lets the filter touch noise only.
struct Reflection {
    Vec3f sun = Vec3f::Zero(), sky = Vec3f::Zero();
};
/// Lambert plus a GGX highlight of the key light [WMLT07] and a Fresnel sheen of the sky; `to_viewer` is unit.
Reflection response(const Studio& studio, const SurfacePoint& point, const Vec3f& to_viewer);

/// Light that a diffuse point sends on: the last bounce, its own sky light taken as a constant share.
Vec3f bounced_radiance(const Studio& studio, const SurfacePoint& point, float sun_visibility);

/// The ground at a point of it; `footprint` is the size of a pixel there, over which the squares are averaged.
SurfacePoint ground_point(const Studio& studio, const Vec3f& position, const Eigen::Vector2f& footprint);
/// 1 near the content, falling to 0 where the ground has become the background.
float ground_presence(const Vec3f& position);

/// Scene light to display light in [0, 1] by a filmic curve. [Nar15]
Vec3f tone_map(const Vec3f& light);

} // namespace lithe
