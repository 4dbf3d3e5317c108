#include "lithe/fem/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

using FlatView = Eigen::Map<VecX>;
using ConstFlatView = Eigen::Map<const VecX>;
FlatView flat(Points& x)
{
    return {x.data(), x.size()};
}
ConstFlatView flat(const Points& x)
{
    return {x.data(), x.size()};
}

/// What contact takes as given is renewed whenever the relative decrement has come down to `pass_decrement`, until
/// that changes the forces of contact by less than `settled_share`, or has happened `max_passes` times.
constexpr double pass_decrement = 1e-3;
constexpr double settled_share = 1e-3;
constexpr int max_passes = 8;

/// What is to be minimised.
struct Problem {
    const FemModel& model;
    const Loading& loading;
    const Objective& objective;
    std::optional<ContactScene> contact; ///< nothing where the body can touch nothing
};

/// The parts of Phi, each at least zero but the work of the forces and of pressure.
struct Energies {
    double inertia = 0.0, damping = 0.0, elastic = 0.0, work_of_forces = 0.0, contact = 0.0,
           pressure = 0.0; ///< [J]
    double phi() const { return inertia + damping + elastic - work_of_forces + contact + pressure; }
    double scale() const { return inertia + damping + std::abs(elastic) + contact; }
    /// What rounding may do to phi.
    double noise() const { return 1e-13 * (scale() + std::abs(work_of_forces) + std::abs(pressure)); }
};

/// Adds c/2 |x - centre|_M^2 to the result, and its gradient to g.
double add_inertia(const FemModel& model, double weight, const Points& x, const Points& centre, Points& g,
                   FemWork& work)
{
    work.offset = x - centre;
    multiply_mass(model, work.offset, work.product);
    g += weight * work.product;
    return 0.5 * weight * flat(work.offset).dot(flat(work.product));
}

double add_stiffness_damping(double weight, const Points& x, Points& g, FemWork& work)
{
    work.flat = flat(x) - flat(work.damping_centre);
    multiply_symmetric(work.K_lag, work.flat, work.flat_product);
    flat(g) += weight * work.flat_product;
    return 0.5 * weight * work.flat.dot(work.flat_product);
}

/// Phi in its parts, and its gradient with the rows of pinned vertices set to zero.
Energies evaluate(const Problem& problem, const Points& x, Points& g, FemWork& work)
{
    const auto& [model, loading, objective, contact] = problem;
    Energies out;
    out.elastic = elastic_gradient(model, x, g, work.elastic);
    if (objective.mass_weight > 0.0)
        out.inertia = add_inertia(model, objective.mass_weight, x, work.mass_centre, g, work);
    const double c_alpha = objective.damping_weight * model.damping.mass;
    const double c_beta = objective.damping_weight * model.damping.stiffness;
    if (c_alpha > 0.0) out.damping += add_inertia(model, c_alpha, x, work.damping_centre, g, work);
    if (c_beta > 0.0) out.damping += add_stiffness_damping(c_beta, x, g, work);
    if (loading.force.size() > 0) {
        work.offset = x - work.start;
        out.work_of_forces = flat(loading.force).dot(flat(work.offset));
        g -= loading.force;
    }
    if (contact) out.contact = add_contact_gradient(*contact, x, g, work.contact);
    if (!loading.pressures.empty())
        out.pressure = add_pressure_gradient(loading.pressures, x, g, work.pressure);
    for (const int v : loading.pins.vertices) g.col(v).setZero();
    return out;
}

/// Renews what pressure takes as given, at every iterate.
void refresh_rim(const Problem& problem, Energies& energies, FemWork& work)
{
    const Loading& loading = problem.loading;
    if (loading.pressures.empty()) return;
    energies.pressure += refresh_pressure(loading.pressures, work.x, work.g, work.pressure);
    for (const int v : loading.pins.vertices) work.g.col(v).setZero();
}

