#pragma once
#include <variant>

#include "lithe/reduce/cubature.hpp"
#include "lithe/reduce/stvk_polynomial.hpp"

namespace lithe {

/// Psi = q^T K q/2: exact for small displacements only.
struct LinearElastic {
    MatX K; ///< U^T K U, r x r
};

/// The closed set of elastic models of a basis.
using ElasticModel = std::variant<LinearElastic, StvkPolynomial, CubatureElastic>;

/// K of the body at rest, reduced.
LinearElastic make_linear_elastic(const FemModel& model, const MatX& U);

/// Buffers of all of them, sized on first use.
struct ReducedElasticWork {
    StvkPolynomial::Work polynomial;
    CubatureElastic::Work cubature;
};

/// Energy and gradient at q; polynomials give the stiffness with them, as it is.
void evaluate_gradient(const ElasticModel& elastic, const VecX& q, ReducedElastic& out,
                       ReducedElasticWork& work);
/// And the stiffness, projected as Newton wants it where the model can (cubature), else as it is.
void evaluate_stiffness(const ElasticModel& elastic, const VecX& q, ReducedElastic& out,
                        ReducedElasticWork& work);

/// A body in x = X + U q: all that its steps need, nothing of the size of the mesh.
struct ReducedModel {
    MatX M; ///< U^T M U, r x r; the identity for a mass-orthonormal basis [kg]
    ElasticModel elastic;
    RayleighDamping damping = {};

    Index rank() const { return M.rows(); }
};
ReducedModel make_reduced_model(const FemModel& model, const MatX& U, ElasticModel elastic);

/// U^T f of nodal forces, 3 x n [N].
VecX reduced_force(const MatX& U, const Points& force);

/// All that must be saved to continue a motion.
struct ReducedState {
    VecX q;         ///< x = X + U q
    VecX v;         ///< dq/dt
    VecX a;         ///< d2q/dt2 at the end of the last step; only Newmark reads it
    double t = 0.0; ///< [s]
    FrictionState friction = {};
};
ReducedState rest_state(const ReducedModel& model);

/// x = X + U q, all vertices.
void reconstruct(const Points& rest, const MatX& U, const VecX& q, Points& x);

} // namespace lithe
