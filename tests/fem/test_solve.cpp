#include "lithe/fem/solve.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/fem/loads.hpp"
#include "support/count_mallocs.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

const NewtonOptions tight = {.max_iterations = 100, .decrement = 1e-22};

std::vector<int> boundary_vertices(const TetMesh& mesh)
{
    std::vector<int> origin;
    (void)boundary_surface(mesh, origin);
    return origin;
}

/// A corotational beam along x, fixed at x = 0, that moves in the shape in which it would sag: about its first
/// mode, 6 rad/s, with 1 m/s at the tip.
struct Beam {
    FemModel model;
    FemState state;
    Loading loading;
};
Beam swinging_beam(const FemOptions& options = {})
{
    Beam beam{make_fem_model(box_tets({6, 2, 2}, {1.0, 0.2, 0.2}), Corotational({1e6, 0.3}), 1000.0, options),
              {},
              {}};
    beam.state = rest_state(beam.model);
    beam.loading.pins = pinned_where_they_are(beam.model.rest, vertices_at(beam.model.rest, 0, 0.0));
    Loading weight = beam.loading;
    weight.force = Points::Zero(3, beam.model.vertex_count());
    add_gravity(beam.model, {0.0, -0.1, 0.0}, weight.force);
    FemState sagged = beam.state;
    FemWork work;
    EXPECT_TRUE(solve_static(beam.model, weight, tight, sagged, work).converged());
    beam.state.v = sagged.x - beam.model.rest;
    beam.state.v /= beam.state.v.cwiseAbs().maxCoeff();
    return beam;
}

double mechanical_energy(const FemModel& model, const FemState& state)
{
    ElasticWork work;
    return kinetic_energy(model, state) + elastic_energy(model, state.x, work);
}

bool same_bits(const FemState& a, const FemState& b)
{
    return a.x == b.x && a.v == b.v && a.a == b.a && a.t == b.t;
}

} // namespace

// All boundary vertices go where an affine map sends them; the inner ones must follow it exactly.
TEST(SolveStatic, PassesThePatchTest)
{
    TetMesh mesh = box_tets({3, 3, 3}, {1.0, 1.2, 0.9});
    Random random(1);
    for (Index i = 0; i < mesh.vertex_count(); ++i) // uneven inside
        if ((mesh.vertices.col(i).array() > 0.1).all() && (mesh.vertices.col(i).array() < 0.85).all())
            mesh.vertices.col(i) += noise(random, 1, 0.03);
    Mat3 A;
    A << 1.1, 0.15, -0.05, 0.02, 0.95, 0.1, 0.08, -0.06, 1.05;
    for (const MaterialKind kind : material_kinds()) {
        const FemModel model =
            make_fem_model(mesh, make_material({.kind = kind, .elastic = {1e5, 0.35}}), 1000.0);
        const Points affine = (A * model.rest).colwise() + Vec3(0.3, -0.2, 0.1);
        Loading loading{.pins = pinned_where_they_are(affine, boundary_vertices(mesh))};
        EXPECT_LT(static_cast<Index>(loading.pins.vertices.size()), model.vertex_count());
        FemState state = rest_state(model);
        FemWork work;
        const SolveReport report = solve_static(model, loading, tight, state, work);
        EXPECT_TRUE(report.converged()) << material_name(kind) << " " << to_string(report.status);
        EXPECT_LT((state.x - affine).cwiseAbs().maxCoeff(), 1e-10) << material_name(kind);
    }
}

// Acceptance M5, two hundred times.
TEST(SolveStatic, CorotationalBodiesRecoverFromAnyScramble)
{
    int worst = 0;
    for (int seed = 0; seed < 200; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        // squat: a slender body has other equilibria, twisted by whole turns
        const TetMesh mesh = box_tets({2 + seed % 3, 2 + seed / 3 % 2, 2}, {1.0, 1.0, 0.8});
        const FemModel model = make_fem_model(mesh, Corotational({1e5, random.uniform(0.0, 0.45)}), 1000.0);
        Loading loading{.pins = pinned_where_they_are(model.rest, vertices_at(model.rest, 2, 0.0))};
        FemState state = rest_state(model);
        for (Index i = 0; i < model.vertex_count(); ++i)
            if (model.rest(2, i) > 0.0) state.x.col(i) = noise(random, 1, 1.0);
        FemWork work;
        const SolveReport report = solve_static(model, loading, tight, state, work);
        ASSERT_TRUE(report.converged()) << seed << " " << to_string(report.status);
        ASSERT_LT((state.x - model.rest).cwiseAbs().maxCoeff(), 1e-8) << seed;
        worst = std::max(worst, report.iterations);
    }
    EXPECT_LT(worst, 100);
}

