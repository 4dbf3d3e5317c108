#pragma once
#include <string>

#include "lithe/body/body.hpp"
#include "lithe/fem/solve.hpp"

namespace lithe {

/// How a body takes time; its functions are in solve.hpp, those of reduced bodies in reduce/reduced_solve.hpp.
enum class Integrator { BackwardEuler, Newmark, QuasiStatic, Static };
/// Whether it knows of velocities, so that impulses mean something.
constexpr bool is_dynamic(Integrator integrator)
{
    return integrator == Integrator::BackwardEuler || integrator == Integrator::Newmark;
}

/// How velocities and accelerations at the end of a step follow positions there: dv = velocity dx, da = acceleration dx.
struct StepRates {
    double h = 0.0;            ///< of the step [s]
    double velocity = 0.0;     ///< [1/s]
    double acceleration = 0.0; ///< [1/s^2]
};

/// `beta` and `gamma` are Newmark's.
inline StepRates step_rates(Integrator integrator, double beta, double gamma, double h)
{
    switch (integrator) {
    case Integrator::BackwardEuler:
        return {h, 1.0 / h, 1.0 / (h * h)};
    case Integrator::Newmark:
        return {h, gamma / (beta * h), 1.0 / (beta * h * h)};
    case Integrator::QuasiStatic:
        return {h, 1.0 / h, 0.0};
    case Integrator::Static:
        break;
    }
    return {h, 0.0, 0.0};
}

/// What a body says of its solve.
inline BodyReport body_report(const SolveReport& report)
{
    return {.solved = report.converged(),
            .trouble = report.converged() ? "" : std::string("the solver ") + to_string(report.status),
            .iterations = report.iterations,
            .linear_iterations = report.linear_iterations,
            .residual = report.relative_decrement,
            .contacts = report.contact.contacts,
            .penetration = report.contact.penetration};
}

} // namespace lithe
