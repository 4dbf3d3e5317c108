#pragma once
#include "lithe/math/rotation.hpp"

namespace lithe {

/// Where a rigid thing is:  x = R X + t.
struct RigidPose {
    Quat rotation = Quat::Identity(); ///< unit
    Vec3 translation = Vec3::Zero();  ///< [m]

    Vec3 apply(const Vec3& X) const { return rotation * X + translation; }
    Vec3 apply_inverse(const Vec3& x) const { return rotation.conjugate() * (x - translation); }
};

/// A share s of the way from a to b: the rotation the short way round, the translation straight.
inline RigidPose interpolated(const RigidPose& a, const RigidPose& b, double s)
{
    return {interpolated(a.rotation, b.rotation, s), a.translation + s * (b.translation - a.translation)};
}

} // namespace lithe
