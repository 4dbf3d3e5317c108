// The whole solver against formulas on paper, and the order at which it comes closer.
#include <cmath>

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/fem/loads.hpp"
#include "lithe/fem/solve.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double E = 1e6;     // [Pa]
constexpr double L = 1.0;     // [m]
constexpr double side = 0.25; // [m]

/// The triangles of the surface that lie in the plane x = L, over the vertices of the tet mesh.
Triangles end_face(const TetMesh& mesh)
{
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(mesh, origin);
    std::vector<int> kept;
    for (Index t = 0; t < surface.triangle_count(); ++t) {
        double smallest = L;
        for (const int v : surface.triangles.col(t)) smallest = std::min(smallest, surface.vertices(0, v));
        if (smallest > L - 1e-9) kept.push_back(static_cast<int>(t));
    }
    Triangles triangles = surface.triangles(Eigen::all, kept);
    for (int& v : triangles.reshaped()) v = origin[static_cast<std::size_t>(v)];
    return triangles;
}

struct Rod {
    TetMesh mesh;
    FemModel model;
    Loading loading;
};
/// Along x, fixed at x = 0, n cells across.
Rod rod(int n, const Material& material, double density = 1000.0)
{
    TetMesh mesh = box_tets({4 * n, n, n}, {L, side, side});
    FemModel model = make_fem_model(mesh, material, density);
    Loading loading{.force = Points::Zero(3, model.vertex_count()),
                    .pins = pinned_where_they_are(model.rest, vertices_at(model.rest, 0, 0.0))};
    return {std::move(mesh), std::move(model), std::move(loading)};
}

FemState solved(const Rod& rod)
{
    FemState state = rest_state(rod.model);
    FemWork work;
    const SolveReport report = solve_static(rod.model, rod.loading, {.decrement = 1e-16}, state, work);
    EXPECT_TRUE(report.converged()) << to_string(report.status);
    return state;
}

} // namespace

// Pulled with traction s, nu = 0:  u = s x / E, exact on any mesh.
TEST(ClosedForms, BarUnderTractionIsExact)
{
    Rod bar = rod(2, Linear({E, 0.0}));
    const double traction = 0.01 * E;
    add_pressure(end_face(bar.mesh), bar.model.rest, -traction, bar.loading.force);
    EXPECT_NEAR(bar.loading.force.row(0).sum(), traction * side * side, 1e-9);
    Points expected = bar.model.rest;
    expected.row(0) *= 1.01;
    EXPECT_LT((solved(bar).x - expected).cwiseAbs().maxCoeff(), 1e-10);
}

// The same for large stretch with the corotational law and nu = 0:  2 mu (s - 1) = E (s - 1) = traction.
TEST(ClosedForms, StronglyStretchedCorotationalBarIsExact)
{
    Rod bar = rod(2, Corotational({E, 0.0}));
    add_pressure(end_face(bar.mesh), bar.model.rest, -0.5 * E, bar.loading.force);
    Points expected = bar.model.rest;
    expected.row(0) *= 1.5;
    EXPECT_LT((solved(bar).x - expected).cwiseAbs().maxCoeff(), 1e-8);
}

// Pressure p all around:  even strain -p / (3 k), exact on any mesh.
TEST(ClosedForms, CubeUnderPressureShrinksEvenly)
{
    const double nu = 0.3, k = E / (3.0 * (1.0 - 2.0 * nu)), p = 0.03 * k;
    const TetMesh mesh = box_tets({2, 3, 2}, {1.0, 1.0, 1.0});
    const FemModel model = make_fem_model(mesh, Linear({E, nu}), 1000.0);
    std::vector<int> origin;
    Triangles surface = boundary_surface(mesh, origin).triangles;
    for (int& v : surface.reshaped()) v = origin[static_cast<std::size_t>(v)];
    Loading loading{.force = Points::Zero(3, model.vertex_count())};
    add_pressure(surface, model.rest, p, loading.force);
    const Points expected = (1.0 - p / (3.0 * k)) * model.rest;
    loading.pins = pinned_where_they_are(expected, {0, 1, 5}); // three that hold it, where they belong
    FemState state = rest_state(model);
    FemWork work;
    ASSERT_TRUE(solve_static(model, loading, {.decrement = 1e-20}, state, work).converged());
    EXPECT_LT((state.x - expected).cwiseAbs().maxCoeff(), 1e-9);
}

// Hanging under its own weight, nu = 0:  work of the weight f.u = rho^2 g^2 A L^3 / (3 E); the error falls as h^2
// (from below, since the free sides help small meshes).
TEST(ClosedForms, HangingBarConvergesInEnergy)
{
    const double rho = 1000.0, g = 10.0;
    const double exact = rho * rho * g * g * side * side * L * L * L / (3.0 * E);
    double last = 0.0;
    for (const int n : {1, 2, 4}) {
        Rod bar = rod(n, Linear({E, 0.0}), rho);
        add_gravity(bar.model, {g, 0.0, 0.0}, bar.loading.force);
        const double error = 1.0 - (-potential_energy(bar.model, bar.loading.force, solved(bar))) / exact;
        EXPECT_GT(error, 0.0); // a Galerkin solution is too stiff
        if (last > 0.0) {
            EXPECT_GT(std::log2(last / error), 1.65) << n;
            EXPECT_LT(std::log2(last / error), 2.1) << n;
        }
        last = error;
    }
    EXPECT_LT(last, 0.01);
}

// Linear tets are stiff in bending: 5 % at 8 cells across, and the order comes late.
// Bent by a shear traction at its end, nu = 0:  w = P L^3 / (3 E I) + P L / (5/6 G A) (Timoshenko).
TEST(ClosedForms, CantileverConvergesToTimoshenko)
{
    const double load = 1.0, A = side * side, I = A * A / 12.0, G = E / 2.0;
    const double exact = load * L * L * L / (3.0 * E * I) + load * L / (5.0 / 6.0 * G * A);
    double last = 0.0;
    for (const int n : {2, 4, 8}) {
        Rod beam = rod(n, Linear({E, 0.0}));
        Points unit = Points::Zero(3, beam.model.vertex_count());
        add_pressure(end_face(beam.mesh), beam.model.rest, -load / A, unit);
        beam.loading.force.row(1) = unit.row(0); // the same nodal shares, sideways
        const FemState state = solved(beam);
        // work-conjugate deflection: the mean over the end face
        const double w = -potential_energy(beam.model, beam.loading.force, state) / load;
        const double error = 1.0 - w / exact;
        EXPECT_GT(error, 0.0);
        if (last > 0.0) {
            EXPECT_GT(std::log2(last / error), n == 4 ? 1.3 : 1.6) << n;
        }
        last = error;
    }
    EXPECT_LT(last, 0.06);
}