/// Renews what contact takes as given. Returns whether it was right already.
bool contact_settled(const Problem& problem, Energies& energies, FemWork& work)
{
    const ContactChange change = refresh_contact(*problem.contact, work.x, work.g, work.contact);
    energies.contact += change.energy;
    for (const int v : problem.loading.pins.vertices) work.g.col(v).setZero();
    return change.share <= settled_share;
}

/// The decrement that the rounding of the positions alone makes: gradients are wrong by about eps |A_ii| |x_i|.
double rounding_decrement(const SparseMatrix& A, const Points& x)
{
    double sum = 0.0;
    for (Index j = 0; j < A.cols(); ++j) sum += A.coeff(j, j) * x.data()[j] * x.data()[j];
    constexpr double eps = 4.0 * std::numeric_limits<double>::epsilon();
    return eps * eps * sum;
}

/// Right-hand side -(g + H p) where the pins go by p at once.
void set_right_hand_side(const FemModel& model, const Objective& objective, bool pins_move, FemWork& work)
{
    work.rhs = -flat(work.g);
    if (!pins_move) return;
    work.flat = flat(work.pin_step);
    multiply_symmetric(work.K, work.flat, work.flat_product);
    work.rhs -= work.flat_product;
    const double c_beta = objective.damping_weight * model.damping.stiffness;
    if (c_beta > 0.0) {
        multiply_symmetric(work.K_lag, work.flat, work.flat_product);
        work.rhs -= c_beta * work.flat_product;
    }
    multiply_mass(model, work.pin_step, work.product);
    work.rhs -= (objective.mass_weight + objective.damping_weight * model.damping.mass) * flat(work.product);
    for (std::size_t v = 0; v < work.pinned.size(); ++v)
        if (work.pinned[v]) work.rhs.segment<3>(3 * static_cast<Index>(v)).setZero();
}

/// How far Newton's matrix is pushed towards its diagonal: A_ii becomes (1 + share) A_ii. None until a factorisation or a
/// line search fails; then more from try to try, and less again with every step that works.
class Regularisation {
public:
    double share() const { return share_; }
    /// So little that the decrement still means what it says.
    bool negligible() const { return share_ <= 1e-6; }
    bool exhausted() const { return share_ > 1.0; }
    void raise() { share_ = share_ == 0.0 ? smallest : 100.0 * share_; }
    void lower() { share_ = share_ > smallest ? share_ / 100.0 : least_; }
    /// The matrix was singular: it will be again, so that the smallest share stays.
    void raise_for_good()
    {
        least_ = smallest;
        raise();
    }

    void apply(SparseMatrix& A) const
    {
        if (share_ == 0.0) return;
        for (Index j = 0; j < A.cols(); ++j) A.coeffRef(j, j) *= 1.0 + share_;
    }

private:
    static constexpr double smallest = 1e-8;
    double share_ = 0.0, least_ = 0.0;
};

/// Newton's matrix at work.x, whose stiffness is in work.K, into work.system(). `definiteness` is that of pressure.
void set_system(const Problem& problem, Definiteness definiteness, FemWork& work)
{
    const auto& [model, loading, objective, contact] = problem;
    assemble_system(model, objective.mass_weight + objective.damping_weight * model.damping.mass,
                    objective.damping_weight * model.damping.stiffness, work);
    if (!loading.pressures.empty())
        add_pressure_stiffness(loading.pressures, work.x, definiteness, work.pinned, work.A);
    if (!contact) return;
    collect_couplings(work.contact.pairs, work.A, work.couplings);
    if (!work.couplings.empty()) copy_with_couplings(work.A, work.couplings, work.coupled);
    set_contact_stiffness(*contact, work.x, work.contact);
    add_contact_stiffness(work.contact.stiffness, work.pinned, work.system());
}

