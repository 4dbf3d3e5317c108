#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/reduce/rest_system.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

/// Two bars side by side that do not touch.
TetMesh two_bars()
{
    const TetMesh one = box_tets({3, 1, 1}, {0.3, 0.1, 0.1});
    TetMesh both;
    both.vertices.resize(3, 2 * one.vertex_count());
    both.vertices << one.vertices, one.vertices.colwise() + Vec3(0.0, 0.5, 0.0);
    both.tets.resize(4, 2 * one.tet_count());
    both.tets << one.tets, (one.tets.array() + static_cast<int>(one.vertex_count())).matrix();
    return both;
}

double residual(const RestSystem& system, const MatX& X, MatX B)
{
    system.clear_pins(B);
    MatX KX = stiffness_product(system.stiffness(), X);
    system.clear_pins(KX);
    return (KX - B).norm() / B.norm();
}

} // namespace

TEST(RestSystem, KnowsTheRigidMotionsThatPinsLeave)
{
    const FemModel model = bar_model({3, 2, 2});
    const std::vector<int> ends = vertices_at(model.rest, 0, 0.0);
    const std::vector<std::pair<std::vector<int>, Index>> cases = {
        {{}, 6}, {{0}, 3}, {{0, 1}, 1}, {{0, 1, 2}, 1} /* in line */, {{0, 1, 4}, 0}, {ends, 0}};
    for (const auto& [pins, expected] : cases) {
        const RestSystem system(model, pins);
        EXPECT_EQ(system.rigid_motions().cols(), expected) << pins.size() << " pins";
        EXPECT_EQ(system.elastic_freedoms(),
                  3 * (model.vertex_count() - static_cast<Index>(pins.size())) - expected);
        if (expected == 0) continue;
        const MatX& R = system.rigid_motions();
        EXPECT_LT(orthonormality_error(model, R), 1e-12);
        EXPECT_LT(stiffness_product(system.stiffness(), R).cwiseAbs().maxCoeff(),
                  1e-12 * system.stiffness().coeffs().abs().maxCoeff() * R.cwiseAbs().maxCoeff());
        for (const int v : pins) EXPECT_EQ(R.middleRows(3 * v, 3).cwiseAbs().maxCoeff(), 0.0);
    }
}

TEST(RestSystem, CountsComponents)
{
    const FemModel model = make_fem_model(two_bars(), Corotational({1e5, 0.3}), 1000.0);
    EXPECT_EQ(RestSystem(model).component_count(), 2);
    EXPECT_EQ(RestSystem(model).rigid_motions().cols(), 12);
    EXPECT_EQ(RestSystem(model, vertices_at(model.rest, 1, 0.0)).rigid_motions().cols(), 6);
}

TEST(RestSystem, SolvesForPinnedBodies)
{
    const FemModel model = bar_model({6, 2, 2});
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    Random random(1);
    const MatX B = random_matrix(random, 3 * model.vertex_count(), 5);
    MatX X = B;
    EXPECT_LT(system.solve(X), 1e-10);
    EXPECT_LT(residual(system, X, B), 1e-10);
    for (const int v : system.pinned_vertices()) EXPECT_EQ(X.middleRows(3 * v, 3).cwiseAbs().maxCoeff(), 0.0);
}

TEST(RestSystem, SolvesForFreeBodiesWithoutRigidMotion)
{
    const FemModel model = bar_model({6, 2, 2});
    for (const std::vector<int>& pins : {std::vector<int>{}, std::vector<int>{0}}) {
        RestSystem system(model, pins);
        const MatX& R = system.rigid_motions();
        Random random(2);
        MatX B = random_matrix(random, 3 * model.vertex_count(), 4);
        system.clear_pins(B);
        MatX X = B;
        EXPECT_LT(system.solve(X), 1e-10);
        EXPECT_LT(gram_error(model, R, X, MatX::Zero(R.cols(), 4)), 1e-12 * X.cwiseAbs().maxCoeff());
        // what is left out is M R R^T B, the force that accelerates the body rigidly
        EXPECT_LT(residual(system, X, B - mass_product(model, R) * (R.transpose() * B)), 1e-10);
    }
}

TEST(RestSystem, RefusesWhatCannotBe)
{
    const FemModel model = bar_model({1, 1, 1});
    EXPECT_THAT(message_of([&] { RestSystem(model, {8}); }), HasSubstr("does not exist"));
    EXPECT_THAT(message_of([&] { RestSystem(model, {-1}); }), HasSubstr("does not exist"));
    EXPECT_THAT(message_of([&] { RestSystem(model, {0, 1, 2, 3, 4, 5, 6, 7}); }),
                HasSubstr("nothing can move"));
}
