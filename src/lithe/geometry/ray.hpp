#pragma once
#include <limits>
#include <optional>
#include <utility>

#include "lithe/geometry/surface_query.hpp"

namespace lithe {

struct Ray {
    Vec3 origin;    ///< [m]
    Vec3 direction; ///< any length above zero

    Vec3 at(double t) const { return origin + t * direction; }
};

/// The part of the ray inside the box, as times; empty when first > second.
std::pair<double, double> clipped(const Box3& box, const Ray& ray,
                                  double t_max = std::numeric_limits<double>::infinity());

/// Where the ray, or what lies behind its origin, meets triangle abc from either side, as a time and weights; `triangle` is left 0.
/// Nothing when it misses the triangle by more than rounding, or lies in its plane.
std::optional<RayHit> hit_triangle(const Ray& ray, const Vec3& a, const Vec3& b, const Vec3& c);

} // namespace lithe