/// Newton's direction at work.x, whose stiffness is in work.K, into work.d. Under pressure the tension of the body
/// balances what pressure takes: only the exact Hessians know, so these are tried first.
SolveStatus find_direction(const Problem& problem, const NewtonOptions& newton,
                           const Regularisation& regularisation, bool pins_move, SolveReport& report,
                           FemWork& work)
{
    const bool pressed = !problem.loading.pressures.empty();
    const auto solve = [&](Definiteness definiteness) {
        if (pressed) elastic_hessian(problem.model, work.x, definiteness, work.K, work.elastic);
        set_system(problem, definiteness, work);
        regularisation.apply(work.system());
        set_right_hand_side(problem.model, problem.objective, pins_move, work);
        return solve_linear(newton, report, work);
    };
    report.regularisation = std::max(report.regularisation, regularisation.share());
    const SolveStatus status = pressed ? solve(Definiteness::Exact) : SolveStatus::NotPositiveDefinite;
    return status == SolveStatus::NotPositiveDefinite ? solve(Definiteness::Projected) : status;
}

/// Everything goes by d, and the pins to their targets.
void move_pins(const Loading& loading, FemWork& work)
{
    flat(work.x) += work.d;
    for (std::size_t p = 0; p < loading.pins.vertices.size(); ++p)
        work.x.col(loading.pins.vertices[p]) = loading.pins.targets.col(static_cast<Index>(p));
}

/// work.x by `share` of d; true when Phi is low enough there (Armijo), which then is what `energies` says.
bool try_step(const Problem& problem, double share, double wanted, Energies& energies, FemWork& work)
{
    flat(work.x_trial) = flat(work.x) + share * work.d;
    const Energies trial = evaluate(problem, work.x_trial, work.g_trial, work);
    if (!(trial.phi() <= energies.phi() - wanted + energies.noise())) return false;
    work.x.swap(work.x_trial);
    work.g.swap(work.g_trial);
    energies = trial;
    return true;
}

/// A full step that gained much more than half the decrement says that the projected Hessian is too stiff along d: goes on
/// to where the parabola through both has its lowest point, if that is lower. Not where rounding decides what was gained.
void stretch_step(const Problem& problem, double gained, double decrement, Energies& energies, FemWork& work)
{
    if (gained < 0.75 * decrement || decrement < 1e3 * energies.noise()) return;
    const double length = 0.5 / std::max(1.0 - gained / decrement, 1.0 / 64.0); // at most 32
    const bool lower = try_step(problem, length - 1.0, 0.0, energies, work);
    if (!lower && problem.contact) energies = evaluate(problem, work.x, work.g, work);
}

/// Moves work.x by the largest of d, d/2, d/4 ... that lowers Phi enough. False when none does.
bool line_search(const Problem& problem, double decrement, Energies& energies, FemWork& work)
{
    const double phi = energies.phi();
    double share = 1.0;
    for (int halving = 0; halving < 20; ++halving, share *= 0.5) {
        if (!try_step(problem, share, 1e-4 * share * decrement, energies, work)) continue;
        if (halving == 0) stretch_step(problem, phi - energies.phi(), decrement, energies, work);
        return true;
    }
    if (problem.contact) energies = evaluate(problem, work.x, work.g, work); // what touches at x again
    return false;
}

/// At work.start, with nothing frozen.
void begin(const Problem& problem, FemWork& work)
{
    work.x = work.start;
    work.x_trial.resize(3, problem.model.vertex_count());
    work.couplings.clear();
    if (problem.contact) begin_contact(*problem.contact, work.x, work.pinned, work.contact);
    if (!problem.loading.pressures.empty()) begin_pressure(problem.loading.pressures, work.x, work.pressure);
}

ContactReport finish(const Problem& problem, FemWork& work)
{
    if (problem.contact) return finish_contact(*problem.contact, work.x, work.contact, work.friction);
    clear(work.friction);
    return {};
}

bool use_cholesky(const NewtonOptions& newton, Index unknowns)
{
    if (newton.linear_solver == LinearSolver::Automatic) return unknowns <= largest_cholesky;
    return newton.linear_solver == LinearSolver::Cholesky;
}

void require_usable(const NewtonOptions& newton)
{
    if (newton.max_iterations < 1) throw InputError("max_iterations must be at least 1");
    (void)require_positive("decrement", newton.decrement);
}

} // namespace

