#pragma once
#include "lithe/body/body.hpp"

namespace lithe {

/// A point on the surface of a body, found by a question to the world.
struct SurfaceHit {
    BodyId body;
    BodyPoint
        point; ///< of its collision surface; of the shown one for obstacles and bodies that collide nowhere
    Vec3 position;   ///< [m]
    Vec3 normal;     ///< unit, outward
    double distance; ///< along the ray; to the point asked about, below zero inside of a closed body [m]
};

} // namespace lithe
