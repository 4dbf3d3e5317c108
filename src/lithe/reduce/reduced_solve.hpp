#pragma once
#include "lithe/fem/solve.hpp"
#include "lithe/reduce/reduced_contact.hpp"
#include "lithe/reduce/reduced_model.hpp"

namespace lithe {

struct ReducedNewtonOptions {
    int max_iterations = 50; ///< > 0; with 1, the one full step is taken as it is, for speed
    /// Stop when the Newton decrement -g.d falls below this share of the larger of: twice the energy that the first
    /// step gained, and the energies that are minimised. Rounding ends it in any case.
    double decrement = 1e-7;
};

/// What acts on a reduced body from outside during a step. What it refers to must outlive the solve.
struct ReducedLoading {
    /// Forces alone: U^T of the nodal forces, r [N].
    template <class Derived>
    ReducedLoading(const Eigen::MatrixBase<Derived>& only_force) : force(only_force)
    {
    }
    ReducedLoading(const VecX& total, std::span<const Obstacle> solids, const ReducedContactModel* touching)
        : force(total), obstacles(solids), contact(touching)
    {
    }

    Eigen::Ref<const VecX> force;
    std::span<const Obstacle> obstacles = {};     ///< in the frame of the body; felt where `contact` is set
    const ReducedContactModel* contact = nullptr; ///< how the body touches; none: it feels nothing
};

/// Buffers, sized on first use; nothing in here means anything between calls.
struct ReducedWork {
    ReducedElasticWork elastic;
    ReducedElastic at, trial;
    MatX K_lag, A;
    VecX q, q_trial, g, d, step, product, last;
    VecX mass_centre, damping_centre, start;
    Eigen::LLT<MatX> llt; ///< of Newton's matrix in the last iteration
    ReducedContactWork contact;
    FrictionState friction; ///< of the end of the step
};

/// The steps of lithe/fem/solve.hpp in reduced coordinates, contact with obstacles in them. Dense, on one thread, nothing of the size of the mesh. Every function leaves `state` exactly as it was on any status but Converged, and
/// allocates nothing after its first call with `work`. The basis carries the pins: its columns are zero there.

/// Equilibrium:  dPsi/dq = f.  Sets q; v and a become zero; t stays.
SolveReport solve_static(const ReducedModel& model, const ReducedLoading& loading,
                         const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work);

/// One equilibrium of a sequence that is h [s] apart, from the last one: q, v = (q_1 - q_0)/h, t + h.
SolveReport step_quasi_static(const ReducedModel& model, const ReducedLoading& loading, double h,
                              const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work);

/// M (q_1 - q_0 - h v_0)/h^2 + D (q_1 - q_0)/h + dPsi/dq(q_1) = f,   v_1 = (q_1 - q_0)/h,
/// with D = alpha M + beta K_lag and K_lag the stiffness at q_0.
SolveReport step_backward_euler(const ReducedModel& model, const ReducedLoading& loading, double h,
                                const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work);

struct ReducedNewmarkOptions {
    double beta = 0.25; ///< in (0, 1/2]
    double gamma = 0.5; ///< in [1/2, 1]
    ReducedNewtonOptions newton = {};
};

/// Newmark's method [New59]; reads state.a: call set_acceleration once before the first step.
SolveReport step_newmark(const ReducedModel& model, const ReducedLoading& loading, double h,
                         const ReducedNewmarkOptions& options, ReducedState& state, ReducedWork& work);

/// Implicit midpoint rule, with forces at the midpoint m = (q_0 + q_1)/2:
///
///   M (v_1 - v_0)/h + D (v_0 + v_1)/2 + dPsi/dq(m) = f,   q_1 = q_0 + h (v_0 + v_1)/2
///
/// Second order, no damping of its own, keeps quadratic invariants. Knows no contact (InputError).
SolveReport step_midpoint(const ReducedModel& model, const ReducedLoading& loading, double h,
                          const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work);

/// M a = f - dPsi/dq - D v.
SolveReport set_acceleration(const ReducedModel& model, const ReducedLoading& loading, ReducedState& state,
                             ReducedWork& work);

double kinetic_energy(const ReducedModel& model, const ReducedState& state); ///< v.Mv/2 [J]

} // namespace lithe
