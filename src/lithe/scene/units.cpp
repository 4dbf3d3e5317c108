#include "lithe/scene/units.hpp"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;

constexpr Unit lengths[] = {{"m"}, {"um", 1, 1e6}, {"mm", 1, 1e3}, {"cm", 1, 100}, {"km", 1e3}};
constexpr Unit times[] = {{"s"}, {"us", 1, 1e6}, {"ms", 1, 1e3}, {"min", 60}};
constexpr Unit rates[] = {{"Hz"}, {"1/s"}, {"1/min", 1, 60}};
constexpr Unit angles[] = {{"deg"}, {"rad", 180, pi}};
constexpr Unit speeds[] = {{"m/s"}, {"mm/s", 1, 1e3}, {"cm/s", 1, 100}, {"km/h", 10, 36}};
constexpr Unit angular_speeds[] = {{"deg/s"}, {"rad/s", 180, pi}, {"rpm", 6}};
constexpr Unit accelerations[] = {{"m/s^2"}, {"mm/s^2", 1, 1e3}, {"cm/s^2", 1, 100}};
constexpr Unit forces[] = {{"N"}, {"mN", 1, 1e3}, {"kN", 1e3}, {"MN", 1e6}};
constexpr Unit pressures[] = {{"Pa"},       {"hPa", 100}, {"kPa", 1e3},    {"MPa", 1e6},
                              {"GPa", 1e9}, {"N/m^2"},    {"N/mm^2", 1e6}, {"bar", 1e5}};
constexpr Unit densities[] = {{"kg/m^3"}, {"g/cm^3", 1e3}, {"kg/l", 1e3}, {"t/m^3", 1e3}};
constexpr Unit stiffnesses[] = {{"N/m"}, {"kN/m", 1e3}, {"MN/m", 1e6}, {"N/mm", 1e3}, {"N/cm", 1e2}};
constexpr Unit viscosities[] = {{"N s/m"}, {"kN s/m", 1e3}};
constexpr Unit contact_stiffnesses[] = {{"Pa/m"}, {"kPa/m", 1e3}, {"MPa/m", 1e6}, {"GPa/m", 1e9}, {"N/m^3"}};

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

} // namespace

namespace quantity {
const Quantity number{"a number", {}, ""};
const Quantity length{"a length", lengths, "10 cm"};
const Quantity time{"a time", times, "20 ms"};
const Quantity rate{"a rate", rates, "60 Hz"};
const Quantity angle{"an angle", angles, "45 deg", pi / 180.0};
const Quantity speed{"a speed", speeds, "2 m/s"};
const Quantity angular_speed{"an angular speed", angular_speeds, "90 deg/s", pi / 180.0};
const Quantity acceleration{"an acceleration", accelerations, "9.81 m/s^2"};
const Quantity force{"a force", forces, "5 N"};
const Quantity pressure{"a pressure", pressures, "50 kPa"};
const Quantity density{"a density", densities, "1 g/cm^3"};
const Quantity stiffness{"a stiffness", stiffnesses, "5 kN/m"};
const Quantity viscosity{"a force per speed", viscosities, "10 N s/m"};
const Quantity contact_stiffness{"a pressure per length", contact_stiffnesses, "10 MPa/m"};
} // namespace quantity

std::string list_units(const Quantity& quantity)
{
    std::string list;
    for (std::size_t i = 0; i < quantity.units.size(); ++i)
        list += fmt::format("{}{}",
                            i == 0                          ? ""
                            : i + 1 < quantity.units.size() ? ", "
                                                            : " or ",
                            quantity.units[i].name);
    return list;
}

double parse_quantity(std::string_view text, const Quantity& quantity)
{
    std::string_view rest = trimmed(text);
    if (rest.starts_with('+')) rest.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error == std::errc::result_out_of_range) throw InputError("is too large or too small for a number");
    if (error != std::errc())
        throw InputError(fmt::format("is not {}; write a number with a unit, as in \"{}\"", quantity.name,
                                     quantity.example));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::string_view name = trimmed(rest);
    if (name.empty())
        throw InputError(fmt::format("has no unit; add {}, or leave out the quotes for {}",
                                     list_units(quantity), quantity.units.front().name));
    std::vector<std::string> names;
    for (const Unit& unit : quantity.units) {
        if (unit.name == name) return value * unit.numerator / unit.denominator;
        names.emplace_back(unit.name);
    }
    throw InputError(fmt::format("is not {}, which has the units {}{}", quantity.name, list_units(quantity),
                                 did_you_mean(name, names)));
}

} // namespace lithe
