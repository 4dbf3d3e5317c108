#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/fem/full_body.hpp"
#include "lithe/scene/scene.hpp"
#include "lithe/world/obstacle_body.hpp"

namespace lithe {

/// The parts of prepare_scene. `notes` takes what was chosen; errors are InputErrors with their place in the scene.

std::unique_ptr<FullBody> prepare_full_body(const Scene& scene, const SceneBody& body, Progress& progress,
                                            std::vector<std::string>& notes);

/// `reach` [m] is half the side of the square that is drawn for a plane.
std::unique_ptr<ObstacleBody> prepare_obstacle(const SceneObstacle& obstacle, double reach,
                                               Progress& progress);

} // namespace lithe
