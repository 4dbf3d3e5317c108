#include "lithe/render/wireframe.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {

namespace {

float cross(const Eigen::Vector2f& a, const Eigen::Vector2f& b)
{
    return a.x() * b.y() - a.y() * b.x();
}

float segment_distance(const Eigen::Vector2f& a, const Eigen::Vector2f& b, const Eigen::Vector2f& at)
{
    const Eigen::Vector2f ab = b - a;
    const float length2 = std::max(ab.squaredNorm(), 1e-12f);
    const float t = std::clamp((at - a).dot(ab) / length2, 0.0f, 1.0f);
    return (at - a - t * ab).norm();
}

} // namespace

float line_coverage(const std::array<Eigen::Vector2f, 3>& corners, const Eigen::Vector2f& at, float width)
{
    float nearest = 1e30f, longest = 1e-6f;
    for (std::size_t c = 0; c < 3; ++c) {
        const Eigen::Vector2f &a = corners[c], &b = corners[(c + 1) % 3];
        longest = std::max(longest, (b - a).norm());
        nearest = std::min(nearest, segment_distance(a, b, at));
    }
    // Each triangle draws its half of a line; the pixel filter makes the step at the border smooth.
    const float inside = std::clamp(0.5f * width - nearest + 0.5f, 0.0f, 1.0f);
    const float area2 = std::abs(cross(corners[1] - corners[0], corners[2] - corners[0]));
    const float height = area2 / longest;
    return inside * std::min(1.0f, std::sqrt(height / (4.0f * width)));
}

} // namespace lithe
