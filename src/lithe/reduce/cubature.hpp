#pragma once
#include <span>
#include <vector>

#include "lithe/fem/elasticity.hpp"
#include "lithe/reduce/reduced_elastic.hpp"

namespace lithe {

/// Some tets of a body with weights: sums over all tets become sums over these.            [AKJ08]
struct Cubature {
    std::vector<int> tets; ///< of the mesh, rising, each once
    VecX weights;          ///< > 0; all one for all tets is exact

    Index size() const { return weights.size(); }
};

/// Every tet, with weight one: no approximation.
Cubature all_tets(const FemModel& model);

/// The elasticity of any material in x = X + U q, at the points of a cubature:
///
///   Psi = sum_c w_c V_c psi(F_c),   dPsi/dq = sum_c w_c V_c B_c^T vec P(F_c),
///   d2Psi/dq2 = sum_c w_c V_c B_c^T (dP/dF)_c B_c,   vec F_c = vec I + B_c q                 [AKJ08]
///
/// Differs from the paper: B_c (9 x r) is kept instead of the rows of U, since all three sums need it.
class CubatureElastic {
public:
    /// Throws InputError for a tet that does not exist, a weight that is not above zero, and U of another mesh.
    CubatureElastic(const FemModel& model, const MatX& U, const Cubature& cubature);

    Index rank() const { return B_.cols(); }
    Index point_count() const { return weight_.size(); }

    /// Buffers, sized on first use.
    struct Work {
        VecX F, P; ///< 9 per point
        MatX CB;   ///< w V dP/dF B
    };
    /// Energy and gradient.
    void evaluate(const VecX& q, ReducedElastic& out, Work& work) const;
    /// And the stiffness, as it is or each point's part made positive semidefinite.
    void evaluate(const VecX& q, Definiteness definiteness, ReducedElastic& out, Work& work) const;

private:
    struct Region {
        Material material;
        Index first, last; ///< points
    };
    MatX B_;      ///< 9 points x r
    VecX weight_; ///< w V [m^3]
    std::vector<Region> regions_;
};

} // namespace lithe
