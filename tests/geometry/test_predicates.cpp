#include "lithe/geometry/predicates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "lithe/core/random.hpp"

using namespace lithe;

namespace {

__extension__ using Wide = __int128;

int sign_of(Wide x)
{
    return (x > 0) - (x < 0);
}

struct Grid3 {
    std::int64_t x, y, z;
    Vec3 times(double unit) const
    {
        return unit * Vec3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
    }
};

/// Exact in integers: differences below 2^41, products below 2^124.
int grid_orient3d(const Grid3& a, const Grid3& b, const Grid3& c, const Grid3& d)
{
    const Wide bx = b.x - a.x, by = b.y - a.y, bz = b.z - a.z, cx = c.x - a.x, cy = c.y - a.y, cz = c.z - a.z,
               dx = d.x - a.x, dy = d.y - a.y, dz = d.z - a.z;
    return sign_of(bx * (cy * dz - cz * dy) + by * (cz * dx - cx * dz) + bz * (cx * dy - cy * dx));
}

std::int64_t random_integer(Random& random, int bits)
{
    const std::int64_t half = std::int64_t(1) << bits;
    return static_cast<std::int64_t>(random.index(static_cast<std::uint64_t>(2 * half + 1))) - half;
}

Grid3 random_grid(Random& random, int bits)
{
    return {random_integer(random, bits), random_integer(random, bits), random_integer(random, bits)};
}

} // namespace

TEST(Predicates, SignsOfPlainCases)
{
    EXPECT_EQ(orient2d({0, 0}, {1, 0}, {0, 1}), 1);
    EXPECT_EQ(orient2d({0, 0}, {0, 1}, {1, 0}), -1);
    EXPECT_EQ(orient2d({0, 0}, {1, 1}, {3, 3}), 0);
    EXPECT_EQ(orient3d(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()), 1);
    EXPECT_EQ(orient3d(Vec3::Zero(), Vec3::UnitY(), Vec3::UnitX(), Vec3::UnitZ()), -1);
    EXPECT_EQ(orient3d({0, 0, 5}, {1, 0, 5}, {0, 1, 5}, {7, 9, 5}), 0);
    EXPECT_TRUE(collinear({1, 2, 3}, {2, 4, 6}, {-3, -6, -9}));
    EXPECT_FALSE(collinear({1, 2, 3}, {2, 4, 6}, {-3, -6, -9.000000000000002}));
}

TEST(Predicates, Orient2dNearALineAgreesWithIntegers)
{
    Random random(1);
    const double unit = std::ldexp(1.0, -40);
    int zeros = 0;
    for (int i = 0; i < 200000; ++i) {
        // b - a is a multiple of a small step, c is near the line through them, on the grid or one off it
        const std::int64_t ax = random_integer(random, 50), ay = random_integer(random, 50);
        const std::int64_t sx = random_integer(random, 20), sy = random_integer(random, 20);
        const std::int64_t m = random_integer(random, 30), n = random_integer(random, 30);
        const std::int64_t ox = random_integer(random, 0), oy = random_integer(random, 0);
        const Wide det = Wide(m * sx) * (n * sy + oy) - Wide(m * sy) * (n * sx + ox);
        const auto point = [&](std::int64_t x, std::int64_t y) {
            return Vec2(static_cast<double>(x) * unit, static_cast<double>(y) * unit);
        };
        const Vec2 a = point(ax, ay), b = point(ax + m * sx, ay + m * sy),
                   c = point(ax + n * sx + ox, ay + n * sy + oy);
        ASSERT_EQ(orient2d(a, b, c), sign_of(det));
        ASSERT_EQ(orient2d(b, c, a), sign_of(det));
        ASSERT_EQ(orient2d(b, a, c), -sign_of(det));
        zeros += det == 0;
    }
    EXPECT_GT(zeros, 10000);
    EXPECT_LT(zeros, 100000);
}

TEST(Predicates, Orient3dNearAPlaneAgreesWithIntegers)
{
    Random random(2);
    int zeros = 0;
    for (int i = 0; i < 200000; ++i) {
        // d = a + s (b - a) + t (c - a), perhaps one step of the grid away
        const Grid3 a = random_grid(random, 38), u = random_grid(random, 20), v = random_grid(random, 20);
        const std::int64_t s = random_integer(random, 16), t = random_integer(random, 16);
        const Grid3 o = random_grid(random, 0);
        const Grid3 b{a.x + u.x, a.y + u.y, a.z + u.z}, c{a.x + v.x, a.y + v.y, a.z + v.z};
        const Grid3 d{a.x + s * u.x + t * v.x + o.x, a.y + s * u.y + t * v.y + o.y,
                      a.z + s * u.z + t * v.z + o.z};
        const int expected = grid_orient3d(a, b, c, d);
        for (const double unit : {1.0, 0x1.0p-60, 0x1.0p+60}) {
            const Vec3 A = a.times(unit), B = b.times(unit), C = c.times(unit), D = d.times(unit);
            ASSERT_EQ(orient3d(A, B, C, D), expected);
            ASSERT_EQ(orient3d(B, C, D, A), -expected); // an odd permutation
            ASSERT_EQ(orient3d(C, D, A, B), expected);
        }
        zeros += expected == 0;
    }
    EXPECT_GT(zeros, 5000);
    EXPECT_LT(zeros, 100000);
}

