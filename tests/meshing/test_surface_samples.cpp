#include "lithe/meshing/surface_samples.hpp"

#include <gtest/gtest.h>

#include "support/meshes.hpp"
#include "support/surfaces.hpp"

namespace lithe {

TEST(SurfaceSamples, StandForTheWholeArea)
{
    const TriangleMesh mesh = test::sphere_surface(4);
    double sum = 0.0;
    Index vertices = 0;
    for (const SurfaceSample& s : sample_surface(mesh, 0.1)) {
        sum += s.area;
        vertices += s.area == 0.0;
        EXPECT_NEAR(s.normal.norm(), 1.0, 1e-12);
        EXPECT_GT(s.normal.dot(s.point), 0.5); // outward
    }
    EXPECT_NEAR(sum, area(mesh), 1e-12 * area(mesh));
    EXPECT_EQ(vertices, mesh.vertex_count());
}

TEST(SurfaceSamples, LeaveNoPlaceFartherThanTheSpacing)
{
    const double spacing = 0.05;
    const std::vector<SurfaceSample> samples = sample_surface(test::unit_cube(), spacing);
    Random random(3);
    for (int i = 0; i < 200; ++i) {
        const Vec3 p(random.uniform(), random.uniform(), 1.0); // on the lid
        double nearest = 1.0;
        for (const SurfaceSample& s : samples) nearest = std::min(nearest, (s.point - p).norm());
        EXPECT_LT(nearest, spacing);
    }
}

TEST(SurfaceSamples, LargestDistanceBetweenShiftedCubes)
{
    TriangleMesh shifted = test::unit_cube();
    shifted.vertices.row(0).array() += 0.25;
    EXPECT_NEAR(largest_distance(sample_surface(shifted, 0.1), SurfaceQuery(test::unit_cube())), 0.25, 1e-12);
}

} // namespace lithe
