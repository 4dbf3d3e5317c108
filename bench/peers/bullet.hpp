#pragma once
#include <memory>

#include "lithe/reduce/bullet_files.hpp"

namespace lithe::bench {

/// A world of Bullet's with one of its reduced bodies, which its own loader reads from files that we write.
class BulletWorld {
public:
    virtual ~BulletWorld() = default;
    virtual void add_ground(double height) = 0;              ///< a solid below that height [m]
    virtual void set_spin(const Vec3& omega) = 0;            ///< of the body at rest [rad/s]
    virtual void step(double h) = 0;                         ///< one step, all nodes moved [s]
    virtual int contact_count() const = 0;                   ///< of the last step
    virtual void read_nodes(Points& x, Points& v) const = 0; ///< [m], [m/s]
};

/// Nothing where Bullet's package was not there when we were built.
std::unique_ptr<BulletWorld> make_bullet_world(const BulletModel& model, const RayleighDamping& damping,
                                               const Vec3& gravity);

} // namespace lithe::bench
