#pragma once
#include <span>
#include <vector>

#include "lithe/contact/constraint_links.hpp"

namespace lithe {

/// All contacts of a few bodies at once, by Newton's method in the numbers a of the bodies, see ImpulseProblem. It finds minima of
/// the convex energy
///
///   |a|^2 / 2 + sum R |j|^2 / 2,   w = u + s n + G a,   j(w) = the impulse in the cone of friction nearest to  j_0 - w / R
///
/// where a = sum G^T j(w). R is a compliance, and j_0 the impulse of the minimum before: when both agree R is not felt.
/// With s = 0 this is Coulomb's law but for contacts that slide: they would part at mu |w_t|. So as much, from the minimum
/// before, is added as s.
///
/// Sweeps pass a push on from body to body; this knows of all bodies, so a heavy one on a light one is as easy as any, and
/// contacts that repeat each other do no harm. A step costs the cube of the number of numbers.
class ConeNewton {
public:
    static constexpr Index most_numbers = 160;

    struct Contact {
        std::span<const ConstraintLink> blocks; ///< G
        Vec3 velocity;                          ///< u [m/s]
        Vec3 normal;
        double friction;
        double response; ///< to an impulse [1/kg]
        Vec3 impulse;    ///< where to start, then the result [N s]
    };

    /// The bodies' numbers are `size` from number `begin`, now `a`. It ends when velocities of contacts are right to
    /// about `speed` [m/s], or after so many steps. False when nothing came of it.
    [[nodiscard]] bool solve(std::span<Contact> contacts, Index begin, Index size, const double* a,
                             double speed);

private:
    bool minimise(double energy, int& steps);
    double allowed_speed() const;
    double update_parting();
    void set_gradient();
    void set_matrix();
    double slope(double t) const;
    double minimum_along() const;
    Contact& contact_at(Index c) const { return contacts_[static_cast<std::size_t>(c)]; }
    double R(Index c) const { return compliance_ * contact_at(c).response; }
    Vec3 change_of(const Contact& contact, const VecX& a) const;
    Vec3 impulse_at(Index c, const Vec3& w) const;

    std::span<Contact> contacts_;
    Index begin_ = 0;
    double compliance_ = 0.0; ///< R over response
    VecX a_, gradient_, direction_;
    Eigen::Matrix3Xd w_, w_step_; ///< of the contacts, and by a whole step
    Eigen::Matrix3Xd centre_;     ///< j_0
    VecX parting_;                ///< s
    Eigen::Matrix3Xd stiff_rows_; ///< of one contact
    MatX matrix_;
};

} // namespace lithe
