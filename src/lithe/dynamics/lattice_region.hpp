#pragma once
#include "lithe/dynamics/lattice_state.hpp"

namespace lithe {

/// The constants of a step in all regions.
struct LatticeStepConstants {
    double h = 0.0;   ///< [s]
    double mu = 0.0;  ///< damping [1/s]
    double k_t = 0.0; ///< of the twist constraint [N/m^5]
    friend bool operator==(const LatticeStepConstants&, const LatticeStepConstants&) = default;
};

/// What a region sees of a step, in its own axes. Columns are nodes; all of them where nothing else is said.
struct LatticeRegionWork {
    Eigen::Matrix3Xd d, v;  ///< of now, from rest [m], [m/s]
    Eigen::Matrix3Xd u;     ///< velocities of the region as a rigid body, against which damping works [m/s]
    Eigen::Matrix3Xd force; ///< beside gravity, on the unknown nodes [N]
    Eigen::Matrix3Xd d_new; ///< at the end; those on bones are given
    Eigen::Matrix3Xd held;  ///< where the held points of the system have to be at the end, from rest [m]
    Vec3 gravity = Vec3::Zero();
    Eigen::Matrix<double, 4, Eigen::Dynamic> momenta; ///< scratch, four numbers at a time
    BlockLdlt::Work solve;
};

/// One region with the functions that are active now: the constant system of its steps, factorised.
///
///   A = (1 + h mu) M + h^2 (K + k_t T),   A_uu d_u = c_u - A_uk d_k
///
/// with d from rest in the axes of its joint. M, K and T are sums over the region's cells alone: nothing holds its border.
class LatticeRegionSystem {
public:
    /// Sums up and factorises. Throws InputError when the system is not positive definite.
    void build(const LatticeSystem& system, const RegionSpace& space, const std::vector<char>& active,
               const LatticeStepConstants& constants);

    /// work.d_new of the unknown nodes at the end of a step, from all else in `work`.
    void solve(LatticeRegionWork& work) const;

    /// A_uu^-1 x.
    void answer(const Eigen::Ref<Eigen::Matrix3Xd>& x, BlockLdlt::Work& work) const
    {
        factor_.solve(x, work);
    }
    /// x to y with  A_uu^-1 = (x to y)^T (x to y).
    void half_answer(const Eigen::Ref<Eigen::Matrix3Xd>& x, BlockLdlt::Work& work) const
    {
        factor_.half_solve(x, work);
    }

    /// Functions: unknown ones first, then those on bones or leaving; each rising.
    const std::vector<int>& nodes() const { return nodes_; }
    Index unknown_count() const { return unknown_count_; }
    /// W of each node.
    const std::vector<double>& weights() const { return weights_; }
    /// How much of the mass of an unknown node's function the region has, of all; in (0, 1].
    const std::vector<double>& shares() const { return shares_; }
    /// Of a function among the nodes, or -1.
    int place(int function) const { return place_[static_cast<std::size_t>(function)]; }
    Index factor_blocks() const { return factor_.factor_blocks(); }

private:
    struct Coupling {
        int unknown, known; ///< places; of a known node from the first of them on
        Mat3 A;
    };
    /// Scalar rows of the mass, of the unknown nodes.
    struct MassRows {
        std::vector<int> start, column;
        std::vector<double> value;
    };
    void choose_nodes(const LatticeSystem& system, const RegionSpace& space, const std::vector<char>& active);
    void find_held_points(const LatticeSystem& system);

    std::vector<int> nodes_, place_;
    std::vector<double> weights_, shares_;
    std::vector<double> first_; ///< int rho phi over the region, of the unknown nodes [kg]
    Index unknown_count_ = 0;
    LatticeStepConstants constants_;
    MassRows mass_;
    std::vector<Coupling> couplings_;
    /// A held point by the nodes around it: drawn to its place by stiff springs, before the whole is made exact.
    struct HeldPoint {
        std::size_t point;
        std::vector<int> places;
        std::vector<double> weights;
    };
    std::vector<HeldPoint> held_;
    double held_spring_ = 0.0; ///< h^2 k of them [kg]
    BlockLdlt factor_;
};

} // namespace lithe
