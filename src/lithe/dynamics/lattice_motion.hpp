#pragma once
#include "lithe/dynamics/lattice_corotation.hpp"
#include "lithe/dynamics/lattice_region.hpp"

namespace lithe {

/// Sums over functions at the vertices of a surface: x becomes 3 x rows. On all threads.
void follow(const SparseRows& map, const Points& coefficients, Points& x);
/// Only the columns of functions that are not inactive: the same sums with fewer terms.
SparseRows active_columns(const SparseRows& map, const std::vector<char>& active);

/// Elastic energy as the regions see it, where they overlap by their weights. [J]
double elastic_energy(const LatticeSystem& system, const std::vector<RigidPose>& joints, const Points& x);

/// At rest on the bones: what is rigid in each region, blended.
LatticeState rest_state(const LatticeSystem& system, const std::vector<RigidPose>& joints);

/// Blended local linearisation [CGC02], in the rotated form. In each region i, with R and t those of its joint at the end of the step,
///
///   d = R^T (x - t) - r,   A d+ = M ((1 + h mu) d + h R^T v + h^2 mu u) + h^2 R^T Q,   x+ = sum_i W_i (R_i (r + d+) + t_i)
///
/// which is their scheme, corrected: K is constant in the axes of the joint, so that A is factorised once, and velocities are
/// inertial ones seen in these axes, so that no fictitious forces appear. Damping works against the motion relative to the region as
/// a rigid body (u), not against space: a character that runs is not held back by air that is not there.
class LatticeMotion {
public:
    explicit LatticeMotion(std::shared_ptr<const LatticeSystem> system);

    /// The state at the end of the step. Vertices on bones are exactly where the joints bring them, targets are met as far as they do
    /// not contradict each other.
    void step(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading,
              LatticeState& next);

    // How velocities answer impulses, by the operator of the last step:  B = sum_i R_i sqrt(W_i) A_i^-1 sqrt(W_i) R_i^T.
    // The roots of the weights make it symmetric; alone in its region, a point answers as there.
    /// 3k x 3k, for impulses at points.
    MatX compliance(std::span<const LatticePoint> points);
    /// Of all functions, for impulses on functions (3 x count). [m/s]
    void answer(const Points& impulses, Points& dv);

    const LatticeSystem& system() const { return *system_; }
    /// Of the last step with LatticeScheme::Corotated.
    const ProjectedCgReport& corotation_report() const { return corotation_report_; }
    /// Systems factorised so far, and the blocks of the factors in use.
    int factorisations() const { return factorisations_; }
    Index factor_blocks() const;

private:
    struct RegionRuntime {
        LatticeRegionSystem system;
        LatticeRegionWork work;
        Mat3 R = Mat3::Identity();
    };
    void prepare(const std::vector<char>& active, double h);
    void solve_region(std::size_t region, const LatticeState& now, const LatticePose& pose,
                      const LatticeLoading& loading);
    void blend(const LatticePose& pose, LatticeState& next) const;
    void corotate(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading, Points& x);
    void hold_points(const LatticePose& pose, Points& x);
    void meet_targets(std::span<const LatticeTarget> targets, Points& x);

    std::shared_ptr<const LatticeSystem> system_;
    LatticeCorotation corotation_;
    std::vector<RegionRuntime> regions_;
    std::vector<char> prepared_active_; ///< what the regions were last made ready for
    LatticeStepConstants prepared_constants_;
    std::vector<Vec3> hold_targets_; ///< of system_->holds, at the end of the step
    std::vector<int> hold_of_;       ///< of each function, or -1
    int factorisations_ = 0;
    ProjectedCgReport corotation_report_;

    /// Held points made exact by level 0 alone:  x += map (place - C^T x),  map = N (C^T N)^+,  N = diag(first)^-1 C.
    MatX held_map_;
};

} // namespace lithe
