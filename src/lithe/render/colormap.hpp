#pragma once
#include <array>

#include "lithe/math/types.hpp"

namespace lithe {

/// A perceptual map from [0, 1] to colour: dark violet over teal to light yellow. Equal steps of the value are equal
/// steps of lightness, so that it also reads in grey and for the colour-blind. Computed in Oklab [Ott20]:
/// lightness a straight line, hue a sweep, chroma as high as sRGB holds.
class ColorMap {
public:
    ColorMap();
    /// Linear RGB; values outside [0, 1] (and NaN) are clamped.
    Vec3 operator()(double value) const;

private:
    static constexpr int count = 256;
    std::array<Vec3, count> table_;
};

/// Oklab's lightness, of linear RGB: 0 black, 1 white.
double perceived_lightness(const Vec3& linear_rgb);

} // namespace lithe
