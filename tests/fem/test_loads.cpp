#include "lithe/fem/loads.hpp"

#include <numbers>

#include <gtest/gtest.h>

#include "contact_scene.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/shapes.hpp"
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

// Ram pressure (u.n)^2 over the half of a sphere that faces the wind: half the drag of its disc.
TEST(Loads, WindDragsASphereByHalfItsDisc)
{
    const TriangleMesh sphere = make_sphere(0.4, 0.04);
    const Points still = Points::Zero(3, sphere.vertex_count());
    Points force = still;
    add_wind(sphere.triangles, sphere.vertices, still,
             {.velocity = {0.0, 0.0, -6.0}, .air_density = 1.2, .drag = 0.9}, force);
    const double disc = 0.5 * 1.2 * 0.9 * 36.0 * std::numbers::pi * 0.16;
    const Vec3 total = force.rowwise().sum();
    EXPECT_NEAR(total.z(), -0.5 * disc, 0.01 * disc);
    EXPECT_LT(total.head<2>().norm(), 1e-3 * disc);
    for (Index i = 0; i < sphere.vertex_count(); ++i) // the lee feels nothing
        EXPECT_TRUE(sphere.vertices(2, i) > -0.05 || force.col(i).isZero(0.0));
}

TEST(Loads, WindIsRelativeToTheFace)
{
    const TriangleMesh sphere = make_sphere(0.4, 0.1);
    Points with_it(3, sphere.vertex_count()), force = Points::Zero(3, sphere.vertex_count());
    const WindLoad wind{.velocity = {3.0, -1.0, 2.0}};
    with_it.colwise() = wind.velocity;
    add_wind(sphere.triangles, sphere.vertices, with_it, wind, force);
    EXPECT_EQ(force.norm(), 0.0);
    add_wind(sphere.triangles, sphere.vertices, 2.0 * with_it, wind, force); // faster than the air
    EXPECT_LT(force.rowwise().sum().dot(wind.velocity), 0.0);
    EXPECT_THROW(add_wind(sphere.triangles, sphere.vertices, with_it, {.air_density = 0.0}, force),
                 InputError);
    EXPECT_THROW(add_wind(sphere.triangles, sphere.vertices, with_it, {.drag = -1.0}, force), InputError);
    EXPECT_THROW(
        add_wind(sphere.triangles, sphere.vertices, with_it, {.velocity = {std::nan(""), 0.0, 0.0}}, force),
        InputError);
}

namespace {

/// A ball with a hole in it, and the wall of the hole.
struct HollowBall {
    TetMesh mesh = ball_tets(6, 1.0);
    Triangles wall;

    HollowBall()
    {
        const TetMesh cube = box_tets({6, 6, 6}, {2.0, 2.0, 2.0});
        std::vector<int> kept;
        for (Index t = 0; t < cube.tet_count(); ++t) {
            Vec3 centre = -Vec3::Ones();
            for (const int v : cube.tets.col(t)) centre += 0.25 * cube.vertices.col(v);
            if (centre.cwiseAbs().maxCoeff() > 2.0 / 3.0) kept.push_back(static_cast<int>(t));
        }
        mesh.tets = Tets(mesh.tets(Eigen::all, kept));
        drop_unused_vertices(mesh);
        const Triangles surface = surface_of(mesh);
        std::vector<int> inner;
        for (Index t = 0; t < surface.cols(); ++t)
            if (mesh.vertices.col(surface(0, t)).norm() < 0.9) inner.push_back(static_cast<int>(t));
        wall = surface(Eigen::all, inner);
    }
};

} // namespace

