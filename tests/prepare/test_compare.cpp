#include "lithe/prepare/compare.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dynamics/models.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "support/message_of.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

ErrorMeter::Body random_body(Random& random)
{
    return {random_matrix(random, 3, 40), VecX(random_vector(random, 40).array() + 1.5)};
}

/// A world with one bar, reduced, that hangs under its weight on a ball.
World world_of(const Reduction& bar, ReducedBodyOptions options)
{
    World world({.gravity = {0.0, -1.5, 0.0}});
    options.name = "bar";
    const RigidPose frame = options.placement;
    world.add(std::make_unique<ReducedBody>(bar.model, std::move(options)));
    Shown shown;
    shown.name = "ball";
    const RigidPose below{Quat::Identity(), frame.apply(Vec3(0.5, -0.12, 0.1))};
    world.add(std::make_unique<ObstacleBody>(ObstacleModel{SphereShape{0.1}, shown, below}));
    return world;
}

RunComparison compare(const Reduction& bar, const ReducedBodyOptions& options, int frames,
                      const std::vector<TimedLoad>& nodal_loads = {})
{
    World world = world_of(bar, options);
    const std::vector<BodyVolume> volumes = {
        {"bar", std::make_shared<const PreparedVolume>(volume_of(bar)), nodal_loads}};
    const RunOptions run_options{.last_frame = frames};
    FullRun full(world, volumes, run_options);
    RunMetrics metrics;
    Progress progress;
    const RunReport report =
        run(world, run_options, {}, metrics, progress, [&](int frame) { full.follow(frame, world); });
    EXPECT_EQ(report.end, RunEnd::Finished) << report.trouble;
    int contacts = 0;
    for (const StepMetrics& step : metrics.steps) contacts += step.report.contacts;
    EXPECT_GT(contacts, 0);
    return full.result(world);
}

} // namespace

TEST(ErrorMeter, DoesNotSeeRigidMotions)
{
    Random random(1);
    const ErrorMeter::Body body = random_body(random);
    Points D;
    set_deformation(body, in_world({Quat(random_rotation(random)), Vec3(1, 2, 3)}, body.rest), D);
    EXPECT_LT(D.norm(), 1e-13);

    const Points deformed = body.rest + 0.1 * Points(random_matrix(random, 3, 40));
    ErrorMeter meter({body});
    const std::vector<Points> full = {deformed};
    const std::vector<Points> moved = {in_world({Quat(random_rotation(random)), Vec3(3, 2, 1)}, deformed)};
    meter.add_frame(full, moved);
    EXPECT_LT(meter.max_error(), 1e-13);
}

TEST(ErrorMeter, MeasuresAgainstTheLargestDeformationOfTheRun)
{
    // a stretch about the centre of mass turns and moves nothing
    Random random(2);
    ErrorMeter::Body body = random_body(random);
    const Vec3 centre = body.rest * body.masses / body.masses.sum();
    body.rest.colwise() -= centre;
    const auto stretched = [&](double by) { return std::vector<Points>{(1.0 + by) * body.rest}; };
    ErrorMeter meter({body});
    meter.add_frame(stretched(0.1), stretched(0.1));
    meter.add_frame(stretched(0.2), stretched(0.17)); // 0.03 of 0.2
    meter.add_frame(stretched(-0.1), stretched(-0.07));
    EXPECT_NEAR(meter.max_error(), 0.15, 1e-12);
    EXPECT_NEAR(meter.mean_error(), 0.1, 1e-12);
    EXPECT_EQ(ErrorMeter({body}).mean_error(), 0.0);
}

TEST(ErrorMeter, HeavyNodesCountMore)
{
    // a cross whose arms grow by 0.2 and keep their symmetry; the reduced run makes the second arm half as much longer
    const auto error = [](double mass) {
        ErrorMeter::Body cross{Points::Zero(3, 4), VecX::Ones(4)};
        cross.rest.row(0) << -1.0, 1.0, 0.0, 0.0;
        cross.rest.row(1) << 0.0, 0.0, -1.0, 1.0;
        cross.masses.tail(2).setConstant(mass);
        Points full = 1.2 * cross.rest, reduced = full;
        reduced.rightCols(2) *= 1.1 / 1.2;
        ErrorMeter meter({cross});
        meter.add_frame(std::vector<Points>{full}, std::vector<Points>{reduced});
        return meter.max_error();
    };
    EXPECT_NEAR(error(1.0), 0.1 * std::sqrt(2.0) / (0.2 * std::sqrt(4.0)), 1e-12);
    EXPECT_NEAR(error(9.0), 0.1 * std::sqrt(18.0) / (0.2 * std::sqrt(20.0)), 1e-12);
}