TEST(SolveStatic, DirectAndIterativeSolversAgree)
{
    Beam beam = swinging_beam();
    beam.loading.force = Points::Zero(3, beam.model.vertex_count());
    add_gravity(beam.model, {0.0, -2.0, 0.0}, beam.loading.force);
    FemState direct = beam.state, iterative = beam.state;
    FemWork work;
    NewtonOptions newton{.decrement = 1e-12, .linear_solver = LinearSolver::Cholesky};
    const SolveReport a = solve_static(beam.model, beam.loading, newton, direct, work);
    newton.linear_solver = LinearSolver::ConjugateGradient;
    const SolveReport b = solve_static(beam.model, beam.loading, newton, iterative, work);
    EXPECT_TRUE(a.converged() && b.converged());
    EXPECT_EQ(a.linear_iterations, 0);
    EXPECT_GT(b.linear_iterations, 10);
    EXPECT_GT((direct.x - beam.model.rest).norm(), 1e-3);
    EXPECT_LT((direct.x - iterative.x).norm(), 1e-5 * (direct.x - beam.model.rest).norm());
    EXPECT_LE(a.relative_decrement, newton.decrement);
}

TEST(SolveStatic, DecrementSaysHowFarToGo)
{
    Beam beam = swinging_beam();
    beam.loading.force = Points::Zero(3, beam.model.vertex_count());
    add_gravity(beam.model, {0.0, -5.0, 0.0}, beam.loading.force);
    FemState exact = beam.state, loose = beam.state;
    FemWork work;
    const SolveReport fine = solve_static(beam.model, beam.loading, tight, exact, work);
    const SolveReport coarse = solve_static(beam.model, beam.loading, {.decrement = 1e-3}, loose, work);
    ASSERT_TRUE(fine.converged() && coarse.converged());
    EXPECT_LT(coarse.iterations, fine.iterations);
    const double error = (loose.x - exact.x).norm() / (exact.x - beam.model.rest).norm();
    EXPECT_GT(error, 1e-14);
    EXPECT_LT(error, 0.1);
}

TEST(SolveStatic, FailureLeavesTheStateAlone)
{
    Beam beam = swinging_beam();
    beam.loading.force = Points::Zero(3, beam.model.vertex_count());
    add_gravity(beam.model, {0.0, -500.0, 0.0}, beam.loading.force);
    const FemState before = beam.state;
    FemWork work;
    EXPECT_EQ(
        solve_static(beam.model, beam.loading, {.max_iterations = 1, .decrement = 1e-12}, beam.state, work)
            .status,
        SolveStatus::IterationLimit);
    EXPECT_TRUE(same_bits(beam.state, before));
    EXPECT_EQ(step_backward_euler(beam.model, beam.loading, 0.01, {.max_iterations = 1, .decrement = 1e-12},
                                  beam.state, work)
                  .status,
              SolveStatus::IterationLimit);
    EXPECT_TRUE(same_bits(beam.state, before));
    beam.loading.force(0, 5) = std::nan("");
    EXPECT_EQ(step_backward_euler(beam.model, beam.loading, 0.01, {}, beam.state, work).status,
              SolveStatus::NotFinite);
    EXPECT_TRUE(same_bits(beam.state, before));
}

