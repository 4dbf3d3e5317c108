// A prepared model in a program: three bodies share one, a ball sweeps through them.
// Usage: example_reduced_model MODEL.lithe [OUT.glb]
#include <cstdio>

#include "lithe/dynamics/reduced_body.hpp"
#include "lithe/scene/exporter.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/run.hpp"

int main(int argc, char** argv)
{
    using namespace lithe;
    if (argc < 2) return std::puts("give a model that `lithe prepare` made"), 2;
    const auto prepared = std::make_shared<const PreparedModel>(read_model(argv[1]));
    const auto model = std::make_shared<const ReducedBodyModel>(prepared);
    const Vec3 size = bounds(prepared->shown.rest.vertices).sizes();

    World world;
    for (int i = 0; i < 3; ++i)
        world.add(std::make_unique<ReducedBody>(
            model, ReducedBodyOptions{.name = "body " + std::to_string(i),
                                      .placement = {Quat::Identity(), {0.0, 0.0, 1.5 * i * size[2]}}}));
    const Vec3 tip = prepared->shown.rest.vertices.rowwise().maxCoeff();
    ObstacleModel ball{SphereShape{2.0 * size[1]}, {.name = "ball"}};
    ball.path = Keyframes<RigidPose>({0.0, 1.0}, {{Quat::Identity(), tip - Vec3(0.0, 0.0, 2.0 * size[2])},
                                                  {Quat::Identity(), tip + Vec3(0.0, 0.0, 4.0 * size[2])}});
    world.add(std::make_unique<ObstacleBody>(ball));

    const auto file = make_exporter(argc > 2 ? argv[2] : "reduced_model.glb");
    FrameSink* sinks[] = {file.get()};
    RunMetrics metrics;
    Progress progress;
    const RunReport report = run(world, {.fps = 60, .last_frame = 90}, sinks, metrics, progress);
    std::printf("%d frames, at most %d contacts, %.3g ms per frame\n", metrics.frames,
                summarise(metrics).max_contacts, 1e3 * metrics.seconds / metrics.frames);
    return report.end == RunEnd::Finished ? 0 : 1;
}
