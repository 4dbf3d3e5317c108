#pragma once
#include <optional>

#include "lithe/geometry/ray.hpp"
#include "lithe/world/world.hpp"

namespace lithe {

/// The nearest crossing with a triangle from either side, in lengths of the direction.
std::optional<double> first_crossing(const Ray& ray, const Points& x, const Triangles& triangles);

/// Where a ray first meets a body that can be moved.
struct Picked {
    BodyId body;
    Vec3 point; ///< in the world [m]
};
std::optional<Picked> pick(const World& world, const Ray& ray);

} // namespace lithe
