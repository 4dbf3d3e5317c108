#pragma once
#include "lithe/rig/character.hpp"

namespace lithe {

// Plain text (docs/rig-files.md). Reading throws InputError with the line.

/// A BVH file: its skeleton (rest: no rotation) and its one clip. Positions are in the unit of the file; options.scale and
/// options.up go into the placement. An End Site becomes a joint "<parent> end".
///
/// Rotations are multiplied in the order of their channels, the first outermost. A position channel replaces that number of the
/// OFFSET, so the OFFSET of a root with them says nothing: where it is zero, the skeleton at rest stands on the ground.
Character read_bvh(const std::filesystem::path& file, const ReadOptions& options = {});
Character parse_bvh(std::string_view text, const std::filesystem::path& name,
                    const ReadOptions& options = {});

/// A skeleton, and what lies beside it under the same name: surface (.obj), weights (.weights.txt) and clips (.NAME.anim.txt),
/// each if it is there. Every joint is a bone.
Character read_text_rig(const std::filesystem::path& file, const ReadOptions& options = {});
/// Joints by where they are at rest: origin and orientation in the model.
Skeleton parse_skeleton(std::string_view text, const std::filesystem::path& name);
/// The heaviest most_influences of each vertex, normalised: the file rounds them.
SkinWeights parse_weights(std::string_view text, const std::filesystem::path& name, Index bone_count);
/// From a skinning matrix per frame and bone (without bones: per joint) in the model, the frame of the roots. `notes` gets those that no
/// chain of joints can make, since they are sheared.
Clip parse_clip(std::string_view text, const std::filesystem::path& name, const Skeleton& skeleton,
                const std::vector<Bone>& bones, std::vector<std::string>& notes);

/// The same formats. What is written is in the world, the placement included: read it without scale and up axis.
std::string skeleton_text(const Skeleton& skeleton);
std::string weights_text(const SkinWeights& weights, Index bone_count);
/// Sampled at `fps` [1/s] from its first key on.
std::string clip_text(const Clip& clip, const Skeleton& skeleton, const std::vector<Bone>& bones, double fps);
/// NAME.skel.txt with every joint where the surface was bound to it, and beside it what read_text_rig reads. Morph targets
/// and materials have no place in them.
void write_text_rig(const std::filesystem::path& file, const Character& character, double fps);

/// The skeleton of a shape of our modelling language, with its surface of edges of about `cell` [m]. [docs/shape-language.md]
Character read_shape_rig(const std::filesystem::path& file, const ReadOptions& options = {},
                         std::optional<double> cell = {});

/// A clip from a file: the first of a .bvh, of an .anim.txt or of a glTF (or the one named after '#': "walk.glb#Gallop"),
/// retargeted to the character.
Clip read_clip(const std::string& file, const Character& character, std::vector<std::string>& notes);

// ---- for readers

/// From the frame of a file into the world.
Affine3 file_placement(const ReadOptions& options);

/// A name as UTF-8: as it is when it is that, else taken for Latin-1.
std::string utf8_name(std::string_view name);

} // namespace lithe
