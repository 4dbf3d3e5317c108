#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/reduce/cubature.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/modes.hpp"
#include "lithe/reduce/symmetric_product.hpp"
#include "support/message_of.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

struct Case {
    FemModel model;
    MatX U;
    VecX q;
};

Case bent_bar(const Material& first, const Material& second)
{
    TetMesh mesh = box_tets({5, 2, 2}, {0.5, 0.2, 0.2});
    for (Index t = 0; t < mesh.tet_count(); ++t) mesh.regions.push_back(t % 3 == 0 ? 2 : 1);
    const RegionMaterial materials[] = {{1, first, 1000.0}, {2, second, 800.0}};
    Case out{make_fem_model(mesh, materials), {}, {}};
    RestSystem system(out.model, vertices_at(out.model.rest, 0, 0.0));
    Progress progress;
    out.U = linear_modes(system, {.count = 8}, progress).basis.U;
    Random random(1);
    out.q = random_vector(random, 8);
    out.q *= 0.05 / (out.U * out.q).cwiseAbs().maxCoeff();
    return out;
}

} // namespace

TEST(Cubature, OfAllTetsIsTheProjection) // spec Q1
{
    const auto [model, U, q] = bent_bar(Corotational({1e5, 0.4}), StableNeoHookean({2e5, 0.3}));
    const CubatureElastic elastic(model, U, all_tets(model));
    EXPECT_EQ(elastic.point_count(), 120);
    Points x = model.rest, gradient;
    Eigen::Map<VecX>(x.data(), x.size()) += U * q;
    ElasticWork full;
    SparseMatrix K;
    const double energy = elastic_gradient(model, x, gradient, full);
    const VecX expected = U.transpose() * Eigen::Map<const VecX>(gradient.data(), gradient.size());
    for (const Definiteness definiteness : {Definiteness::Exact, Definiteness::Projected}) {
        elastic_hessian(model, x, definiteness, K, full);
        const MatX K_expected = U.transpose() * (K * U);
        ReducedElastic reduced;
        CubatureElastic::Work work;
        elastic.evaluate(q, definiteness, reduced, work);
        EXPECT_NEAR(reduced.energy, energy, 1e-12 * energy);
        EXPECT_LT((reduced.gradient - expected).norm(), 1e-12 * expected.norm());
        EXPECT_LT((reduced.stiffness - K_expected).norm(), 1e-12 * K_expected.norm());
    }
}

TEST(Cubature, IsTheSumOverItsPointsForEveryMaterial)
{
    const std::vector<int> tets = {3,  40, 41,
                                   77, 99, 119}; // of both materials, and no multiple of eight of either
    const VecX weights = VecX::LinSpaced(6, 1.0, 3.5);
    for (const MaterialKind kind : material_kinds()) {
        const Material material = make_material({.kind = kind, .elastic = {1e5, 0.35}});
        const auto [model, U, q] = bent_bar(material, Corotational({3e5, 0.2}));
        double energy = 0.0;
        VecX gradient = VecX::Zero(8);
        MatX stiffness = MatX::Zero(8, 8), B(9, 8);
        for (std::size_t c = 0; c < tets.size(); ++c) {
            const Index slot =
                std::ranges::find(model.elements.tet_of_slot, tets[c]) - model.elements.tet_of_slot.begin();
            set_deformation_rows(model.elements, U, slot, B);
            const double w = weights[static_cast<Index>(c)] * rest_volume(model.elements, slot);
            const Mat3 F = mat(Vec9(B * q)) + Mat3::Identity();
            std::visit(
                [&](const auto& law) {
                    energy += w * law.psi(F);
                    gradient += w * B.transpose() * vec(law.P(F));
                    stiffness += w * B.transpose() * law.dPdF_psd(F) * B;
                },
                tets[c] % 3 == 0 ? Material(Corotational({3e5, 0.2})) : material);
        }
        ReducedElastic out;
        CubatureElastic::Work work;
        CubatureElastic(model, U, {tets, weights}).evaluate(q, Definiteness::Projected, out, work);
        EXPECT_NEAR(out.energy, energy, 1e-11 * energy) << material_name(kind);
        EXPECT_LT((out.gradient - gradient).norm(), 1e-11 * gradient.norm()) << material_name(kind);
        EXPECT_LT((out.stiffness - stiffness).norm(), 1e-11 * stiffness.norm()) << material_name(kind);
    }
}

TEST(Cubature, SymmetricProductIsTheProduct)
{
    Random random(3);
    for (const SimdLevel level : {SimdLevel::Scalar, SimdLevel::Avx2, best_simd_level()})
        for (const Index rows : {72, 76}) // a multiple of eight, and not
            for (const Index columns : {1, 2, 3, 4, 5, 6, 7, 12, 13}) {
                const MatX A = random_matrix(random, rows, columns);
                const VecX d = random_vector(random, rows);
                MatX K;
                symmetric_product(A, d.asDiagonal() * A, K, level);
                EXPECT_LT((K - A.transpose() * d.asDiagonal() * A).cwiseAbs().maxCoeff(), 1e-13) << columns;
                EXPECT_EQ(K, K.transpose());
            }
}

