#include "lithe/meshing/point_tets.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/predicates.hpp"

using namespace lithe;

namespace {

Box3 unit_box()
{
    return Box3(Vec3::Zero(), Vec3::Ones());
}

Vec3 drawn(Random& random)
{
    return {random.uniform(), random.uniform(), random.uniform()};
}

/// Of all tets, those to the far corners included: they fill a tetrahedron whatever the points.
double total_volume(const PointTets& tets)
{
    double sum = 0.0;
    const auto& x = tets.vertices();
    for (const auto& v : tets.tets()) {
        const double one = tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        EXPECT_GT(one, 0.0);
        sum += one;
    }
    return sum;
}

} // namespace

TEST(PointTets, FillSpaceOnce)
{
    PointTets tets(unit_box());
    const double whole = total_volume(tets);
    Random random(3);
    for (int k = 0; k < 150; ++k) ASSERT_TRUE(tets.insert(drawn(random), PointTets::Wish::Delaunay));
    for (int k = 0; k < 50; ++k) ASSERT_TRUE(tets.insert(drawn(random), PointTets::Wish::GoodShapes));
    EXPECT_NEAR(total_volume(tets), whole, 1e-9 * whole);
}

TEST(PointTets, SpheresAreEmpty)
{
    PointTets tets(unit_box());
    Random random(4);
    for (int k = 0; k < 80; ++k) (void)tets.insert(drawn(random), PointTets::Wish::Delaunay);
    const auto& x = tets.vertices();
    for (const auto& v : tets.tets())
        for (const Vec3& p : x) EXPECT_LE(in_sphere(x[v[0]], x[v[1]], x[v[2]], x[v[3]], p), 0);
}

/// Points of a grid are coplanar and on common spheres: the hardest case for signs.
TEST(PointTets, TakeGrids)
{
    PointTets tets(unit_box());
    const double whole = total_volume(tets);
    for (int k = 0; k < 64; ++k)
        ASSERT_TRUE(tets.insert(Vec3(k % 4, k / 4 % 4, k / 16) / 3.0, PointTets::Wish::Delaunay));
    EXPECT_NEAR(total_volume(tets), whole, 1e-9 * whole);
}

TEST(PointTets, AVertexTwiceIsOne)
{
    PointTets tets(unit_box());
    const auto first = tets.insert(Vec3(0.2, 0.3, 0.4), PointTets::Wish::GoodShapes);
    EXPECT_EQ(tets.insert(Vec3(0.2, 0.3, 0.4), PointTets::Wish::GoodShapes), first);
    EXPECT_FALSE(tets.insert(Vec3(1e6, 0.0, 0.0), PointTets::Wish::Delaunay)); // far outside
}