TEST(SolveStatic, RefusesNonsense)
{
    Beam beam = swinging_beam();
    FemWork work;
    const auto solve = [&](const Loading& loading) {
        (void)solve_static(beam.model, loading, {}, beam.state, work);
    };
    EXPECT_THROW(solve({}), InputError); // nothing is pinned
    Loading bad = beam.loading;
    bad.pins.vertices[0] = bad.pins.vertices[1];
    EXPECT_THROW(solve(bad), InputError);
    bad.pins.vertices[0] = static_cast<int>(beam.model.vertex_count());
    EXPECT_THROW(solve(bad), InputError);
    bad = beam.loading;
    bad.pins.vertices.pop_back();
    EXPECT_THROW(solve(bad), InputError);
    bad = beam.loading;
    bad.pins.targets(1, 2) = std::nan("");
    EXPECT_THROW(solve(bad), InputError);
    bad = beam.loading;
    bad.force = Points::Zero(3, 2);
    EXPECT_THROW(solve(bad), InputError);
    EXPECT_THROW((void)step_backward_euler(beam.model, beam.loading, 0.0, {}, beam.state, work), InputError);
    EXPECT_THROW(
        (void)step_backward_euler(beam.model, beam.loading, 0.1, {.max_iterations = 0}, beam.state, work),
        InputError);
    EXPECT_THROW(
        (void)step_backward_euler(beam.model, beam.loading, 0.1, {.decrement = 0.0}, beam.state, work),
        InputError);
    EXPECT_THROW((void)step_newmark(beam.model, beam.loading, 0.1, {.beta = 0.0}, beam.state, work),
                 InputError);
    EXPECT_THROW((void)step_newmark(beam.model, beam.loading, 0.1, {.gamma = 0.4}, beam.state, work),
                 InputError);
}

// One pinned vertex leaves three rotations free: the matrix is singular at rest, and a small shift settles it.
TEST(SolveStatic, HangsFromOneVertex)
{
    const FemModel model =
        make_fem_model(box_tets({2, 2, 2}, {1.0, 1.0, 1.0}), Corotational({1e5, 0.3}), 100.0);
    Loading loading{.force = Points::Zero(3, model.vertex_count()),
                    .pins = pinned_where_they_are(model.rest, {0})};
    add_gravity(model, {0.0, -9.81, 0.0}, loading.force);
    FemState state = rest_state(model);
    FemWork work;
    const SolveReport report =
        solve_static(model, loading, {.max_iterations = 300, .decrement = 1e-10}, state, work);
    ASSERT_TRUE(report.converged()) << to_string(report.status);
    const Vec3 centre = state.x * model.vertex_mass / model.vertex_mass.sum();
    EXPECT_LT(centre[1], -0.8); // straight below the pin at the origin, sqrt(3)/2 away
    EXPECT_LT(std::hypot(centre[0], centre[2]), 0.01);
}

TEST(StepQuasiStatic, FollowsItsPinsRoundACircle)
{
    Beam beam = swinging_beam();
    beam.state = rest_state(beam.model);
    FemWork work;
    const double h = 0.1;
    for (int k = 1; k <= 12; ++k) { // pins turn by 360 degrees; the unloaded beam turns with them
        const Mat3 R = Eigen::AngleAxisd(k * std::acos(-1.0) / 6.0, Vec3::UnitZ()).toRotationMatrix();
        beam.loading.pins = pinned_where_they_are(R * beam.model.rest, beam.loading.pins.vertices);
        const Points before = beam.state.x;
        const SolveReport report = step_quasi_static(beam.model, beam.loading, h, tight, beam.state, work);
        ASSERT_TRUE(report.converged()) << k << to_string(report.status);
        EXPECT_LT((beam.state.x - R * beam.model.rest).cwiseAbs().maxCoeff(), 1e-9);
        EXPECT_LT((beam.state.v - (beam.state.x - before) / h).norm(), 1e-12);
    }
    EXPECT_NEAR(beam.state.t, 1.2, 1e-12);
}

