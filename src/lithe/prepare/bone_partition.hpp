#pragma once
#include "lithe/prepare/prepare_character.hpp"

namespace lithe {

/// Shares of a tet are counted in so many parts: its bones have all of them together, so that the masses of the bones sum to that of
/// the body, and a bone's tets have few materials.
inline constexpr int whole_share = 16;

/// What a bone has of a volume.
struct BonePart {
    int bone = 0;            ///< of the character
    std::string name;        ///< no two have the same
    int parent = -1;         ///< part that it hangs on; -1: none
    std::vector<int> tets;   ///< rising; connected through their faces
    std::vector<int> shares; ///< of each, 1 to whole_share
};

/// A volume by bone. The parts overlap; every tet is in one at least.
struct BonePartition {
    std::vector<BonePart> parts;   ///< parents before children; each shares vertices with its parent
    std::vector<int> part_of_bone; ///< of each bone of the character, the part that it moves with
    std::vector<std::vector<int>> tet_parts; ///< of each tet, rising
    SkinWeights weights;                     ///< of the vertices, by part
};

/// Throws InputError, with the vertex, for weights that do not sum to one or are of bones that are not there.
void require_sound(const SkinWeights& weights, std::size_t bone_count);

/// A bone has the tets in which the mean of its weights is above `overlap`, or heaviest; of these the largest connected piece.
/// Bones that have too little of the volume for a body of their own go with the nearest bone above them (notes say which). A part
/// hangs on that of its bone's parent where they meet, else on the one that it shares most with.
///
/// Throws InputError for an overlap outside [0, 1); the weights of the volume are sound.
BonePartition partition_by_bone(const Character& character, const CharacterVolume& volume, double overlap,
                                std::vector<std::string>& notes);

/// The same weights, by part.
SkinWeights weights_by_part(const SkinWeights& weights, const std::vector<int>& part_of_bone);

} // namespace lithe