TEST(FollowerPressure, IsAPotentialOnAClosedSurface)
{
    const HollowBall ball;
    Random random(4);
    const Points x_0 = ball.mesh.vertices + noise(random, ball.mesh.vertex_count(), 0.03);
    const SurfacePressure load[] = {{&ball.wall, 700.0}};
    PressureWork work;
    begin_pressure(load, x_0, work);
    const auto energy = [&](const VecX& at) {
        Points g = Points::Zero(3, x_0.cols());
        return add_pressure_gradient(load, Eigen::Map<const Points>(at.data(), 3, x_0.cols()), g, work);
    };
    const auto gradient = [&](const VecX& at) {
        Points g = Points::Zero(3, x_0.cols());
        (void)add_pressure_gradient(load, Eigen::Map<const Points>(at.data(), 3, x_0.cols()), g, work);
        return VecX(g.reshaped());
    };
    Points force = Points::Zero(3, x_0.cols());
    add_pressure(ball.wall, x_0, 700.0, force);
    const VecX x = x_0.reshaped(), slope = gradient(x), d = random_vector(random, x.size()).normalized();
    EXPECT_LT((slope + VecX(force.reshaped())).norm(), 1e-12 * force.norm());
    EXPECT_GT(taylor_order_of_scalar(energy, slope.dot(d), x, d), 1.9);

    VecX Kd = VecX::Zero(x.size()); // K d, triangle by triangle
    for (Index t = 0; t < ball.wall.cols(); ++t) {
        const Eigen::Vector3i v = ball.wall.col(t);
        const Mat9 K = pressure_stiffness(x_0.col(v[0]), x_0.col(v[1]), x_0.col(v[2]), 700.0);
        EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm());
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                Kd.segment<3>(3 * v[a]) += K.block<3, 3>(3 * a, 3 * b) * d.segment<3>(3 * v[b]);
    }
    EXPECT_GT(Kd.norm(), 1.0);
    EXPECT_GT(taylor_order(gradient, Kd, x, d), 1.9);
}

// On a part of a surface the rim is renewed: the force is that of add_pressure at any x.
TEST(FollowerPressure, HasTheRightForceOnAnOpenSurface)
{
    const HollowBall ball;
    Random random(5);
    const Triangles patch = ball.wall.leftCols(20);
    const SurfacePressure load[] = {{&patch, 700.0}};
    PressureWork work;
    begin_pressure(load, ball.mesh.vertices, work);
    const Points x = ball.mesh.vertices + noise(random, ball.mesh.vertex_count(), 0.1);
    Points g = Points::Zero(3, x.cols()), force = g;
    (void)add_pressure_gradient(load, x, g, work);
    add_pressure(patch, x, 700.0, force);
    EXPECT_GT((g + force).norm(), 0.01 * force.norm()); // the potential alone is wrong
    (void)refresh_pressure(load, x, g, work);
    EXPECT_LT((g + force).norm(), 1e-12 * force.norm());
    EXPECT_THROW(begin_pressure(std::vector<SurfacePressure>{{nullptr, 1.0}}, x, work), InputError);
    EXPECT_THROW(begin_pressure(std::vector<SurfacePressure>{{&patch, std::nan("")}}, x, work), InputError);
    const Triangles outside = Triangles::Constant(3, 1, static_cast<int>(x.cols()));
    EXPECT_THROW(begin_pressure(std::vector<SurfacePressure>{{&outside, 1.0}}, x, work), InputError);
}

// A balloon in equilibrium: forces of the wall balance the pressure where the wall is now.
TEST(FollowerPressure, InflatesABalloon)
{
    const HollowBall ball;
    const FemModel model = make_fem_model(ball.mesh, StableNeoHookean({1e5, 0.4}), 1000.0);
    double grown = volume(TriangleMesh{model.rest, ball.wall});
    for (const double pressure : {2e3, 8e3, 1.5e4}) {
        const SurfacePressure load[] = {{&ball.wall, pressure}};
        Loading loading{.pins = pinned_where_they_are(model.rest, {0, 1, 7}), .pressures = load};
        FemState state = rest_state(model);
        FemWork work;
        const SolveReport report = solve_static(model, loading, {.decrement = 1e-12}, state, work);
        ASSERT_TRUE(report.converged()) << pressure << " " << to_string(report.status);
        Points force = Points::Zero(3, model.vertex_count()), g;
        add_pressure(ball.wall, state.x, pressure, force);
        (void)elastic_gradient(model, state.x, g, work.elastic);
        Points rest = g - force;
        for (const int v : loading.pins.vertices) rest.col(v).setZero();
        EXPECT_LT(rest.norm(), 1e-4 * force.norm()) << pressure;
        const double now = volume(TriangleMesh{state.x, ball.wall}); // below zero: it is seen from inside
        EXPECT_LT(now, grown) << pressure;
        grown = now;
    }
    EXPECT_LT(grown, 1.5 * volume(TriangleMesh{model.rest, ball.wall}));
}
