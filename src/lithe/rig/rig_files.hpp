#pragma once
#include "lithe/rig/character.hpp"

namespace lithe {

// Plain text (docs/rig-files.md). Reading throws InputError with the line.

/// A BVH file: its skeleton (rest: no rotation) and its one clip. Positions are in the unit of the file times options.scale.
Character read_bvh(const std::filesystem::path& file, const ReadOptions& options = {});
Character parse_bvh(std::string_view text, const std::filesystem::path& name,
                    const ReadOptions& options = {});

/// A skeleton, weights and clips beside it, in the format of .skel.txt, .weights.txt and .NAME.anim.txt.
Character read_text_rig(const std::filesystem::path& file, const ReadOptions& options = {});
Skeleton parse_skeleton(std::string_view text, const std::filesystem::path& name);
SkinWeights parse_weights(std::string_view text, const std::filesystem::path& name);
Clip parse_clip(std::string_view text, const std::filesystem::path& name, const Skeleton& skeleton,
                const std::vector<Bone>& bones);
std::string skeleton_text(const Skeleton& skeleton);
std::string weights_text(const SkinWeights& weights, Index bone_count);
/// Sampled at `fps`.
std::string clip_text(const Clip& clip, const Skeleton& skeleton, const std::vector<Bone>& bones, double fps);

/// The skeleton of a shape of our modelling language, with its surface. [docs/shape-language.md]
Character read_shape_rig(const std::filesystem::path& file);

/// A clip from a file: the first of a .bvh, of an .anim.txt or of a glTF (or the one named after '#': "walk.glb#Gallop"),
/// retargeted to the character.
Clip read_clip(const std::string& file, const Character& character, std::vector<std::string>& notes);

} // namespace lithe
