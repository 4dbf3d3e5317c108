#include "lithe/world/run.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

void require_usable(const RunOptions& options)
{
    (void)require_positive("fps", options.fps);
    if (options.substeps < 1) throw InputError("substeps must be at least 1");
    if (options.last_frame < options.first_frame) throw InputError("the last frame lies before the first");
}

std::vector<double> seconds_by_stage(const World& world)
{
    std::vector<double> out;
    for (const StageTimes::Stage& stage : world.stage_times().stages()) out.push_back(stage.seconds);
    return out;
}

/// Worlds of more bodies are followed as a whole only.
constexpr std::size_t most_followed = 12;

std::vector<std::string> followed_bodies(World& world)
{
    std::vector<std::string> names;
    for (const BodyId id : world.bodies())
        if (world.body(id).mechanics(world.gravity()).mass > 0.0)
            names.push_back(world.body(id).shown().name);
    if (names.size() > most_followed) names.clear();
    return names;
}

std::vector<Vec3> angular_momenta(World& world, const RunMetrics& metrics)
{
    std::vector<Vec3> out;
    for (const std::string& name : metrics.bodies)
        out.push_back(world.body(*world.find(name)).mechanics(world.gravity()).angular_momentum);
    return out;
}

/// Takes one step, and adds it to the account.
StepReport measured_step(World& world, double h, int frame, RunMetrics& metrics,
                         const std::function<void(double h)>& before_step)
{
    std::vector<double> before = seconds_by_stage(world);
    if (before_step) before_step(h);
    const StepReport report = world.step(h);
    if (!report.done) return report;
    StepMetrics step{.frame = frame,
                     .t = world.time(),
                     .stage_seconds = seconds_by_stage(world),
                     .report = report,
                     .mechanics = world.mechanics(),
                     .angular_momenta = angular_momenta(world, metrics)};
    before.resize(step.stage_seconds.size(), 0.0);
    for (std::size_t k = 0; k < before.size(); ++k) step.stage_seconds[k] -= before[k];
    metrics.steps.push_back(std::move(step));
    return report;
}

/// Advances by h; a step that cannot be solved is taken in two halves, `halvings` times at most.
StepReport advance(World& world, double h, int halvings, int frame, RunMetrics& metrics,
                   const std::function<void(double h)>& before_step)
{
    const StepReport whole = measured_step(world, h, frame, metrics, before_step);
    if (whole.done || halvings == 0) return whole;
    ++metrics.halved_steps;
    const StepReport first = advance(world, 0.5 * h, halvings - 1, frame, metrics, before_step);
    return first.done ? advance(world, 0.5 * h, halvings - 1, frame, metrics, before_step) : first;
}

void begin_sinks(const World& world, double fps, std::span<FrameSink* const> sinks)
{
    if (sinks.empty()) return;
    const std::vector<Shown> shown = world.shown(); // copies every mesh: once for all
    for (FrameSink* sink : sinks) sink->begin(shown, fps);
}

void send_frame(const World& world, int number, std::span<FrameSink* const> sinks)
{
    if (sinks.empty()) return;
    Frame frame = world.publish();
    frame.number = number;
    for (FrameSink* sink : sinks) sink->frame(frame);
}

} // namespace

StepReport advance_frame(World& world, const RunOptions& options, int frame, RunMetrics& metrics,
                         const std::function<void(double h)>& before_step)
{
    const double h = 1.0 / (options.fps * options.substeps);
    StepReport report;
    for (int s = 0; s < options.substeps && report.done; ++s)
        report = advance(world, h, options.max_halvings, frame, metrics, before_step);
    return report;
}

RunReport run(World& world, const RunOptions& options, std::span<FrameSink* const> sinks, RunMetrics& metrics,
              Progress& progress, const std::function<void(int frame)>& on_frame)
{
    require_usable(options);
    const Stopwatch watch;
    metrics.start = world.mechanics();
    metrics.bodies = followed_bodies(world);
    metrics.threads = thread_count();
    RunReport report{.last_frame = options.first_frame};
    begin_sinks(world, options.fps, sinks);
    send_frame(world, options.first_frame, sinks);
    try {
        progress.begin("simulating", options.last_frame - options.first_frame);
        for (int frame = options.first_frame + 1; frame <= options.last_frame; ++frame) {
            const StepReport step = advance_frame(world, options, frame, metrics);
            if (!step.done) {
                report.end = RunEnd::NotSolved;
                report.trouble = step.trouble;
                break;
            }
            send_frame(world, frame, sinks);
            report.last_frame = frame;
            if (on_frame) on_frame(frame);
            progress.advance();
        }
        progress.end();
    } catch (const Interrupted&) {
        report.end = RunEnd::Interrupted;
    }
    for (FrameSink* sink : sinks) sink->finish();
    for (const StageTimes::Stage& stage : world.stage_times().stages()) metrics.stages.push_back(stage.name);
    metrics.frames = report.last_frame - options.first_frame;
    metrics.seconds = watch.seconds();
    metrics.state_hash = world.state_hash();
    return report;
}

} // namespace lithe
