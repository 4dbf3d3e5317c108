#pragma once
#include <filesystem>

#include "lithe/world/world.hpp"

namespace lithe {

/// What a checkpoint says besides the state.
struct CheckpointInfo {
    std::uint64_t inputs = 0; ///< hash of what the world was made from: it must be made from the same again
    int frame = 0;            ///< that the world is at
};

/// Writes the state of the world to a file, whole or not at all: a header of 40 bytes (name and version of the format,
/// length and hash of the rest), then the state. Bits are those of this kind of CPU and this build.
void write_checkpoint(const std::filesystem::path& file, const World& world, const CheckpointInfo& info);

/// Puts the world, made from the same inputs, into the saved state. Throws InputError for a file that is damaged, of
/// another version or of other inputs; the world is then as it was. Returns the frame.
int read_checkpoint(const std::filesystem::path& file, std::uint64_t inputs, World& world);

} // namespace lithe
