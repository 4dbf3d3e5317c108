#pragma once
#include "lithe/fem/newton.hpp"

namespace lithe {

/// Every function here leaves `state` exactly as it was on any status but Converged, and allocates nothing after its
/// first call with `work` but inside the sparse factorisation.

/// Equilibrium under the loading:  dPsi/dx = f + contact.  Needs pins, or obstacles to lie on (InputError): a free body has
/// none or many.
/// Sets x; v and a become zero; t stays.
SolveReport solve_static(const FemModel& model, const Loading& loading, const NewtonOptions& newton,
                         FemState& state, FemWork& work);

/// One equilibrium of a sequence that is h [s] apart, from the last one: x, v = (x_1 - x_0)/h, t + h.
SolveReport step_quasi_static(const FemModel& model, const Loading& loading, double h,
                              const NewtonOptions& newton, FemState& state, FemWork& work);

/// Backward Euler, step h [s], loading of the end of the step:
///
///   M (x_1 - x_0 - h v_0)/h^2 + D (x_1 - x_0)/h + dPsi/dx(x_1) = f + contact(x_1),   v_1 = (x_1 - x_0)/h
///
/// First order; damps, the faster motions the more.
SolveReport step_backward_euler(const FemModel& model, const Loading& loading, double h,
                                const NewtonOptions& newton, FemState& state, FemWork& work);

/// The defaults are the average acceleration: second order, no damping. With gamma = 0.6, beta = 0.3025 it damps
/// what impacts leave behind.
struct NewmarkOptions {
    double beta = 0.25; ///< in (0, 1/2]
    double gamma = 0.5; ///< in [1/2, 1]
    NewtonOptions newton = {};
};

/// Newmark's method:
///
///   x_1 = x_0 + h v_0 + h^2 ((1/2 - beta) a_0 + beta a_1),   v_1 = v_0 + h ((1 - gamma) a_0 + gamma a_1),
///   M a_1 + D v_1 + dPsi/dx(x_1) = f + contact(x_1)                                    [New59]
///
/// Reads state.a: call set_acceleration once before the first step, and after any jump of x, v or the loading.
SolveReport step_newmark(const FemModel& model, const Loading& loading, double h,
                         const NewmarkOptions& options, FemState& state, FemWork& work);

/// The accelerations that go with x, v and the loading:  M a = f + contact - dPsi/dx - D v,  a = 0 at pins. Obstacles are
/// where their pose_1 is.
SolveReport set_acceleration(const FemModel& model, const Loading& loading, FemState& state, FemWork& work);

} // namespace lithe
