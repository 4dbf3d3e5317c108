#include "lithe/dynamics/reduced_body.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/world/world.hpp"
#include "models.hpp"
#include "support/bodies.hpp"
#include "support/count_mallocs.hpp"
#include "support/impulses.hpp"
#include "support/message_of.hpp"
#include "support/random_matrices.hpp"

namespace lithe {
namespace {

using namespace lithe::test;
using testing::HasSubstr;

constexpr double h = 0.01;         ///< [s]
const Vec3 gravity(0.0, 3.0, 0.0); // towards the ball

/// A ball over the free end of a bar of three cells that comes down by 0.2 m/s and goes sideways by 0.3 m/s.
struct Ball {
    RigidShape shape = SphereShape{0.4};
    double friction = 1.0; ///< so that sqrt(mu) is that of the pair

    Vec3 centre(double t) const { return {0.28, 0.501 - 0.2 * t, 0.05 + 0.3 * t}; }
    Obstacle at(double t) const
    {
        return {.key = 7,
                .shape = &shape,
                .pose_0 = {Quat::Identity(), centre(t)},
                .pose_1 = {Quat::Identity(), centre(t + h)},
                .friction = friction};
    }
};

StepContext context(double t, std::span<const Obstacle> obstacles = {})
{
    return {.t = t, .h = h, .gravity = gravity, .obstacles = obstacles};
}

std::string bytes_of(const Body& body)
{
    StateWriter out;
    body.save(out);
    return out.bytes();
}

ReducedBodyOptions to_rounding(Integrator integrator, double friction)
{
    return {.integrator = integrator,
            .newmark = {.newton = {.max_iterations = 200, .decrement = 1e-26}},
            .friction = friction};
}

FullBody full_body(const Reduction& bar, Integrator integrator, double friction)
{
    FullBodyModel model = full_model(bar, {.friction = friction});
    model.integrator = integrator;
    model.newmark.newton.decrement = 1e-26;
    return FullBody(std::move(model));
}

/// Both bodies under the ball for 25 steps: the largest difference over the largest displacement, and how much touched.
struct Comparison {
    double difference = 0.0;
    int contacts = 0;
};
Comparison compare_under_ball(const Reduction& bar, Integrator integrator, double friction)
{
    ReducedBody reduced(bar.model, to_rounding(integrator, friction));
    FullBody full = full_body(bar, integrator, friction);
    const Ball ball;
    Comparison out;
    for (int k = 0; k < 25; ++k) {
        const Obstacle obstacle = ball.at(k * h);
        const BodyReport a = reduced.predict(context(k * h, {&obstacle, 1}));
        EXPECT_TRUE(a.solved) << a.trouble;
        EXPECT_TRUE(full.predict(context(k * h, {&obstacle, 1})).solved);
        reduced.finish();
        full.finish();
        const Points x = nodes_of(bar, reduced.state().q);
        out.difference = std::max(out.difference, (x - full.state().x).cwiseAbs().maxCoeff() /
                                                      (full.state().x - bar.fem.rest).cwiseAbs().maxCoeff());
        out.contacts += a.contacts;
    }
    return out;
}

/// Bars in a few modes under a ball each.
struct BarsInWorld {
    Reduction bar = modal_bar({6, 2, 2}, 12);
    World world{{.gravity = {0.0, -2.0, 0.0}}};

