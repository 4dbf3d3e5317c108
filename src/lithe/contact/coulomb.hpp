#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

enum class ContactState { Separating, Sticking, Sliding };

struct ContactImpulse {
    Vec3 impulse = Vec3::Zero(); ///< on side a; side b gets the opposite [N s]
    ContactState state = ContactState::Separating;
};

/// One contact under Coulomb's law, solved exactly. With n the unit normal from b to a, u the relative velocity
/// u_a - u_b without the impulse and K its response, find the impulse j with w = u + K j such that
///
///   j_n >= 0,  w_n >= 0,  j_n w_n = 0,   |j_t| <= mu j_n,   and where w_t is not zero: j_t = -mu j_n w_t / |w_t|
///
/// The law is asked of the impulse, not of the velocity it causes: only then can friction add no energy, for any
/// symmetric positive definite K. The kinetic energy changes by at most -j.K j / 2.
///
/// Made once per contact and step; solved in every sweep.
class CoulombContact {
public:
    CoulombContact() = default;
    /// K [1/kg] is symmetric and positive semidefinite; friction is mu >= 0, finite. A response below 1e-8 of `scale`
    /// [1/kg] counts as none: a contact that cannot be moved along its normal gets no impulse, as nothing would come of it.
    CoulombContact(const Mat3& K, const Vec3& normal, double friction, double scale);

    /// The impulse for relative velocity u. For a contact that is still d away, add d / h to u along the normal.
    ContactImpulse solve(const Vec3& u) const;
    /// The same when impulse j is in place already and w is the velocity with it, so that u = w - K j. Faster when j is
    /// near; of several solutions (large mu, lopsided K) it may find another.
    ContactImpulse solve_again(const Vec3& w, const Vec3& j) const;
    /// The impulse with restitution e in [0, 1] after Poisson: what was pressed into the contact comes back e times.
    /// A sticking contact gives back along its normal only, unless that would add energy.
    Vec3 bounce(const Vec3& u, const ContactImpulse& pressed, double e) const;

    Vec3 normal() const { return axes_.col(0); }
    bool movable() const { return movable_; }

private:
    ContactImpulse solve_local(const Vec3& u, const Vec2* guess) const;

    Mat3 axes_ = Mat3::Identity(); ///< columns: normal, two tangents
    Mat3 K_ = Mat3::Zero();        ///< along these axes
    Mat3 K_inverse_ = Mat3::Zero();
    double friction_ = 0.0;
    bool movable_ = false;
};

} // namespace lithe
