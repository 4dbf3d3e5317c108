#pragma once
#include <cstdint>
#include <vector>

#include "lithe/render/tracer.hpp"

namespace lithe {

/// What a pixel knows about its light before the noise is taken out; means over its samples.
struct PixelLight {
    Vec3f color = Vec3f::Zero();      ///< premultiplied by alpha
    float alpha = 0.0f;               ///< share of the pixel that is not background
    Vec3f sun = Vec3f::Zero();        ///< factor of the visibility, premultiplied
    Vec3f sky = Vec3f::Zero();        ///< factor of the irradiance, premultiplied
    float visibility = 0.0f;          ///< of the key light, in [0, 1]; noisy
    Vec3f irradiance = Vec3f::Zero(); ///< from sky and bounces; noisy
    Vec3f normal = Vec3f::Zero();     ///< mean, so shorter than 1 where it varies
    Vec3f position = Vec3f::Zero();
    float footprint = 0.0f;       ///< size of the pixel at that distance
    std::uint32_t id = Hit::none; ///< which surface; none: background, or more than one
};

/// Takes the noise out of visibility and irradiance by averaging over pixels that see the same smooth piece of
/// surface (edge-avoiding à-trous wavelets [DSHL10]), and corrects the colours accordingly. `passes` of 0 leaves all
/// as it is; each further pass doubles the reach.
void filter_light(std::vector<PixelLight>& pixels, int width, int passes);

} // namespace lithe
