#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/reduce/modes.hpp"
#include "lithe/reduce/reduced_solve.hpp"
#include "support/count_mallocs.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

/// Every displacement that leaves the pins in place, mass-orthonormal.
MatX complete_basis(const FemModel& model, const std::vector<int>& pins)
{
    std::vector<Index> free;
    for (Index i = 0; i < 3 * model.vertex_count(); ++i)
        if (std::ranges::find(pins, static_cast<int>(i / 3)) == pins.end()) free.push_back(i);
    MatX units = MatX::Zero(3 * model.vertex_count(), static_cast<Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) units(free[k], static_cast<Index>(k)) = 1.0;
    return mass_qr(model, units).Q;
}

/// The same load on a full body and on its reduced model with a complete basis.
struct Pair {
    FemModel model;
    Loading loading;
    MatX U;
    ReducedModel reduced;
    VecX force;

    Pair(const Material& material, const RayleighDamping& damping)
        : model(bar_model({3, 1, 1}, material, {.damping = damping}))
    {
        const std::vector<int> pins = vertices_at(model.rest, 0, 0.0);
        loading.pins = pinned_where_they_are(model.rest, pins);
        loading.force = Points::Zero(3, model.vertex_count());
        add_gravity(model, {1.0, -8.0, 3.0}, loading.force);
        U = complete_basis(model, pins);
        Progress progress;
        ElasticModel elastic = std::holds_alternative<StVenantKirchhoff>(material)
                                   ? ElasticModel(StvkPolynomial(model, U, progress))
                                   : ElasticModel(CubatureElastic(model, U, all_tets(model)));
        reduced = make_reduced_model(model, U, std::move(elastic));
        force = reduced_force(U, loading.force);
    }

    /// Largest distance of the two states over the largest displacement.
    double difference(const FemState& full, const ReducedState& state) const
    {
        Points x;
        reconstruct(model.rest, U, state.q, x);
        return (x - full.x).cwiseAbs().maxCoeff() / (full.x - model.rest).cwiseAbs().maxCoeff();
    }
};

constexpr NewtonOptions to_rounding{.decrement = 1e-26};
constexpr ReducedNewtonOptions reduced_to_rounding{.decrement = 1e-26};

struct Bar {
    FemModel model = bar_model({6, 2, 2}, StVenantKirchhoff({1e5, 0.4}));
    MatX U;
    ReducedModel linear, polynomial, cubature;
    VecX force;

    Bar()
    {
        RestSystem system(model, vertices_at(model.rest, 0, 0.0));
        Progress progress;
        U = linear_modes(system, {.count = 8}, progress).basis.U;
        linear = make_reduced_model(model, U, make_linear_elastic(model, U));
        polynomial = make_reduced_model(model, U, StvkPolynomial(model, U, progress));
        cubature = make_reduced_model(model, U, CubatureElastic(model, U, all_tets(model)));
        Points gravity = Points::Zero(3, model.vertex_count());
        add_gravity(model, {0.0, -1.0, 0.3}, gravity);
        force = reduced_force(U, gravity);
    }
};

} // namespace

TEST(ReducedSolve, CompleteBasisIsTheFullBodyAtRest)
{
    for (const Material& material :
         {Material(Corotational({1e5, 0.4})), Material(StVenantKirchhoff({1e5, 0.4}))}) {
        const Pair pair(material, {});
        FemState full = rest_state(pair.model);
        FemWork work;
        ReducedState state = rest_state(pair.reduced);
        ReducedWork reduced_work;
        ASSERT_TRUE(solve_static(pair.model, pair.loading, to_rounding, full, work).converged());
        ASSERT_TRUE(
            solve_static(pair.reduced, pair.force, reduced_to_rounding, state, reduced_work).converged());
        EXPECT_GT((full.x - pair.model.rest).cwiseAbs().maxCoeff(), 0.003);
        EXPECT_LT(pair.difference(full, state), 1e-9);
    }
}

