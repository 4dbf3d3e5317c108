#pragma once
#include "lithe/dynamics/lattice_motion.hpp"
#include "lithe/fem/elasticity.hpp"

namespace lithe {

/// How a reference solve ended.
struct LatticeSolveReport {
    bool converged = false;
    int iterations = 0;
    double residual = 0.0; ///< Newton decrement, relative to the first one
};

/// The lattice without linearisation in regions: one energy over all of its tets, solved by Newton's method. What the blended steps are
/// compared with, and slow. With a linear material it is the global linear solution, which shows what goes wrong without regions.
class LatticeReference {
public:
    /// Materials of the model keep their constants, and behave as `kind`. Level 0 and all details of the body are active.
    LatticeReference(std::shared_ptr<const LatticeSystem> system, MaterialKind kind);

    /// Elastic energy of coefficients; its gradient and Hessian (both 3 count, by function). [J], [N], [N/m]
    double energy(const Points& x);
    Points gradient(const Points& x);
    SparseMatrix hessian(const Points& x, Definiteness definiteness);

    /// Equilibrium under gravity, from `x` on, with the bones where the joints are. The twist constraint acts.
    LatticeSolveReport equilibrium(const std::vector<RigidPose>& joints, const Vec3& gravity, Points& x);
    /// A step of backward Euler with the damping of the model, against space.
    LatticeSolveReport step(const LatticeState& now, const std::vector<RigidPose>& joints, double h,
                            const Vec3& gravity, LatticeState& next);

    /// Of the body, deformed. [m^3]
    double volume(const Points& x) const;
    /// Root of the mean square distance between two states over the mass. [m]
    double distance(const Points& x, const Points& y) const;

private:
    struct Inertia {
        double mass_factor = 0.0; ///< of M in the Hessian: (1 + h mu) / h^2; 0: none
        Points pull;              ///< M_factor-weighted goal: the gradient is mass_factor M x - pull
    };
    LatticeSolveReport minimise(const std::vector<RigidPose>& joints, const Vec3& gravity,
                                const Inertia& inertia, Points& x);
    void set_fixed(const std::vector<RigidPose>& joints, Points& x) const;
    Points twist_gradient(const std::vector<RigidPose>& joints, const Points& x) const;
    double twist_energy(const std::vector<RigidPose>& joints, const Points& x) const;

    std::shared_ptr<const LatticeSystem> system_;
    TetMesh tets_;                    ///< that hold some of the body
    std::vector<double> tet_volumes_; ///< of the body in them [m^3]
    FemModel fem_;
    SparseRows P_;             ///< from coefficients to the vertices of tets_
    SparseMatrix twist_;       ///< k_t T, of all joints together; a number for all three axes
    std::vector<int> unknown_; ///< functions that are solved for
    ElasticWork work_;
};

} // namespace lithe
