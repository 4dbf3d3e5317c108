#pragma once
#include <filesystem>

#include "lithe/prepare/prepare_model.hpp"
#include "lithe/reduce/bone_model.hpp"
#include "lithe/reduce/lattice_model.hpp"

namespace lithe::cli {

/// The page about a model and how it was made; `model_file` is where the model was written.
void write_prepare_report(const std::filesystem::path& page, const std::filesystem::path& model_file,
                          const Reduction& reduction, Progress& progress);

/// The same about a character of bones.
void write_bones_report(const std::filesystem::path& page, const std::filesystem::path& model_file,
                        const BoneModel& model, const StageTimes& times, Progress& progress);

/// The same about a character with flesh in a lattice.
void write_lattice_report(const std::filesystem::path& page, const std::filesystem::path& model_file,
                          const LatticeModel& model, const StageTimes& times, Progress& progress);

/// The body for Bullet (docs/bullet-files.md): its free modes with lumped mass, as many as the model has coordinates.
/// Throws InputError for a body of several parts.
void write_bullet(const std::filesystem::path& folder, const Reduction& reduction, Progress& progress);

} // namespace lithe::cli
