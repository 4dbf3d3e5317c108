#include "lithe/server/scene_origin.hpp"

#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "scenes.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

TEST(SceneOrigin, EditsAreFactorsOfWhatTheSceneSays)
{
    const Scene scene = parse_scene(test::mixed_scene, "x.toml");
    SceneEdits edits = edits_of(scene);
    EXPECT_EQ(edits, (SceneEdits{.gravity = scene.gravity, .substeps = 1}));
    edits.friction = 0.5;
    edits.damping = 3.0;
    edits.gravity = {0, -1, 0};
    edits.substeps = 4;
    edits.stiffness = 2.0;
    Scene settled = scene;
    settled.bodies[2].material.young = 10.0;
    const Scene changed = edited(settled, edits);
    EXPECT_EQ(changed.bodies[0].friction, 0.5 * scene.bodies[0].friction);
    EXPECT_EQ(changed.bodies[0].damping.stiffness, 3.0 * scene.bodies[0].damping.stiffness);
    EXPECT_EQ(*changed.bodies[0].material.young, 2e5);
    EXPECT_EQ(*changed.bodies[2].material.young, 20.0);
    EXPECT_EQ(changed.obstacles[0].friction, 0.5 * scene.obstacles[0].friction);
    EXPECT_EQ(changed.gravity, Vec3(0, -1, 0));
    EXPECT_EQ(changed.time.substeps, 4);
}

TEST(SceneOrigin, PreparedModelsCannotBeMadeSofter)
{
    Scene scene;
    scene.bodies.push_back({.name = "hand", .model = "hand.lithe"});
    SceneEdits edits = edits_of(scene);
    edits.gravity = {0, 0, 0};
    EXPECT_NO_THROW((void)edited(scene, edits));
    edits.stiffness = 2.0;
    EXPECT_THROW((void)edited(scene, edits), InputError);
}

/// What is written says the same as what was edited.
TEST(SceneOrigin, EditedScenesAreWrittenAsScenes)
{
    for (const BuiltinScene& builtin : builtin_scenes()) {
        const SceneOrigin origin = open_builtin_scene(std::string(builtin.name));
        Scene base = origin.scene;
        for (SceneBody& body : base.bodies) {
            body.material.young = body.material.young.value_or(1e5);
            for (SceneRegion& region : body.regions)
                region.material.young = region.material.young.value_or(1e5);
        }
        const SceneEdits edits{
            .stiffness = 2.0, .damping = 3.0, .friction = 0.25, .gravity = Vec3(1, -2, 3), .substeps = 3};
        const Scene wanted = edited(base, edits);
        const std::string text = scene_text(origin, wanted);
        SCOPED_TRACE(text);
        const Scene found = parse_scene(text, "saved.toml");
        ASSERT_EQ(found.bodies.size(), wanted.bodies.size()) << builtin.name;
        EXPECT_EQ(found.gravity, wanted.gravity);
        EXPECT_EQ(found.time.substeps, 3);
        for (std::size_t b = 0; b < found.bodies.size(); ++b) {
            EXPECT_DOUBLE_EQ(found.bodies[b].friction, wanted.bodies[b].friction);
            if (wanted.bodies[b].rigid) continue;
            EXPECT_DOUBLE_EQ(*found.bodies[b].material.young, *wanted.bodies[b].material.young);
            if (wanted.bodies[b].lattice)
                EXPECT_DOUBLE_EQ(*found.bodies[b].lattice->damping, *wanted.bodies[b].lattice->damping);
            else
                EXPECT_DOUBLE_EQ(found.bodies[b].damping.stiffness, wanted.bodies[b].damping.stiffness);
            EXPECT_EQ(found.bodies[b].pins.size(), wanted.bodies[b].pins.size());
            EXPECT_EQ(found.bodies[b].name, wanted.bodies[b].name);
        }
        for (std::size_t k = 0; k < found.obstacles.size(); ++k)
            EXPECT_DOUBLE_EQ(found.obstacles[k].friction, wanted.obstacles[k].friction);
    }
}

TEST(SceneOrigin, DefaultScenesAreWrittenWithTheirFile)
{
    const test::TemporaryFolder folder;
    write_surface(folder / "ball.obj", make_sphere(0.2, 0.05));
    const SceneOrigin origin = open_scene(folder / "ball.obj");
    EXPECT_TRUE(origin.text.empty());
    EXPECT_EQ(origin.name, "ball");
    const Scene found = parse_scene(scene_text(origin, origin.scene), "elsewhere/saved.toml");
    ASSERT_EQ(found.bodies.size(), 1u);
    EXPECT_EQ(std::get<std::filesystem::path>(found.bodies[0].source.from), folder / "ball.obj");
    EXPECT_LT((found.bodies[0].placement.translation - origin.scene.bodies[0].placement.translation).norm(),
              1e-12);
    EXPECT_EQ(found.obstacles.size(), 1u);
}

TEST(SceneOrigin, RelativePathsAreMadeAbsolute)
{
    const test::TemporaryFolder folder;
    write_surface(folder / "ball.obj", make_sphere(0.2, 0.05));
    write_file(folder / "scene.toml", "[[body]]\nmesh = \"ball.obj\"\n");
    const SceneOrigin origin = open_scene(folder / "scene.toml");
    const Scene found = parse_scene(scene_text(origin, origin.scene), "elsewhere/saved.toml");
    EXPECT_EQ(std::get<std::filesystem::path>(found.bodies[0].source.from), folder / "ball.obj");
    EXPECT_THROW((void)open_builtin_scene("no such scene"), InputError);
}

} // namespace
} // namespace lithe
