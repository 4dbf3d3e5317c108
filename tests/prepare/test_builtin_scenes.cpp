// Scenes of the house show what their titles say.
#include <algorithm>

#include <gtest/gtest.h>

#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "lithe/world/run.hpp"

namespace lithe {
namespace {

PreparedScene builtin(std::string_view name)
{
    const auto scenes = builtin_scenes();
    const auto found = std::ranges::find(scenes, name, &BuiltinScene::name);
    Progress progress;
    return prepare_scene(parse_scene(found->text, std::string(name) + ".toml"), progress);
}

/// As figure 3 of [SLYF15]: with and without the correction, from the same shape at rest.
TEST(CubeSpin, OneCubeKeepsItsAngularMomentumAndTheNaiveOneDoesNot)
{
    PreparedScene scene = builtin("cube-spin");
    RunMetrics metrics;
    Progress progress;
    ASSERT_EQ(run(scene.world, scene.run, {}, metrics, progress).end, RunEnd::Finished);
    ASSERT_EQ(metrics.bodies, (std::vector<std::string>{"exact", "naive"}));
    double exact = 0.0, naive = 0.0;
    for (const StepMetrics& step : metrics.steps) {
        exact = std::max(exact, step.angular_momenta[0].norm());
        naive = std::max(naive, step.angular_momenta[1].norm());
    }
    EXPECT_LT(exact, 1e-10);
    EXPECT_GT(naive, 10.0);
}

} // namespace
} // namespace lithe
