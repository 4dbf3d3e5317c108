#pragma once
#include <span>
#include <string>
#include <string_view>

namespace lithe {

/// `numerator / denominator` of the quantity's plain unit. Both are whole where they can be: "10 cm" is 10 * 1 / 100,
/// the same bits as 0.1.
struct Unit {
    std::string_view name;
    double numerator = 1.0;
    double denominator = 1.0;
};

/// What a number in a scene file measures.
struct Quantity {
    std::string_view name;       ///< "a pressure"
    std::span<const Unit> units; ///< the first is that of a number without a unit; empty: there are no units
    std::string_view example;    ///< "50 kPa"
    double si = 1.0;             ///< SI per plain unit: not 1 for angles, which people write in degrees
};

namespace quantity {
extern const Quantity number, length, time, rate, angle, speed, angular_speed, acceleration, force, pressure,
    density, contact_stiffness, stiffness, viscosity;
} // namespace quantity

/// "50 kPa" in plain units of the quantity. InputError, without a place, for text that is not a number with a unit
/// of that quantity: it lists those that are.
double parse_quantity(std::string_view text, const Quantity& quantity);

/// "Pa, kPa or MPa".
std::string list_units(const Quantity& quantity);

} // namespace lithe
