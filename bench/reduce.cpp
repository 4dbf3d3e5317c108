#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/core/memory.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/fem/solve.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/reduce/modes.hpp"
#include "lithe/reduce/prepared_model.hpp"
#include "lithe/reduce/reduced_poses.hpp"
#include "lithe/reduce/reduced_solve.hpp"

namespace lithe::bench {
namespace {

/// Without a warm-up, for what takes long.
template <class Work>
Timing measure_cold(int runs, Progress& progress, const Work& work)
{
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
        progress.check();
        const Stopwatch watch;
        work();
        seconds.push_back(watch.seconds());
    }
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds.front(), seconds.back(), runs};
}

/// Stands on the lowest twentieth of its height; its own weight strains it by about 3 %.
struct StandingBody {
    TetMesh mesh;
    FemModel model;
    std::vector<int> pins;

    template <class Law>
    static StandingBody make(TetMesh mesh)
    {
        const Box3 box = bounds(mesh.vertices);
        const double height = box.sizes()[1];
        StandingBody body{mesh, make_fem_model(mesh, Law({1000.0 * 9.81 * height / 0.03, 0.4}), 1000.0), {}};
        for (Index i = 0; i < mesh.vertex_count(); ++i)
            if (mesh.vertices(1, i) < box.min()[1] + 0.05 * height) body.pins.push_back(static_cast<int>(i));
        return body;
    }
    /// Gravity, mostly from the side: the body bends.
    Points weight() const
    {
        Points force = Points::Zero(3, model.vertex_count());
        add_gravity(model, {9.0, -4.0, 1.0}, force);
        return force;
    }
};

Modes modes_of(const FemModel& model, const std::vector<int>& pins, Index count)
{
    RestSystem system(model, pins);
    Progress silent;
    return linear_modes(system, {.count = count}, silent);
}

/// From rest under a force: one Newton iteration per step of backward Euler, 200 steps to a run.
template <class AfterStep>
Timing measure_steps(const ReducedModel& model, const VecX& force, Progress& progress,
                     const AfterStep& after_step)
{
    ReducedWork work;
    constexpr int steps = 200, runs = 9;
    Timing timing = measure(runs, progress, [&] {
        ReducedState state = rest_state(model);
        for (int k = 0; k < steps; ++k) {
            (void)step_backward_euler(model, force, 1.0 / 60.0, {.max_iterations = 1}, state, work);
            after_step(state);
        }
    });
    for (double* seconds : {&timing.median, &timing.fastest, &timing.slowest}) *seconds /= steps;
    return timing;
}
Timing measure_steps(const ReducedModel& model, const VecX& force, Progress& progress)
{
    const ThreadLimit one_core(1);
    return measure_steps(model, force, progress, [](const ReducedState&) {});
}

/// So many tets, evenly over the numbers of a mesh. What a step costs does not depend on which.
Cubature some_tets(const FemModel& model, Index count)
{
    const Cubature all = all_tets(model);
    Cubature some;
    for (Index c = 0; c < count; ++c)
        some.tets.push_back(all.tets[static_cast<std::size_t>(c * all.size() / count)]);
    some.weights = VecX::Constant(count, static_cast<double>(all.size()) / static_cast<double>(count));
    return some;
}

void bench_polynomials(const StandingBody& beam, const MatX& U, SuiteReport& report, Progress& progress)
{
    for (const Index r : {20, 30, 40, 60}) {
        const MatX U_r = U.leftCols(r);
        std::optional<StvkPolynomial> polynomial;
        Progress silent;
        progress.begin(fmt::format("polynomials of rank {}", r), 1);
        const Timing prepare = measure(5, progress, [&] { polynomial.emplace(beam.model, U_r, silent); });
        const ReducedModel model = make_reduced_model(beam.model, U_r, *std::move(polynomial));
        const Timing step = measure_steps(model, reduced_force(U_r, beam.weight()), progress);
        report.results.push_back(result(fmt::format("stvk_step_ms_r{}", r), step, 1e3, "ms",
                                        "beam_450, backward Euler with one Newton iteration, one core, 200 "
                                        "steps a run; bound by reading r^4/24 coefficients"));
        report.results.push_back(result(fmt::format("stvk_prepare_s_r{}", r), prepare, 1.0, "s",
                                        fmt::format("beam_450, {} tets, {} threads; bound by the product "
                                                    "of r^2/2 strains with themselves",
                                                    beam.mesh.tet_count(), thread_count())));
    }
}

