#include "lithe/fem/loads.hpp"

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/core/error.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// The surface of a tet mesh over the vertices of the tet mesh.
Triangles surface_of(const TetMesh& mesh)
{
    std::vector<int> origin;
    Triangles triangles = boundary_surface(mesh, origin).triangles;
    for (int& v : triangles.reshaped()) v = origin[static_cast<std::size_t>(v)];
    return triangles;
}

} // namespace

TEST(Loads, GravityIsTheWeight)
{
    const FemModel model =
        make_fem_model(box_tets({2, 3, 2}, {1.0, 2.0, 3.0}), Corotational({1e4, 0.3}), 500.0);
    Points force = Points::Zero(3, model.vertex_count());
    add_gravity(model, {0.0, -9.81, 0.0}, force);
    EXPECT_LT((force.rowwise().sum() - Vec3(0.0, -9.81 * 3000.0, 0.0)).norm(), 1e-8);
    FemState state = rest_state(model);
    state.x.row(1).array() += 2.0;
    EXPECT_NEAR(potential_energy(model, force, state), 2.0 * 9.81 * 3000.0, 1e-7);
}

TEST(Loads, PressureIsTheGradientOfTheVolume)
{
    TetMesh mesh = box_tets({2, 2, 2}, {1.0, 1.0, 1.0});
    Random random(2);
    mesh.vertices += noise(random, mesh.vertex_count(), 0.05);
    const Triangles surface = surface_of(mesh);
    Points force = Points::Zero(3, mesh.vertex_count());
    add_pressure(surface, mesh.vertices, 250.0, force);
    EXPECT_LT(force.rowwise().sum().norm(), 1e-11);
    EXPECT_GT(force.norm(), 1.0);

    const auto energy = [&](const VecX& x) {
        return 250.0 * volume(TriangleMesh{Eigen::Map<const Points>(x.data(), 3, x.size() / 3), surface});
    };
    const VecX x = mesh.vertices.reshaped(), d = random_vector(random, x.size());
    EXPECT_NEAR(taylor_order_of_scalar(energy, -d.dot(VecX(force.reshaped())), x, d), 2.0, 0.1);
}

TEST(Loads, RefuseNonsense)
{
    Points force = Points::Zero(3, 4);
    EXPECT_THROW(add_point_force(4, Vec3::UnitX(), force), InputError);
    EXPECT_THROW(add_point_force(-1, Vec3::UnitX(), force), InputError);
    EXPECT_THROW(add_point_force(0, Vec3(std::nan(""), 0.0, 0.0), force), InputError);
    add_point_force(2, Vec3(1.0, 2.0, 3.0), force);
    EXPECT_EQ(force.col(2), Vec3(1.0, 2.0, 3.0));
    EXPECT_EQ(force.sum(), 6.0);
}
