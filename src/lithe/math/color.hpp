#pragma once
#include <algorithm>
#include <cmath>

#include "lithe/math/types.hpp"

namespace lithe {

/// Each component from sRGB to linear light, both in [0, 1]; values outside are clamped.
inline Vec3 linear_from_srgb(const Vec3& color)
{
    return color.unaryExpr([](double c) {
        c = std::clamp(c, 0.0, 1.0);
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    });
}

/// And back.
inline Vec3 srgb_from_linear(const Vec3& color)
{
    return color.unaryExpr([](double c) {
        c = std::clamp(c, 0.0, 1.0);
        return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055;
    });
}

} // namespace lithe