TEST(ReducedSolve, CompleteBasisIsTheFullBodyInMotion)
{
    const double h = 0.01;
    for (const bool newmark : {false, true})
        for (const Material& material :
             {Material(Corotational({1e5, 0.4})), Material(StVenantKirchhoff({1e5, 0.4}))}) {
            // the stiffness that damps is projected in full space and by cubature, polynomials have it as it is
            const bool polynomial = std::holds_alternative<StVenantKirchhoff>(material);
            const Pair pair(material, {.mass = 0.5, .stiffness = polynomial ? 0.0 : 0.002});
            FemState full = rest_state(pair.model);
            FemWork work;
            ReducedState state = rest_state(pair.reduced);
            ReducedWork reduced_work;
            ASSERT_TRUE(set_acceleration(pair.model, pair.loading, full, work).converged());
            ASSERT_TRUE(set_acceleration(pair.reduced, pair.force, state, reduced_work).converged());
            for (int k = 0; k < 12; ++k) {
                if (newmark) {
                    ASSERT_TRUE(step_newmark(pair.model, pair.loading, h, {.newton = to_rounding}, full, work)
                                    .converged());
                    ASSERT_TRUE(step_newmark(pair.reduced, pair.force, h, {.newton = reduced_to_rounding},
                                             state, reduced_work)
                                    .converged());
                } else {
                    ASSERT_TRUE(step_backward_euler(pair.model, pair.loading, h, to_rounding, full, work)
                                    .converged());
                    ASSERT_TRUE(step_backward_euler(pair.reduced, pair.force, h, reduced_to_rounding, state,
                                                    reduced_work)
                                    .converged());
                }
                ASSERT_LT(pair.difference(full, state), 1e-9) << "step " << k;
            }
            EXPECT_GT((full.x - pair.model.rest).cwiseAbs().maxCoeff(), 0.003);
            EXPECT_NEAR(kinetic_energy(pair.reduced, state), kinetic_energy(pair.model, full),
                        1e-8 * kinetic_energy(pair.model, full));
        }
}

TEST(ReducedSolve, AnOscillatorKeepsItsFrequencyAndEnergy)
{
    const Bar bar;
    const double omega = std::sqrt(std::get<LinearElastic>(bar.linear.elastic).K(0, 0));
    ReducedState state = rest_state(bar.linear);
    state.q[0] = 0.01;
    ReducedWork work;
    const int steps = 400;
    const double h = 2.0 * std::numbers::pi / omega / steps;
    const VecX no_force = VecX::Zero(8);
    const auto energy = [&] {
        return kinetic_energy(bar.linear, state) +
               0.5 * state.q.dot(std::get<LinearElastic>(bar.linear.elastic).K * state.q);
    };
    const double before = energy();
    for (int k = 0; k < steps; ++k)
        ASSERT_TRUE(step_midpoint(bar.linear, no_force, h, reduced_to_rounding, state, work).converged());
    EXPECT_NEAR(energy() / before, 1.0, 1e-11); // a quadratic invariant
    EXPECT_NEAR(state.q[0] / 0.01, 1.0, 1e-6);  // one period; the phase lags by (omega h)^2/12
    EXPECT_NEAR(state.t, 2.0 * std::numbers::pi / omega, 1e-12);
}

