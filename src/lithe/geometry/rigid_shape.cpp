#include "lithe/geometry/rigid_shape.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// a / length, or the y axis where a is too short to have a direction.
Vec3 unit(const Vec3& a, double length)
{
    return length > 0.0 ? Vec3(a / length) : Vec3::UnitY();
}

SignedDistance distance_of(const PlaneShape&, const Vec3& p)
{
    return {p.y(), Vec3::UnitY()};
}

SignedDistance distance_of(const SphereShape& sphere, const Vec3& p)
{
    const double length = p.norm();
    return {length - sphere.radius, unit(p, length)};
}

/// Outside: from the nearest point of the box. Inside: through the nearest face.
SignedDistance distance_of(const BoxShape& box, const Vec3& p)
{
    const Vec3 q = p.cwiseAbs() - 0.5 * box.size;
    const auto side = [&](int axis) { return std::copysign(1.0, p[axis]); };
    if ((q.array() > 0.0).any()) {
        Vec3 away = q.cwiseMax(0.0);
        const double distance = away.norm();
        for (int axis = 0; axis < 3; ++axis) away[axis] *= side(axis);
        return {distance, away / distance};
    }
    int axis = 0;
    const double distance = q.maxCoeff(&axis);
    return {distance, side(axis) * Vec3::Unit(axis)};
}

SignedDistance distance_of(const CapsuleShape& capsule, const Vec3& p)
{
    const double half = 0.5 * capsule.length;
    const Vec3 away = p - Vec3(0.0, std::clamp(p.y(), -half, half), 0.0);
    const double length = away.norm();
    // on the axis between the balls every direction across it is as near
    if (length == 0.0 && std::abs(p.y()) < half) return {-capsule.radius, Vec3::UnitX()};
    return {length - capsule.radius, unit(away, length)};
}

/// A rectangle in the plane of radius and height.
SignedDistance distance_of(const CylinderShape& cylinder, const Vec3& p)
{
    const double r = std::hypot(p.x(), p.z());
    const Vec3 outward = r > 0.0 ? Vec3(p.x() / r, 0.0, p.z() / r) : Vec3::UnitX();
    const Vec3 upward(0.0, std::copysign(1.0, p.y()), 0.0);
    const double across = r - cylinder.radius, along = std::abs(p.y()) - 0.5 * cylinder.length;
    if (across > 0.0 && along > 0.0) {
        const double distance = std::hypot(across, along);
        return {distance, (across * outward + along * upward) / distance};
    }
    return across > along ? SignedDistance{across, outward} : SignedDistance{along, upward};
}

SignedDistance distance_of(const FieldShape& shape, const Vec3& p)
{
    const DistanceField::Sample sample = shape.field.sample(p);
    return {sample.distance, unit(sample.gradient, sample.gradient.norm())};
}

void require_sizes(const PlaneShape&) {}
void require_sizes(const FieldShape&) {}
void require_sizes(const SphereShape& sphere)
{
    (void)require_positive("radius", sphere.radius);
}
void require_sizes(const BoxShape& box)
{
    for (const double size : box.size) (void)require_positive("size", size);
}
template <class RoundShape>
void require_sizes(const RoundShape& shape)
{
    (void)require_positive("radius", shape.radius);
    (void)require_positive("length", shape.length);
}

} // namespace

SignedDistance signed_distance(const RigidShape& shape, const Vec3& p)
{
    return std::visit([&](const auto& s) { return distance_of(s, p); }, shape);
}

bool may_touch(const RigidShape& shape, const Vec3& p, double radius)
{
    if (!p.allFinite()) return false;
    const auto* solid = std::get_if<FieldShape>(&shape);
    if (!solid) return signed_distance(shape, p).distance <= radius;
    const DistanceField& field = solid->field; // outside its box its distances are too large
    const double beyond = field.box().exteriorDistance(p);
    if (beyond > 0.0) return beyond <= radius;
    return field.distance(p) <= field.steepness() * radius;
}

void require_valid(const RigidShape& shape)
{
    std::visit([](const auto& s) { require_sizes(s); }, shape);
}

} // namespace lithe
