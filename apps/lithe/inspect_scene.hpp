#pragma once
#include "command.hpp"

namespace lithe::cli {

enum class ReportStyle { Text, Json };

/// Prepares the scene of a file as `lithe simulate` would, and prints what is in it.
void inspect_scene(const std::string& file, ReportStyle style, Session& session);

} // namespace lithe::cli
