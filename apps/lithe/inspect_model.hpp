#pragma once
#include <string>

#include "inspect_scene.hpp"

#include "lithe/core/timer.hpp"
#include "lithe/reduce/bone_model.hpp"
#include "lithe/reduce/lattice_model.hpp"

namespace lithe::cli {

/// "cubature at 181 of 74040 tets"
std::string elasticity_text(const PreparedModel& model, const PreparedVolume& volume);

/// What is in a prepared model, for people.
void print_model(const std::string& file, const PreparedModel& model, const PreparedVolume& volume);
/// The same as JSON; with the times of its making where there are some.
std::string model_json(const std::string& file, const PreparedModel& model, const PreparedVolume& volume,
                       const StageTimes& times = {});

/// What is in a character of bones, for people.
void print_bones(const std::string& file, const BoneModel& model);
std::string bones_json(const std::string& file, const BoneModel& model, const StageTimes& times = {});

/// What is in a character with flesh in a lattice, for people.
void print_lattice(const std::string& file, const LatticeModel& model);
std::string lattice_json(const std::string& file, const LatticeModel& model, const StageTimes& times = {});

/// Reads the file, a model of any kind, and tells what is in it, and whether its source has changed.
void inspect_model(const std::string& file, ReportStyle style);

} // namespace lithe::cli
