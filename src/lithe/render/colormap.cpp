#include "lithe/render/colormap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lithe {

namespace {

/// Oklab to linear RGB. [Ott20]
Vec3 rgb_from_oklab(const Vec3& lab)
{
    const double l = lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2];
    const double m = lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2];
    const double s = lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2];
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    return {4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
            -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
            -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3};
}

bool in_gamut(const Vec3& rgb)
{
    return rgb.minCoeff() >= 0.0 && rgb.maxCoeff() <= 1.0;
}

/// The colour of this lightness and hue with the wished chroma, or the largest one that sRGB can show.
Vec3 vivid(double lightness, double hue, double chroma)
{
    const auto color = [&](double c) {
        return rgb_from_oklab({lightness, c * std::cos(hue), c * std::sin(hue)});
    };
    if (in_gamut(color(chroma))) return color(chroma);
    double lo = 0.0, hi = chroma;
    for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (lo + hi);
        (in_gamut(color(middle)) ? lo : hi) = middle;
    }
    return color(lo);
}

} // namespace

ColorMap::ColorMap()
{
    constexpr double degree = std::numbers::pi / 180.0;
    for (int i = 0; i < count; ++i) {
        const double t = static_cast<double>(i) / (count - 1);
        const double lightness = 0.27 + 0.65 * t;
        const double hue = (310.0 - 205.0 * t) * degree;
        table_[static_cast<std::size_t>(i)] = vivid(lightness, hue, 0.12 + 0.06 * t);
    }
}

Vec3 ColorMap::operator()(double value) const
{
    const double at = (value > 0.0 ? std::min(value, 1.0) : 0.0) * (count - 1);
    const int i = std::min(static_cast<int>(at), count - 2);
    const double f = at - i;
    return (1.0 - f) * table_[static_cast<std::size_t>(i)] + f * table_[static_cast<std::size_t>(i) + 1];
}

double perceived_lightness(const Vec3& rgb)
{
    const double l = 0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2];
    const double m = 0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2];
    const double s = 0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2];
    return 0.2104542553 * std::cbrt(l) + 0.7936177850 * std::cbrt(m) - 0.0040720468 * std::cbrt(s);
}

} // namespace lithe
