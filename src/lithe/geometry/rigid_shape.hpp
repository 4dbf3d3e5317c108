#pragma once
#include <variant>

#include "lithe/geometry/distance_field.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

// Rigid solids in their own frames. All sizes [m], > 0.

struct PlaneShape {}; ///< everything below y = 0
struct BoxShape {
    Vec3 size = Vec3::Ones();
}; ///< centred on the origin
struct SphereShape {
    double radius = 1.0;
}; ///< about the origin
struct CapsuleShape {
    double radius = 1.0, length = 1.0;
}; ///< along y; `length` between the centres of the end balls
struct CylinderShape {
    double radius = 1.0, length = 1.0;
}; ///< along y
struct FieldShape {
    DistanceField field;
}; ///< the inside of a surface, by its distance field

/// The closed set of rigid shapes.
using RigidShape = std::variant<PlaneShape, BoxShape, SphereShape, CapsuleShape, CylinderShape, FieldShape>;

struct SignedDistance {
    double distance; ///< [m], negative inside
    Vec3
        normal; ///< unit, the direction in which the distance grows; any one of several where it is not unique
};

/// Of a point in the frame of the shape. Allocates nothing.
SignedDistance signed_distance(const RigidShape& shape, const Vec3& p);

/// False only when a ball about p, in the frame of the shape, is clear of it.
bool may_touch(const RigidShape& shape, const Vec3& p, double radius);

/// Of one size that is not above zero, or not finite: InputError naming it.
void require_valid(const RigidShape& shape);

} // namespace lithe
