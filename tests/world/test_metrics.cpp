#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lithe/world/run.hpp"
#include "support/bodies.hpp"

namespace lithe {
namespace {

TEST(Metrics, DriftIsRelativeToTheLargestMotionOfTheRun)
{
    RunMetrics metrics;
    metrics.start.linear_momentum = Vec3(1, 0, 0);
    metrics.start.linear_scale = 2.0;
    StepMetrics step;
    step.mechanics.linear_momentum = Vec3(1, 0.4, 0);
    step.mechanics.linear_scale = 4.0;
    step.mechanics.angular_momentum = Vec3(0, 0, 0.5);
    step.mechanics.angular_scale = 5.0;
    metrics.steps = {step, StepMetrics{}};
    metrics.steps[1].mechanics = metrics.start; // back again: the largest counts
    EXPECT_DOUBLE_EQ(momentum_drift(metrics).linear, 0.1);
    EXPECT_DOUBLE_EQ(momentum_drift(metrics).angular, 0.1);
    EXPECT_EQ(momentum_drift(RunMetrics{}).linear, 0.0);
}

TEST(Metrics, AFreeBodyKeepsItsMomentum)
{
    World world({.gravity = Vec3::Zero()});
    world.add(test::make_soft_cube("cube", Vec3(0.1, 0.2, 0.3), Vec3(1, 2, 3)));
    RunMetrics metrics;
    Progress progress;
    ASSERT_EQ(run(world, {.last_frame = 20}, {}, metrics, progress).end, RunEnd::Finished);
    EXPECT_LT(momentum_drift(metrics).linear, 1e-12);
    EXPECT_LT(momentum_drift(metrics).angular, 1e-12);
}

TEST(Metrics, TellHowWellImpulsesAndJointsWereSolved)
{
    World world({.gravity = Vec3::Zero()});
    const BodyId a = world.add(test::make_soft_cube("a", Vec3(0, 0, 0)));
    const BodyId b = world.add(test::make_soft_cube("b", Vec3(0.25, 0, 0), Vec3(0, 1, 0)));
    world.add(test::make_soft_cube("c", Vec3(0, 0.3, 0), Vec3(0, -2, 0)));
    world.add_joint(a, b, {.place = Vec3(0.125, 0, 0)});
    RunMetrics metrics;
    Progress progress;
    ASSERT_EQ(run(world, {.last_frame = 20}, {}, metrics, progress).end, RunEnd::Finished);
    const RunSummary sum = summarise(metrics);
    EXPECT_GT(sum.max_sweeps, 0);
    EXPECT_GT(sum.max_joint_gap, 0.0);
    EXPECT_LT(sum.max_joint_gap, 1e-7);
    double residual = 0.0;
    for (const StepMetrics& step : metrics.steps) residual = std::max(residual, step.report.impulse_residual);
    EXPECT_GT(residual, 0.0);
    EXPECT_LT(residual, 0.1);
    const auto json = nlohmann::json::parse(to_json(metrics));
    EXPECT_EQ(json["summary"]["max_sweeps"], sum.max_sweeps);
    EXPECT_EQ(json["summary"]["max_joint_gap"], sum.max_joint_gap);
}

TEST(Metrics, TheFileHoldsWhatItsPageSays)
{
    World world;
    world.add(test::make_ground());
    world.add(test::make_soft_cube("cube", Vec3(0, 0.11, 0)));
    RunMetrics metrics;
    Progress progress;
    ASSERT_EQ(run(world, {.last_frame = 12}, {}, metrics, progress).end, RunEnd::Finished);
    const auto json = nlohmann::json::parse(to_json(metrics));
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["steps"].back()["angular_momentum_of"]["cube"],
              json["steps"].back()["angular_momentum"]); // the ground has none
    const auto& summary = json["summary"];
    EXPECT_EQ(summary["state_hash"], hash_text(world.state_hash()));
    EXPECT_EQ(summary["frames"], 12);
    EXPECT_GT(summary["frames_per_second"], 0.0);
    EXPECT_GT(summary["peak_memory_bytes"], 1 << 20);
    EXPECT_GT(summary["max_penetration"], 0.0);
    EXPECT_GT(summary["max_contacts"], 0);
    EXPECT_GE(summary["energy"]["max"], summary["energy"]["last"]);
    for (const char* key :
         {"seconds", "linear_momentum_drift", "angular_momentum_drift", "iterations", "threads"})
        EXPECT_TRUE(summary.contains(key)) << key;

    ASSERT_EQ(json["steps"].size(), 12u);
    const auto& last = json["steps"].back();
    EXPECT_EQ(last["frame"], 12);
    const auto& energy = last["energy"];
    EXPECT_NEAR(energy["total"].get<double>(),
                energy["kinetic"].get<double>() + energy["elastic"].get<double>() +
                    energy["potential"].get<double>(),
                1e-12);
    for (const char* stage : {"read", "predict", "couple", "finish"})
        EXPECT_TRUE(last["seconds"].contains(stage)) << stage;
    for (const char* key :
         {"t", "linear_momentum", "angular_momentum", "contacts", "penetration", "iterations", "residual",
          "sweeps", "impulse_residual", "joint_gap", "parting_angular_momentum"})
        EXPECT_TRUE(last.contains(key)) << key;
}

TEST(Metrics, AComparisonIsPartOfTheSummary)
{
    RunMetrics metrics;
    EXPECT_FALSE(nlohmann::json::parse(to_json(metrics))["summary"].contains("relative_error"));
    metrics.comparison = {.max_error = 0.25, .mean_error = 0.125, .speed_ratio = 500.0};
    const auto summary = nlohmann::json::parse(to_json(metrics))["summary"];
    EXPECT_EQ(summary["relative_error"]["max"], 0.25);
    EXPECT_EQ(summary["relative_error"]["mean"], 0.125);
    EXPECT_EQ(summary["speed_ratio"], 500.0);
}

} // namespace
} // namespace lithe
