#pragma once
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/meshing/wrap.hpp"
#include "lithe/rig/bind.hpp"
#include "lithe/scene/scene.hpp"
#include "lithe/world/kinematic_character.hpp"

namespace lithe {

/// Reads a character, or makes one of a shape that has a skeleton. Notes say what was assumed.
Character load_character(const SceneSource& source, Progress& progress, std::vector<std::string>& notes);

/// The closed body behind a character's surface, at rest, and how it follows the bones.
struct CharacterBody {
    TriangleMesh closed;
    SkinWeights weights; ///< of its vertices; those of the surface at its nearest points
    WrapReport report;
};
CharacterBody close_character(const Character& character, Progress& progress);

/// The same filled with tets.
struct CharacterVolume {
    TetMesh tets;
    SkinWeights weights;
    Embedding surface; ///< of the character's own surface in them
};
/// With weights carried inward from the surface.
CharacterVolume fill_character(const Character& character, const CharacterBody& body,
                               const TetrahedraliseOptions& options, Progress& progress);

/// Gives a character weights by heat in its volume, whether it has some or not: every joint that moves something becomes a bone.
/// Returns the volume.
CharacterVolume bind_character(Character& character, const TetrahedraliseOptions& tets,
                               const BindOptions& options, Progress& progress,
                               std::vector<std::string>& notes);

/// One of the character's clips by name or number; or, when the text names a file, the clip in it (read_clip).
Clip find_or_read_clip(const std::string& wanted, const Character& character,
                       std::vector<std::string>& notes);

/// What a character of a scene plays.
Clip chosen_clip(const SceneCharacter& wanted, const Character& character, std::vector<std::string>& notes);

/// A character of a scene that is ready to play.
std::unique_ptr<KinematicCharacter> prepare_character(const SceneCharacter& wanted, Progress& progress,
                                                      std::vector<std::string>& notes);

} // namespace lithe
