#pragma once
#include <span>

#include "lithe/body/obstacle.hpp"
#include "lithe/contact/contact_model.hpp"
#include "lithe/contact/friction_state.hpp"
#include "lithe/contact/self_contact.hpp"

namespace lithe {

/// What touches at the end of a step.
struct ContactReport {
    int contacts = 0;          ///< samples inside obstacles, and vertices inside the body itself
    double penetration = 0.0;  ///< of the deepest one [m]
    double normal_force = 0.0; ///< of all together, without their directions [N]
};

/// A sample that touches an obstacle.
struct ObstacleContact {
    int sample, obstacle;
    double depth; ///< [m], > 0
    Vec3 normal;  ///< unit, out of the obstacle
};

/// A sample that rubs: what friction takes as given while x moves.
struct FrictionContact {
    int sample, obstacle;
    Vec3 anchor; ///< in the world at the end of the step [m]
    Vec3 normal;
    double limit;     ///< mu N [N]
    double stiffness; ///< of sticking, k_t A [N/m]
};

/// A part  sum_ab w_a w_b H  of Newton's matrix.
struct ContactStiffness {
    std::array<int, 4> vertices;
    std::array<double, 4> weights;
    int count;
    Mat3 H; ///< symmetric, positive semidefinite [N/m]
};

/// Buffers of a solve with contact, sized on first use. After a solve `contacts`, `rubbing` and `pairs` are what touches.
struct ContactWork {
    std::vector<ObstacleContact> contacts; ///< sorted by key of the obstacle, then by sample
    std::vector<FrictionContact> rubbing;
    std::vector<SelfPair> pairs;
    std::vector<ContactStiffness> stiffness;

    std::vector<int> order;                ///< obstacles by rising key
    std::vector<unsigned char> ignored;    ///< per sample: held by pins altogether
    std::vector<Vec3> start;               ///< of the samples at the start of the step
    std::vector<SignedDistance> distances; ///< of the samples, from one obstacle
    Points frozen, refrozen;               ///< gradients of what is frozen, before and after
    std::vector<SelfPair> detected, merged;
    SelfDetectionWork detection;
};

/// What a solve with contact looks at and does not change.
struct ContactScene {
    const ContactModel& model;
    std::span<const Obstacle> obstacles;
    const FrictionState& friction;   ///< at the start of the step
    std::span<const int> names = {}; ///< that friction knows the samples by; empty: their places in the model
};

/// The potential of contact is, with d the signed distance at the end of the step, s the offset of a sample from
/// its anchor along the surface, and e the depth of a pair of self-contact along its direction:
///
///   sum k A/2 max(0, -d)^2  +  sum k_t A H(|s|)  +  sum k_p/2 max(0, e)^2
///
/// H is |s|^2/2 up to the cap mu N / (k_t A), and grows linearly beyond. See docs/contact.md. N and the normals of friction
/// and the pairs of self-contact are frozen, so that this is a potential; `refresh_contact` renews them.

/// Starts a solve from positions x: friction begins with what presses at the start of the step. `pinned` per vertex.
/// Throws InputError for two obstacles with one key, one without a shape, or friction that is below zero or not finite.
void begin_contact(const ContactScene& scene, const Points& x, std::span<const unsigned char> pinned,
                   ContactWork& work);

/// Takes in samples that have been added at the end of the model's since begin_contact; x at the start of the step. For bodies
/// that look only at samples near obstacles, and find more of them while a solve moves.
void extend_contact(const ContactScene& scene, const Points& x, ContactWork& work);

/// Finds what touches at x. Returns the energy [J] and adds its gradient.
double add_contact_gradient(const ContactScene& scene, const Points& x, Points& gradient, ContactWork& work);

/// What renewing did.
struct ContactChange {
    double energy = 0.0; ///< [J]
    double share = 0.0;  ///< of the forces of contact that are other now
};

/// Renews what is frozen, at the x of the last call of add_contact_gradient, and adds the change of the gradient. Pairs of
/// self-contact that have just opened stay: they pull nothing, and close again without a jump.
ContactChange refresh_contact(const ContactScene& scene, const Points& x, Points& gradient,
                              ContactWork& work);

/// Newton's matrix at the x of the last call of add_contact_gradient, in parts, into work.stiffness.
void set_contact_stiffness(const ContactScene& scene, const Points& x, ContactWork& work);

/// Ends a solve at x, where add_contact_gradient was called last: anchors of contacts that slid are dragged along,
/// those of open contacts vanish.
ContactReport finish_contact(const ContactScene& scene, const Points& x, ContactWork& work,
                             FrictionState& friction);

/// Points where the body touches [m] and the forces on it there [N], after a solve that ended at x.
void contact_forces(const ContactModel& model, const Points& x, const ContactWork& work, Points& points,
                    Points& forces);

} // namespace lithe
