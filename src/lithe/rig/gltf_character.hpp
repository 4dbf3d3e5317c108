#pragma once
#include <span>

#include "lithe/rig/character.hpp"
#include "lithe/rig/gltf_document.hpp"

namespace lithe {

/// The default scene of a glTF file as a character. A node is a joint of the skeleton, whether skins use it or not.
Character gltf_character(std::shared_ptr<const GltfDocument> document, const ReadOptions& options = {});

/// Which joint of the character a node of the document became, or -1.
std::vector<int> joint_of_node(const GltfDocument& document);

/// Replaces all animations by these clips of the character that the document was read into.
void set_animations(GltfDocument& document, const Character& character, std::span<const Clip> clips);
inline void set_animation(GltfDocument& document, const Character& character, const Clip& clip)
{
    set_animations(document, character, {&clip, 1});
}

/// Adds morph targets to the parts of a character's surface, driven by weights over time in the animation of that name (made if it
/// is not there). Displacements are at rest in the world, of all vertices of the surface, a column (3 n) per target; weights are
/// targets x times.
void add_morph_targets(GltfDocument& document, const Character& character, const MatX& displacements,
                       const std::vector<double>& times, const MatX& weights, const std::string& animation);

/// A new document with this character: one mesh, its skeleton, skin and clips. For characters that did not come from glTF.
GltfDocument make_gltf(const Character& character);

} // namespace lithe
