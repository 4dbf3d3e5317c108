#include "lithe/scene/export_formats.hpp"

#include <algorithm>
#include <cmath>

namespace lithe::exporting {
namespace {

bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string plain_name(std::string_view name)
{
    std::string plain;
    for (const char c : name) plain += is_plain(c) ? c : '_';
    if (plain.empty()) return "body";
    return plain[0] >= '0' && plain[0] <= '9' ? "_" + plain : plain;
}

} // namespace

std::vector<std::string> plain_names(const std::vector<Shown>& bodies)
{
    std::vector<std::string> names;
    for (const Shown& body : bodies) {
        const std::string plain = plain_name(body.name);
        std::string name = plain;
        for (int twin = 2; std::ranges::find(names, name) != names.end(); ++twin)
            name = plain + "_" + std::to_string(twin);
        names.push_back(std::move(name));
    }
    return names;
}

} // namespace lithe::exporting
