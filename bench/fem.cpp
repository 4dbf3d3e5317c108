#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/fem/full_body.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/meshing/tetrahedralise.hpp"

namespace lithe::bench {
namespace {

/// A body of density 1000 kg/m^3 that its own weight strains by about 3 %.
FemModel soft_body(const TetMesh& mesh)
{
    const double height = bounds(mesh.vertices).sizes()[1];
    return make_fem_model(mesh, Corotational({1000.0 * 9.81 * height / 0.03, 0.4}), 1000.0);
}

/// One step from rest under gravity, standing on the lowest twentieth of its height.
struct Drop {
    FemState state;
    Loading loading;
};
Drop standing(const FemModel& model)
{
    Drop drop{rest_state(model), {.force = Points::Zero(3, model.vertex_count())}};
    add_gravity(model, {0.0, -9.81, 0.0}, drop.loading.force);
    const Box3 box = bounds(model.rest);
    const double sole = box.min()[1] + 0.05 * box.sizes()[1];
    for (Index i = 0; i < model.vertex_count(); ++i)
        if (model.rest(1, i) < sole) drop.loading.pins.vertices.push_back(static_cast<int>(i));
    drop.loading.pins.targets = model.rest(Eigen::all, drop.loading.pins.vertices);
    return drop;
}

void bench_elasticity(const FemModel& model, SuiteReport& report, Progress& progress)
{
    const ThreadLimit one_core(1);
    Random random(1);
    Points x = model.rest;
    const double size = bounds(x).diagonal().norm();
    for (double& entry : x.reshaped()) entry += 1e-3 * size * random.normal();
    ElasticWork work;
    Points gradient;
    SparseMatrix K;
    const double tets = static_cast<double>(model.elements.slot_count());
    const std::string what = fmt::format("{:.0f} corotational tets, one core; bound by ", tets);

    progress.begin("elastic forces", 1);
    const auto forces = [&] { (void)elastic_gradient(model, x, gradient, work); };
    report.results.push_back(result("corot_gradient_us_per_tet", measure(7, progress, forces), 1e6 / tets,
                                    "us", what + "arithmetic: the polar decomposition"));
    progress.begin("stiffness", 1);
    const auto stiffness = [&] { elastic_hessian(model, x, Definiteness::Projected, K, work); };
    report.results.push_back(result("corot_hessian_us_per_tet", measure(7, progress, stiffness), 1e6 / tets,
                                    "us", what + "memory: 720 bytes a tet go out and come back"));
}

void bench_step(const FemModel& model, SuiteReport& report, Progress& progress)
{
    const ThreadLimit two(2);
    Drop drop = standing(model);
    FemWork work;
    // three iterations exactly: the step then reports its limit and leaves the state for the next run
    const NewtonOptions three{.max_iterations = 3, .decrement = 1e-30};
    progress.begin("implicit step", 1);
    const auto step = [&] {
        (void)step_backward_euler(model, drop.loading, 1.0 / 60.0, three, drop.state, work);
    };
    report.results.push_back(result(
        "implicit_step_s", measure(5, progress, step), 1.0, "s",
        fmt::format("backward Euler, 3 Newton iterations, armadillo_74k ({} vertices), 2 threads; bound by "
                    "the three factorisations on one thread of BLAS",
                    model.vertex_count())));
}

/// A ball of about 8000 tets that lies on the ground: what a frame with contact and friction costs.
void bench_contact(SuiteReport& report, Progress& progress)
{
    const ThreadLimit two(2);
    Progress silent;
    const TetMesh mesh = tetrahedralise(make_sphere(0.1, 0.01), {.count = 8000}, silent).mesh;
    FullBodyModel model = make_full_body_model("ball", mesh, StableNeoHookean({1e5, 0.4}), 1000.0);
    FullBody body(std::move(model));
    const RigidShape ground = PlaneShape{};
    const Obstacle obstacle{.shape = &ground,
                            .pose_0 = {Quat::Identity(), {0, -0.1, 0}},
                            .pose_1 = {Quat::Identity(), {0, -0.1, 0}}};
    const StepContext context{
        .h = 1.0 / 60.0, .gravity = {0, -9.81, 0}, .obstacles = std::span(&obstacle, 1)};
    for (int k = 0; k < 30; ++k) { // until it lies
        (void)body.predict(context);
        body.finish();
    }
    BodyReport last;
    progress.begin("step with contact", 1);
    const auto step = [&] { last = body.predict(context); };
    const Timing timing = measure(9, progress, step);
    report.results.push_back(
        result("contact_step_ms", timing, 1e3, "ms",
               fmt::format("backward Euler, {} neo-Hookean tets on the ground with friction, {} "
                           "Newton iterations, {} contacts, 2 threads; bound by factorisations",
                           mesh.tet_count(), last.iterations, last.contacts)));
}

} // namespace

SuiteReport bench_fem(Progress& progress)
{
    SuiteReport report;
    const std::string file = data_file("tets/stanford/armadillo_74k.mesh.gz");
    if (file.empty()) {
        report.skipped = {"corot_gradient_us_per_tet, corot_hessian_us_per_tet, implicit_step_s: no data "
                          "file armadillo_74k"};
    } else {
        const FemModel model = soft_body(read_tet_mesh(file));
        bench_elasticity(model, report, progress);
        bench_step(model, report, progress);
    }
    bench_contact(report, progress);
    bench_tets(report, progress);
    return report;
}

} // namespace lithe::bench