struct CorotationalStep {
    Index r, n;
    Timing timing;
};

/// t = a n r + b n r^2 + c r^3 [s] for the fastest runs, with the least sum of squared relative errors.
struct CostFit {
    Vec3 abc;
    double worst; ///< largest relative error
};
CostFit fit_cost(const std::vector<CorotationalStep>& steps)
{
    MatX A(static_cast<Index>(steps.size()), 3);
    for (Index k = 0; k < A.rows(); ++k) {
        const auto& [r, n, timing] = steps[static_cast<std::size_t>(k)];
        const double rank = static_cast<double>(r), points = static_cast<double>(n);
        A.row(k) =
            Eigen::RowVector3d(points * rank, points * rank * rank, rank * rank * rank) / timing.fastest;
    }
    const VecX one = VecX::Ones(A.rows());
    const Vec3 abc = A.colPivHouseholderQr().solve(one);
    return {abc, (A * abc - one).cwiseAbs().maxCoeff()};
}

void bench_corotational(const StandingBody& beam, const MatX& U, SuiteReport& report, Progress& progress)
{
    progress.begin("corotational steps", 1);
    std::vector<CorotationalStep> steps;
    for (const Index r : {20, 30, 40, 60}) {
        const MatX U_r = U.leftCols(r);
        const VecX force = reduced_force(U_r, beam.weight());
        for (const Index n : {45, 90, 180, 360}) {
            const ReducedModel model = make_reduced_model(
                beam.model, U_r, CubatureElastic(beam.model, U_r, some_tets(beam.model, n)));
            steps.push_back({r, n, measure_steps(model, force, progress)});
        }
    }
    const auto [abc, worst] = fit_cost(steps);
    const std::string fit = fmt::format(
        "; the fastest runs of all fit a n r + b n r^2 + c r^3 with a = {:.2f}, b = {:.3f}, c = {:.3f} ns to "
        "within {:.0f} %",
        1e9 * abc[0], 1e9 * abc[1], 1e9 * abc[2], 100.0 * worst);
    for (const auto& [r, n, timing] : steps)
        report.results.push_back(result(fmt::format("corot_step_ms_r{}_n{}", r, n), timing, 1e3, "ms",
                                        "beam_450, backward Euler with one Newton iteration, one core, 200 "
                                        "steps a run" +
                                            (r == 20 && n == 90 ? fit : "")));
}

/// Beam of 450 tets: small models, made in no time.
void bench_beam(SuiteReport& report, Progress& progress)
{
    const std::string file = data_file("tets/beam_450.veg");
    if (file.empty()) {
        report.skipped.push_back("stvk_step_ms_*, stvk_prepare_s_*, corot_step_ms_*: no data file beam_450");
        return;
    }
    const StandingBody stvk = StandingBody::make<StVenantKirchhoff>(read_tet_mesh(file));
    const StandingBody corotational = StandingBody::make<Corotational>(stvk.mesh);
    const MatX U = modes_of(stvk.model, stvk.pins, 60).basis.U;
    bench_polynomials(stvk, U, report, progress);
    bench_corotational(corotational, U, report, progress);
}

void bench_armadillo(SuiteReport& report, Progress& progress)
{
    const std::string file = data_file("tets/stanford/armadillo_74k.mesh.gz");
    if (file.empty()) {
        report.skipped.push_back("modes_armadillo_s, cubature_r40_s: no data file armadillo_74k");
        return;
    }
    const StandingBody body = StandingBody::make<Corotational>(read_tet_mesh(file));
    progress.begin("modes of armadillo_74k", 1);
    const Timing modes = measure(5, progress, [&] { (void)modes_of(body.model, {}, 30); });
    report.results.push_back(result("modes_armadillo_s", modes, 1.0, "s",
                                    fmt::format("30 modes of the free body, {} vertices, {} threads; bound "
                                                "by the factorisation and the solves",
                                                body.mesh.vertex_count(), thread_count())));

    const MatX U = modes_of(body.model, body.pins, 40).basis.U;
    progress.begin("poses", 1);
    Progress silent;
    const CubaturePoses poses = random_poses(body.model, U, {.training = 150, .held_out = 50}, silent);
    TrainedCubature trained;
    progress.begin("cubature of armadillo_74k", 1);
    const Timing training = measure_cold(
        3, progress, [&] { trained = train_cubature(body.model, U, poses, {.tolerance = 0.02}, silent); });
    report.results.push_back(result(
        "cubature_r40_s", training, 1.0, "s",
        fmt::format("pinned body, r = 40, 150 + 50 poses, {} points, held-out error {:.2f} %{}, {} threads",
                    trained.cubature.size(), 100.0 * trained.held_out_error,
                    trained.status == CubatureStatus::Converged ? "" : " (tolerance not met)",
                    thread_count())));
}

