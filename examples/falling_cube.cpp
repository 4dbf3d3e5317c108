// A soft cube falls on the ground: the library in twenty lines. Writes the animation to the file that is named.
#include <cstdio>

#include "lithe/fem/full_body.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/scene/exporter.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/run.hpp"

int main(int argc, char** argv)
{
    using namespace lithe;
    TetMesh cube = make_box_tets(Vec3(0.2, 0.2, 0.2), 0.05); // [m]
    cube.vertices.row(1).array() += 0.3;
    const Material rubber = StableNeoHookean({.young_modulus = 3e4, .poisson_ratio = 0.4});

    World world;
    world.add(std::make_unique<ObstacleBody>(ObstacleModel{PlaneShape{}, {.name = "ground"}}));
    const BodyId id =
        world.add(std::make_unique<FullBody>(make_full_body_model("cube", cube, rubber, 1000.0)));

    const auto file = make_exporter(argc > 1 ? argv[1] : "falling_cube.glb");
    FrameSink* sinks[] = {file.get()};
    RunMetrics metrics;
    Progress progress;
    const RunReport report = run(world, {.fps = 60, .last_frame = 120}, sinks, metrics, progress);
    const Box3 box = world.body(id).swept_bounds();
    std::printf("%s, %.4f m squashed\n",
                box.min()[1] < 1e-3 ? "the cube lies on the ground" : "the cube is in the air",
                0.2 - box.sizes()[1]);
    return report.end == RunEnd::Finished ? 0 : 1;
}
