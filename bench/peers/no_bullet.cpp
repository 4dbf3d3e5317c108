#include "peers/bullet.hpp"

namespace lithe::bench {

std::unique_ptr<BulletWorld> make_bullet_world(const BulletModel&, const RayleighDamping&, const Vec3&)
{
    return nullptr;
}

} // namespace lithe::bench
