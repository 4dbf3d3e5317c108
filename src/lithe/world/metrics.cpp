#include "lithe/world/metrics.hpp"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "lithe/core/memory.hpp"

namespace lithe {
namespace {

using Json = nlohmann::ordered_json;

double total_energy(const Mechanics& m)
{
    return m.kinetic + m.elastic + m.potential;
}

Json vector_json(const Vec3& v)
{
    return {v[0], v[1], v[2]};
}

Json stage_json(const std::vector<std::string>& stages, const std::vector<double>& seconds)
{
    Json out = Json::object();
    for (std::size_t k = 0; k < stages.size(); ++k) out[stages[k]] = seconds[k];
    return out;
}

Json momenta_json(const RunMetrics& metrics, const StepMetrics& step)
{
    Json out = Json::object();
    for (std::size_t b = 0; b < metrics.bodies.size(); ++b)
        out[metrics.bodies[b]] = vector_json(step.angular_momenta[b]);
    return out;
}

Json step_json(const RunMetrics& metrics, const StepMetrics& step)
{
    const Mechanics& m = step.mechanics;
    return {{"frame", step.frame},
            {"t", step.t},
            {"seconds", stage_json(metrics.stages, step.stage_seconds)},
            {"energy",
             {{"kinetic", m.kinetic},
              {"elastic", m.elastic},
              {"potential", m.potential},
              {"total", total_energy(m)}}},
            {"linear_momentum", vector_json(m.linear_momentum)},
            {"angular_momentum", vector_json(m.angular_momentum)},
            {"angular_momentum_of", momenta_json(metrics, step)},
            {"contacts", step.report.contacts},
            {"penetration", step.report.penetration},
            {"iterations", step.report.iterations},
            {"linear_iterations", step.report.linear_iterations},
            {"residual", step.report.residual},
            {"sweeps", step.report.sweeps},
            {"impulse_residual", step.report.impulse_residual},
            {"joint_gap", step.report.joint_gap},
            {"parting_angular_momentum", vector_json(step.report.parting_angular_momentum)}};
}

Json energy_json(const RunMetrics& metrics)
{
    double last = total_energy(metrics.start), largest = last;
    for (const StepMetrics& step : metrics.steps) {
        last = total_energy(step.mechanics);
        largest = std::max(largest, last);
    }
    return {{"first", total_energy(metrics.start)}, {"last", last}, {"max", largest}};
}

Json summary_json(const RunMetrics& metrics)
{
    const RunSummary sum = summarise(metrics);
    const MomentumDrift drift = momentum_drift(metrics);
    Json out = {{"state_hash", hash_text(metrics.state_hash)},
                {"frames", metrics.frames},
                {"steps", metrics.steps.size()},
                {"halved_steps", metrics.halved_steps},
                {"seconds", metrics.seconds},
                {"frames_per_second", metrics.seconds > 0.0 ? metrics.frames / metrics.seconds : 0.0},
                {"stage_seconds", stage_json(metrics.stages, sum.stage_seconds)},
                {"threads", metrics.threads},
                {"peak_memory_bytes", peak_memory_bytes()},
                {"iterations", sum.iterations},
                {"max_contacts", sum.max_contacts},
                {"max_penetration", sum.max_penetration},
                {"max_sweeps", sum.max_sweeps},
                {"max_joint_gap", sum.max_joint_gap},
                {"linear_momentum_drift", drift.linear},
                {"angular_momentum_drift", drift.angular},
                {"energy", energy_json(metrics)}};
    if (const auto& compared = metrics.comparison) {
        out["relative_error"] = {{"max", compared->max_error}, {"mean", compared->mean_error}};
        out["speed_ratio"] = compared->speed_ratio;
    }
    return out;
}

} // namespace

RunSummary summarise(const RunMetrics& metrics)
{
    RunSummary sum;
    sum.stage_seconds.assign(metrics.stages.size(), 0.0);
    for (const StepMetrics& step : metrics.steps) {
        for (std::size_t k = 0; k < sum.stage_seconds.size(); ++k)
            sum.stage_seconds[k] += step.stage_seconds[k];
        sum.max_penetration = std::max(sum.max_penetration, step.report.penetration);
        sum.max_contacts = std::max(sum.max_contacts, step.report.contacts);
        sum.max_sweeps = std::max(sum.max_sweeps, step.report.sweeps);
        sum.max_joint_gap = std::max(sum.max_joint_gap, step.report.joint_gap);
        sum.iterations += step.report.iterations;
    }
    return sum;
}

MomentumDrift momentum_drift(const RunMetrics& metrics)
{
    double linear = 0.0, angular = 0.0;
    double linear_scale = metrics.start.linear_scale, angular_scale = metrics.start.angular_scale;
    for (const StepMetrics& step : metrics.steps) {
        const Mechanics& m = step.mechanics;
        linear = std::max(linear, (m.linear_momentum - metrics.start.linear_momentum).norm());
        angular = std::max(angular, (m.angular_momentum - metrics.start.angular_momentum).norm());
        linear_scale = std::max(linear_scale, m.linear_scale);
        angular_scale = std::max(angular_scale, m.angular_scale);
    }
    return {linear_scale > 0.0 ? linear / linear_scale : 0.0,
            angular_scale > 0.0 ? angular / angular_scale : 0.0};
}

std::string hash_text(std::uint64_t hash)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

std::string to_json(const RunMetrics& metrics)
{
    Json steps = Json::array();
    for (const StepMetrics& step : metrics.steps) steps.push_back(step_json(metrics, step));
    const Json file = {{"version", 1}, {"summary", summary_json(metrics)}, {"steps", steps}};
    return file.dump(1) + "\n";
}

} // namespace lithe
