#pragma once
#include <span>
#include <string_view>

namespace lithe {

/// A scene that comes with the library, as the text of its file in scenes/.
struct BuiltinScene {
    std::string_view name;
    std::string_view text;
};

/// In the order of their names.
std::span<const BuiltinScene> builtin_scenes();

} // namespace lithe