    BarsInWorld()
    {
        const auto shared = std::make_shared<const ReducedBodyModel>(bar.model);
        for (int k = 0; k < 2; ++k) {
            ReducedBodyOptions options{.name = k == 0 ? "one" : "two"};
            options.placement = {Quat(Eigen::AngleAxisd(0.3 * k, Vec3::UnitY())), Vec3(0.0, 0.0, 2.0 * k)};
            world.add(std::make_unique<ReducedBody>(shared, options));
            Shown shown;
            shown.name = k == 0 ? "ball one" : "ball two";
            const Vec3 over = options.placement.apply(Vec3(0.5, 0.45, 0.1));
            const Vec3 pressed = over - Vec3(0.05, 0.1, 0.0);
            const Keyframes<RigidPose> path(
                {0.0, 0.5}, {RigidPose{Quat::Identity(), over}, RigidPose{Quat::Identity(), pressed}});
            world.add(std::make_unique<ObstacleBody>(ObstacleModel{SphereShape{0.24}, shown, path, 0.6}));
        }
    }
};

} // namespace

TEST(ReducedBody, WithACompleteBasisIsTheFullBodyUnderABall)
{
    const Reduction bar = complete_bar({3, 1, 1}, {.damping = {.mass = 0.5, .stiffness = 0.002}});
    const auto check = [&](Integrator integrator, double friction, double tolerance) {
        const Comparison found = compare_under_ball(bar, integrator, friction);
        EXPECT_LT(found.difference, tolerance) << static_cast<int>(integrator) << " " << friction;
        EXPECT_GT(found.contacts, 5);
    };
    check(Integrator::BackwardEuler, 0.0, 1e-9);
    check(Integrator::Newmark, 0.0, 1e-9);
    check(Integrator::QuasiStatic, 0.0, 1e-9);
    check(Integrator::BackwardEuler, 100.0, 1e-9); // sticks
    // Slides: the limits of friction are renewed until they change by less than 1e-3, as a share of forces that are summed over
    // vertices there and over samples here.
    check(Integrator::BackwardEuler, 0.1, 2e-3);
}

TEST(ReducedBody, StandsInItsFrame)
{
    const Reduction bar = modal_bar({4, 2, 2}, 10);
    const RigidPose frame{Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized())), Vec3(3.0, -1.0, 2.0)};
    ReducedBodyOptions placed = to_rounding(Integrator::BackwardEuler, 3.0);
    placed.placement = frame;
    placed.loads.push_back({.load = ForceLoad{frame.rotation * Vec3(1, 0, 2)}, .vertices = {30, 40}});
    ReducedBodyOptions plain = to_rounding(Integrator::BackwardEuler, 3.0);
    plain.loads.push_back({.load = ForceLoad{Vec3(1, 0, 2)}, .vertices = {30, 40}});
    ReducedBody a(bar.model, placed), b(bar.model, plain);
    RigidShape ball = SphereShape{0.2};
    const RigidPose at{Quat::Identity(), Vec3(0.35, 0.3995, 0.1)};
    const RigidPose at_frame{frame.rotation, frame.apply(at.translation)};
    const Obstacle seen{.key = 1, .shape = &ball, .pose_0 = at, .pose_1 = at};
    const Obstacle seen_placed{.key = 1, .shape = &ball, .pose_0 = at_frame, .pose_1 = at_frame};
    int contacts = 0;
    for (int k = 0; k < 6; ++k) {
        const BodyReport report =
            b.predict({.t = k * h, .h = h, .gravity = {0, 20, 0}, .obstacles = {&seen, 1}});
        ASSERT_TRUE(report.solved);
        contacts += report.contacts;
        ASSERT_TRUE(a.predict({.t = k * h,
                               .h = h,
                               .gravity = frame.rotation * Vec3(0, 20, 0),
                               .obstacles = {&seen_placed, 1}})
                        .solved);
        a.finish();
        b.finish();
    }
    EXPECT_GT(contacts, 4);
    EXPECT_GT(b.state().q.norm(), 1e-4);
    EXPECT_LT((a.state().q - b.state().q).norm(), 1e-9 * b.state().q.norm());
    const BodyPoint point{.triangle = 11, .weights = {0.2, 0.3, 0.5}};
    EXPECT_LT((a.motion(point).position - frame.apply(b.motion(point).position)).norm(), 1e-9);
    EXPECT_LT((a.motion(point).velocity - frame.rotation * b.motion(point).velocity).norm(), 1e-8);
    ASSERT_EQ(a.overlays().size(), 1u);
    const Overlay there = a.overlays()[0], here = b.overlays()[0];
    EXPECT_LT((there.points - in_world(frame, here.points)).norm(), 1e-9);
    EXPECT_GT(here.vectors.norm(), 0.1);
    EXPECT_LT((there.vectors - frame.rotation.toRotationMatrix() * here.vectors).norm(),
              1e-6 * here.vectors.norm());
    const Mechanics m = a.mechanics(frame.rotation * Vec3(0, 20, 0)), n = b.mechanics({0, 20, 0});
    EXPECT_NEAR(m.elastic, n.elastic, 1e-8 * n.elastic);
    EXPECT_NEAR(m.potential - n.potential, -n.mass * frame.translation.dot(frame.rotation * Vec3(0, 20, 0)),
                1e-9 * n.mass);
}