/// Seconds of one Newton iteration in full space, after the analysis of the matrix.
Timing measure_full_iteration(const StandingBody& body, Progress& progress)
{
    FemState state = rest_state(body.model);
    Loading loading{.force = body.weight()};
    loading.pins.vertices = body.pins;
    loading.pins.targets = body.model.rest(Eigen::all, body.pins);
    FemWork work;
    // ends at its limit and leaves the state for the next run
    const NewtonOptions one{.max_iterations = 1, .decrement = 1e-30};
    return measure(1, progress,
                   [&] { (void)step_backward_euler(body.model, loading, 1.0 / 60.0, one, state, work); });
}

/// A speed-up over `full`, from the times of both.
Result speedup(const std::string& name, const Timing& full, const Result& milliseconds)
{
    const auto ratio = [&](double ms) { return 1e3 * full.median / ms; };
    return {name,
            ratio(milliseconds.value),
            "x",
            fmt::format("one Newton iteration in full space takes {:.2f} s ({} threads, {} run); ",
                        full.median, thread_count(), full.runs) +
                milliseconds.note,
            ratio(milliseconds.high),
            ratio(milliseconds.low),
            milliseconds.runs};
}

void bench_hand_steps(const StandingBody& body, const MatX& U, SuiteReport& report, Progress& progress)
{
    progress.begin("steps of hand_530k", 1);
    const ReducedModel model =
        make_reduced_model(body.model, U, CubatureElastic(body.model, U, some_tets(body.model, 150)));
    const VecX force = reduced_force(U, body.weight());
    std::vector<int> origin;
    TriangleMesh boundary = boundary_surface(body.mesh, origin);
    const ReducedSurface surface =
        make_reduced_surface(std::move(boundary), embed_vertices(origin, body.mesh), U);
    const std::string what = "hand_530k, corotational, r = 30, 150 points, one Newton iteration a step";
    const Result step = result("hand_step_ms", measure_steps(model, force, progress), 1e3, "ms",
                               what + ", one core, 200 steps a run");
    Points x;
    const auto write_surface = [&](const ReducedState& state) { reconstruct(surface, state.q, x); };
    const Result with_surface =
        result("hand_step_surface_ms", measure_steps(model, force, progress, write_surface), 1e3, "ms",
               fmt::format(
                   "{}, {} surface vertices written, {} threads, 200 steps a run; bound by reading the basis",
                   what, surface.rest.vertex_count(), thread_count()));
    progress.begin("hand_530k in full space", 1);
    const Timing full = measure_full_iteration(body, progress);
    report.results.insert(report.results.end(),
                          {step, with_surface, speedup("hand_speedup_coordinates", full, step),
                           speedup("hand_speedup_surface", full, with_surface)});
}

/// First of all, so that the peak of memory is its own.
void bench_hand(SuiteReport& report, Progress& progress)
{
    const std::string file = data_file("tets/hand_530k.mesh.gz");
    if (file.empty()) {
        report.skipped.push_back("modes_hand_530k_s, hand_step_ms, hand_step_surface_ms, "
                                 "hand_speedup_coordinates, hand_speedup_surface: no data file hand_530k");
        return;
    }
    const StandingBody body = StandingBody::make<Corotational>(read_tet_mesh(file));
    progress.begin("modes of hand_530k", 1);
    MatX U;
    const Timing modes = measure_cold(1, progress, [&] { U = modes_of(body.model, body.pins, 30).basis.U; });
    report.results.push_back(
        result("modes_hand_530k_s", modes, 1.0, "s",
               fmt::format("30 modes of the pinned body, {} vertices, {} threads; peak of memory {:.2f} GB; "
                           "bound by the factorisation",
                           body.mesh.vertex_count(), thread_count(),
                           1e-9 * static_cast<double>(peak_memory_bytes()))));
    bench_hand_steps(body, U, report, progress);
}

} // namespace

SuiteReport bench_reduce(Progress& progress)
{
    SuiteReport report;
    bench_hand(report, progress);
    bench_armadillo(report, progress);
    bench_beam(report, progress);
    return report;
}

} // namespace lithe::bench
