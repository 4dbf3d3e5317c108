#include "lithe/render/filter.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/parallel.hpp"

namespace lithe {

namespace {

using Light = Eigen::Vector4f; ///< irradiance and visibility

/// How much pixel q has to say about the light at p, by what they see.
float likeness(const PixelLight& p, const PixelLight& q)
{
    if (q.id != p.id) return 0.0f;
    const float along = std::max(p.normal.dot(q.normal), 0.0f);
    const float across = std::abs(p.normal.dot(q.position - p.position)) / (2.0f * p.footprint);
    float power = along * along; // ^2 -> ^32
    for (int i = 0; i < 4; ++i) power *= power;
    return power / (1.0f + across * across * across * across);
}

/// One pass at pixel (x, y): a 5 x 5 B-spline with holes of `step`.
Light smooth_at(const std::vector<PixelLight>& pixels, const std::vector<Light>& light, int width, int step,
                int x, int y)
{
    constexpr float spline[3] = {0.375f, 0.25f, 0.0625f};
    const int height = static_cast<int>(pixels.size()) / width;
    const auto here = static_cast<std::size_t>(y) * width + x;
    float total = spline[0] * spline[0];
    Light sum = total * light[here];
    for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
            const int u = x + i * step, v = y + j * step;
            if ((i == 0 && j == 0) || u < 0 || v < 0 || u >= width || v >= height) continue;
            const auto there = static_cast<std::size_t>(v) * width + u;
            const float w = spline[std::abs(i)] * spline[std::abs(j)] * likeness(pixels[here], pixels[there]);
            total += w;
            sum += w * light[there];
        }
    }
    return sum / total;
}

} // namespace

void filter_light(std::vector<PixelLight>& pixels, int width, int passes)
{
    const auto count = static_cast<std::ptrdiff_t>(pixels.size());
    std::vector<Light> light(pixels.size()), smooth(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i) light[i] << pixels[i].irradiance, pixels[i].visibility;

    for (int pass = 0; pass < passes; ++pass) {
        parallel_blocks(count, width, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            const int y = static_cast<int>(begin / width);
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                const auto k = static_cast<std::size_t>(i);
                smooth[k] = light[k];
                if (pixels[k].id == Hit::none) continue;
                const Light all = smooth_at(pixels, light, width, 1 << pass, static_cast<int>(i - begin), y);
                smooth[k].head<3>() = all.head<3>();
                if (pass == 0) smooth[k][3] = all[3]; // shadows have edges: a short reach only
            }
        });
        light.swap(smooth);
    }

    for (std::size_t i = 0; i < pixels.size(); ++i) {
        PixelLight& p = pixels[i];
        p.color +=
            (light[i][3] - p.visibility) * p.sun + p.sky.cwiseProduct(light[i].head<3>() - p.irradiance);
    }
}

} // namespace lithe
