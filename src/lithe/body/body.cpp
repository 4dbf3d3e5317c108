#include "lithe/body/body.hpp"

#include "lithe/core/error.hpp"

namespace lithe {

void Body::teleport(const RigidPose&)
{
    throw InputError("body '" + shown().name + "' is held in space: it cannot be put elsewhere");
}

void Body::set_velocity(const Vec3&, const Vec3&)
{
    throw InputError("body '" + shown().name + "' is held in space: it cannot be given a velocity");
}

VecX Body::field(std::size_t) const
{
    throw InputError("body '" + shown().name + "' has no such field");
}

} // namespace lithe
