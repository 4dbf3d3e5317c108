#include "lithe/meshing/thin_parts.hpp"

#include <gtest/gtest.h>

#include "support/meshes.hpp"

namespace lithe {
namespace {

TriangleMesh box_surface(const Vec3& size)
{
    TriangleMesh mesh = test::unit_cube();
    mesh.vertices = size.asDiagonal() * mesh.vertices;
    return mesh;
}

std::vector<ThinPart> parts_below(const TriangleMesh& mesh, double limit)
{
    return find_thin_parts(MendedBody(mesh), sample_surface(mesh, 0.1 * limit), limit);
}

} // namespace

TEST(ThinParts, APlateIsOnePart)
{
    const std::vector<ThinPart> parts = parts_below(box_surface(Vec3(1.0, 2.0, 0.1)), 0.2);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_NEAR(parts[0].thickness, 0.1, 1e-9);
    EXPECT_NEAR(parts[0].share, 4.0 / 4.6, 1e-6); // its two sides, not its rim
    EXPECT_LT((parts[0].centre - Vec3(0.5, 1.0, 0.05)).norm(), 1e-6);
}

TEST(ThinParts, WhatIsThickEnoughIsNotListed)
{
    EXPECT_TRUE(parts_below(box_surface(Vec3(1.0, 2.0, 0.1)), 0.0999).empty());
    EXPECT_TRUE(parts_below(test::unit_cube(), 0.5).empty()); // corners are no thin parts
}

TEST(ThinParts, SeparatePlatesAreSeparateParts)
{
    const TriangleMesh one = box_surface(Vec3(1.0, 1.0, 0.05));
    TriangleMesh two;
    two.vertices.resize(3, 16);
    two.vertices << one.vertices, (one.vertices.colwise() + Vec3(0.0, 0.0, 3.0));
    two.triangles.resize(3, 24);
    two.triangles << one.triangles, (one.triangles.array() + 8).matrix();
    EXPECT_EQ(parts_below(two, 0.2).size(), 2u);
}

} // namespace lithe
