#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/modes.hpp"
#include "lithe/reduce/stvk_polynomial.hpp"
#include "support/message_of.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

FemModel stvk_bar()
{
    TetMesh mesh = box_tets({5, 2, 2}, {0.5, 0.2, 0.2});
    for (Index t = 0; t < mesh.tet_count(); ++t) mesh.regions.push_back(t < 50 ? 1 : 2);
    const RegionMaterial materials[] = {{1, StVenantKirchhoff({1e5, 0.4}), 1000.0},
                                        {2, StVenantKirchhoff({3e5, 0.1}), 800.0}};
    return make_fem_model(mesh, materials);
}

MatX some_basis(const FemModel& model, Index rank)
{
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    Progress progress;
    return linear_modes(system, {.count = rank}, progress).basis.U;
}

/// Coordinates whose displacements are about a fifth of the length: far from linear.
VecX large_pose(const MatX& U, std::uint64_t seed)
{
    Random random(seed);
    const VecX q = random_vector(random, U.cols());
    return q * (0.1 / (U * q).cwiseAbs().maxCoeff());
}

} // namespace

TEST(StvkPolynomial, IsTheProjectedFullForce)
{
    const FemModel model = stvk_bar();
    Progress progress;
    for (const Index rank : {1, 3, 4, 13, 20}) {
        const MatX U = some_basis(model, rank);
        const StvkPolynomial polynomial(model, U, progress);
        const VecX q = large_pose(U, 1);
        ReducedElastic reduced;
        StvkPolynomial::Work work;
        polynomial.evaluate(q, reduced, work);

        Points x = model.rest;
        Eigen::Map<VecX>(x.data(), x.size()) += U * q;
        Points gradient;
        ElasticWork full;
        const double energy = elastic_gradient(model, x, gradient, full);
        const VecX expected = U.transpose() * Eigen::Map<const VecX>(gradient.data(), gradient.size());
        SparseMatrix K;
        elastic_hessian(model, x, Definiteness::Exact, K, full);
        const MatX K_expected = U.transpose() * (K * U);

        EXPECT_GT((expected - polynomial.rest_stiffness() * q).norm(), 0.02 * expected.norm()); // not linear
        EXPECT_LT((reduced.gradient - expected).norm(), 1e-12 * expected.norm()) << "rank " << rank;
        EXPECT_NEAR(reduced.energy, energy, 1e-12 * energy);
        EXPECT_LT((reduced.stiffness - K_expected).norm(), 1e-12 * K_expected.norm());
    }
}

TEST(StvkPolynomial, DerivativesHaveTheirOrder)
{
    const FemModel model = stvk_bar();
    const MatX U = some_basis(model, 7);
    Progress progress;
    const StvkPolynomial polynomial(model, U, progress);
    StvkPolynomial::Work work;
    const auto at = [&](const VecX& q) {
        ReducedElastic out;
        polynomial.evaluate(q, out, work);
        return out;
    };
    const VecX q = large_pose(U, 2), d = large_pose(U, 3);
    const ReducedElastic here = at(q);
    EXPECT_NEAR(
        taylor_order_of_scalar([&](const VecX& p) { return at(p).energy; }, here.gradient.dot(d), q, d), 2.0,
        0.1);
    EXPECT_NEAR(taylor_order([&](const VecX& p) { return at(p).gradient; }, here.stiffness * d, q, d), 2.0,
                0.1);
}

TEST(StvkPolynomial, RestHasNoForceAndTheLinearStiffness)
{
    const FemModel model = stvk_bar();
    const MatX U = some_basis(model, 5);
    Progress progress;
    const StvkPolynomial polynomial(model, U, progress);
    ReducedElastic rest;
    StvkPolynomial::Work work;
    polynomial.evaluate(VecX::Zero(5), rest, work);
    EXPECT_EQ(rest.energy, 0.0);
    EXPECT_EQ(rest.gradient, VecX::Zero(5));
    EXPECT_EQ(rest.stiffness, polynomial.rest_stiffness());
}

