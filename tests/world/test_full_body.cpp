// FullBody as a body of a world: what it answers to the questions of the interface.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "support/bodies.hpp"
#include "support/impulses.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::make_soft_cube;
using test::message_of;
using test::soft_cube;

constexpr double h = 0.01; ///< [s]

StepContext weightless()
{
    return {.t = 0.0, .h = h};
}

TEST(FullBody, ImpulsesChangeThePredictionAsTheResponseSays)
{
    const auto body = make_soft_cube("cube", Vec3::Zero(), Vec3(1, 0, 0));
    const std::vector<BodyPoint> points = {{.triangle = 0}, {.triangle = 7, .weights = {0.2, 0.3, 0.5}}};
    const std::vector<Vec3> impulses = {{0.1, -0.2, 0.05}, {0.0, 0.3, -0.1}};
    ASSERT_TRUE(body->predict(weightless()).solved);
    const MatX compliance = test::compliance_of(*body, points);

    // the same step without impulses, for comparison
    const auto twin = make_soft_cube("cube", Vec3::Zero(), Vec3(1, 0, 0));
    ASSERT_TRUE(twin->predict(weightless()).solved);
    twin->finish();
    test::apply_impulses(*body, points, impulses);
    body->finish();

    VecX stacked(6), change(6);
    for (int p = 0; p < 2; ++p) {
        stacked.segment<3>(3 * p) = impulses[static_cast<std::size_t>(p)];
        change.segment<3>(3 * p) = body->motion(points[static_cast<std::size_t>(p)]).velocity -
                                   twin->motion(points[static_cast<std::size_t>(p)]).velocity;
    }
    EXPECT_GT(change.norm(), 1e-3); // zero would agree with anything
    EXPECT_LT((compliance * stacked - change).norm(), 1e-10 * change.norm());
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(compliance).eigenvalues().minCoeff(), 0.0);
}

TEST(FullBody, AFreeBodyTakesUpExactlyTheImpulse)
{
    const auto body = make_soft_cube("cube", Vec3(0, 1, 0), Vec3(0, 0, 2));
    const Vec3 before = body->mechanics(Vec3::Zero()).linear_momentum;
    const std::vector<BodyPoint> points = {{.triangle = 3}};
    const std::vector<Vec3> impulses = {{0.5, 0.25, -0.125}};
    ASSERT_TRUE(body->predict(weightless()).solved);
    test::apply_impulses(*body, points, impulses);
    body->finish();
    const Mechanics after = body->mechanics(Vec3::Zero());
    EXPECT_LT((after.linear_momentum - before - impulses[0]).norm(), 1e-12 * after.linear_scale);
}

TEST(FullBody, APinnedBodyGivesNoWayAtItsPins)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    const int surface_vertex = model.shown.surface.triangles(0, 0);
    Index corner = 0;
    model.embedding.weights.col(surface_vertex).maxCoeff(&corner);
    const int node = model.embedding.corners(corner, surface_vertex);
    model.pins.push_back({.vertices = {node}});
    FullBody body(std::move(model));
    ASSERT_TRUE(body.predict(weightless()).solved);
    const std::vector<BodyPoint> at_pin = {{.triangle = 0, .weights = {1, 0, 0}}};
    EXPECT_EQ(test::compliance_of(body, at_pin).norm(), 0.0);
}

TEST(FullBody, LedVerticesFollowTheirMotionAndAreReleased)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    LedVertices led{.vertices = {0, 1}};
    led.motion =
        Keyframes<RigidPose>({0.0, 1.0}, {RigidPose{}, RigidPose{Quat::Identity(), Vec3(0.1, 0, 0)}});
    led.release = 0.05;
    model.pins.push_back(led);
    model.pins.push_back({.vertices = {1, 2}}); // 1 belongs to the first already
    FullBody body(std::move(model));
    const Points rest = body.state().x;
    for (int step = 0; step < 4; ++step) {
        ASSERT_TRUE(body.predict({.t = step * h, .h = h}).solved);
        body.finish();
        const Vec3 shift(0.1 * (step + 1) * h, 0, 0);
        EXPECT_LT((body.state().x.col(0) - rest.col(0) - shift).norm(), 1e-15);
        EXPECT_LT((body.state().x.col(1) - rest.col(1) - shift).norm(), 1e-15);
        EXPECT_EQ(body.state().x.col(2), rest.col(2));
    }
    // free from 0.05 s on: it goes on, but no longer to the micrometre along the path
    for (int step = 4; step < 10; ++step) {
        ASSERT_TRUE(body.predict({.t = step * h, .h = h}).solved);
        body.finish();
    }
    EXPECT_GT((body.state().x.col(0) - rest.col(0) - Vec3(0.1 * 10 * h, 0, 0)).norm(), 1e-6);
    EXPECT_EQ(body.state().x.col(2), rest.col(2));
}