TEST(Cubature, InstructionSetsAgreeToRounding)
{
    const auto [model, U, q] = bent_bar(Corotational({1e5, 0.4}), StableNeoHookean({2e5, 0.3}));
    const CubatureElastic elastic(model, U, all_tets(model));
    CubatureElastic::Work work;
    ReducedElastic scalar, wide;
    elastic.evaluate(q, Definiteness::Projected, scalar, work, SimdLevel::Scalar);
    for (const SimdLevel level : {SimdLevel::Avx2, best_simd_level()}) {
        elastic.evaluate(q, Definiteness::Projected, wide, work, level);
        EXPECT_EQ(wide.energy, scalar.energy); // point by point, without sums over lanes
        EXPECT_EQ(wide.gradient, scalar.gradient);
        EXPECT_LT((wide.stiffness - scalar.stiffness).norm(), 1e-14 * scalar.stiffness.norm());
    }
}

TEST(Cubature, DerivativesHaveTheirOrder)
{
    const auto [model, U, q] = bent_bar(Corotational({1e5, 0.4}), StableNeoHookean({2e5, 0.3}));
    const Cubature some{{3, 40, 77, 119}, Vec4(2.0, 30.0, 1.5, 20.0)};
    const CubatureElastic elastic(model, U, some);
    CubatureElastic::Work work;
    const auto at = [&](const VecX& p) {
        ReducedElastic out;
        elastic.evaluate(p, Definiteness::Exact, out, work);
        return out;
    };
    Random random(2);
    const VecX d = random_vector(random, 8) * q.norm();
    const ReducedElastic here = at(q);
    EXPECT_NEAR(
        taylor_order_of_scalar([&](const VecX& p) { return at(p).energy; }, here.gradient.dot(d), q, d), 2.0,
        0.1);
    EXPECT_NEAR(taylor_order([&](const VecX& p) { return at(p).gradient; }, here.stiffness * d, q, d), 2.0,
                0.1);
}

TEST(Cubature, DataMakeTheSameBits)
{
    const auto [model, U, q] = bent_bar(Corotational({1e5, 0.4}), StableNeoHookean({2e5, 0.3}));
    const Cubature some{{3, 40, 41, 77, 119}, VecX::LinSpaced(5, 1.0, 3.5)};
    const CubatureElastic first(model, U, some);
    const CubatureElastic::Data data = first.data();
    EXPECT_EQ(data.region, (std::vector<int>{0, 0, 0, 0, 1}));
    EXPECT_EQ(data.B.rows(), 45);
    EXPECT_NE(data.weight[0], data.weight[1]);
    const CubatureElastic second(data);
    CubatureElastic::Work work;
    ReducedElastic a, b;
    first.evaluate(q, Definiteness::Projected, a, work);
    second.evaluate(q, Definiteness::Projected, b, work);
    EXPECT_EQ(a.energy, b.energy);
    EXPECT_EQ(a.gradient, b.gradient);
    EXPECT_EQ(a.stiffness, b.stiffness);
    EXPECT_EQ(second.point_count(), 5);
    EXPECT_EQ(second.data().B, data.B);
    EXPECT_EQ(second.data().weight, data.weight);
}

TEST(Cubature, RefusesDataThatDoNotFit)
{
    const CubatureElastic::Data good{.B = MatX::Ones(18, 3),
                                     .weight = VecX::Ones(2),
                                     .region = {0, 0},
                                     .materials = {Corotational({1e5, 0.4})}};
    EXPECT_EQ(CubatureElastic(good).point_count(), 2);
    const auto message = [&](auto spoil) {
        CubatureElastic::Data bad = good;
        spoil(bad);
        return message_of([&] { CubatureElastic{bad}; });
    };
    using Data = CubatureElastic::Data;
    EXPECT_THAT(message([](Data& d) { d.B.resize(17, 3); }), HasSubstr("17 rows"));
    EXPECT_THAT(message([](Data& d) { d.region.pop_back(); }), HasSubstr("1 regions"));
    EXPECT_THAT(message([](Data& d) { d.region[1] = 1; }), HasSubstr("point 1 is in region 1"));
    EXPECT_THAT(message([](Data& d) { d.region[0] = -1; }), HasSubstr("region -1"));
    EXPECT_THAT(message([](Data& d) { d.weight[1] = 0.0; }), HasSubstr("weight of cubature point 1"));
    EXPECT_THAT(message([](Data& d) { d.weight[0] = NAN; }), HasSubstr("weight of cubature point 0"));
    EXPECT_THAT(message([](Data& d) { d.B(4, 1) = INFINITY; }), HasSubstr("not finite"));
}

TEST(Cubature, RefusesWhatCannotBe)
{
    const FemModel model = bar_model({1, 1, 1});
    const MatX U = MatX::Ones(24, 1);
    const VecX one = VecX::Ones(1);
    EXPECT_THAT(message_of([&] { CubatureElastic(model, U, {{6}, one}); }), HasSubstr("does not exist"));
    EXPECT_THAT(message_of([&] { CubatureElastic(model, U, {{-1}, one}); }), HasSubstr("does not exist"));
    EXPECT_THAT(message_of([&] { CubatureElastic(model, U, {{0}, -one}); }),
                HasSubstr("weight of cubature tet 0"));
    EXPECT_THAT(message_of([&] { CubatureElastic(model, U, {{0, 1}, one}); }), HasSubstr("one for each"));
    EXPECT_THAT(message_of([&] { CubatureElastic(model, U.topRows(3), {{0}, one}); }),
                HasSubstr("another mesh"));
}