const char* to_string(SolveStatus status)
{
    switch (status) {
    case SolveStatus::Converged:
        return "converged";
    case SolveStatus::IterationLimit:
        return "reached the limit of iterations";
    case SolveStatus::LineSearchFailed:
        return "found no way down in energy";
    case SolveStatus::NotPositiveDefinite:
        return "met a singular matrix; pin more vertices";
    case SolveStatus::NotFinite:
        return "met a number that is not finite";
    }
    return "";
}

std::optional<ContactScene> contact_scene(const Loading& loading, const FrictionState& friction)
{
    if (!loading.contact || (loading.obstacles.empty() && !loading.contact->self)) return {};
    return ContactScene{*loading.contact, loading.obstacles, friction};
}

void prepare_loading(const FemModel& model, const Loading& loading, const Points& x, FemWork& work)
{
    const Index n = model.vertex_count();
    if (loading.force.size() > 0 && loading.force.cols() != n)
        throw InputError("there are forces for " + std::to_string(loading.force.cols()) +
                         " vertices, but the body has " + std::to_string(n));
    if (static_cast<Index>(loading.pins.vertices.size()) != loading.pins.targets.cols())
        throw InputError("there are " + std::to_string(loading.pins.vertices.size()) +
                         " pinned vertices, but " + std::to_string(loading.pins.targets.cols()) + " targets");
    work.pinned.assign(static_cast<std::size_t>(n), 0);
    work.pin_step.setZero(3, n);
    for (std::size_t k = 0; k < loading.pins.vertices.size(); ++k) {
        const int v = loading.pins.vertices[k];
        if (v < 0 || v >= n)
            throw InputError("vertex " + std::to_string(v) + " is pinned, but the body has " +
                             std::to_string(n));
        if (work.pinned[static_cast<std::size_t>(v)])
            throw InputError("vertex " + std::to_string(v) + " is pinned twice");
        if (!loading.pins.targets.col(static_cast<Index>(k)).allFinite())
            throw InputError("the target of pinned vertex " + std::to_string(v) + " is not finite");
        work.pinned[static_cast<std::size_t>(v)] = 1;
        work.pin_step.col(v) = loading.pins.targets.col(static_cast<Index>(k)) - x.col(v);
    }
}

void assemble_system(const FemModel& model, double m, double k, FemWork& work)
{
    const StiffnessPattern& pattern = model.pattern;
    adopt_pattern(pattern, work.A);
    const double* K = work.K.valuePtr();
    const double* K_lag = k > 0.0 ? work.K_lag.valuePtr() : K;
    double* A = work.A.valuePtr();
    parallel_for(model.vertex_count(), 512, [&](Index j) {
        const int start = pattern.column_start[static_cast<std::size_t>(j)];
        const int end = pattern.column_start[static_cast<std::size_t>(j) + 1];
        const bool column_pinned = work.pinned[static_cast<std::size_t>(j)];
        for (int c = 0; c < 3; ++c)
            for (int b = start; b < end; ++b) {
                const int i = pattern.row[static_cast<std::size_t>(b)];
                const int at = 9 * start + 3 * (end - start) * c + 3 * (b - start);
                const bool fixed = column_pinned || work.pinned[static_cast<std::size_t>(i)];
                for (int r = 0; r < 3; ++r) A[at + r] = fixed ? 0.0 : K[at + r] + k * K_lag[at + r];
                if (!fixed) A[at + c] += m * model.mass[static_cast<std::size_t>(b)];
                if (fixed && i == j) A[at + c] = 1.0;
            }
    });
}