TEST(FullRun, ACompleteBasisHasNoError)
{
    const Reduction bar = complete_bar({6, 2, 2}, {.damping = {.mass = 1.0}});
    ReducedBodyOptions options{.placement = {Quat(Eigen::AngleAxisd(0.4, Vec3::UnitY())), Vec3(0, 1, 0)}};
    options.loads.push_back({.load = ForceLoad{{0.0, 0.0, 1.0}}, .vertices = {40, 41}});
    Random random(1);
    options.velocity = 0.01 * random_vector(random, bar.model->rank());
    const RunComparison found =
        compare(bar, options, 15, {{ForceLoad{{0.0, 0.0, 1.0}}, {bar.origin[40], bar.origin[41]}}});
    EXPECT_LT(found.max_error, 2e-3); // both stop at a decrement of 1e-7, about 3e-4 in position, every step
    EXPECT_GT(found.max_error, 0.0);
    EXPECT_LE(found.mean_error, found.max_error);
}

/// In the middle of a swing, with a complete basis: had it other places or velocities than the reduced run, it would not follow.
TEST(FullRun, BeginsWhereTheReducedRunIs)
{
    const Reduction bar = complete_bar({6, 2, 2}, {.damping = {.mass = 1.0}});
    World world = world_of(bar, {.placement = {Quat(Eigen::AngleAxisd(0.4, Vec3::UnitY())), Vec3(0, 1, 0)}});
    const std::vector<BodyVolume> volumes = {{"bar", std::make_shared<const PreparedVolume>(volume_of(bar))}};
    const auto advance = [&](int frame) {
        RunMetrics metrics;
        return advance_frame(world, {}, frame, metrics).done;
    };
    for (int frame = 1; frame <= 8; ++frame) ASSERT_TRUE(advance(frame));
    FullRun full(world, volumes, {.first_frame = 8});
    EXPECT_LT(full.errors().last_error(), 1e-6);
    EXPECT_DOUBLE_EQ(full.time(), world.time());
    for (int frame = 9; frame <= 14; ++frame) {
        ASSERT_TRUE(advance(frame));
        full.follow(frame, full.compared(world));
    }
    EXPECT_LT(full.errors().max_error(), 5e-3); // as over a whole run, see above
    EXPECT_GT(full.errors().last_error(), 0.0);
    EXPECT_DOUBLE_EQ(full.time(), world.time());
}

TEST(FullRun, FewCoordinatesAreFasterAndWrong)
{
    const Reduction bar = modal_bar({6, 2, 2}, 12);
    const RunComparison found = compare(bar, {}, 15);
    EXPECT_GT(found.max_error, 1e-3);
    EXPECT_LT(found.max_error, 0.8); // no mode has the dent that the ball makes
    EXPECT_GT(found.mean_error, 0.0);
    EXPECT_GT(found.speed_ratio, 1.0);
}

TEST(FullRun, RefusesWhatCannotBeCompared)
{
    const Reduction bar = modal_bar({4, 2, 2}, 4);
    const World world = world_of(bar, {});
    EXPECT_THAT(message_of([&] { FullRun run(world, {}, {}); }), HasSubstr("'bar': its tets are not there"));
    EXPECT_THAT(message_of([&] { FullRun run(World(), {}, {}); }),
                HasSubstr("no body of the scene is reduced"));
    PreparedVolume other = volume_of(modal_bar({5, 2, 2}, 4));
    const std::vector<BodyVolume> volumes = {{"bar", std::make_shared<const PreparedVolume>(other), {}}};
    EXPECT_THAT(message_of([&] { FullRun run(world, volumes, {}); }), HasSubstr("another model"));
}
