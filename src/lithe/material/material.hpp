#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "lithe/material/corotational.hpp"
#include "lithe/material/linear.hpp"
#include "lithe/material/neo_hookean.hpp"
#include "lithe/material/rubber.hpp"
#include "lithe/material/st_venant_kirchhoff.hpp"

namespace lithe {

/// The closed set of materials. Visit it once per body or region, never once per element.
using Material = std::variant<Linear, Corotational, StVenantKirchhoff, StableNeoHookean,
                              StableNeoHookeanLogFree, MooneyRivlin, ArrudaBoyce>;

/// In the order of Material's alternatives.
enum class MaterialKind {
    Linear,
    Corotational,
    StVenantKirchhoff,
    StableNeoHookean,
    StableNeoHookeanLogFree,
    MooneyRivlin,
    ArrudaBoyce
};

/// All kinds, in their order.
std::span<const MaterialKind> material_kinds();

/// The name in scene files: "linear", "corotational", "stvk", "neo_hookean", "neo_hookean_log_free",
/// "mooney_rivlin", "arruda_boyce".
std::string_view material_name(MaterialKind kind);

/// The kind of that name; InputError lists the names when there is none.
MaterialKind material_kind(std::string_view name);

/// All that a file says about a material.
struct MaterialParameters {
    MaterialKind kind = MaterialKind::Corotational;
    ElasticConstants elastic = {};
    std::optional<double> mooney_ratio = {};  ///< c2/c1 [-], >= 0; Mooney-Rivlin only, 1/4 when absent
    std::optional<double> limit_stretch = {}; ///< [-], > 1; Arruda-Boyce only, 5 when absent
};

/// Throws InputError for a number out of range and for one that the kind does not have.
Material make_material(const MaterialParameters& parameters);

} // namespace lithe
