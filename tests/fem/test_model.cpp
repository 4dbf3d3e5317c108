#include "lithe/fem/model.hpp"

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/core/error.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

const Material stuff = Corotational({1e4, 0.3});
const Vec3 beam_size(2.0, 0.4, 0.3);

FemModel beam(MassKind mass)
{
    return make_fem_model(box_tets({4, 2, 2}, beam_size), stuff, 1000.0, {.mass = mass});
}

} // namespace

TEST(FemModel, MassAddsUpToDensityTimesVolume)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FemModel model = beam(kind);
        EXPECT_NEAR(model.vertex_mass.sum(), 1000.0 * beam_size.prod(), 1e-10);
        double total = 0.0;
        for (const double m : model.mass) total += m;
        EXPECT_NEAR(total, 1000.0 * beam_size.prod(), 1e-10);
        EXPECT_GT(model.vertex_mass.minCoeff(), 0.0);
    }
}

// Consistent mass integrates linear velocities exactly: rigid motions have the momenta of the solid box.
TEST(FemModel, ConsistentMassHasTheInertiaOfTheSolid)
{
    const double m = 1000.0 * beam_size.prod();
    const Vec3 squared = beam_size.cwiseAbs2();
    const Vec3 inertia =
        m / 12.0 * Vec3(squared[1] + squared[2], squared[2] + squared[0], squared[0] + squared[1]);
    for (int axis = 0; axis < 3; ++axis) {
        const auto spin = [&](const FemModel& model) {
            FemState state = rest_state(model);
            state.x.colwise() -= 0.5 * beam_size;
            for (Index i = 0; i < state.x.cols(); ++i)
                state.v.col(i) = Vec3::Unit(axis).cross(Vec3(state.x.col(i)));
            EXPECT_NEAR(kinetic_energy(model, state), 0.5 * angular_momentum(model, state)[axis], 1e-9);
            EXPECT_LT(linear_momentum(model, state).norm(), 1e-10);
            return angular_momentum(model, state);
        };
        EXPECT_LT((spin(beam(MassKind::Consistent)) - inertia[axis] * Vec3::Unit(axis)).norm(),
                  1e-10 * inertia.norm());
        EXPECT_GT(spin(beam(MassKind::Lumped))[axis], 1.01 * inertia[axis]);
    }
}

TEST(FemModel, RegionsHaveTheirOwnDensities)
{
    TetMesh mesh = box_tets({1, 1, 1}, {1.0, 1.0, 1.0});
    mesh.regions = {5, 5, 5, 1, 1, 1};
    const RegionMaterial materials[] = {{1, stuff, 600.0}, {5, stuff, 1200.0}};
    EXPECT_NEAR(make_fem_model(mesh, materials).vertex_mass.sum(), 900.0, 1e-10);
    EXPECT_NEAR(make_fem_model(mesh, stuff, 300.0).vertex_mass.sum(), 300.0, 1e-10); // one for all
}

TEST(FemModel, RefusesNegativeDamping)
{
    const TetMesh mesh = box_tets({1, 1, 1}, {1.0, 1.0, 1.0});
    EXPECT_THROW((void)make_fem_model(mesh, stuff, 1.0, {.damping = {-0.1, 0.0}}), InputError);
    EXPECT_THROW((void)make_fem_model(mesh, stuff, 1.0, {.damping = {0.0, std::nan("")}}), InputError);
    EXPECT_THROW((void)make_fem_model(mesh, stuff, -1.0), InputError);
}