TEST(StepBackwardEuler, FreeFallIsExact)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FemModel model = make_fem_model(box_tets({2, 2, 3}, {0.5, 0.5, 0.8}), Corotational({1e5, 0.4}),
                                              800.0, {.mass = kind});
        const Vec3 g(0.0, -9.81, 0.0), v_0(1.0, 2.0, -0.5);
        Loading loading{.force = Points::Zero(3, model.vertex_count())};
        add_gravity(model, g, loading.force);
        FemState state = rest_state(model);
        state.v.colwise() = v_0;
        FemWork work;
        const double h = 0.01;
        const int steps = 50;
        for (int k = 0; k < steps; ++k)
            ASSERT_TRUE(step_backward_euler(model, loading, h, {}, state, work).converged());
        // x_n = x_0 + n h v_0 + h^2 g n (n + 1)/2
        const Vec3 fallen = steps * h * v_0 + 0.5 * h * h * steps * (steps + 1) * g;
        EXPECT_LT((state.x - (model.rest.colwise() + fallen)).cwiseAbs().maxCoeff(), 1e-11);
        EXPECT_LT((state.v.colwise() - (v_0 + steps * h * g)).cwiseAbs().maxCoeff(), 1e-10);
    }
}

TEST(StepBackwardEuler, FreeBodyKeepsItsMomentum)
{
    const FemModel model =
        make_fem_model(box_tets({4, 2, 2}, {1.0, 0.4, 0.4}), StableNeoHookean({1e4, 0.4}), 1000.0);
    FemState state = rest_state(model);
    Random random(7);
    for (Index i = 0; i < model.vertex_count(); ++i)
        state.v.col(i) =
            Vec3(0.3, -0.2, 0.5) + Vec3(0.0, 0.0, 3.0).cross(Vec3(state.x.col(i))) + noise(random, 1, 0.2);
    const Vec3 P_0 = linear_momentum(model, state);
    FemWork work;
    for (int k = 0; k < 50; ++k) {
        ASSERT_TRUE(step_backward_euler(model, {}, 0.01, {}, state, work).converged());
        EXPECT_LT((linear_momentum(model, state) - P_0).norm(), 1e-12 * P_0.norm()) << k;
    }
}

TEST(StepBackwardEuler, EnergyNeverRisesWithoutLoad)
{
    Beam beam = swinging_beam();
    FemWork work;
    double energy = mechanical_energy(beam.model, beam.state);
    const double first = energy;
    for (int k = 0; k < 80; ++k) {
        ASSERT_TRUE(
            step_backward_euler(beam.model, beam.loading, 0.02, {.decrement = 1e-12}, beam.state, work)
                .converged());
        const double now = mechanical_energy(beam.model, beam.state);
        EXPECT_LE(now, energy * (1.0 + 1e-12)) << k;
        energy = now;
    }
    EXPECT_LT(energy, 0.5 * first);
    EXPECT_GT(energy, 0.0);
}

TEST(StepBackwardEuler, DampingTakesEnergy)
{
    const auto left = [](const RayleighDamping& damping) {
        Beam beam = swinging_beam({.damping = damping});
        FemWork work;
        for (int k = 0; k < 100; ++k)
            EXPECT_TRUE(
                step_backward_euler(beam.model, beam.loading, 0.002, {}, beam.state, work).converged());
        return mechanical_energy(beam.model, beam.state);
    };
    const double none = left({});
    EXPECT_LT(left({.mass = 5.0}), 0.7 * none);
    EXPECT_LT(left({.stiffness = 0.01}), 0.9 * none);
}

TEST(StepBackwardEuler, StiffnessDampingDoesNotBrakeTranslation)
{
    const FemModel model = make_fem_model(box_tets({2, 2, 2}, {1.0, 1.0, 1.0}), Corotational({1e4, 0.3}),
                                          1000.0, {.damping = {.stiffness = 0.1}});
    FemState state = rest_state(model);
    state.v.colwise() = Vec3(1.0, 0.0, 0.0);
    FemWork work;
    for (int k = 0; k < 10; ++k)
        ASSERT_TRUE(step_backward_euler(model, {}, 0.01, {}, state, work).converged());
    EXPECT_LT((state.v.colwise() - Vec3(1.0, 0.0, 0.0)).cwiseAbs().maxCoeff(), 1e-10);
}

