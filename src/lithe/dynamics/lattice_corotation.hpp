#pragma once
#include "lithe/dynamics/lattice_state.hpp"
#include "lithe/math/projected_cg.hpp"

namespace lithe {

/// Where regions overlap, each of them sees the other's bone as a large displacement, for which linear strain is wrong. Here every cell
/// there has a rotation of its own, that of its mean deformation; the others turn with their region. One system over all functions,
///
///   A = (1 + h mu) M + h^2 (sum_c R_c K_c R_c^T + k_t T),   A x+ = M ((1 + h mu) x + h v + h^2 mu u) + h^2 (Q + sum_c R_c K_c r + k_t T x_bone)
///
/// is solved by conjugate gradients, with targets as constraints and the answer of the blended regions as preconditioner.
class LatticeCorotation {
public:
    explicit LatticeCorotation(std::shared_ptr<const LatticeSystem> system);

    /// x is the blended solution; it becomes that of the system.
    ProjectedCgReport solve(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading,
                            const LinearMap& preconditioner, Points& x);

private:
    void set_rotations(const LatticePose& pose, const Points& x);
    /// y = A x over the functions that move; the others count as zero.
    void multiply(const Points& x, Points& y) const;
    Points right_side(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading) const;
    LinearConstraints constraints_of(const LatticeLoading& loading, const Points& x) const;
    bool moves(int function) const { return moves_[static_cast<std::size_t>(function)] != 0; }

    std::shared_ptr<const LatticeSystem> system_;
    std::vector<int> only_region_;          ///< of each cell; -1 where several overlap
    std::vector<std::vector<int>> samples_; ///< of each cell
    std::vector<Mat3> rotations_;           ///< of each cell, in the step at hand
    std::vector<char> present_, moves_;     ///< of each function: not inactive; unknown
    double h_ = 0.0, mass_factor_ = 0.0, k_t_ = 0.0;
};

} // namespace lithe
