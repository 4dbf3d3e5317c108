#include "lithe/fem/solve.hpp"

#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

void require_fits(const FemModel& model, const FemState& state)
{
    const Index n = model.vertex_count();
    LITHE_ASSERT(state.x.cols() == n && state.v.cols() == n && state.a.cols() == n);
}

/// From state.x towards an equilibrium; the result is in work.x.
SolveReport equilibrium(const FemModel& model, const Loading& loading, const NewtonOptions& newton,
                        const FemState& state, FemWork& work)
{
    if (loading.pins.vertices.empty() && !(loading.contact && !loading.obstacles.empty()))
        throw InputError("a static solve needs pinned vertices or obstacles; pin some, or make it dynamic");
    require_fits(model, state);
    prepare_loading(model, loading, state.x, work);
    work.start = state.x;
    return minimise(model, loading, state.friction, {}, newton, work);
}

/// Adds to work.g what minimise adds, at state.x.
void add_contact_and_pressure(const Loading& loading, const FemState& state, FemWork& work)
{
    if (const auto scene = contact_scene(loading, state.friction)) {
        begin_contact(*scene, state.x, work.pinned, work.contact);
        (void)add_contact_gradient(*scene, state.x, work.g, work.contact);
        (void)refresh_contact(*scene, state.x, work.g, work.contact);
    }
    if (!loading.pressures.empty()) {
        begin_pressure(loading.pressures, state.x, work.pressure);
        (void)add_pressure_gradient(loading.pressures, state.x, work.g, work.pressure);
        (void)refresh_pressure(loading.pressures, state.x, work.g, work.pressure);
    }
}

} // namespace

SolveReport solve_static(const FemModel& model, const Loading& loading, const NewtonOptions& newton,
                         FemState& state, FemWork& work)
{
    const SolveReport report = equilibrium(model, loading, newton, state, work);
    if (!report.converged()) return report;
    state.x = work.x;
    std::swap(state.friction, work.friction);
    state.v.setZero();
    state.a.setZero();
    return report;
}

SolveReport step_quasi_static(const FemModel& model, const Loading& loading, double h,
                              const NewtonOptions& newton, FemState& state, FemWork& work)
{
    (void)require_positive("h", h);
    const SolveReport report = equilibrium(model, loading, newton, state, work);
    if (!report.converged()) return report;
    state.v = (work.x - state.x) / h;
    state.a.setZero();
    state.x = work.x;
    std::swap(state.friction, work.friction);
    state.t += h;
    return report;
}

SolveReport step_backward_euler(const FemModel& model, const Loading& loading, double h,
                                const NewtonOptions& newton, FemState& state, FemWork& work)
{
    (void)require_positive("h", h);
    require_fits(model, state);
    prepare_loading(model, loading, state.x, work);
    work.start = state.x;
    work.mass_centre = state.x + h * state.v; // where inertia alone would go
    work.damping_centre = state.x;
    const SolveReport report =
        minimise(model, loading, state.friction, {1.0 / (h * h), 1.0 / h}, newton, work);
    if (!report.converged()) return report;
    state.a = (work.x - work.mass_centre) / (h * h);
    state.v = (work.x - state.x) / h;
    state.x = work.x;
    std::swap(state.friction, work.friction);
    state.t += h;
    return report;
}

SolveReport step_newmark(const FemModel& model, const Loading& loading, double h,
                         const NewmarkOptions& options, FemState& state, FemWork& work)
{
    (void)require_positive("h", h);
    constexpr double eps = std::numeric_limits<double>::epsilon();
    const double beta = require_between("beta", options.beta, 0.0, 0.5 + eps);
    const double gamma = require_between("gamma", options.gamma, 0.5 - eps, 1.0 + eps);
    const double c_M = 1.0 / (beta * h * h), c_D = gamma / (beta * h);

    require_fits(model, state);
    prepare_loading(model, loading, state.x, work);
    work.start = state.x;
    work.mass_centre = state.x + h * state.v + (0.5 - beta) * h * h * state.a;
    // v_1 = c_D (x_1 - x_D)
    work.damping_centre = work.mass_centre - (state.v + (1.0 - gamma) * h * state.a) / c_D;
    const SolveReport report = minimise(model, loading, state.friction, {c_M, c_D}, options.newton, work);
    if (!report.converged()) return report;
    work.offset = c_M * (work.x - work.mass_centre); // a_1
    state.v += h * ((1.0 - gamma) * state.a + gamma * work.offset);
    state.a = work.offset;
    state.x = work.x;
    std::swap(state.friction, work.friction);
    state.t += h;
    return report;
}

SolveReport set_acceleration(const FemModel& model, const Loading& loading, FemState& state, FemWork& work)
{
    require_fits(model, state);
    prepare_loading(model, loading, state.x, work);
    (void)elastic_gradient(model, state.x, work.g, work.elastic);
    if (loading.force.size() > 0) work.g -= loading.force;
    add_contact_and_pressure(loading, state, work);
    multiply_mass(model, state.v, work.product);
    work.g += model.damping.mass * work.product;
    elastic_hessian(model, state.x, Definiteness::Projected, work.K, work.elastic);
    if (model.damping.stiffness > 0.0) {
        work.flat = Eigen::Map<const VecX>(state.v.data(), state.v.size());
        multiply_symmetric(work.K, work.flat, work.flat_product);
        work.g +=
            model.damping.stiffness * Eigen::Map<const Points>(work.flat_product.data(), 3, work.g.cols());
    }
    for (const int v : loading.pins.vertices) work.g.col(v).setZero();

    work.K = model.pattern.zero;
    work.couplings.clear();
    assemble_system(model, 1.0, 0.0, work);
    work.rhs = -Eigen::Map<const VecX>(work.g.data(), work.g.size());
    SolveReport report;
    report.status = solve_linear({.cg = {.relative_residual = 1e-12}}, report, work);
    if (report.converged()) state.a = Eigen::Map<const Points>(work.d.data(), 3, model.vertex_count());
    return report;
}

} // namespace lithe
