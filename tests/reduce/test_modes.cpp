#include <cmath>
#include <numbers>

#include <Eigen/Eigenvalues>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/reduce/modes.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

Modes modes_of(const FemModel& model, std::vector<int> pins, Index count)
{
    RestSystem system(model, std::move(pins));
    Progress progress;
    return linear_modes(system, {.count = count}, progress);
}

/// |K phi - omega^2 M phi| over |omega^2 M phi|, the largest, outside the pins.
double largest_residual(const RestSystem& system, const Modes& modes)
{
    const MatX KU = stiffness_product(system.stiffness(), modes.basis.U);
    const MatX LMU = mass_product(system.model(), modes.basis.U) * modes.eigenvalues.asDiagonal();
    MatX error = KU - LMU;
    system.clear_pins(error);
    return (error.colwise().norm().array() / LMU.colwise().norm().array()).maxCoeff();
}

/// All eigenvalues of the unpinned coordinates by a dense solver, rising.
VecX dense_eigenvalues(const RestSystem& system)
{
    std::vector<int> free;
    for (int i = 0; i < 3 * system.model().vertex_count(); ++i)
        if (std::ranges::find(system.pinned_vertices(), i / 3) == system.pinned_vertices().end())
            free.push_back(i);
    const MatX K = MatX(system.stiffness())(free, free);
    const MatX M = dense_mass(system.model())(free, free);
    return Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

} // namespace

TEST(Modes, AgreeWithADenseSolver)
{
    const FemModel model = bar_model({8, 3, 3});
    const std::vector<std::vector<int>> cases = {{}, {0}, vertices_at(model.rest, 0, 0.0)};
    for (const std::vector<int>& pins : cases) {
        RestSystem system(model, pins);
        Progress progress;
        const Modes modes = linear_modes(system, {.count = 25}, progress);
        const VecX expected = dense_eigenvalues(system);
        const Index k = modes.rigid_count;
        EXPECT_LT(((modes.eigenvalues - expected.segment(k, 25)).array() / expected.segment(k, 25).array())
                      .abs()
                      .maxCoeff(),
                  1e-10);
        EXPECT_LT(largest_residual(system, modes), 1e-6);
        EXPECT_LT(orthonormality_error(model, modes.basis.U), 1e-12);
        EXPECT_LT(modes.krylov_dimension, system.elastic_freedoms()); // it was not the whole space
    }
}

TEST(Modes, AllModesOfASmallBody)
{
    const FemModel model = bar_model({2, 1, 1});
    RestSystem system(model);
    const Index all = system.elastic_freedoms();
    ASSERT_EQ(all, 30);
    Progress progress;
    const Modes modes = linear_modes(system, {.count = all}, progress);
    const VecX expected = dense_eigenvalues(system).tail(all);
    EXPECT_LT(((modes.eigenvalues - expected).array() / expected.array()).abs().maxCoeff(), 1e-9);
    EXPECT_LT(orthonormality_error(model, modes.basis.U), 1e-12);
}

TEST(Modes, ExactlySixRigidOnesAreDropped) // spec 2.1
{
    const FemModel model = bar_model({5, 2, 2});
    const Modes modes = modes_of(model, {}, 10);
    EXPECT_EQ(modes.rigid_count, 6);
    EXPECT_EQ(modes.component_count, 1);
    EXPECT_LT(modes.rigid_share, 1e-8);
    EXPECT_GT(modes.eigenvalues[0], 0.0);
    const VecX dense = dense_eigenvalues(RestSystem(model));
    EXPECT_EQ((dense.array() < 1e-8 * dense[6]).count(), 6);
    EXPECT_NEAR(modes.eigenvalues[0] / dense[6], 1.0, 1e-10);
    // the modes carry neither momentum nor angular momentum
    const RestSystem system(model);
    EXPECT_LT(gram_error(model, system.rigid_motions(), modes.basis.U, MatX::Zero(6, 10)), 1e-12);
}

TEST(Modes, OfAThinFixedBarAreAxialWaves)
{
    // nu = 0 and motion along the bar only: omega_k = (2 k - 1) pi/2 c/L, c = sqrt(E/rho), for k = 1, 2, ...
    constexpr double E = 1e6, rho = 1000.0, L = 2.0;
    const FemModel model = make_fem_model(box_tets({80, 1, 1}, {L, 0.4, 0.4}), Corotational({E, 0.0}), rho);
    const Modes modes = modes_of(model, vertices_at(model.rest, 0, 0.0), 24);
    int found = 0;
    for (Index j = 0; j < modes.basis.rank() && found < 2; ++j) {
        const auto phi = Eigen::Map<const Points>(modes.basis.U.col(j).data(), 3, model.vertex_count());
        if (phi.row(0).squaredNorm() < 0.95 * phi.squaredNorm() ||
            std::abs(phi.row(0).mean()) < 0.1 * phi.row(0).cwiseAbs().maxCoeff())
            continue; // bending moves across, and its axial part has mean zero
        ++found;
        const double expected = (2 * found - 1) * 0.5 * std::numbers::pi * std::sqrt(E / rho) / L;
        EXPECT_NEAR(std::sqrt(modes.eigenvalues[j]) / expected, 1.0, 2e-3) << "axial mode " << found;
        EXPECT_NEAR(frequencies(modes.eigenvalues)[j],
                    std::sqrt(modes.eigenvalues[j]) / (2.0 * std::numbers::pi), 1e-12);
    }
    EXPECT_EQ(found, 2);
}