TEST(ReducedBody, KnowsItsEnergyAndMomentum)
{
    const Reduction bar = complete_bar({3, 2, 1});
    Random random(3);
    ReducedBodyOptions options{.velocity = 0.1 * random_vector(random, bar.model->rank())};
    FullBodyModel model = full_model(bar);
    FullBody full(std::move(model), nodes_of(bar, options.velocity) - bar.fem.rest);
    ReducedBody reduced(bar.model, options);
    for (int k = 0; k < 4; ++k) {
        ASSERT_TRUE(full.predict(context(k * h)).solved);
        ASSERT_TRUE(reduced.predict(context(k * h)).solved);
        full.finish();
        reduced.finish();
        const Mechanics a = reduced.mechanics(gravity), b = full.mechanics(gravity);
        // both solve to 1e-7 of the energy
        EXPECT_NEAR(a.mass, b.mass, 1e-12 * b.mass);
        EXPECT_NEAR(a.kinetic, b.kinetic, 1e-5 * b.kinetic);
        EXPECT_NEAR(a.elastic, b.elastic, 1e-5 * b.elastic);
        EXPECT_NEAR(a.potential, b.potential, 1e-5 * std::abs(b.potential));
        EXPECT_LT((a.linear_momentum - b.linear_momentum).norm(), 1e-5 * b.linear_scale);
        EXPECT_LT((a.angular_momentum - b.angular_momentum).norm(), 1e-5 * b.angular_scale);
        EXPECT_GT(b.angular_momentum.norm(), 1e-2 * b.angular_scale);
        EXPECT_GE(a.linear_scale, b.linear_scale * (1.0 - 1e-4));
        EXPECT_GE(a.angular_scale, b.angular_scale * (1.0 - 1e-4));
    }
}

TEST(ReducedBody, FeelsLoadsAsTheFullBodyDoes)
{
    const Reduction bar = complete_bar({3, 1, 1});
    const Triangles faces = bar.model->shown.rest.triangles.leftCols(20);
    const auto in_mesh = [&](int v) { return bar.origin[static_cast<std::size_t>(v)]; };
    const std::vector<int> tip = {5, 9};
    const auto run = [&](const Load& load, double tolerance) {
        ReducedBodyOptions options = to_rounding(Integrator::BackwardEuler, 0.0);
        const Keyframes<double> factor({0.0, 5.0 * h}, {0.5, 2.0});
        const bool is_force = std::holds_alternative<ForceLoad>(load);
        options.loads.push_back({load, tip, faces, factor});
        FullBodyModel model = full_model(bar);
        model.newmark.newton.decrement = 1e-26;
        model.loads.push_back({load, {in_mesh(tip[0]), in_mesh(tip[1])}, faces.unaryExpr(in_mesh), factor});
        ReducedBody reduced(bar.model, options);
        FullBody full(std::move(model));
        for (int k = 0; k < 6; ++k) {
            ASSERT_TRUE(full.predict({.t = k * h, .h = h}).solved);
            ASSERT_TRUE(reduced.predict({.t = k * h, .h = h}).solved);
            full.finish();
            reduced.finish();
        }
        const Points u = full.state().x - bar.fem.rest;
        EXPECT_GT(u.norm(), 1e-5) << is_force;
        EXPECT_LT((nodes_of(bar, reduced.state().q) - full.state().x).norm(), tolerance * u.norm());
    };
    run(ForceLoad{{1.0, -2.0, 0.5}}, 1e-9);
    run(WindLoad{.velocity = {-3.0, 20.0, 5.0}}, 1e-9);
    run(PressureLoad{300.0}, 1e-2); // here that of the start of each step, there it follows within it
}

