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

/// 1 for equal visibilities, falling for those whose difference is more than noise: shadows have edges.
float same_shadow(float a, float b)
{
    const float d = (a - b) / 0.2f, d2 = d * d;
    return 1.0f / (1.0f + d2 * d2);
}

/// One pass at pixel (x, y): a 5 x 5 B-spline with holes of `step`.
Light smooth_at(const std::vector<PixelLight>& pixels, const std::vector<Light>& light, int width, int step,
                int x, int y)
{
    constexpr float spline[3] = {0.375f, 0.25f, 0.0625f};
    const int height = static_cast<int>(pixels.size()) / width;
    const auto here = static_cast<std::size_t>(y) * width + x;
    Eigen::Array4f total = Eigen::Array4f::Constant(spline[0] * spline[0]);
    Eigen::Array4f sum = total * light[here].array();
    for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
            const int u = x + i * step, v = y + j * step;
            if ((i == 0 && j == 0) || u < 0 || v < 0 || u >= width || v >= height) continue;
            const auto there = static_cast<std::size_t>(v) * width + u;
            const float w = spline[std::abs(i)] * spline[std::abs(j)] * likeness(pixels[here], pixels[there]);
            if (w <= 0.0f) continue;
            const float shadow = step == 1 ? 1.0f : same_shadow(light[here][3], light[there][3]);
            const Eigen::Array4f weight(w, w, w, w * shadow);
            total += weight;
            sum += weight * light[there].array();
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
                const int x = static_cast<int>(i - begin);
                const bool filtered = pixels[k].id != Hit::none;
                smooth[k] = filtered ? smooth_at(pixels, light, width, 1 << pass, x, y) : light[k];
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
