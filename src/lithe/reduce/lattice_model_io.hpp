#pragma once
#include <filesystem>

#include "lithe/reduce/lattice_model.hpp"

namespace lithe {

/// As one .lithe file of the kind "lattice" (docs/model-files.md). Writes the file whole or not at all.
void write_lattice_model(const std::filesystem::path& file, const LatticeModel& model);
/// Throws InputError, with the file and what is wrong, for one that is damaged, of another kind or of a newer version.
LatticeModel read_lattice_model(const std::filesystem::path& file);

} // namespace lithe