TEST(ReducedBody, FeelsForcesInReducedCoordinates)
{
    const Reduction bar = modal_bar({4, 2, 2}, 10);
    const Keyframes<double> factor({0.0, 5.0 * h}, {0.5, 2.0});
    ReducedBodyOptions on_surface, in_q;
    on_surface.loads.push_back({ForceLoad{{0.0, 3.0, 0.0}}, {30}, {}, factor});
    Points nodal = Points::Zero(3, bar.fem.vertex_count());
    nodal(1, bar.origin[30]) = 3.0;
    in_q.forces.push_back({reduced_force(bar.U, nodal), factor});
    ReducedBody a(bar.model, on_surface), b(bar.model, in_q);
    for (int k = 0; k < 6; ++k) {
        ASSERT_TRUE(a.predict({.t = k * h, .h = h}).solved);
        ASSERT_TRUE(b.predict({.t = k * h, .h = h}).solved);
        a.finish();
        b.finish();
    }
    EXPECT_GT(a.state().q.norm(), 1e-4);
    EXPECT_LT((a.state().q - b.state().q).norm(),
              1e-6 * a.state().q.norm()); // the surface is in single precision
}

TEST(ReducedBody, NewmarkStartsWithTheAccelerationOfItsLoads)
{
    const Reduction bar = complete_bar({3, 1, 1});
    ReducedBody reduced(bar.model, to_rounding(Integrator::Newmark, 0.0));
    FullBody full = full_body(bar, Integrator::Newmark, 0.0);
    for (int k = 0; k < 3; ++k) {
        ASSERT_TRUE(reduced.predict(context(k * h)).solved);
        ASSERT_TRUE(full.predict(context(k * h)).solved);
        reduced.finish();
        full.finish();
    }
    const Points u = full.state().x - bar.fem.rest;
    EXPECT_LT((nodes_of(bar, reduced.state().q) - full.state().x).norm(), 1e-9 * u.norm());
}

TEST(ReducedBody, ImpulsesChangeThePredictionAsTheResponseSays)
{
    const Reduction bar = modal_bar({4, 2, 2}, 10);
    for (const Integrator integrator : {Integrator::BackwardEuler, Integrator::Newmark}) {
        ReducedBodyOptions options = to_rounding(integrator, 0.5);
        options.placement.rotation = Quat(Eigen::AngleAxisd(0.7, Vec3::UnitZ()));
        ReducedBody body(bar.model, options), twin(bar.model, options);
        const std::vector<BodyPoint> points = {{.triangle = 3}, {.triangle = 27, .weights = {0.2, 0.3, 0.5}}};
        const std::vector<Vec3> impulses = {{0.1, -0.2, 0.05}, {0.0, 0.3, -0.1}};
        ASSERT_TRUE(body.predict(context(0.0)).solved);
        ASSERT_TRUE(twin.predict(context(0.0)).solved);
        const MatX compliance = test::compliance_of(body, points);
        test::apply_impulses(body, points, impulses);
        body.finish();
        twin.finish();
        VecX stacked(6), change(6);
        for (std::size_t p = 0; p < 2; ++p) {
            stacked.segment<3>(3 * static_cast<Index>(p)) = impulses[p];
            change.segment<3>(3 * static_cast<Index>(p)) =
                body.motion(points[p]).velocity - twin.motion(points[p]).velocity;
        }
        EXPECT_GT(change.norm(), 1e-3);
        EXPECT_LT((compliance * stacked - change).norm(), 1e-10 * change.norm());
    }
}