// Pins that are driven up and down carry the body with them, and it lags behind by its own inertia only.
TEST(StepBackwardEuler, MovingPinsCarryTheBody)
{
    Beam beam = swinging_beam();
    beam.state = rest_state(beam.model);
    FemWork work;
    const double h = 0.01;
    double largest_lag = 0.0;
    for (int k = 1; k <= 100; ++k) { // a smooth move by half a metre
        const double s = k / 100.0, y = 0.5 * s * s * (3.0 - 2.0 * s);
        beam.loading.pins =
            pinned_where_they_are(beam.model.rest.colwise() + Vec3(0.0, y, 0.0), beam.loading.pins.vertices);
        ASSERT_TRUE(step_backward_euler(beam.model, beam.loading, h, {}, beam.state, work).converged());
        for (std::size_t p = 0; p < beam.loading.pins.vertices.size(); ++p)
            ASSERT_TRUE(beam.state.x.col(beam.loading.pins.vertices[p]) ==
                        beam.loading.pins.targets.col(static_cast<Index>(p)));
        const Points carried = beam.model.rest.colwise() + Vec3(0.0, y, 0.0);
        largest_lag = std::max(largest_lag, (beam.state.x - carried).cwiseAbs().maxCoeff());
    }
    EXPECT_GT(largest_lag, 0.01);
    EXPECT_LT(largest_lag, 0.25);
}

// Acceptance D1: a swinging corotational beam at t = 0.4 s with 20, 40, 80 steps against many small ones.
TEST(Integrators, ConvergeAtTheirOrders)
{
    const auto swing = [](int steps, auto&& step) {
        Beam beam = swinging_beam();
        FemWork work;
        EXPECT_TRUE(set_acceleration(beam.model, beam.loading, beam.state, work).converged());
        for (int k = 0; k < steps; ++k) EXPECT_TRUE(step(beam, 0.4 / steps, work).converged());
        return beam;
    };
    const auto newmark = [](Beam& beam, double h, FemWork& work) {
        return step_newmark(beam.model, beam.loading, h, {.newton = tight}, beam.state, work);
    };
    const auto euler = [](Beam& beam, double h, FemWork& work) {
        return step_backward_euler(beam.model, beam.loading, h, tight, beam.state, work);
    };
    const Beam exact = swing(640, newmark);
    const double size = (exact.state.x - exact.model.rest).norm();
    const auto error = [&](const Beam& beam) { return (beam.state.x - exact.state.x).norm() / size; };
    ASSERT_GT(size, 0.1);

    const double e_20 = error(swing(20, euler)), e_40 = error(swing(40, euler)),
                 e_80 = error(swing(80, euler));
    EXPECT_NEAR(std::log2(e_20 / e_40), 1.0, 0.15) << e_20 << " " << e_40;
    EXPECT_NEAR(std::log2(e_40 / e_80), 1.0, 0.15) << e_80;

    const Beam n_20 = swing(20, newmark), n_40 = swing(40, newmark), n_80 = swing(80, newmark);
    EXPECT_NEAR(std::log2(error(n_20) / error(n_40)), 2.0, 0.15) << error(n_20) << " " << error(n_40);
    EXPECT_NEAR(std::log2(error(n_40) / error(n_80)), 2.0, 0.15) << error(n_80);
    const double energy = mechanical_energy(n_80.model, swinging_beam().state);
    EXPECT_NEAR(mechanical_energy(n_80.model, n_80.state) / energy, 1.0, 0.005);
}

TEST(StepNewmark, GammaAboveOneHalfDamps)
{
    const auto left = [](double beta, double gamma) {
        Beam beam = swinging_beam();
        FemWork work;
        EXPECT_TRUE(set_acceleration(beam.model, beam.loading, beam.state, work).converged());
        for (int k = 0; k < 50; ++k)
            EXPECT_TRUE(
                step_newmark(beam.model, beam.loading, 0.04, {.beta = beta, .gamma = gamma}, beam.state, work)
                    .converged());
        return mechanical_energy(beam.model, beam.state);
    };
    EXPECT_LT(left(0.3025, 0.6), 0.9 * left(0.25, 0.5));
}

