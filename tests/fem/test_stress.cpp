#include "lithe/fem/stress.hpp"

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/fem/model.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double E = 1e5, nu = 0.4; ///< [Pa], [-]

/// A bar that is drawn out by the share e along x and gets thinner as it wants to.
Mat3 drawn_out(double e)
{
    return Vec3(1.0 + e, 1.0 - nu * e, 1.0 - nu * e).asDiagonal();
}

double stress(const Mat3& F)
{
    return von_mises(F, Corotational({E, nu}).P(F));
}

} // namespace

TEST(Stress, OfABarThatIsDrawnOutIsItsTension)
{
    const double e = 1e-6; // Cauchy's and Piola's stress differ by O(e)
    EXPECT_NEAR(stress(drawn_out(e)), E * e, 1e-5 * E * e);
    EXPECT_NEAR(stress(drawn_out(-e)), E * e, 1e-5 * E * e);
}

TEST(Stress, IsNothingForRotationsAndPressure)
{
    Random random(3);
    const Mat3 R = random_rotation(random);
    EXPECT_LT(stress(R), 1e-9 * E);
    EXPECT_LT(stress(0.9 * R), 1e-9 * E);
    EXPECT_NEAR(stress(R * drawn_out(0.1)), stress(drawn_out(0.1)), 1e-9 * E);
}

TEST(Stress, OfAnAffineMotionIsTheSameAtAllPointsOfTheSurface)
{
    const TetMesh mesh = box_tets({3, 2, 2}, {0.3, 0.2, 0.2});
    const FemModel model = make_fem_model(mesh, Corotational({E, nu}), 1000.0);
    std::vector<int> origin;
    (void)boundary_surface(mesh, origin);
    const Mat3 F = drawn_out(0.2);
    const VecX found = surface_stress(model.elements, F * mesh.vertices, embed_vertices(origin, mesh));
    ASSERT_EQ(found.size(), std::ssize(origin));
    EXPECT_LT((found.array() - stress(F)).abs().maxCoeff(), 1e-9 * stress(F));
    EXPECT_EQ(stress_labels().front().unit, "Pa");
}
