#pragma once
#include <array>

#include <Eigen/Core>

#include "lithe/math/types.hpp"

namespace lithe {

/// Lines along the edges of triangles, as wide in pixels near as far.
struct Wireframe {
    double width = 1.2;                  ///< of a line [pixels], > 0
    Vec3 color = Vec3(0.10, 0.11, 0.13); ///< sRGB
};

/// How much of a line covers `at`, in [0, 1], for a triangle with these corners (all in pixels). Where triangles are so small that lines would cover all, lines grow fainter.
float line_coverage(const std::array<Eigen::Vector2f, 3>& corners, const Eigen::Vector2f& at, float width);

} // namespace lithe
