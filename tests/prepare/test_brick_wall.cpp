// The wall of the scene brick-wall stands for half a minute, asleep or not, and falls when it is hit.
#include <algorithm>

#include <gtest/gtest.h>

#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/scene/builtin_scenes.hpp"

namespace lithe {
namespace {

std::vector<Vec3> brick_places(const World& world)
{
    std::vector<Vec3> out;
    for (const BodyId id : world.bodies())
        if (const auto* body = dynamic_cast<const FramedBody*>(&world.body(id));
            body && body->motion().model().rank() > 0)
            out.push_back(body->motion().state().frame.translation);
    return out;
}

double farthest(const std::vector<Vec3>& a, const std::vector<Vec3>& b)
{
    double out = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, (a[i] - b[i]).norm());
    return out;
}

class BrickWall : public testing::TestWithParam<bool> {};

TEST_P(BrickWall, StandsForHalfAMinuteAndIsHit)
{
    const auto scenes = builtin_scenes();
    Scene scene =
        parse_scene(std::ranges::find(scenes, "brick-wall", &BuiltinScene::name)->text, "brick-wall.toml");
    scene.sleep = GetParam();
    Progress progress;
    World world = prepare_scene(scene, progress).world;
    const double h = 1.0 / (scene.time.fps * scene.time.substeps);
    const auto run_to = [&](double t) {
        while (world.time() < t - 0.5 * h) ASSERT_TRUE(world.step(h).done);
    };
    run_to(1.0); // it settles
    const std::vector<Vec3> settled = brick_places(world);
    ASSERT_EQ(settled.size(), 60U);
    double drift = 0.0;
    for (int second = 2; second <= 30; ++second) {
        run_to(second);
        drift = std::max(drift, farthest(brick_places(world), settled));
    }
    RecordProperty("drift_mm", std::to_string(1e3 * drift));
    EXPECT_LT(drift, 2e-3);
    run_to(scene.time.frames / scene.time.fps);
    const std::vector<Vec3> last = brick_places(world);
    int fallen = 0;
    for (std::size_t i = 0; i < last.size(); ++i)
        if ((last[i] - settled[i]).norm() > 0.4) ++fallen; // by the length of a brick
    EXPECT_GT(fallen, 5);
}
INSTANTIATE_TEST_SUITE_P(, BrickWall, testing::Bool(),
                         [](const auto& about) { return about.param ? "Asleep" : "Awake"; });

} // namespace
} // namespace lithe