TEST(Modes, OfSeveralPartsHaveSixRigidOnesEach)
{
    const TetMesh one = box_tets({3, 1, 1}, {0.3, 0.1, 0.1});
    TetMesh both;
    both.vertices.resize(3, 2 * one.vertex_count());
    both.vertices << one.vertices, one.vertices.colwise() + Vec3(0.0, 0.5, 0.0);
    both.tets.resize(4, 2 * one.tet_count());
    both.tets << one.tets, (one.tets.array() + static_cast<int>(one.vertex_count())).matrix();
    const FemModel model = make_fem_model(both, Corotational({1e5, 0.3}), 1000.0);
    const Modes pair = modes_of(model, {}, 8);
    const Modes single = modes_of(make_fem_model(one, Corotational({1e5, 0.3}), 1000.0), {}, 4);
    EXPECT_EQ(pair.rigid_count, 12);
    EXPECT_EQ(pair.component_count, 2);
    for (Index j = 0; j < 8; ++j) EXPECT_NEAR(pair.eigenvalues[j] / single.eigenvalues[j / 2], 1.0, 1e-9);
}

TEST(Modes, DoNotDependOnUnits)
{
    const TetMesh mesh = box_tets({5, 2, 2}, {0.5, 0.2, 0.2});
    TetMesh small = mesh;
    small.vertices *= 1e-3;
    const Modes metres = modes_of(make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0), {}, 12);
    const Modes millimetres = modes_of(make_fem_model(small, Corotational({1e9, 0.4}), 2000.0), {}, 12);
    // omega^2 goes as E/(rho L^2)
    EXPECT_LT((millimetres.eigenvalues.array() / metres.eigenvalues.array() / 5e9 - 1.0).abs().maxCoeff(),
              1e-9);
    EXPECT_LT(millimetres.rigid_share, 1e-8);
}

TEST(Modes, SameBitsForAnyNumberOfThreads)
{
    const FemModel model = bar_model({20, 6, 6});
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        return modes_of(model, {}, 12).basis.U;
    };
    EXPECT_EQ(with_threads(1), with_threads(4));
}

TEST(Modes, OfARealMesh)
{
    LITHE_DATA_OR_SKIP(path, "tets/spot_8k.mesh");
    const FemModel model = make_fem_model(read_tet_mesh(path), Corotational({1e5, 0.4}), 1000.0);
    RestSystem system(model);
    Progress progress;
    const Modes modes = linear_modes(system, {.count = 20}, progress);
    EXPECT_EQ(modes.rigid_count, 6);
    EXPECT_LT(modes.rigid_share, 1e-8);
    EXPECT_LT(largest_residual(system, modes), 1e-5);
    EXPECT_LT(orthonormality_error(model, modes.basis.U), 1e-12);
    EXPECT_TRUE(std::is_sorted(modes.eigenvalues.begin(), modes.eigenvalues.end()));
    for (Index j = 0; j < 20; ++j)
        EXPECT_EQ(modes.basis.U.col(j).maxCoeff(), modes.basis.U.col(j).cwiseAbs().maxCoeff());
}

TEST(Modes, TellTheirProgressAndStop)
{
    const FemModel model = bar_model({10, 3, 3});
    RestSystem system(model);
    double last = 0.0;
    Progress watched([&](const ProgressEvent& event) { last = event.fraction; }, {});
    (void)linear_modes(system, {.count = 10}, watched);
    EXPECT_EQ(last, 1.0);
    std::stop_source source;
    source.request_stop();
    Progress stopped({}, source.get_token());
    EXPECT_THROW((void)linear_modes(system, {.count = 10}, stopped), Interrupted);
}

TEST(Modes, RefuseWhatCannotBe)
{
    const FemModel model = bar_model({1, 1, 1});
    EXPECT_THAT(message_of([&] { (void)modes_of(model, {}, 19); }), HasSubstr("only 18"));
    EXPECT_THAT(message_of([&] { (void)modes_of(model, {}, 0); }), HasSubstr("one or more"));
    RestSystem system(model);
    Progress progress;
    EXPECT_THROW((void)linear_modes(system, {.count = 3, .tolerance = 0.0}, progress), InputError);

    // two cubes that share an edge: a hinge
    TetMesh hinged = box_tets({1, 1, 1}, {1, 1, 1});
    const Index n = hinged.vertex_count(), t = hinged.tet_count();
    std::vector<int> map;
    Points moved = hinged.vertices.colwise() + Vec3(1, 1, 0);
    int next = static_cast<int>(n);
    for (Index i = 0; i < n; ++i) {
        int at = -1;
        for (Index k = 0; k < n; ++k)
            if ((hinged.vertices.col(k) - moved.col(i)).norm() < 1e-9) at = static_cast<int>(k);
        map.push_back(at >= 0 ? at : next++);
    }
    hinged.vertices.conservativeResize(3, next);
    hinged.tets.conservativeResize(4, 2 * t);
    for (Index i = 0; i < n; ++i) hinged.vertices.col(map[static_cast<std::size_t>(i)]) = moved.col(i);
    for (Index k = 0; k < t; ++k)
        for (int a = 0; a < 4; ++a) hinged.tets(a, t + k) = map[static_cast<std::size_t>(hinged.tets(a, k))];
    const FemModel hinge = make_fem_model(hinged, Corotational({1e5, 0.3}), 1000.0);
    EXPECT_THAT(message_of([&] { (void)modes_of(hinge, {}, 10); }), HasSubstr("1 motions without energy"));
}
