#include "lithe/material/material.hpp"

#include <array>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

struct Named {
    MaterialKind kind;
    std::string_view name;
};
constexpr std::array<Named, 7> names = {{
    {MaterialKind::Linear, "linear"},
    {MaterialKind::Corotational, "corotational"},
    {MaterialKind::StVenantKirchhoff, "stvk"},
    {MaterialKind::StableNeoHookean, "neo_hookean"},
    {MaterialKind::StableNeoHookeanLogFree, "neo_hookean_log_free"},
    {MaterialKind::MooneyRivlin, "mooney_rivlin"},
    {MaterialKind::ArrudaBoyce, "arruda_boyce"},
}};
static_assert(names.size() == std::variant_size_v<Material>);

constexpr auto kinds = [] {
    std::array<MaterialKind, names.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = names[i].kind;
    return all;
}();

void require_absent(std::string_view name, const std::optional<double>& value, MaterialKind kind)
{
    if (!value) return;
    throw InputError(std::string(name) + " does not belong to the material " +
                     std::string(material_name(kind)) + "; remove it");
}

} // namespace

std::span<const MaterialKind> material_kinds()
{
    return kinds;
}

std::string_view material_name(MaterialKind kind)
{
    return names[static_cast<std::size_t>(kind)].name;
}

MaterialKind material_kind(std::string_view name)
{
    std::string known;
    for (const Named& entry : names) {
        if (entry.name == name) return entry.kind;
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    throw InputError("there is no material '" + std::string(name) + "'; use one of " + known);
}

Material make_material(const MaterialParameters& parameters)
{
    const ElasticConstants& elastic = parameters.elastic;
    const MaterialKind kind = parameters.kind;
    if (kind != MaterialKind::MooneyRivlin) require_absent("mooney_ratio", parameters.mooney_ratio, kind);
    if (kind != MaterialKind::ArrudaBoyce) require_absent("limit_stretch", parameters.limit_stretch, kind);
    switch (kind) {
    case MaterialKind::Linear:
        return Linear(elastic);
    case MaterialKind::Corotational:
        return Corotational(elastic);
    case MaterialKind::StVenantKirchhoff:
        return StVenantKirchhoff(elastic);
    case MaterialKind::StableNeoHookean:
        return StableNeoHookean(elastic);
    case MaterialKind::StableNeoHookeanLogFree:
        return StableNeoHookeanLogFree(elastic);
    case MaterialKind::MooneyRivlin:
        return MooneyRivlin(elastic, parameters.mooney_ratio.value_or(0.25));
    case MaterialKind::ArrudaBoyce:
        return ArrudaBoyce(elastic, parameters.limit_stretch.value_or(5.0));
    }
    LITHE_ASSERT(false);
    return Corotational(elastic);
}

} // namespace lithe