TEST(ReducedBody, BoundsHoldTheSurface)
{
    const Reduction bar = modal_bar({6, 2, 2}, 12);
    Random random(8);
    for (int k = 0; k < 20; ++k) {
        const Vec3 turn = random_vector(random, 3), place = 10.0 * k * random_vector(random, 3);
        ReducedBodyOptions options{.placement = {exp_quat(turn), place}};
        options.velocity = random_vector(random, 12);
        ReducedBody body(bar.model, options);
        for (int step = 0; step < 5; ++step) {
            Published before, after;
            body.publish(before);
            ASSERT_TRUE(body.predict(context(step * h)).solved);
            const Box3 box = body.swept_bounds();
            body.finish();
            body.publish(after);
            const Box3 exact = bounds(surface_in_world(body.shown(), before))
                                   .merged(bounds(surface_in_world(body.shown(), after)));
            EXPECT_TRUE(box.contains(exact)) << k << ' ' << step;
            EXPECT_LT(box.diagonal().norm(), 1.7 * exact.diagonal().norm()); // and are not everything
        }
    }
}

TEST(ReducedBody, LooksAtNothingFarFromObstaclesAndAllocatesNothing)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "a sanitizer has replaced malloc";
    const Reduction bar = modal_bar({12, 3, 3}, 10);
    ReducedBodyOptions options{.integrator = Integrator::BackwardEuler, .friction = 0.5};
    options.loads.push_back({.load = WindLoad{.velocity = {0.0, 3.0, 0.0}},
                             .vertices = {},
                             .faces = bar.model->shown.rest.triangles.leftCols(10)});
    ReducedBody body(bar.model, options);
    RigidShape ball = SphereShape{0.4};
    const auto step = [&](double height) {
        const RigidPose at{Quat::Identity(), Vec3(1.0, height, 0.15)};
        const Obstacle obstacle{.key = 1, .shape = &ball, .pose_0 = at, .pose_1 = at};
        const BodyReport report = body.predict(context(0.0, {&obstacle, 1}));
        EXPECT_TRUE(report.solved) << report.trouble;
        body.finish();
        return report.contacts;
    };
    EXPECT_EQ(step(2.0), 0);
    EXPECT_EQ(body.contact().spheres_looked_at, 1);
    EXPECT_EQ(body.contact().samples_looked_at, 0);

    for (int k = 0; k < 10; ++k) (void)step(0.699);
    const MallocCounter counter;
    int contacts = 0;
    for (int k = 0; k < 10; ++k) contacts += step(0.699);
    for (int k = 0; k < 3; ++k) (void)step(2.0);
    const auto allocations = counter.count();
    EXPECT_EQ(allocations, 0);
    EXPECT_GT(contacts, 5);

    (void)step(0.699);
    const auto all = static_cast<Index>(body.model().contact.samples.size());
    EXPECT_LT(body.contact().samples_looked_at, all / 3);
    EXPECT_GT(body.contact().samples_looked_at, 0);
}

TEST(ReducedBody, ContinuesBitForBitAfterARestore)
{
    for (const Integrator integrator : {Integrator::BackwardEuler, Integrator::Newmark}) {
        const Reduction bar = modal_bar({4, 2, 2}, 8);
        ReducedBodyOptions options{.integrator = integrator};
        ReducedBody body(bar.model, options);
        RigidShape ball = SphereShape{0.3};
        const auto step = [&](ReducedBody& moved, int k) {
            const RigidPose at{Quat::Identity(), Vec3(0.3, 0.499 - 0.001 * k, 0.1 + 0.001 * k)};
            const Obstacle obstacle{.key = 5, .shape = &ball, .pose_0 = at, .pose_1 = at};
            const BodyReport report = moved.predict(context(k * h, {&obstacle, 1}));
            EXPECT_TRUE(report.solved);
            moved.finish();
            return report.contacts;
        };
        for (int k = 0; k < 6; ++k) (void)step(body, k);
        StateWriter saved;
        body.save(saved);
        for (int k = 6; k < 12; ++k) (void)step(body, k);
        ReducedBody other(bar.model, options);
        StateReader in(saved.bytes());
        other.restore(in);
        EXPECT_TRUE(in.at_end());
        int contacts = 0;
        for (int k = 6; k < 12; ++k) contacts += step(other, k);
        EXPECT_EQ(bytes_of(body), bytes_of(other));
        EXPECT_GT(contacts, 0);
    }
}

