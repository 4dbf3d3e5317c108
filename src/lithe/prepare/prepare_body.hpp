#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/dynamics/articulated_body.hpp"
#include "lithe/dynamics/framed_body.hpp"
#include "lithe/dynamics/lattice_body.hpp"
#include "lithe/fem/full_body.hpp"
#include "lithe/prepare/compare.hpp"
#include "lithe/reduce/prepared_model.hpp"
#include "lithe/scene/scene.hpp"
#include "lithe/world/obstacle_body.hpp"

namespace lithe {

/// How the scene wants time to be taken.
Integrator integrator_of(Method method);
/// The loads of a body on its nodes, which are placed in the world.
std::vector<TimedLoad> make_loads(const SceneBody& body, const TetMesh& mesh);

/// The loads of a character, on the surface by which it collides: `rest` of the model, placed as the body is.
std::vector<TimedLoad> make_surface_loads(const SceneBody& body, const TriangleMesh& rest);

/// The parts of prepare_scene. `notes` takes what was chosen; errors are InputErrors with their place in the scene.

/// A body of a scene in full space: what a FullBody is made of, and what a reduction starts from.
struct BodyParts {
    FullBodyModel model;
    std::vector<RegionParameters> materials; ///< as the scene gives them
    Points velocities;                       ///< of the nodes at the start [m/s]
};
BodyParts prepare_parts(const Scene& scene, const SceneBody& body, Progress& progress,
                        std::vector<std::string>& notes);

std::unique_ptr<FullBody> prepare_full_body(const Scene& scene, const SceneBody& body, Progress& progress,
                                            std::vector<std::string>& notes);

/// What bodies of one model share.
struct LoadedModel {
    std::shared_ptr<const PreparedModel> prepared;
    std::shared_ptr<const PreparedVolume> volume;
    RigidPose base = {}; ///< where its vertices at rest have been placed already
    std::shared_ptr<const ReducedBodyModel> held = {};  ///< of bodies that their pins hold
    std::shared_ptr<const FramedBodyModel> framed = {}; ///< of bodies that move freely
    std::shared_ptr<const ArticulatedModel> articulated =
        {}; ///< of characters with bones: nothing else is there then
    std::shared_ptr<const LatticeSystem> lattice =
        {}; ///< of characters in a lattice: nothing else is there then
    std::shared_ptr<const Character> character = {}; ///< behind bones or the lattice, with its clips
};
/// Models by their files, or by the body of the scene that was the first to need one: each is made once.
using ModelCache = std::map<std::string, LoadedModel>;

/// A body in few coordinates or in none (rigid), its model read or made, and what full space needs to do the same. Without pins it moves freely,
/// unless the scene is of equilibria.
struct ReducedParts {
    std::unique_ptr<Body> body;
    std::shared_ptr<const PreparedModel> model;
    BodyVolume volume;
};
ReducedParts prepare_reduced_body(const Scene& scene, const SceneBody& body, ModelCache& models,
                                  Progress& progress, std::vector<std::string>& notes);

/// Whether the body is a character of deformable bones.
bool has_bones(const SceneBody& body);
/// Such a character, its model read or made. Copies move their muscles out of step.
std::unique_ptr<ArticulatedBody> prepare_articulated_body(const Scene& scene, const SceneBody& body,
                                                          ModelCache& models, Progress& progress,
                                                          std::vector<std::string>& notes);

/// Whether the body is a character with flesh in a lattice.
bool has_lattice(const SceneBody& body);
/// Such a character, its model read or made, with what it plays.
std::unique_ptr<LatticeBody> prepare_lattice_body(const Scene& scene, const SceneBody& body,
                                                  ModelCache& models, Progress& progress,
                                                  std::vector<std::string>& notes);

/// `reach` [m] is half the side of the square that is drawn for a plane.
std::unique_ptr<ObstacleBody> prepare_obstacle(const SceneObstacle& obstacle, double reach,
                                               Progress& progress);

} // namespace lithe
