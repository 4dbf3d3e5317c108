#include "lithe/scene/units.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::message_of;

const Quantity* const all[] = {
    &quantity::number, &quantity::length,   &quantity::time,          &quantity::rate,
    &quantity::angle,  &quantity::speed,    &quantity::angular_speed, &quantity::acceleration,
    &quantity::force,  &quantity::pressure, &quantity::density,       &quantity::contact_stiffness};

std::string error_of(std::string_view text, const Quantity& quantity)
{
    return message_of([&] { (void)parse_quantity(text, quantity); });
}

TEST(Units, AreTheSameBitsAsTheNumberInPlainUnits)
{
    EXPECT_EQ(parse_quantity("10 cm", quantity::length), 0.1);
    EXPECT_EQ(parse_quantity("3 mm", quantity::length), 0.003);
    EXPECT_EQ(parse_quantity("7 um", quantity::length), 7e-6);
    EXPECT_EQ(parse_quantity("1.5 km", quantity::length), 1500.0);
    EXPECT_EQ(parse_quantity("20 ms", quantity::time), 0.02);
    EXPECT_EQ(parse_quantity("3 us", quantity::time), 3e-6);
    EXPECT_EQ(parse_quantity("2 min", quantity::time), 120.0);
    EXPECT_EQ(parse_quantity("60 Hz", quantity::rate), 60.0);
    EXPECT_EQ(parse_quantity("90 1/min", quantity::rate), 1.5);
    EXPECT_EQ(parse_quantity("45 deg", quantity::angle), 45.0);
    EXPECT_DOUBLE_EQ(parse_quantity("3.14159265358979323846 rad", quantity::angle), 180.0);
    EXPECT_EQ(parse_quantity("36 km/h", quantity::speed), 10.0);
    EXPECT_EQ(parse_quantity("10 rpm", quantity::angular_speed), 60.0);
    EXPECT_EQ(parse_quantity("981 cm/s^2", quantity::acceleration), 9.81);
    EXPECT_EQ(parse_quantity("2 kN", quantity::force), 2000.0);
    EXPECT_EQ(parse_quantity("50 kPa", quantity::pressure), 5e4);
    EXPECT_EQ(parse_quantity("0.2 MPa", quantity::pressure), 2e5);
    EXPECT_EQ(parse_quantity("2 N/mm^2", quantity::pressure), 2e6);
    EXPECT_EQ(parse_quantity("1 g/cm^3", quantity::density), 1000.0);
    EXPECT_EQ(parse_quantity("50 MPa/m", quantity::contact_stiffness), 5e7);
}

TEST(Units, AreWrittenInManyWays)
{
    for (const char* text : {"50 kPa", "50kPa", "  50   kPa ", "+50 kPa", "5e1 kPa", "50.0 kPa"})
        EXPECT_EQ(parse_quantity(text, quantity::pressure), 5e4) << text;
    EXPECT_EQ(parse_quantity("-50 kPa", quantity::pressure), -5e4);
}

TEST(Units, OfEveryQuantityAreDistinctAndItsExampleIsOne)
{
    for (const Quantity* quantity : all) {
        std::set<std::string_view> names;
        for (const Unit& unit : quantity->units) {
            EXPECT_TRUE(names.insert(unit.name).second) << unit.name;
            EXPECT_EQ(parse_quantity("1 " + std::string(unit.name), *quantity),
                      unit.numerator / unit.denominator);
        }
        if (quantity->units.empty()) continue;
        EXPECT_EQ(quantity->units[0].numerator / quantity->units[0].denominator, 1.0) << quantity->name;
        EXPECT_TRUE(std::isfinite(parse_quantity(quantity->example, *quantity))) << quantity->name;
    }
}

TEST(Units, SayWhichOnesFit)
{
    EXPECT_EQ(error_of("50 kg", quantity::pressure),
              "is not a pressure, which has the units Pa, hPa, kPa, MPa, GPa, N/m^2, N/mm^2 or bar");
    EXPECT_EQ(error_of("5 Deg", quantity::angle),
              "is not an angle, which has the units deg or rad; did you mean 'deg'?");
    EXPECT_EQ(error_of("5", quantity::angle), "has no unit; add deg or rad, or leave out the quotes for deg");
    EXPECT_EQ(error_of("far", quantity::length),
              "is not a length; write a number with a unit, as in \"10 cm\"");
    EXPECT_EQ(error_of("", quantity::length), "is not a length; write a number with a unit, as in \"10 cm\"");
    EXPECT_EQ(error_of("1e400 m", quantity::length), "is too large or too small for a number");
    EXPECT_EQ(error_of("5 m m", quantity::length),
              "is not a length, which has the units m, um, mm, cm or km; did you mean 'mm'?");
}

} // namespace
} // namespace lithe
