#include "lithe/reduce/reduced_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// What is minimised:  Phi(q) = c_M/2 |q - q_M|_M^2 + c_D/2 |q - q_D|_D^2 + Psi(q) - f.(q - q_start) + Phi_contact(q),
/// D = alpha M + beta K_lag; q_M, q_D, q_start are in the work.
struct Problem {
    const ReducedModel& model;
    const ReducedLoading& loading;
    std::optional<ReducedContactScene> contact;     ///< nothing where the body can touch nothing
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

/// The contact of a step from this state.
std::optional<ReducedContactScene> contact_scene(const ReducedLoading& loading, const ReducedState& state)
{
    if (!loading.contact || loading.obstacles.empty()) return {};
    return ReducedContactScene{*loading.contact, loading.obstacles, state.friction};
}

/// Phi at q from the elastic part there; its gradient in work.g.
Energies add_up(const Problem& problem, const VecX& q, const ReducedElastic& elastic, ReducedWork& work)
{
    work.g = elastic.gradient - problem.loading.force;
    Energies out{elastic.energy, std::abs(elastic.energy), 0.0};
    add_quadratic(problem.mass_weight, problem.model.M, work.mass_centre, q, work, out);
    add_quadratic(problem.mass_damping(), problem.model.M, work.damping_centre, q, work, out);
    add_quadratic(problem.stiffness_damping(), work.K_lag, work.damping_centre, q, work, out);
    work.d = q - work.start;
    const double load = problem.loading.force.dot(work.d);
    out.phi -= load;
    if (problem.contact) {
        const double touching = add_contact_gradient(*problem.contact, q, work.g, work.contact);
        out.phi += touching;
        out.scale += touching;
    }
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
    if (problem.contact) add_contact_stiffness(*problem.contact, work.A, work.contact);
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

/// What rounding may do to Phi. Less, and steps that are right are refused near the end, a little above rounding.
double noise_of(const Energies& energies)
{
    return 1e-13 * energies.size;
}

/// work.q by `share` of the step; true when Phi is low enough there: then energies and work.q, work.at, work.g move on.
bool try_step(const Problem& problem, double share, double wanted, Energies& energies, ReducedWork& work)
{
    work.q_trial = work.q + share * work.step;
    evaluate_gradient(problem.model.elastic, work.q_trial, work.trial, work.elastic);
    const Energies trial = add_up(problem, work.q_trial, work.trial, work);
    if (!(trial.phi <= energies.phi - wanted + noise_of(energies))) return false;
    work.q.swap(work.q_trial);
    std::swap(work.at, work.trial);
    energies = trial;
    return true;
}

/// A full step that gained much more than half the decrement says that the stiffness is too large along it: goes on to where
/// the parabola through both has its lowest point, as in lithe/fem/newton.cpp.
void stretch_step(const Problem& problem, double gained, double decrement, Energies& energies,
                  ReducedWork& work)
{
    if (gained < 0.75 * decrement || decrement < 1e3 * noise_of(energies)) return;
    const double length = 0.5 / std::max(1.0 - gained / decrement, 1.0 / 64.0);
    if (!try_step(problem, length - 1.0, 0.0, energies, work))
        energies = add_up(problem, work.q, work.at, work); // the gradient at q again, and what touches there
}

/// Moves by the largest of the step, its half, its quarter ... that lowers Phi enough.
Search line_search(const Problem& problem, double decrement, Energies& energies, ReducedWork& work)
{
    const double phi = energies.phi;
    for (double share = 1.0; share > 1e-10; share *= 0.5) {
        if (!try_step(problem, share, 1e-4 * share * decrement, energies, work)) continue;
        if (share == 1.0) stretch_step(problem, phi - energies.phi, decrement, energies, work);
        return Search::Moved;
    }
    energies = add_up(problem, work.q, work.at, work);
    return decrement <= noise_of(energies) ? Search::Rounding : Search::Failed;
}

/// A relative decrement below this that does not fall any more is rounding. (Newton with projected stiffness, the
/// slowest case, still makes a tenth of it in every iteration.)
constexpr double rounding_share = 1e-12;
/// Where no step lowers the energy and the decrement is below this, it is as low as rounding lets it go.
constexpr double lowest_share = 1e-13;

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

/// What contact takes as given is renewed as in lithe/fem/newton.cpp.
constexpr double pass_decrement = 1e-3;
constexpr double settled_share = 1e-3;
constexpr int max_passes = 8;

/// Renews what contact takes as given. Returns whether it was right already.
bool contact_settled(const Problem& problem, Energies& energies, ReducedWork& work)
{
    const ContactChange change = refresh_contact(*problem.contact, work.g, work.contact);
    energies.phi += change.energy;
    energies.scale += change.energy;
    return change.share <= settled_share;
}

/// At work.start; inertia alone would lead to the mass centre.
Energies begin(const Problem& problem, ReducedWork& work)
{
    work.q = work.start;
    if (problem.contact) {
        work.d.setZero(work.q.size());
        if (problem.mass_weight > 0.0) work.d = work.mass_centre - work.q;
        begin_contact(*problem.contact, work.q, work.d, work.contact);
    }
    evaluate_stiffness(problem.model.elastic, work.q, work.at, work.elastic);
    return add_up(problem, work.q, work.at, work);
}

SolveReport converged(const Problem& problem, SolveReport report, ReducedWork& work)
{
    report.status = SolveStatus::Converged;
    if (problem.contact)
        report.contact = finish_contact(*problem.contact, work.contact, work.friction);
    else
        clear(work.friction);
    return report;
}

/// The one full step, as it is.
SolveReport take_step(const Problem& problem, const SolveReport& report, ReducedWork& work)
{
    work.q += work.step;
    if (problem.contact) (void)add_contact_gradient(*problem.contact, work.q, work.g, work.contact);
    return converged(problem, report, work);
}

/// Newton's method from work.start; the minimiser is in work.q.
SolveReport minimise(const Problem& problem, const ReducedNewtonOptions& newton, ReducedWork& work)
{
    SolveReport report;
    Energies energies = begin(problem, work);
    double gained = 0.0, last_decrement = std::numeric_limits<double>::infinity();
    bool settled = !problem.contact;
    int passes = 0;
    while (report.iterations < newton.max_iterations) {
        if (!find_step(problem, report, work)) return report;
        ++report.iterations;
        if (newton.max_iterations == 1) return take_step(problem, report, work);
        const double before = energies.phi;
        const Search search = line_search(problem, report.decrement, energies, work);
        if (report.iterations == 1) gained = 2.0 * std::abs(before - energies.phi);
        const double scale = std::max(gained, energies.scale);
        report.relative_decrement = scale > 0.0 ? report.decrement / scale : 0.0;
        if (search == Search::Failed && report.relative_decrement > lowest_share) {
            report.status = SolveStatus::LineSearchFailed;
            return report;
        }
        // What the step just taken left over is smaller than its decrement.
        const bool stagnates =
            report.relative_decrement < rounding_share && report.decrement > 0.5 * last_decrement;
        const bool low =
            search != Search::Moved || stagnates || report.relative_decrement <= newton.decrement;
        last_decrement = report.decrement;
        if (!settled && (low || report.relative_decrement <= pass_decrement)) {
            settled = contact_settled(problem, energies, work) || ++passes == max_passes;
            last_decrement = std::numeric_limits<double>::infinity();
        }
        if (low && settled) return converged(problem, report, work);
        if (std::holds_alternative<CubatureElastic>(
                problem.model.elastic)) // the others have it from the search
            evaluate_stiffness(problem.model.elastic, work.q, work.at, work.elastic);
    }
    return report;
}

void require_usable(const ReducedModel& model, const ReducedLoading& loading, const ReducedState& state,
                    const ReducedNewtonOptions& newton)
{
    const Eigen::Ref<const VecX>& force = loading.force;
    if (force.size() != model.rank() || state.q.size() != model.rank() || state.v.size() != model.rank())
        throw InputError("the force has " + std::to_string(force.size()) + " and the state " +
                         std::to_string(state.q.size()) + " coordinates, the model " +
                         std::to_string(model.rank()));
    if (newton.max_iterations < 1) throw InputError("max_iterations must be above zero");
    (void)require_positive("decrement", newton.decrement);
}

/// Takes from work.g what minimise adds of contact, at state.q.
void subtract_contact(const ReducedLoading& loading, const ReducedState& state, ReducedWork& work)
{
    const auto scene = contact_scene(loading, state);
    if (!scene) return;
    work.d.setZero(state.q.size());
    begin_contact(*scene, state.q, work.d, work.contact);
    (void)add_contact_gradient(*scene, state.q, work.d, work.contact);
    (void)refresh_contact(*scene, work.d, work.contact);
    work.g -= work.d;
}

/// work.K_lag, where damping needs it.
void set_lagged_stiffness(const ReducedModel& model, const VecX& q, ReducedWork& work)
{
    if (model.damping.stiffness == 0.0) return;
    evaluate_stiffness(model.elastic, q, work.at, work.elastic);
    work.K_lag = work.at.stiffness;
}

} // namespace

SolveReport solve_static(const ReducedModel& model, const ReducedLoading& loading,
                         const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    require_usable(model, loading, state, newton);
    work.start = state.q;
    const SolveReport report = minimise({model, loading, contact_scene(loading, state)}, newton, work);
    if (report.converged()) {
        state.q = work.q;
        std::swap(state.friction, work.friction);
        state.v.setZero();
        state.a.setZero(model.rank());
    }
    return report;
}

SolveReport step_quasi_static(const ReducedModel& model, const ReducedLoading& loading, double h,
                              const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    (void)require_positive("h", h);
    work.last = state.q;
    const SolveReport report = solve_static(model, loading, newton, state, work);
    if (report.converged()) {
        state.v = (state.q - work.last) / h;
        state.t += h;
    }
    return report;
}

SolveReport step_backward_euler(const ReducedModel& model, const ReducedLoading& loading, double h,
                                const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    require_usable(model, loading, state, newton);
    (void)require_positive("h", h);
    set_lagged_stiffness(model, state.q, work);
    work.start = state.q;
    work.mass_centre = state.q + h * state.v;
    work.damping_centre = state.q;
    const SolveReport report =
        minimise({model, loading, contact_scene(loading, state), 1.0 / (h * h), 1.0 / h}, newton, work);
    if (report.converged()) {
        state.a = ((work.q - state.q) / h - state.v) / h;
        state.v = (work.q - state.q) / h;
        state.q = work.q;
        std::swap(state.friction, work.friction);
        state.t += h;
    }
    return report;
}

SolveReport step_newmark(const ReducedModel& model, const ReducedLoading& loading, double h,
                         const ReducedNewmarkOptions& options, ReducedState& state, ReducedWork& work)
{
    require_usable(model, loading, state, options.newton);
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
        minimise({model, loading, contact_scene(loading, state), 1.0 / (beta * h * h), gamma / (beta * h)},
                 options.newton, work);
    if (report.converged()) {
        work.product = (work.q - work.mass_centre) / (beta * h * h);
        state.v += h * ((1.0 - gamma) * state.a + gamma * work.product);
        state.a = work.product;
        state.q = work.q;
        std::swap(state.friction, work.friction);
        state.t += h;
    }
    return report;
}

SolveReport step_midpoint(const ReducedModel& model, const ReducedLoading& loading, double h,
                          const ReducedNewtonOptions& newton, ReducedState& state, ReducedWork& work)
{
    require_usable(model, loading, state, newton);
    (void)require_positive("h", h);
    if (loading.contact)
        throw InputError("the midpoint rule knows no contact; take backward Euler or Newmark's method");
    set_lagged_stiffness(model, state.q, work);
    // In the midpoint m:  M 4/h^2 (m - q_0 - h/2 v_0) + D 2/h (m - q_0) + dPsi/dq(m) = f
    work.start = state.q;
    work.mass_centre = state.q + 0.5 * h * state.v;
    work.damping_centre = state.q;
    const SolveReport report = minimise({model, loading, {}, 4.0 / (h * h), 2.0 / h}, newton, work);
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

SolveReport set_acceleration(const ReducedModel& model, const ReducedLoading& loading, ReducedState& state,
                             ReducedWork& work)
{
    require_usable(model, loading, state, {});
    SolveReport report;
    evaluate_stiffness(model.elastic, state.q, work.at, work.elastic);
    work.g = loading.force - work.at.gradient;
    subtract_contact(loading, state, work);
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
