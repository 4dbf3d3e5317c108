#include "lithe/reduce/reduced_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// What is minimised:  Phi(q) = c_M/2 |q - q_M|_M^2 + c_D/2 |q - q_D|_D^2 + Psi(q) - f.(q - q_start),
/// D = alpha M + beta K_lag; q_M, q_D, q_start are in the work.
struct Problem {
    const ReducedModel& model;
    const VecX& force;
    double mass_weight = 0.0, damping_weight = 0.0; ///< [1/s^2], [1/s]

    double mass_damping() const { return damping_weight * model.damping.mass; }
    double stiffness_damping() const { return damping_weight * model.damping.stiffness; }
};

/// Phi, and the sum of the sizes of its parts.
struct Energies {
    double phi = 0.0, scale = 0.0, size = 0.0;
};

/// Adds c/2 |q - centre|_A^2 and its gradient.
void add_quadratic(double weight, const MatX& A, const VecX& centre, const VecX& q, ReducedWork& work,
                   Energies& out)
{
    if (weight == 0.0) return;
    work.d = q - centre;
    work.product.noalias() = A * work.d;
    const double energy = 0.5 * weight * work.d.dot(work.product);
    work.g += weight * work.product;
    out.phi += energy;
    out.scale += energy;
}

/// Phi at q from the elastic part there; its gradient in work.g.
Energies add_up(const Problem& problem, const VecX& q, const ReducedElastic& elastic, ReducedWork& work)
{
    work.g = elastic.gradient - problem.force;
    Energies out{elastic.energy, std::abs(elastic.energy), 0.0};
    add_quadratic(problem.mass_weight, problem.model.M, work.mass_centre, q, work, out);
    add_quadratic(problem.mass_damping(), problem.model.M, work.damping_centre, q, work, out);
    add_quadratic(problem.stiffness_damping(), work.K_lag, work.damping_centre, q, work, out);
    work.d = q - work.start;
    const double load = problem.force.dot(work.d);
    out.phi -= load;
    out.size = out.scale + std::abs(load);
    return out;
}

/// Factorises the Hessian of Phi; where it is not positive definite, with as little of the diagonal added as works.
bool factorise(const Problem& problem, SolveReport& report, ReducedWork& work)
{
    work.A = work.at.stiffness;
    const double m = problem.mass_weight + problem.mass_damping();
    if (m != 0.0) work.A += m * problem.model.M;
    if (problem.stiffness_damping() != 0.0) work.A += problem.stiffness_damping() * work.K_lag;
    const double diagonal = work.A.diagonal().cwiseAbs().maxCoeff();
    double added = 0.0;
    for (double share = 0.0; share < 10.0; share = share == 0.0 ? 1e-8 : 10.0 * share) {
        work.A.diagonal().array() += share * diagonal - added;
        added = share * diagonal;
        work.llt.compute(work.A);
        if (work.llt.info() == Eigen::Success) {
            report.regularisation = std::max(report.regularisation, share);
            return true;
        }
    }
    return false;
}

enum class Search { Moved, Rounding, Failed };

/// Halves the step until Phi falls enough; energies and work.q, work.at, work.g move on.
Search line_search(const Problem& problem, double decrement, Energies& energies, ReducedWork& work)
{
    const double noise = 1e-14 * energies.size;
    for (double share = 1.0; share > 1e-10; share *= 0.5) {
        work.q_trial = work.q + share * work.step;
        evaluate_gradient(problem.model.elastic, work.q_trial, work.trial, work.elastic);
        const Energies trial = add_up(problem, work.q_trial, work.trial, work);
        if (trial.phi <= energies.phi - 1e-4 * share * decrement + noise) {
            work.q.swap(work.q_trial);
            std::swap(work.at, work.trial);
            energies = trial;
            return Search::Moved;
        }
    }
    return decrement <= noise ? Search::Rounding : Search::Failed;
}