TEST(Integrators, SameBitsForAnyNumberOfThreads)
{
    const auto run = [](int threads, LinearSolver solver) {
        const ThreadLimit limit(threads);
        FemModel model = make_fem_model(box_tets({12, 6, 6}, {1.0, 0.5, 0.5}), Corotational({1e5, 0.3}),
                                        1000.0, {.damping = {0.1, 0.001}});
        FemState state = rest_state(model);
        Loading loading{.force = Points::Zero(3, model.vertex_count()),
                        .pins = pinned_where_they_are(model.rest, vertices_at(model.rest, 0, 0.0))};
        add_gravity(model, {0.0, -9.81, 0.0}, loading.force);
        FemWork work;
        for (int k = 0; k < 5; ++k)
            EXPECT_TRUE(step_backward_euler(model, loading, 0.02, {.linear_solver = solver}, state, work)
                            .converged());
        return state;
    };
    for (const LinearSolver solver : {LinearSolver::Cholesky, LinearSolver::ConjugateGradient}) {
        const FemState one = run(1, solver);
        for (const int threads : {2, 4}) EXPECT_TRUE(same_bits(run(threads, solver), one)) << threads;
    }
}

// Through conjugate gradients, so that no factorisation allocates either.
TEST(Integrators, PreparedStepAllocatesNothing)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "a sanitizer has replaced malloc";
    const ThreadLimit limit(1);
    Beam beam = swinging_beam({.damping = {0.1, 0.001}});
    beam.loading.force = Points::Zero(3, beam.model.vertex_count());
    add_gravity(beam.model, {0.0, -9.81, 0.0}, beam.loading.force);
    FemWork work;
    const NewtonOptions newton{.linear_solver = LinearSolver::ConjugateGradient};
    const auto step = [&] {
        return step_backward_euler(beam.model, beam.loading, 0.01, newton, beam.state, work).converged() &&
               step_newmark(beam.model, beam.loading, 0.01, {.newton = newton}, beam.state, work).converged();
    };
    EXPECT_TRUE(step());
    long count = 0;
    bool converged = true;
    {
        const MallocCounter counter;
        for (int k = 0; k < 5; ++k) converged = step() && converged;
        count = counter.count();
    }
    EXPECT_TRUE(converged);
    EXPECT_EQ(count, 0);
    {
        const MallocCounter counter;
        const VecX something = VecX::Zero(1000);
        EXPECT_GT(counter.count(), 0); // the counter counts
        EXPECT_EQ(something.sum(), 0.0);
    }
}

TEST(Integrators, OneWorkServesBodiesInTurn)
{
    // two meshes with as many vertices and neighbours, but others
    const TetMesh mesh = box_tets({3, 2, 2}, {1.0, 1.0, 1.0});
    TetMesh shuffled = mesh;
    shuffled.vertices = mesh.vertices.rowwise().reverse();
    for (int& v : shuffled.tets.reshaped()) v = static_cast<int>(mesh.vertex_count()) - 1 - v;
    const FemModel a = make_fem_model(mesh, Corotational({1e5, 0.3}), 1000.0);
    const FemModel b = make_fem_model(shuffled, Corotational({1e5, 0.3}), 1000.0);
    ASSERT_EQ(a.pattern.zero.nonZeros(), b.pattern.zero.nonZeros());
    FemWork work;
    const auto fall = [&](const FemModel& model) {
        Loading loading{.force = Points::Zero(3, model.vertex_count()),
                        .pins = pinned_where_they_are(model.rest, vertices_at(model.rest, 0, 0.0))};
        add_gravity(model, {0.0, -9.81, 0.0}, loading.force);
        FemState state = rest_state(model);
        for (int k = 0; k < 3; ++k)
            EXPECT_TRUE(step_backward_euler(model, loading, 0.02, tight, state, work).converged());
        return state.x;
    };
    const Points x_a = fall(a), x_b = fall(b);
    EXPECT_GT((x_a - a.rest).norm(), 1e-3);
    EXPECT_LT((x_a - x_b.rowwise().reverse()).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Integrators, SymbolicPhaseIsReused)
{
    Beam beam = swinging_beam();
    FemWork work;
    for (int k = 0; k < 3; ++k)
        EXPECT_TRUE(step_backward_euler(beam.model, beam.loading, 0.01, {}, beam.state, work).converged());
    beam.loading.pins = {}; // other pins, same pattern
    EXPECT_TRUE(step_backward_euler(beam.model, beam.loading, 0.01, {}, beam.state, work).converged());
    EXPECT_EQ(work.cholesky.analysis_count(), 1);
}