TEST(Predicates, Orient3dOnASmallGridHitsEveryDegeneracy)
{
    Random random(3);
    int zeros = 0;
    for (int i = 0; i < 200000; ++i) {
        const Grid3 a = random_grid(random, 1), b = random_grid(random, 1), c = random_grid(random, 1),
                    d = random_grid(random, 1);
        const int expected = grid_orient3d(a, b, c, d);
        ASSERT_EQ(orient3d(a.times(0.1), b.times(0.1), c.times(0.1), d.times(0.1)),
                  expected); // 0.1: -0.2 to 0.2, exact multiples
        zeros += expected == 0;
    }
    EXPECT_GT(zeros, 20000);
}

TEST(Predicates, CoordinatesOfVeryDifferentSizes)
{
    // The plane z = x 2^-200 (scaled): d is off it by far less than the rounding of any intermediate.
    const double tiny = 0x1.0p-100;
    EXPECT_EQ(orient3d({0, 0, 0}, {1, 0, tiny}, {0, 1, 0}, {3, 5, 3 * tiny}), 0);
    EXPECT_EQ(orient3d({0, 0, 0}, {1, 0, tiny}, {0, 1, 0}, {3, 5, std::nextafter(3 * tiny, 1.0)}), 1);
    EXPECT_EQ(orient3d({0, 0, 0}, {1, 0, tiny}, {0, 1, 0}, {3, 5, std::nextafter(3 * tiny, 0.0)}), -1);
    EXPECT_EQ(orient2d({1e15, 1e15}, {0.1, 0.1}, {-1e-15, -1e-15}), 0);
    EXPECT_EQ(orient2d({1e15, 1e15}, {0.1, 0.1}, {-1e-15, -1.0000000000000001e-15}), 0); // the same double
    EXPECT_EQ(orient2d({1e15, 1e15}, {0.1, 0.1}, {-1e-15, std::nextafter(-1e-15, 0.0)}), -1);
}

TEST(Predicates, SpheresOfPlainCases)
{
    const Vec3 o = Vec3::Zero(), x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
    EXPECT_EQ(in_sphere(o, x, y, z, {0.5, 0.5, 0.5}), 1);
    EXPECT_EQ(in_sphere(o, x, y, z, {2.0, 0.0, 0.0}), -1);
    EXPECT_EQ(in_sphere(o, x, y, z, {1.0, 1.0, 1.0}), 0);
    EXPECT_EQ(in_sphere(o, x, y, z, {1.0, 1.0, std::nextafter(1.0, 0.0)}), 1);
    EXPECT_EQ(in_sphere(o, x, y, z, {1.0, 1.0, std::nextafter(1.0, 2.0)}), -1);
}

TEST(Predicates, SpheresAgreeWithIntegers)
{
    Random random(5);
    int zeros = 0;
    for (int k = 0; k < 20'000; ++k) {
        const int bits = k % 2 ? 18 : 2; // small numbers are often cospherical
        const Grid3 e = random_grid(random, bits);
        std::array<Grid3, 4> p;
        for (Grid3& corner : p) corner = random_grid(random, bits);
        const int orientation = grid_orient3d(p[0], p[1], p[2], p[3]);
        if (orientation == 0) continue;
        if (orientation < 0) std::swap(p[0], p[1]);
        const auto lift = [&](const Grid3& a) {
            const Wide x = a.x - e.x, y = a.y - e.y, z = a.z - e.z;
            return x * x + y * y + z * z;
        };
        const auto triple = [&](const Grid3& a, const Grid3& b, const Grid3& c) {
            const Wide ax = a.x - e.x, ay = a.y - e.y, az = a.z - e.z, bx = b.x - e.x, by = b.y - e.y,
                       bz = b.z - e.z, cx = c.x - e.x, cy = c.y - e.y, cz = c.z - e.z;
            return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
        };
        const int expected =
            sign_of(lift(p[0]) * triple(p[1], p[2], p[3]) - lift(p[1]) * triple(p[2], p[3], p[0]) +
                    lift(p[2]) * triple(p[3], p[0], p[1]) - lift(p[3]) * triple(p[0], p[1], p[2]));
        zeros += expected == 0;
        ASSERT_EQ(in_sphere(p[0].times(0.125), p[1].times(0.125), p[2].times(0.125), p[3].times(0.125),
                            e.times(0.125)),
                  expected)
            << k;
    }
    EXPECT_GT(zeros, 50);
}