TEST(ReducedSolve, StepsHaveTheirOrder) // spec D1
{
    const Bar bar;
    const auto after = [&](int method, int steps) {
        ReducedState state = rest_state(bar.polynomial);
        state.v = 10.0 * bar.force;
        ReducedWork work;
        EXPECT_TRUE(set_acceleration(bar.polynomial, bar.force, state, work).converged());
        const double h = 0.2 / steps;
        for (int k = 0; k < steps; ++k) {
            const SolveReport report =
                method == 0
                    ? step_backward_euler(bar.polynomial, bar.force, h, reduced_to_rounding, state, work)
                : method == 1
                    ? step_newmark(bar.polynomial, bar.force, h, {.newton = reduced_to_rounding}, state, work)
                    : step_midpoint(bar.polynomial, bar.force, h, reduced_to_rounding, state, work);
            EXPECT_TRUE(report.converged());
        }
        return state.q;
    };
    const VecX exact = after(2, 12800);
    const double expected[] = {1.0, 2.0, 2.0};
    const int steps[] = {3200, 800,
                         800}; // backward Euler meets its order late: it damps the fastest mode first
    for (int method = 0; method < 3; ++method) {
        const double coarse = (after(method, steps[method]) - exact).norm();
        const double fine = (after(method, 2 * steps[method]) - exact).norm();
        EXPECT_NEAR(std::log2(coarse / fine), expected[method], 0.15) << "method " << method;
    }
}

TEST(ReducedSolve, CubatureAndPolynomialAgree)
{
    const Bar bar;
    ReducedState a = rest_state(bar.polynomial), b = a;
    ReducedWork work;
    for (int k = 0; k < 10; ++k) {
        ASSERT_TRUE(
            step_backward_euler(bar.polynomial, bar.force, 0.02, reduced_to_rounding, a, work).converged());
        ASSERT_TRUE(
            step_backward_euler(bar.cubature, bar.force, 0.02, reduced_to_rounding, b, work).converged());
    }
    EXPECT_GT(a.q.norm(), 0.0);
    EXPECT_LT((a.q - b.q).norm(), 1e-10 * a.q.norm());
}

TEST(ReducedSolve, StaticErrorFallsOverNestedBasesOfRealMeshes)
{
    for (const char* name : {"tets/spot_8k.mesh", "tets/hand_7k.mesh", "tets/blub_fish_6k.mesh"}) {
        LITHE_DATA_OR_SKIP(path, name);
        const TetMesh mesh = read_tet_mesh(path);
        const double size =
            (mesh.vertices.rowwise().maxCoeff() - mesh.vertices.rowwise().minCoeff()).maxCoeff();
        const FemModel model = make_fem_model(mesh, Corotational({1e3 * 9.81 * size / 0.03, 0.4}), 1000.0);
        std::vector<int> pins;
        const double bottom = model.rest.row(1).minCoeff();
        for (int i = 0; i < static_cast<int>(model.vertex_count()); ++i)
            if (model.rest(1, i) < bottom + 0.05 * size) pins.push_back(i);
        Loading loading{.force = Points::Zero(3, model.vertex_count()),
                        .pins = pinned_where_they_are(model.rest, pins)};
        add_gravity(model, {9.81, 0.0, 3.0}, loading.force);
        FemState full = rest_state(model);
        FemWork work;
        ASSERT_TRUE(solve_static(model, loading, {.decrement = 1e-14}, full, work).converged());
        ElasticWork elastic;
        const auto total_energy = [&](const Points& x) {
            return elastic_energy(model, x, elastic) - loading.force.cwiseProduct(x - model.rest).sum();
        };
        const double least = total_energy(full.x);

        RestSystem system(model, pins);
        Progress progress;
        const Modes modes = linear_modes(system, {.count = 40}, progress);
        double last = std::sqrt(-2.0 * least); // of doing nothing
        const double nothing = last;
        for (const Index rank : {1, 5, 10, 20, 40}) {
            const MatX U = modes.basis.U.leftCols(rank);
            const ReducedModel reduced =
                make_reduced_model(model, U, CubatureElastic(model, U, all_tets(model)));
            ReducedState state = rest_state(reduced);
            ReducedWork reduced_work;
            ASSERT_TRUE(solve_static(reduced, reduced_force(U, loading.force), {.decrement = 1e-14}, state,
                                     reduced_work)
                            .converged());
            Points x;
            reconstruct(model.rest, U, state.q, x);
            const double error =
                std::sqrt(2.0 * (total_energy(x) - least)); // the energy norm, up to third order
            EXPECT_LT(error, last) << name << ", rank " << rank;
            last = error;
        }
        EXPECT_LT(last, 0.8 * nothing) << name; // no better: linear modes alone lock where the body bends far
    }
}

