#include "lithe/server/answers.hpp"

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {

std::string metrics_csv(const RunMetrics& metrics)
{
    std::string out =
        "frame,t [s],kinetic [J],elastic [J],potential [J],|P| [kg m/s],|L| [kg m^2/s],contacts,"
        "penetration [m],iterations,sweeps,joint gap [m]";
    for (const std::string& stage : metrics.stages) out += fmt::format(",{} [s]", stage);
    out += '\n';
    for (const StepMetrics& step : metrics.steps) {
        const Mechanics& m = step.mechanics;
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", step.frame, step.t, m.kinetic, m.elastic,
                           m.potential, m.linear_momentum.norm(), m.angular_momentum.norm(),
                           step.report.contacts, step.report.penetration, step.report.iterations,
                           step.report.sweeps, step.report.joint_gap);
        for (const double seconds : step.stage_seconds) out += fmt::format(",{}", seconds);
        out += '\n';
    }
    return out;
}

std::string surface_file(LiveScene& scene, std::size_t k)
{
    const std::vector<BodyId> ids = scene.seen();
    if (k >= ids.size()) throw InputError("there is no such body");
    const Body& body = scene.world().body(ids[k]);
    Published now;
    body.publish(now);
    MeshFile file;
    file.vertices = surface_in_world(body.shown(), now);
    file.triangles = body.shown().surface.triangles;
    return serialize_mesh(MeshFormat::Ply, file);
}

} // namespace lithe
