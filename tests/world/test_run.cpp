#include <gtest/gtest.h>

#include "lithe/world/run.hpp"
#include "support/bodies.hpp"

namespace lithe {
namespace {

using test::make_ground;
using test::make_soft_cube;

/// Remembers what a sink was told.
class Recorder : public FrameSink {
public:
    void begin(const std::vector<Shown>& bodies, double fps) override
    {
        names.clear();
        for (const Shown& body : bodies) names.push_back(body.name);
        rate = fps;
    }
    void frame(const Frame& frame) override
    {
        numbers.push_back(frame.number);
        times.push_back(frame.t);
        heights.push_back(frame.bodies.back().positions.row(1).minCoeff());
    }
    void finish() override { finished = true; }

    std::vector<std::string> names;
    std::vector<int> numbers;
    std::vector<double> times, heights;
    double rate = 0.0;
    bool finished = false;
};

World falling_cube()
{
    World world;
    world.add(make_ground());
    world.add(make_soft_cube("cube", Vec3(0, 1, 0)));
    return world;
}

TEST(Run, HandsEveryFrameToTheSinks)
{
    World world = falling_cube();
    Recorder recorder;
    FrameSink* sinks[] = {&recorder};
    RunMetrics metrics;
    Progress progress;
    std::vector<int> calls;
    const RunReport report = run(world, {.fps = 30, .substeps = 2, .last_frame = 3}, sinks, metrics, progress,
                                 [&](int frame) { calls.push_back(frame); });
    EXPECT_EQ(report.end, RunEnd::Finished);
    EXPECT_EQ(report.last_frame, 3);
    EXPECT_EQ(recorder.names, (std::vector<std::string>{"ground", "cube"}));
    EXPECT_EQ(recorder.numbers, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(calls, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(recorder.rate, 30.0);
    EXPECT_NEAR(recorder.times.back(), 0.1, 1e-12);
    EXPECT_LT(recorder.heights.back(), recorder.heights.front());
    EXPECT_TRUE(recorder.finished);
    EXPECT_EQ(metrics.steps.size(), 6u);
    EXPECT_EQ(metrics.frames, 3);
    EXPECT_EQ(metrics.stages, (std::vector<std::string>{"read", "predict", "detect", "couple", "finish"}));
    EXPECT_EQ(metrics.state_hash, world.state_hash());
}

TEST(Run, StopsBetweenFramesWhenAsked)
{
    World world = falling_cube();
    Recorder recorder;
    FrameSink* sinks[] = {&recorder};
    RunMetrics metrics;
    std::stop_source stop;
    Progress progress([](const ProgressEvent&) {}, stop.get_token());
    const RunReport report = run(world, {.last_frame = 100}, sinks, metrics, progress, [&](int frame) {
        if (frame == 4) stop.request_stop();
    });
    EXPECT_EQ(report.end, RunEnd::Interrupted);
    EXPECT_EQ(report.last_frame, 4);
    EXPECT_EQ(recorder.numbers.back(), 4);
    EXPECT_TRUE(recorder.finished);
}

/// A body that cannot be solved for steps longer than `longest`.
class Touchy : public Body {
public:
    explicit Touchy(double longest) : longest_(longest) { shown_.name = "touchy"; }
    BodyReport predict(const StepContext& step) override
    {
        step_ = step.h;
        if (step.h > longest_) return {.solved = false, .trouble = "the step is too long"};
        return {};
    }
    void join(std::span<const Touch>, ResponseKind, ImpulseProblem&) override {}
    Vec3 couple(std::size_t, double, ImpulseProblem&) override { return Vec3::Zero(); }
    Vec3 take(int, Eigen::Ref<const VecX>) override { return Vec3::Zero(); }
    void finish() override { t_ += step_; }
    PointMotion motion(const BodyPoint&) const override { return {Vec3::Zero(), Vec3::Zero()}; }
    Vec3 predicted(const BodyPoint&) override { return Vec3::Zero(); }
    BodyPoint attach(const Vec3&) override { return {}; }
    Box3 swept_bounds() const override { return {}; }
    Index freedoms() const override { return 0; }
    Collides collides() const override { return Collides::Nowhere; }
    const SweptSurface* sweep() override { return nullptr; }
    ContactLaw law() const override { return {}; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }
    void save(StateWriter& out) const override { out.write(t_); }
    void restore(StateReader& in) override { t_ = in.read_number(); }
    const Shown& shown() const override { return shown_; }
    void publish(Published& out) const override { out.positions = Points::Zero(3, 1); }
    std::vector<Overlay> overlays() const override { return {}; }
    Mechanics mechanics(const Vec3&) override { return {}; }

private:
    Shown shown_;
    double longest_, step_ = 0.0, t_ = 0.0;
};

TEST(Run, TakesAStepThatCannotBeSolvedInHalves)
{
    World world;
    world.add(std::make_unique<Touchy>(0.26));
    RunMetrics metrics;
    Progress progress;
    const RunReport report = run(world, {.fps = 1, .last_frame = 2}, {}, metrics, progress);
    EXPECT_EQ(report.end, RunEnd::Finished);
    EXPECT_EQ(metrics.steps.size(), 8u); // four quarters for each frame
    EXPECT_EQ(metrics.halved_steps, 2 * 3);
    EXPECT_NEAR(world.time(), 2.0, 1e-15);
}

TEST(Run, GivesUpWithTheReasonAndKeepsTheFramesSoFar)
{
    World world;
    world.add(std::make_unique<Touchy>(0.01));
    Recorder recorder;
    FrameSink* sinks[] = {&recorder};
    RunMetrics metrics;
    Progress progress;
    const RunReport report = run(world, {.fps = 1, .last_frame = 2}, sinks, metrics, progress);
    EXPECT_EQ(report.end, RunEnd::NotSolved);
    EXPECT_EQ(report.last_frame, 0);
    EXPECT_EQ(report.trouble, "body 'touchy': the step is too long");
    EXPECT_EQ(recorder.numbers, std::vector<int>{0});
    EXPECT_TRUE(recorder.finished);
}

TEST(Run, RefusesBadNumbers)
{
    World world;
    RunMetrics metrics;
    Progress progress;
    EXPECT_THROW((void)run(world, {.fps = 0.0}, {}, metrics, progress), InputError);
    EXPECT_THROW((void)run(world, {.substeps = 0}, {}, metrics, progress), InputError);
    EXPECT_THROW((void)run(world, {.first_frame = 5, .last_frame = 4}, {}, metrics, progress), InputError);
}

} // namespace
} // namespace lithe
