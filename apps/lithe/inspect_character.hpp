#pragma once
#include "inspect_scene.hpp"

namespace lithe::cli {

/// Reads a character and tells what is in it: surface, joints, clips, what is wrong, and how it is closed for simulation.
void inspect_character(const std::string& file, const ReadOptions& read, ReportStyle style, Session& session);

} // namespace lithe::cli
