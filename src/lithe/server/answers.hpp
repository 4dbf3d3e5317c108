#pragma once
#include <string>

#include "lithe/server/live_scene.hpp"

namespace lithe {

// What the page can ask for beside its stream, as files.

/// The account of the steps as a table: a row per step, units in the head.
std::string metrics_csv(const RunMetrics& metrics);

/// The surface of the k-th body that is seen, as it is now in the world (.ply). Throws InputError when there is no such body.
std::string surface_file(LiveScene& scene, std::size_t k);

} // namespace lithe
