#pragma once
#include <optional>

#include "lithe/core/progress.hpp"
#include "lithe/render/camera.hpp"
#include "lithe/render/image.hpp"
#include "lithe/render/scene.hpp"
#include "lithe/render/wireframe.hpp"

namespace lithe {

enum class Ground { Checker, None };

/// Behind everything, sRGB; a vertical gradient.
struct Background {
    Vec3 top = {0.74, 0.79, 0.85};
    Vec3 bottom = {0.93, 0.94, 0.95};
};

struct RenderOptions {
    int width = 1280, height = 720; ///< [pixels]
    int samples = 16;               ///< per pixel, 1 to 4096; pixels with edges take three times as many
    Ground ground = Ground::Checker;
    Background background = {};
    std::optional<Wireframe> wireframe = {};
    std::optional<Box3> content =
        {}; ///< what decides the ground's height and size; the scene's bounds by default
};

/// A picture of the scene: ray-traced, lit by a key light with a disc, a sky and one bounce. The bits depend on the
/// arguments alone, not on the number of threads. Throws InputError for a scene without triangles.
Image render(const RenderScene& scene, const Camera& camera, const RenderOptions& options,
             Progress& progress);

} // namespace lithe
