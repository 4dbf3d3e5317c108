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

const VertexField* find_color(const TriangleMesh& surface)
{
    for (const VertexField& field : surface.fields)
        if (field.name == "color" && field.values.rows() == 3) return &field;
    return nullptr;
}

Vec3 linear_from_srgb(const Vec3& color)
{
    return color.unaryExpr([](double c) {
        c = std::clamp(c, 0.0, 1.0);
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    });
}

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