TEST(FullBody, LoadsFollowTheirFactors)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    TimedLoad push{.load = ForceLoad{Vec3(8, 0, 0)}, .vertices = {0, 5, 9}};
    push.factor = Keyframes<double>({0.0, h}, {0.0, 0.5});
    model.loads.push_back(push);
    FullBody body(std::move(model));
    ASSERT_TRUE(body.predict(weightless()).solved);
    body.finish();
    // at the end of the step: half of 8 N for h
    EXPECT_LT((body.mechanics(Vec3::Zero()).linear_momentum - Vec3(4.0 * h, 0, 0)).norm(), 1e-13);
}

TEST(FullBody, NewmarkStartsWithTheAccelerationOfItsLoads)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    model.integrator = Integrator::Newmark;
    FullBody body(std::move(model));
    for (int step = 0; step < 5; ++step) {
        ASSERT_TRUE(body.predict({.t = step * h, .h = h, .gravity = Vec3(0, -10, 0)}).solved);
        body.finish();
    }
    // exact for a constant acceleration, from the first step on
    const double t = 5 * h;
    EXPECT_NEAR(body.state().x(1, 0) - body.model().fem.rest(1, 0), -5.0 * t * t, 1e-13);
    EXPECT_NEAR(body.state().v(1, 0), -10.0 * t, 1e-12);
}

TEST(FullBody, PressureOnAClosedSurfaceHasNoNetForce)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(model.shown.volume, origin);
    Triangles faces = surface.triangles.unaryExpr([&](int v) { return origin[static_cast<std::size_t>(v)]; });
    model.loads.push_back({.load = PressureLoad{1000.0}, .vertices = {}, .faces = faces});
    FullBody body(std::move(model));
    ASSERT_TRUE(body.predict(weightless()).solved);
    body.finish();
    const Mechanics after = body.mechanics(Vec3::Zero());
    EXPECT_GT(after.linear_scale, 1e-4); // it shrinks
    EXPECT_LT(after.linear_momentum.norm(), 1e-10 * after.linear_scale);
}

TEST(FullBody, WindPushesAlongItself)
{
    FullBodyModel model = soft_cube("cube", Vec3::Zero());
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(model.shown.volume, origin);
    Triangles faces = surface.triangles.unaryExpr([&](int v) { return origin[static_cast<std::size_t>(v)]; });
    model.loads.push_back(
        {.load = WindLoad{.velocity = Vec3(10, 0, 0)}, .vertices = {}, .faces = faces, .factor = 0.5});
    FullBody body(std::move(model));
    ASSERT_TRUE(body.predict(weightless()).solved);
    body.finish();
    // half of rho/2 c_d A u^2 = 0.6 * 0.04 * 100 N on the one face that meets the air
    const Vec3 P = body.mechanics(Vec3::Zero()).linear_momentum;
    EXPECT_LT((P - Vec3(1.2 * h, 0, 0)).norm(), 1e-12);
}

TEST(FullBody, RefusesWhatDoesNotFit)
{
    FullBodyModel pins = soft_cube("cube", Vec3::Zero());
    pins.pins.push_back({.vertices = {100000}});
    EXPECT_NE(message_of([&] { FullBody body(std::move(pins)); }).find("vertex 100000"), std::string::npos);

    FullBodyModel loads = soft_cube("cube", Vec3::Zero());
    loads.loads.push_back({.load = ForceLoad{Vec3::UnitX()}, .vertices = {}});
    EXPECT_NE(message_of([&] { FullBody body(std::move(loads)); }).find("acts on no vertex"),
              std::string::npos);

    FullBodyModel other = soft_cube("cube", Vec3::Zero());
    other.embedding.corners(0, 0) = 100000;
    EXPECT_NE(message_of([&] { FullBody body(std::move(other)); }).find("another mesh"), std::string::npos);

    EXPECT_THROW(FullBody(soft_cube("cube", Vec3::Zero()), Points::Zero(3, 2)), InputError);
}

TEST(FullBody, PublishesItsSurfaceAndOverlays)
{
    const auto body = make_soft_cube("cube", Vec3(0, 0.5, 0));
    Published now;
    body->publish(now);
    EXPECT_EQ(now.positions, body->shown().surface.vertices);
    EXPECT_EQ(now.nodes, body->state().x);
    EXPECT_TRUE(body->overlays().empty());
    EXPECT_TRUE(body->swept_bounds().isApprox(Box3(Vec3(-0.1, 0.4, -0.1), Vec3(0.1, 0.6, 0.1))));
}

} // namespace
} // namespace lithe
