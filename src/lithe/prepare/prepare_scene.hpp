#pragma once
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/prepare/compare.hpp"
#include "lithe/scene/scene.hpp"
#include "lithe/world/run.hpp"
#include "lithe/world/world.hpp"

namespace lithe {

/// A scene that is ready to run.
struct PreparedScene {
    World world;
    RunOptions run;
    std::uint64_t inputs = 0; ///< hash of all that the world was made from; checkpoints are bound to it
    std::vector<BodyVolume> volumes; ///< of the reduced bodies, for a run in full space beside them
    std::vector<std::string> notes;  ///< what was chosen or mended on the way, in plain words
};

/// Reads or makes the meshes, fills surfaces with tets (about 8000 unless the scene says otherwise, the surface embedded
/// in them), and puts all bodies and obstacles into a world. Throws InputError, with the place in the scene, for what does not
/// work: a pin that holds nothing, everything pinned, an obstacle that swallows a body.
PreparedScene prepare_scene(const Scene& scene, Progress& progress);

/// The scene for a mesh alone: it falls from a fifth of its size on the ground. A prepared model (.lithe) keeps its pins
/// and hangs there. A character plays its first clip where it is, and a soft ball falls on it.
Scene default_scene(const std::filesystem::path& file, const ReadOptions& read);

/// The modulus at which a body of that height sags visibly but stands:  density g height / E = 0.03.  [Pa]
double comfortable_young(double density, double gravity, double height);

} // namespace lithe
