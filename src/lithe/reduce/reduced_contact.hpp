#pragma once
#include <memory>

#include "lithe/contact/contact_potential.hpp"
#include "lithe/reduce/deformation_spheres.hpp"

namespace lithe {

/// Where a surface that follows q feels contact. Constant, shared by all bodies of a model; the surface must outlive it.
struct ReducedContactSurface {
    explicit ReducedContactSurface(const ReducedSurface& touching);

    const ReducedSurface& surface;
    std::vector<ContactSample> samples; ///< over the vertices of the surface
    DeformationSpheres spheres;         ///< over the samples
};

/// How one body touches with it.
struct ReducedContactModel {
    const ReducedContactSurface* surface = nullptr;
    double stiffness = 0.0; ///< k [Pa/m], > 0
    double friction = 0.5;  ///< Coulomb's coefficient, >= 0
};

/// What a solve looks at and does not change; as ContactScene.
struct ReducedContactScene {
    const ReducedContactModel& model;
    std::span<const Obstacle> obstacles; ///< in the frame of the body
    const FrictionState& friction;       ///< at the start of the step
};

/// Buffers of a solve, sized on first use. Only samples that can touch have a place in here: nothing else of the surface is
/// looked at. Columns of the point sets beyond their number mean nothing.
struct ReducedContactWork {
    ContactModel active;             ///< the samples that may touch in this solve, each a vertex of its own
    std::vector<int> names;          ///< of these samples among all
    MatX U_T;                        ///< r x 3 for each of these samples, side by side
    Points rest, start, x, gradient; ///< of these samples
    ContactWork contact;

    std::vector<int> place;              ///< per sample of the surface: among the active ones, or -1
    std::vector<unsigned char> not_held; ///< zeros
    VecX q_start, q_asked, dq;
    double margin =
        0.0; ///< by how far a sample may move from where it is at q_asked until we have to ask again [m]
    MatX factors, product; ///< of the stiffness

    Index spheres_looked_at = 0; ///< in this solve
    Index samples_looked_at = 0; ///< whose positions were made to see whether they may touch

    Index active_count() const { return static_cast<Index>(names.size()); }
};

/// The potential of contact_potential.hpp as a function of q: the same samples, the same friction, found by spheres. Its
/// functions are to be called in the same order.

/// Starts a solve at q that will probably lead to q + `expected`.
void begin_contact(const ReducedContactScene& scene, const VecX& q, const VecX& expected,
                   ReducedContactWork& work);
/// Returns the energy [J] and adds its gradient.
double add_contact_gradient(const ReducedContactScene& scene, const VecX& q, VecX& gradient,
                            ReducedContactWork& work);
ContactChange refresh_contact(const ReducedContactScene& scene, VecX& gradient, ReducedContactWork& work);
/// Adds Newton's matrix at the q of the last call of add_contact_gradient.
void add_contact_stiffness(const ReducedContactScene& scene, MatX& A, ReducedContactWork& work);
ContactReport finish_contact(const ReducedContactScene& scene, ReducedContactWork& work,
                             FrictionState& friction);
/// Points where the body touches [m] and the forces on it there [N], in its frame, after a solve.
void contact_forces(const ReducedContactWork& work, Points& points, Points& forces);

} // namespace lithe