/// A relative decrement below this that does not fall any more is rounding. (Newton with projected stiffness, the
/// slowest case, still makes a tenth of it in every iteration.)
constexpr double rounding_share = 1e-12;

/// Solves for the Newton step into work.step.
bool find_step(const Problem& problem, SolveReport& report, ReducedWork& work)
{
    if (!work.g.allFinite()) {
        report.status = SolveStatus::NotFinite;
        return false;
    }
    if (!factorise(problem, report, work)) {
        report.status = SolveStatus::NotPositiveDefinite;
        return false;
    }
    work.step = -work.g;
    work.llt.solveInPlace(work.step);
    report.decrement = -work.g.dot(work.step);
    return true;
}

/// Newton's method from work.start; the minimiser is in work.q.
SolveReport minimise(const Problem& problem, const ReducedNewtonOptions& newton, ReducedWork& work)
{
    SolveReport report;
    work.q = work.start;
    evaluate_stiffness(problem.model.elastic, work.q, work.at, work.elastic);
    Energies energies = add_up(problem, work.q, work.at, work);
    double gained = 0.0, last_decrement = std::numeric_limits<double>::infinity();
    while (report.iterations < newton.max_iterations) {
        if (!find_step(problem, report, work)) return report;
        ++report.iterations;
        if (newton.max_iterations == 1) {
            work.q += work.step;
            report.status = SolveStatus::Converged;
            return report;
        }
        const double before = energies.phi;
        const Search search = line_search(problem, report.decrement, energies, work);
        if (search == Search::Failed) {
            report.status = SolveStatus::LineSearchFailed;
            return report;
        }
        if (report.iterations == 1) gained = 2.0 * std::abs(before - energies.phi);
        const double scale = std::max(gained, energies.scale);
        report.relative_decrement = scale > 0.0 ? report.decrement / scale : 0.0;
        // What the step just taken left over is smaller than its decrement.
        const bool stagnates =
            report.relative_decrement < rounding_share && report.decrement > 0.5 * last_decrement;
        if (search == Search::Rounding || stagnates || report.relative_decrement <= newton.decrement) {
            report.status = SolveStatus::Converged;
            return report;
        }
        last_decrement = report.decrement;
        if (std::holds_alternative<CubatureElastic>(
                problem.model.elastic)) // the others have it from the search
            evaluate_stiffness(problem.model.elastic, work.q, work.at, work.elastic);
    }
    return report;
}

void require_usable(const ReducedModel& model, const VecX& force, const ReducedState& state,
                    const ReducedNewtonOptions& newton)
{
    if (force.size() != model.rank() || state.q.size() != model.rank() || state.v.size() != model.rank())
        throw InputError("the force has " + std::to_string(force.size()) + " and the state " +
                         std::to_string(state.q.size()) + " coordinates, the model " +
                         std::to_string(model.rank()));
    if (newton.max_iterations < 1) throw InputError("max_iterations must be above zero");
    (void)require_positive("decrement", newton.decrement);
}

/// work.K_lag, where damping needs it.
void set_lagged_stiffness(const ReducedModel& model, const VecX& q, ReducedWork& work)
{
    if (model.damping.stiffness == 0.0) return;
    evaluate_stiffness(model.elastic, q, work.at, work.elastic);
    work.K_lag = work.at.stiffness;
}

} // namespace

SolveReport solve_static(const ReducedModel& model, const VecX& force, const ReducedNewtonOptions& newton,
                         ReducedState& state, ReducedWork& work)
{
    require_usable(model, force, state, newton);
    work.start = state.q;
    const SolveReport report = minimise({model, force}, newton, work);
    if (report.converged()) {
        state.q = work.q;
        state.v.setZero();
        state.a.setZero(model.rank());
    }
    return report;
}

