#include "lithe/scene/builtin_scenes.hpp"

#include <vector>

#include "lithe/scene/builtin_scenes.inc" // made from scenes/*.toml: embedded_texts, by name

namespace lithe {

std::span<const BuiltinScene> builtin_scenes()
{
    static const std::vector<BuiltinScene> scenes = [] {
        std::vector<BuiltinScene> result;
        for (const auto& [name, text] : embedded_texts) result.push_back({name, text});
        return result;
    }();
    return scenes;
}

} // namespace lithe
