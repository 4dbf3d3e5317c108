#pragma once
#include <span>
#include <vector>

#include "lithe/contact/contact_model.hpp"
#include "lithe/contact/friction_state.hpp"
#include "lithe/fem/elements.hpp"

namespace lithe {

enum class MassKind {
    Consistent, ///< rho V/20 (1 + delta_ab) per tet: the integral of the shape functions' products
    Lumped      ///< a quarter of each tet at its corners
};

/// D = mass M + stiffness K, with K of the start of the step.
struct RayleighDamping {
    double mass = 0.0;      ///< alpha [1/s], >= 0
    double stiffness = 0.0; ///< beta [s], >= 0
};

struct FemOptions {
    MassKind mass = MassKind::Consistent;
    RayleighDamping damping = {};
};

/// An elastic body of tets: all that does not change while it moves.
struct FemModel {
    Points rest; ///< X, 3 x n [m]
    Elements elements;
    StiffnessPattern pattern;
    MassKind mass_kind = MassKind::Consistent;
    std::vector<double> mass; ///< scalar mass matrix, one value per block of the pattern [kg]
    VecX vertex_mass;         ///< its row sums, n [kg]
    RayleighDamping damping = {};

    Index vertex_count() const { return rest.cols(); }
};

/// Throws InputError as make_elements does, and for damping below zero.
FemModel make_fem_model(const TetMesh& mesh, std::span<const RegionMaterial> materials,
                        const FemOptions& options = {});

/// One material for the whole body; regions of the mesh are ignored.
FemModel make_fem_model(const TetMesh& mesh, const Material& material, double density,
                        const FemOptions& options = {});

/// How the body touches. Where options.stiffness is 0, it is chosen from the body: with E the largest modulus of its
/// materials and L the longest side of its box, k = 1000 E/L. A ball of rho g L / E = 0.03 then sinks in by 5e-4 L at rest
/// and by 8e-4 L when it is dropped from 0.2 L; stiffer costs iterations.
ContactModel make_contact_model(const FemModel& model, const ContactOptions& options = {});

/// All that must be saved to continue a motion.
struct FemState {
    Points x;       ///< positions [m]
    Points v;       ///< velocities [m/s]
    Points a;       ///< accelerations at the end of the last step [m/s^2]; only Newmark reads them
    double t = 0.0; ///< [s]
    FrictionState friction = {};
};

/// At rest, standing still.
FemState rest_state(const FemModel& model);

/// y = M x for every coordinate; same bits for any number of threads.
void multiply_mass(const FemModel& model, const Points& x, Points& y);

double kinetic_energy(const FemModel& model, const FemState& state); ///< v.Mv/2 [J]
Vec3 linear_momentum(const FemModel& model, const FemState& state);  ///< [kg m/s]
Vec3 angular_momentum(const FemModel& model, const FemState& state); ///< about the origin [kg m^2/s]

} // namespace lithe
