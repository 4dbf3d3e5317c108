#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/modal_derivatives.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

/// Relative difference of Phi_01 computed as (dK[phi_0]) phi_1 and as (dK[phi_1]) phi_0.
double asymmetry(RestSystem& system, const MatX& modes)
{
    Progress progress;
    const ModalDerivatives there = modal_derivatives(system, modes, progress);
    const ModalDerivatives back = modal_derivatives(system, modes.rowwise().reverse(), progress);
    const Index last = modes.cols() - 1;
    const VecX a = there.Phi.col(there.column(0, last)), b = back.Phi.col(back.column(0, last));
    EXPECT_GT(a.norm(), 0.0);
    return (a - b).norm() / a.norm();
}

} // namespace

TEST(ModalDerivatives, AreSymmetric) // spec B3
{
    for (const Material& material :
         {Material(Corotational({1e5, 0.4})), Material(StVenantKirchhoff({1e5, 0.4})),
          Material(StableNeoHookean({1e5, 0.4}))}) {
        const FemModel model = bar_model({6, 2, 2}, material);
        Progress progress;
        RestSystem pinned(model, vertices_at(model.rest, 0, 0.0));
        EXPECT_LT(asymmetry(pinned, linear_modes(pinned, {.count = 4}, progress).basis.U), 1e-6);
    }
}

TEST(ModalDerivatives, MakeTheLinearAnswerQuadratic) // spec B3
{
    const FemModel model = bar_model({10, 2, 2});
    const std::vector<int> pins = vertices_at(model.rest, 0, 0.0);
    RestSystem system(model, pins);
    Progress progress;
    const Modes modes = linear_modes(system, {.count = 2}, progress);
    const ModalDerivatives derivatives = modal_derivatives(system, modes.basis.U, progress);
    const VecX phi = modes.basis.U.col(0), Phi = derivatives.Phi.col(derivatives.column(0, 0));

    double linear[3], quadratic[3];
    double size = 0.01 / phi.cwiseAbs().maxCoeff(); // a hundredth of the length at the tip
    for (int k = 0; k < 3; ++k, size /= 2.0) {
        Loading loading;
        loading.pins = pinned_where_they_are(model.rest, pins);
        loading.force.resize(3, model.vertex_count());
        Eigen::Map<VecX>(loading.force.data(), 3 * model.vertex_count()) =
            size * stiffness_product(system.stiffness(), phi).col(0);
        FemState state = rest_state(model);
        FemWork work;
        ASSERT_TRUE(solve_static(model, loading, {.decrement = 1e-24}, state, work).converged());
        const Points moved = state.x - model.rest;
        const VecX u = Eigen::Map<const VecX>(moved.data(), moved.size());
        linear[k] = (u - size * phi).norm() / u.norm();
        quadratic[k] = (u - size * phi - 0.5 * size * size * Phi).norm() / u.norm();
    }
    EXPECT_LT(quadratic[0], 0.2 * linear[0]);
    for (int k = 0; k < 2; ++k) {
        EXPECT_NEAR(linear[k] / linear[k + 1], 2.0, 0.2);
        EXPECT_NEAR(quadratic[k] / quadratic[k + 1], 4.0, 0.4);
    }
}

TEST(ModalDerivatives, OfFreeBodiesHaveNoRigidPart)
{
    const FemModel model = bar_model({6, 2, 2});
    RestSystem system(model);
    Progress progress;
    const Modes modes = linear_modes(system, {.count = 5}, progress);
    const ModalDerivatives derivatives = modal_derivatives(system, modes.basis.U, progress);
    ASSERT_EQ(derivatives.Phi.cols(), 15);
    const double size = derivatives.Phi.cwiseAbs().maxCoeff();
    EXPECT_GT(size, 0.0);
    EXPECT_LT(gram_error(model, system.rigid_motions(), derivatives.Phi, MatX::Zero(6, 15)), 1e-9 * size);
}

TEST(ModalDerivatives, BasisRepresentsModesAndDerivatives)
{
    const FemModel model = bar_model({6, 2, 2});
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    Progress progress;
    const Modes modes = linear_modes(system, {.count = 4}, progress);
    const PrincipalBasis all = modal_derivative_basis(system, modes, {.lost_energy = 0.0}, progress);
    EXPECT_EQ(all.basis.rank(), 7 + 28); // 4 modes, 3 responses to gravity, and all pairs
    EXPECT_LT(orthonormality_error(model, all.basis.U), 1e-12);
    EXPECT_LT(outside_span(model, all.basis.U, modes.basis.U), 1e-9);
    const PrincipalBasis some =
        modal_derivative_basis(system, modes, {.lost_energy = 0.0, .max_rank = 6}, progress);
    EXPECT_EQ(some.basis.rank(), 6);
    EXPECT_LT(outside_span(model, some.basis.U, modes.basis.U.leftCols(1)), 0.05); // the strongest is there
    EXPECT_EQ(some.basis.kind, BasisKind::ModalDerivatives);
}

TEST(ModalDerivatives, GravityResponsesAreWhatTheBodyDoesUnderItsWeight)
{
    const FemModel model = bar_model({6, 2, 2});
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    const MatX G = gravity_responses(system);
    ASSERT_EQ(G.cols(), 3);
    for (Index c = 0; c < 3; ++c) {
        MatX weight = MatX::Zero(G.rows(), 1); // per unit of gravity along c
        for (Index v = 0; v < model.vertex_count(); ++v) weight(3 * v + c, 0) = model.vertex_mass[v];
        MatX force = stiffness_product(system.stiffness(), G.col(c));
        system.clear_pins(weight);
        system.clear_pins(force);
        const double share = force.cwiseProduct(weight).sum() / weight.squaredNorm();
        EXPECT_LT((force - share * weight).norm(), 1e-9 * force.norm());
        EXPECT_NEAR(G.col(c).dot(mass_product(model, G.col(c)).col(0)), 1.0, 1e-12);
    }
    RestSystem free(model);
    EXPECT_EQ(gravity_responses(free).cols(), 0);
}

TEST(ModalDerivatives, TheBasisDoesNotDependOnUnits)
{
    const auto basis_of = [](double scale) {
        TetMesh mesh = box_tets({6, 2, 2}, scale * Vec3(0.6, 0.2, 0.2));
        const FemModel model = make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0);
        RestSystem system(model, vertices_at(model.rest, 0, 0.0));
        Progress progress;
        const Modes modes = linear_modes(system, {.count = 5}, progress);
        MatX U = modal_derivative_basis(system, modes, {.lost_energy = 0.0, .max_rank = 8}, progress).basis.U;
        U *= std::pow(scale, 1.5); // mass-orthonormal columns shrink as the root of the mass grows
        return U;
    };
    const MatX metres = basis_of(1.0), centimetres = basis_of(100.0);
    const FemModel model = bar_model({6, 2, 2});
    EXPECT_LT(outside_span(model, metres, centimetres), 1e-6);
}

TEST(ModalDerivatives, SameBitsForAnyNumberOfThreads)
{
    const FemModel model = bar_model({12, 6, 6});
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    Progress progress;
    const Modes modes = linear_modes(system, {.count = 3}, progress);
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        return modal_derivatives(system, modes.basis.U, progress).Phi;
    };
    EXPECT_EQ(with_threads(1), with_threads(4));
}

TEST(ModalDerivatives, RefuseModesOfAnotherMesh)
{
    const FemModel model = bar_model({1, 1, 1});
    RestSystem system(model);
    Progress progress;
    EXPECT_THAT(message_of([&] { (void)modal_derivatives(system, MatX::Ones(9, 1), progress); }),
                HasSubstr("another mesh"));
}