TEST(ReducedSolve, OneIterationIsOneFullNewtonStep)
{
    const Bar bar;
    ReducedState once = rest_state(bar.polynomial), many = once;
    ReducedWork work;
    const SolveReport report =
        step_backward_euler(bar.polynomial, bar.force, 0.02, {.max_iterations = 1}, once, work);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.iterations, 1);
    ASSERT_TRUE(
        step_backward_euler(bar.polynomial, bar.force, 0.02, reduced_to_rounding, many, work).converged());
    EXPECT_LT((once.q - many.q).norm(), 0.05 * many.q.norm());
    EXPECT_GT((once.q - many.q).norm(), 0.0);
}

TEST(ReducedSolve, StepsDoNotAllocate)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "a sanitizer has replaced malloc";
    Bar bar;
    for (ReducedModel* model : {&bar.linear, &bar.polynomial, &bar.cubature}) {
        model->damping = {.mass = 0.1, .stiffness = 0.001};
        ReducedState state = rest_state(*model);
        ReducedWork work;
        const auto run = [&] {
            return step_backward_euler(*model, bar.force, 0.02, {}, state, work).converged() &&
                   step_newmark(*model, bar.force, 0.02, {}, state, work).converged() &&
                   step_midpoint(*model, bar.force, 0.02, {}, state, work).converged();
        };
        ASSERT_TRUE(run());
        const MallocCounter counter;
        const bool converged = run();
        const auto count = counter.count();
        EXPECT_TRUE(converged);
        EXPECT_EQ(count, 0);
    }
}

TEST(ReducedSolve, FailureLeavesTheState)
{
    const Bar bar;
    ReducedState state = rest_state(bar.polynomial);
    state.q.setConstant(0.01);
    const ReducedState before = state;
    ReducedWork work;
    const VecX broken = VecX::Constant(8, std::nan(""));
    EXPECT_EQ(step_backward_euler(bar.polynomial, broken, 0.02, {}, state, work).status,
              SolveStatus::NotFinite);
    EXPECT_EQ(step_midpoint(bar.polynomial, broken, 0.02, {}, state, work).status, SolveStatus::NotFinite);
    EXPECT_EQ(
        solve_static(bar.polynomial, 20.0 * bar.force, {.max_iterations = 2, .decrement = 1e-20}, state, work)
            .status,
        SolveStatus::IterationLimit);
    EXPECT_EQ(state.q, before.q);
    EXPECT_EQ(state.v, before.v);
    EXPECT_EQ(state.t, before.t);
}

TEST(ReducedSolve, RefusesWhatCannotBe)
{
    const Bar bar;
    ReducedState state = rest_state(bar.linear);
    ReducedWork work;
    EXPECT_THAT(message_of([&] { (void)solve_static(bar.linear, VecX::Zero(3), {}, state, work); }),
                HasSubstr("3 and"));
    EXPECT_THAT(message_of([&] { (void)step_backward_euler(bar.linear, bar.force, 0.0, {}, state, work); }),
                HasSubstr("h"));
    EXPECT_THAT(
        message_of([&] { (void)step_newmark(bar.linear, bar.force, 0.1, {.beta = 0.0}, state, work); }),
        HasSubstr("beta"));
    EXPECT_THAT(
        message_of([&] { (void)solve_static(bar.linear, bar.force, {.max_iterations = 0}, state, work); }),
        HasSubstr("max_iterations"));
    EXPECT_THAT(message_of([&] {
                    (void)make_reduced_model(bar.model, bar.U.leftCols(3),
                                             make_linear_elastic(bar.model, bar.U));
                }),
                HasSubstr("rank 8"));
}