SolveStatus solve_linear(const NewtonOptions& newton, SolveReport& report, FemWork& work)
{
    if (use_cholesky(newton, work.rhs.size())) {
        const FactorStatus factor = work.cholesky.factorise(work.system());
        if (factor == FactorStatus::NotPositiveDefinite) return SolveStatus::NotPositiveDefinite;
        if (factor == FactorStatus::NotFinite) return SolveStatus::NotFinite;
        work.d = work.rhs;
        work.cholesky.solve(work.d);
        return SolveStatus::Converged;
    }
    if (!work.preconditioner)
        work.preconditioner.emplace(work.system());
    else
        work.preconditioner->compute(work.system());
    const auto A = [&](const VecX& x, VecX& y) { multiply_symmetric(work.system(), x, y); };
    work.d.setZero(work.rhs.size());
    const CgReport cg = conjugate_gradient(A, *work.preconditioner, work.rhs, newton.cg, work.d, work.cg);
    report.linear_iterations += cg.iterations;
    if (cg.status == CgStatus::NotPositiveDefinite) return SolveStatus::NotPositiveDefinite;
    if (cg.status == CgStatus::NotFinite) return SolveStatus::NotFinite;
    return SolveStatus::Converged; // at its limit of iterations the iterate still is a way down
}

SolveReport minimise(const FemModel& model, const Loading& loading, const FrictionState& friction,
                     const Objective& objective, const NewtonOptions& newton, FemWork& work)
{
    require_usable(newton);
    const Problem problem{model, loading, objective, contact_scene(loading, friction)};
    SolveReport report;
    const auto finished = [&](SolveStatus status) {
        report.status = status;
        if (report.converged()) report.contact = finish(problem, work);
        return report;
    };
    bool pins_move = work.pin_step.cwiseAbs().maxCoeff() > 0.0;
    begin(problem, work);
    elastic_hessian(model, work.x, Definiteness::Projected, work.K, work.elastic);
    if (objective.damping_weight * model.damping.stiffness > 0.0) work.K_lag = work.K;
    Energies energies = evaluate(problem, work.x, work.g, work);
    refresh_rim(problem, energies, work);
    Regularisation regularisation;
    bool settled = !problem.contact;
    int passes = 0;
    double fall = 0.0; // of Phi in the first step that worked

    while (report.iterations < newton.max_iterations) {
        // direction
        if (report.iterations > 0 && loading.pressures.empty())
            elastic_hessian(model, work.x, Definiteness::Projected, work.K, work.elastic);
        ++report.iterations;
        const SolveStatus linear = find_direction(problem, newton, regularisation, pins_move, report, work);
        if (linear == SolveStatus::NotPositiveDefinite) {
            regularisation.raise_for_good();
            if (regularisation.exhausted()) return finished(linear);
            continue;
        }
        if (linear != SolveStatus::Converged) return finished(linear);

        // pins go to their targets, uphill if they must
        if (pins_move) {
            move_pins(loading, work);
            energies = evaluate(problem, work.x, work.g, work);
            refresh_rim(problem, energies, work);
            pins_move = false;
            continue;
        }

        // step
        report.decrement = work.rhs.dot(work.d);
        if (!std::isfinite(report.decrement)) return finished(SolveStatus::NotFinite);
        const double phi = energies.phi();
        const bool moved = line_search(problem, report.decrement, energies, work);
        if (fall == 0.0) fall = phi - energies.phi();
        const double scale = std::max(2.0 * fall, energies.scale());
        report.relative_decrement = report.decrement / std::max(scale, std::numeric_limits<double>::min());

        // stop
        const double enough = std::max(newton.decrement * scale, rounding_decrement(work.system(), work.x));
        const bool lowest = !moved && report.relative_decrement < 1e-9; // as low as rounding lets it go
        const bool low = lowest || (report.decrement <= enough && regularisation.negligible());
        if (!settled && (low || report.relative_decrement <= pass_decrement))
            settled = contact_settled(problem, energies, work) || ++passes == max_passes;
        if (low && settled) return finished(SolveStatus::Converged);
        if (moved)
            regularisation.lower();
        else if (!lowest)
            regularisation.raise();
        if (regularisation.exhausted()) return finished(SolveStatus::LineSearchFailed);
        refresh_rim(problem, energies, work);
    }
    return report;
}

} // namespace lithe