TEST(StvkPolynomial, IsTheSumOfItsMonomials) // also the order of the data
{
    Random random(5);
    for (const Index r : {1, 2, 5, 9}) {
        StvkPolynomial::Data data{.linear = random_matrix(random, r, r), .cubic = {}, .quartic = {}};
        data.linear = MatX(data.linear + data.linear.transpose());
        const VecX q = random_vector(random, r);
        double energy = 0.5 * q.dot(data.linear * q);
        for (Index i = 0; i < r; ++i)
            for (Index j = 0; j <= i; ++j)
                for (Index k = 0; k <= j; ++k) {
                    data.cubic.push_back(random.normal());
                    energy += data.cubic.back() * q[i] * q[j] * q[k];
                    for (Index l = 0; l <= k; ++l) {
                        data.quartic.push_back(random.normal());
                        energy += data.quartic.back() * q[i] * q[j] * q[k] * q[l];
                    }
                }
        ReducedElastic out;
        StvkPolynomial::Work work;
        StvkPolynomial(data).evaluate(q, out, work);
        EXPECT_NEAR(out.energy, energy, 1e-12 * static_cast<double>(data.quartic.size())) << "rank " << r;
    }
}

TEST(StvkPolynomial, DataMakeTheSameBits)
{
    const FemModel model = stvk_bar();
    const MatX U = some_basis(model, 7);
    Progress progress;
    const StvkPolynomial first(model, U, progress);
    const StvkPolynomial::Data data = first.data();
    EXPECT_EQ(data.cubic.size(), 84u);
    EXPECT_EQ(data.quartic.size(), 210u);
    const StvkPolynomial second(data);
    EXPECT_EQ(second.data().cubic, data.cubic);
    EXPECT_EQ(second.data().quartic, data.quartic);
    StvkPolynomial::Work work;
    ReducedElastic a, b;
    const VecX q = large_pose(U, 6);
    first.evaluate(q, a, work);
    second.evaluate(q, b, work);
    EXPECT_EQ(a.energy, b.energy);
    EXPECT_EQ(a.gradient, b.gradient);
    EXPECT_EQ(a.stiffness, b.stiffness);
}

TEST(StvkPolynomial, RefusesDataThatDoNotFit)
{
    const StvkPolynomial::Data good{
        .linear = MatX::Identity(2, 2), .cubic = {1, 2, 3, 4}, .quartic = {1, 2, 3, 4, 5}};
    EXPECT_EQ(StvkPolynomial(good).rank(), 2);
    const auto message = [&](auto spoil) {
        StvkPolynomial::Data bad = good;
        spoil(bad);
        return message_of([&] { StvkPolynomial{bad}; });
    };
    using Data = StvkPolynomial::Data;
    EXPECT_THAT(message([](Data& d) { d.cubic.pop_back(); }), HasSubstr("need 4 cubic"));
    EXPECT_THAT(message([](Data& d) { d.quartic.push_back(0.0); }), HasSubstr("and 6"));
    EXPECT_THAT(message([](Data& d) { d.linear.resize(2, 3); }), HasSubstr("rank 2"));
    EXPECT_THAT(message([](Data& d) { d.linear.resize(0, 0); }), HasSubstr("rank 0"));
    EXPECT_THAT(message([](Data& d) { d.quartic[3] = NAN; }), HasSubstr("not finite"));
    EXPECT_THAT(message([](Data& d) { d.linear(0, 1) = NAN; }), HasSubstr("not finite"));
}

TEST(StvkPolynomial, SameBitsForAnyNumberOfThreads)
{
    const FemModel model = stvk_bar();
    const MatX U = some_basis(model, 25); // 350 columns: several tiles
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        Progress progress;
        ReducedElastic out;
        StvkPolynomial::Work work;
        StvkPolynomial(model, U, progress).evaluate(large_pose(U, 4), out, work);
        return out.stiffness;
    };
    EXPECT_EQ(with_threads(1), with_threads(4));
}

TEST(StvkPolynomial, RefusesWhatCannotBe)
{
    const FemModel corotational = bar_model({1, 1, 1});
    const FemModel model = bar_model({1, 1, 1}, StVenantKirchhoff({1e5, 0.3}));
    Progress progress;
    EXPECT_THAT(message_of([&] { StvkPolynomial(corotational, MatX::Ones(24, 1), progress); }),
                HasSubstr("'stvk' only"));
    EXPECT_THAT(message_of([&] { StvkPolynomial(model, MatX::Ones(9, 1), progress); }),
                HasSubstr("another mesh"));
    EXPECT_THAT(message_of([&] { StvkPolynomial(model, MatX(24, 0), progress); }), HasSubstr("rank 0"));
    EXPECT_THAT(message_of([&] { StvkPolynomial(model, MatX::Ones(24, 121), progress); }),
                HasSubstr("rank 121"));
}
