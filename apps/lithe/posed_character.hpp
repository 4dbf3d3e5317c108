#pragma once
#include <filesystem>
#include <optional>

#include "command.hpp"

#include "lithe/rig/character.hpp"

namespace lithe::cli {

struct PosedOptions {
    ReadOptions read;
    std::optional<std::string> clip; ///< name, number or file; absent: the first, or rest
    SkinningMethod skinning = SkinningMethod::Linear;
    bool bones = false; ///< the skeleton instead of the skin; always so for a file without a surface
};

/// A character from a file, to be drawn at any time of a clip.
class PosedCharacter {
public:
    PosedCharacter(const std::filesystem::path& file, const PosedOptions& options, Session& session);

    const Clip& clip() const { return clip_; }
    /// The surface at that time of the clip.
    MeshFile at(double t) const;

private:
    Character character_;
    Clip clip_;
    PosedOptions options_;
};

/// Each bone as a slim double pyramid between its joint and the next.
TriangleMesh bone_shapes(const Skeleton& skeleton, const std::vector<Affine3>& world);

} // namespace lithe::cli