TEST(ReducedBody, SharesItsModelAndGivesTheSameBitsOnAnyNumberOfThreads)
{
    std::vector<std::uint64_t> hashes;
    int contacts = 0;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        BarsInWorld bars;
        for (int k = 0; k < 30; ++k) {
            const StepReport report = bars.world.step(1.0 / 60.0);
            ASSERT_TRUE(report.done) << report.trouble;
            contacts += report.contacts;
        }
        hashes.push_back(bars.world.state_hash());
    }
    EXPECT_GT(contacts, 100);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(ReducedBody, AStepThatFailsLeavesTheState)
{
    const Reduction bar = modal_bar({4, 2, 2}, 8);
    ReducedBodyOptions options;
    options.newmark.newton = {.max_iterations = 2, .decrement = 1e-26};
    ReducedBody body(bar.model, options);
    const std::string before = bytes_of(body);
    const BodyReport report = body.predict({.t = 0.0, .h = h, .gravity = {0, -500, 0}});
    EXPECT_FALSE(report.solved);
    EXPECT_THAT(report.trouble, HasSubstr("iterations"));
    EXPECT_EQ(bytes_of(body), before);
}

TEST(ReducedBody, PublishesCoordinatesForItsMorphs)
{
    const Reduction bar = modal_bar({4, 2, 2}, 8);
    ReducedBodyOptions options{.name = "bar", .color = Vec3(0.1, 0.2, 0.3)};
    Random random(1);
    options.velocity = random_vector(random, 8);
    ReducedBody body(bar.model, options);
    ASSERT_TRUE(body.predict(context(0.0)).solved);
    body.finish();
    Published now;
    body.publish(now);
    EXPECT_EQ(now.weights, body.state().q);
    EXPECT_EQ(body.shown().name, "bar");
    EXPECT_EQ(body.shown().color, Vec3(0.1, 0.2, 0.3));
    EXPECT_EQ(body.shown().morphs.get(), &bar.model->shown.basis);
    const Points nodes = nodes_of(bar, body.state().q);
    const Points surface = surface_in_frame(body.shown(), now);
    for (Index v = 0; v < surface.cols(); ++v) // morphs are in single precision
        EXPECT_LT((surface.col(v) - nodes.col(bar.origin[static_cast<std::size_t>(v)])).norm(), 1e-6);
}

TEST(ReducedBody, RefusesWhatDoesNotFit)
{
    const Reduction bar = modal_bar({4, 2, 2}, 8);
    const auto refused = [&](const ReducedBodyOptions& options) {
        return message_of([&] { ReducedBody body(bar.model, options); });
    };
    EXPECT_THAT(refused({.velocity = VecX::Zero(3)}), HasSubstr("3 velocities, but 8"));
    EXPECT_THAT(refused({.friction = -1.0}), HasSubstr("friction"));
    EXPECT_THAT(refused({.contact_stiffness = 0.0}), HasSubstr("contact_stiffness"));
    EXPECT_THAT(refused({.loads = {{.load = ForceLoad{Vec3::UnitX()}, .vertices = {100000}}}}),
                HasSubstr("vertex 100000"));
    EXPECT_THAT(refused({.loads = {{.load = ForceLoad{Vec3::UnitX()}, .vertices = {}}}}),
                HasSubstr("no vertex"));
    EXPECT_THAT(refused({.forces = {{VecX::Zero(7)}}}), HasSubstr("8 finite numbers"));
    ReducedBody body(bar.model, {});
    StateWriter out;
    ReducedBody other(modal_bar({4, 2, 2}, 5).model, {});
    other.save(out);
    StateReader in(out.bytes());
    EXPECT_THAT(message_of([&] { body.restore(in); }), HasSubstr("5 coordinates, but the body has 8"));
}

} // namespace lithe