SolveReport step_backward_euler(const ReducedModel& model, const VecX& force, double h,
                                const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    require_usable(model, force, state, newton);
    (void)require_positive("h", h);
    set_lagged_stiffness(model, state.q, work);
    work.start = state.q;
    work.mass_centre = state.q + h * state.v;
    work.damping_centre = state.q;
    const SolveReport report = minimise({model, force, 1.0 / (h * h), 1.0 / h}, newton, work);
    if (report.converged()) {
        state.a = ((work.q - state.q) / h - state.v) / h;
        state.v = (work.q - state.q) / h;
        state.q = work.q;
        state.t += h;
    }
    return report;
}

SolveReport step_newmark(const ReducedModel& model, const VecX& force, double h,
                         const ReducedNewmarkOptions& options, ReducedState& state, ReducedWork& work)
{
    require_usable(model, force, state, options.newton);
    (void)require_positive("h", h);
    const double beta = options.beta, gamma = options.gamma;
    if (!(beta > 0.0 && beta <= 0.5 && gamma >= 0.5 && gamma <= 1.0))
        throw InputError("Newmark needs beta in (0, 1/2] and gamma in [1/2, 1]");
    set_lagged_stiffness(model, state.q, work);
    work.start = state.q;
    // a_1 = (q_1 - q_M)/(beta h^2) and v_1 = gamma/(beta h) (q_1 - q_D)
    work.mass_centre = state.q + h * state.v + h * h * (0.5 - beta) * state.a;
    work.damping_centre = work.mass_centre - (beta * h / gamma) * (state.v + h * (1.0 - gamma) * state.a);
    const SolveReport report =
        minimise({model, force, 1.0 / (beta * h * h), gamma / (beta * h)}, options.newton, work);
    if (report.converged()) {
        work.product = (work.q - work.mass_centre) / (beta * h * h);
        state.v += h * ((1.0 - gamma) * state.a + gamma * work.product);
        state.a = work.product;
        state.q = work.q;
        state.t += h;
    }
    return report;
}

SolveReport step_midpoint(const ReducedModel& model, const VecX& force, double h,
                          const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    require_usable(model, force, state, newton);
    (void)require_positive("h", h);
    set_lagged_stiffness(model, state.q, work);
    // In the midpoint m:  M 4/h^2 (m - q_0 - h/2 v_0) + D 2/h (m - q_0) + dPsi/dq(m) = f
    work.start = state.q;
    work.mass_centre = state.q + 0.5 * h * state.v;
    work.damping_centre = state.q;
    const SolveReport report = minimise({model, force, 4.0 / (h * h), 2.0 / h}, newton, work);
    if (report.converged()) {
        work.product = (2.0 / h) * (work.q - state.q); // (v_0 + v_1)/2
        state.q += h * work.product;
        work.product = 2.0 * work.product - state.v;
        state.a = (work.product - state.v) / h;
        state.v = work.product;
        state.t += h;
    }
    return report;
}

SolveReport set_acceleration(const ReducedModel& model, const VecX& force, ReducedState& state,
                             ReducedWork& work)
{
    require_usable(model, force, state, {});
    SolveReport report;
    evaluate_stiffness(model.elastic, state.q, work.at, work.elastic);
    work.g = force - work.at.gradient;
    work.g.noalias() -= model.damping.mass * (model.M * state.v);
    work.g.noalias() -= model.damping.stiffness * (work.at.stiffness * state.v);
    work.llt.compute(model.M);
    if (work.llt.info() != Eigen::Success || !work.g.allFinite()) {
        report.status = work.g.allFinite() ? SolveStatus::NotPositiveDefinite : SolveStatus::NotFinite;
        return report;
    }
    state.a = work.g;
    work.llt.solveInPlace(state.a);
    report.status = SolveStatus::Converged;
    return report;
}

double kinetic_energy(const ReducedModel& model, const ReducedState& state)
{
    return 0.5 * state.v.dot(model.M * state.v);
}

} // namespace lithe
