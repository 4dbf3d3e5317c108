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
    /// The points in plain order.
    struct Data {
        MatX B;                          ///< 9 n x r, rows 9 c .. 9 c + 8 are B_c [1/m]
        VecX weight;                     ///< w_c V_c, n, each > 0 [m^3]
        std::vector<int> region;         ///< of each point: which of the materials it has
        std::vector<Material> materials; ///< of the regions
    };

    /// Throws InputError for a tet that does not exist, a weight that is not above zero, and U of another mesh.
    CubatureElastic(const FemModel& model, const MatX& U, const Cubature& cubature);
    /// Throws InputError for sizes that do not fit, a region without a material, a weight that is not above zero, and
    /// numbers that are not finite. Points of one region are put together, in their order.
    explicit CubatureElastic(const Data& data);
    Data data() const;

    Index rank() const { return B_.cols(); }
    Index point_count() const { return point_count_; }

    /// Buffers, sized on first use.
    struct Work {
        VecX F, P; ///< of all points
        MatX D, C; ///< B in the principal frames of the points, and times their Hessians
    };
    /// Energy and gradient.
    void evaluate(const VecX& q, ReducedElastic& out, Work& work, SimdLevel level = best_simd_level()) const;
    /// And the stiffness, as it is or each point's part made positive semidefinite.
    void evaluate(const VecX& q, Definiteness definiteness, ReducedElastic& out, Work& work,
                  SimdLevel level = best_simd_level()) const;

private:
    struct Region {
        Material material;
        Index point_count, first_block, last_block;
    };
    /// Points of one material in blocks of eight, laid out for vector instructions: entry e of vec F of lane l of block b
    /// is row 72 b + 8 e + l. Lanes without a point are zero.
    MatX B_;
    VecX weight_; ///< w V, 8 per block [m^3]
    std::vector<Region> regions_;
    Index point_count_ = 0;
};

} // namespace lithe
