#pragma once
#include <filesystem>
#include <string>

#include "lithe/scene/scene.hpp"

namespace lithe {

/// A scene and where it came from, so that what people made of it can be saved as a scene again.
struct SceneOrigin {
    Scene scene;
    std::string text;           ///< of the scene file; empty for a mesh, model or character alone
    std::filesystem::path file; ///< empty for a scene that comes with the program
    std::string name;           ///< for files that are written: the stem of the file, or the built-in name
};

/// A scene file (.toml), or the default scene around a mesh, model or character.
SceneOrigin open_scene(const std::filesystem::path& file, const ReadOptions& read = {});
/// Throws InputError when there is none of that name.
SceneOrigin open_builtin_scene(const std::string& name);

/// What people change while a scene runs. Factors are of what the scene says.
struct SceneEdits {
    double stiffness = 1.0, damping = 1.0, friction = 1.0;
    Vec3 gravity = {0.0, -9.81, 0.0}; ///< [m/s^2]
    int substeps = 1;
    friend bool operator==(const SceneEdits&, const SceneEdits&) = default;
};
SceneEdits edits_of(const Scene& scene);
/// Throws InputError where a body's material cannot be changed: that of a prepared model.
Scene edited(const Scene& scene, const SceneEdits& edits);

/// The text of a scene file that says what `scene`, an edited scene of `origin`, does. Paths in it are absolute, so that it may
/// be put anywhere.
std::string scene_text(const SceneOrigin& origin, const Scene& scene);

} // namespace lithe
