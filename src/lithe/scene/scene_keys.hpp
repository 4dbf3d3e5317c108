#pragma once
#include <set>

#include "lithe/scene/scene.hpp"

namespace lithe {

/// As parse_scene; adds to `keys` all that the reader asked for, such as "body.pin.box". A test compares them with
/// docs/scene-format.md, so that the page and the reader cannot drift apart.
Scene parse_scene(std::string_view text, const std::filesystem::path& name, std::set<std::string>& keys);

} // namespace lithe
