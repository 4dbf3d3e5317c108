#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/core/parallel.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

MatX random_columns(const FemModel& model, Index count, std::uint64_t seed)
{
    Random random(seed);
    return random_matrix(random, 3 * model.vertex_count(), count);
}

Basis random_basis(const FemModel& model, Index count, std::uint64_t seed)
{
    return mass_orthonormalised(model, {.U = random_columns(model, count, seed), .provenance = "random"});
}

} // namespace

TEST(Basis, MassQrIsAFactorisationInTheMassInnerProduct)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FemModel model = bar_model({4, 2, 2}, Corotational({1e5, 0.4}), {.mass = kind});
        const MatX A = random_columns(model, 40, 1); // more than two blocks
        const MassQr qr = mass_qr(model, A);
        EXPECT_EQ(qr.Q.cols(), 40);
        EXPECT_LT(orthonormality_error(model, qr.Q), 1e-13);
        EXPECT_LT((qr.Q * qr.R - A).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_LT(MatX(qr.R.triangularView<Eigen::StrictlyLower>()).cwiseAbs().maxCoeff(), 1e-300);
    }
}

TEST(Basis, DropsColumnsThatEarlierOnesSpan)
{
    const FemModel model = bar_model({4, 2, 2});
    MatX A = random_columns(model, 20, 2);
    A.col(3) = A.col(0) - 2.0 * A.col(2);  // dependent
    A.col(7) = A.col(1) + 1e-8 * A.col(7); // dependent to 1e-8
    A.col(18) = 1e-9 * A.col(18);          // small, but a direction of its own
    A.col(19).setZero();
    const MassQr qr = mass_qr(model, A);
    EXPECT_THAT(qr.kept, ElementsAre(0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18));
    EXPECT_LT(orthonormality_error(model, qr.Q), 1e-13);
    EXPECT_EQ(mass_qr(model, A, 1e-10).Q.cols(), 18); // the threshold is an option with an effect
    EXPECT_LT(orthonormality_error(model, mass_qr(model, A, 1e-10).Q), 1e-12);
}

TEST(Basis, JoinKeepsTheFrontExactly) // spec B1
{
    const FemModel model = bar_model({4, 2, 2});
    const Basis front = random_basis(model, 5, 3);
    Basis back{.U = random_columns(model, 30, 4), .provenance = "back"};
    back.U.col(4) = front.U * VecX::Ones(5); // in the span of the front: goes
    const Basis bases[] = {front, back};
    const Basis both = join(model, bases);
    EXPECT_EQ(both.rank(), 34);
    EXPECT_EQ(both.kind, BasisKind::Union);
    EXPECT_EQ(both.U.leftCols(5), front.U);
    EXPECT_LT(orthonormality_error(model, both.U), 1e-12);
    EXPECT_LT(outside_span(model, both.U, mass_orthonormalised(model, back).U), 1e-12);
    EXPECT_THAT(both.provenance, HasSubstr("back"));
}

TEST(Basis, JoinSpansAFrontThatIsNotOrthonormal)
{
    const FemModel model = bar_model({4, 2, 2});
    const Basis raw{.U = random_columns(model, 4, 5), .provenance = "raw"};
    const Basis bases[] = {raw, random_basis(model, 6, 6)};
    const Basis both = join(model, bases);
    EXPECT_LT(outside_span(model, both.U.leftCols(4), mass_orthonormalised(model, raw).U), 1e-12);
    EXPECT_LT(orthonormality_error(model, both.U), 1e-12);
}

TEST(Basis, PrincipalDirectionsOfKnownColumns)
{
    const FemModel model = bar_model({4, 2, 2});
    const MatX Q = random_basis(model, 3, 7).U;
    Random random(8);
    const MatX V = Eigen::HouseholderQR<MatX>(random_matrix(random, 10, 10)).householderQ();
    const Vec3 sigma(4.0, 1.0, 1e-2);
    const MatX snapshots = Q * sigma.asDiagonal() * V.leftCols(3).transpose();

    const PrincipalBasis all = snapshot_basis(model, snapshots, {.lost_energy = 1e-9});
    ASSERT_EQ(all.basis.rank(), 3);
    EXPECT_LT((all.singular_values.head(3) - sigma).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT(orthonormality_error(model, all.basis.U), 1e-12);
    for (int k = 0; k < 3; ++k) // each direction up to its sign
        EXPECT_NEAR(std::abs(all.basis.U.col(k).dot(mass_product(model, Q.col(k)).col(0))), 1.0, 1e-10);

    const PrincipalBasis cut = snapshot_basis(model, snapshots, {.lost_energy = 1e-4});
    EXPECT_EQ(cut.basis.rank(), 2); // 1e-4/17 is lost
    EXPECT_NEAR(cut.lost_energy, 1e-4 / 17.0001, 1e-12);
    EXPECT_EQ(snapshot_basis(model, snapshots, {.lost_energy = 0.1}).basis.rank(), 1);
    EXPECT_EQ(snapshot_basis(model, snapshots, {.lost_energy = 1e-9, .max_rank = 2}).basis.rank(), 2);
}

TEST(Basis, SnapshotsInTheSpanAreReproduced)
{
    const FemModel model = bar_model({4, 2, 2});
    const MatX snapshots = random_columns(model, 6, 9);
    const Basis basis = snapshot_basis(model, snapshots, {.lost_energy = 0.0}).basis;
    const MatX q = project(model, basis, snapshots);
    EXPECT_LT((basis.U * q - snapshots).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Basis, SameBitsForAnyNumberOfThreads)
{
    const FemModel model = bar_model({12, 8, 8}); // several blocks of rows
    const MatX A = random_columns(model, 24, 10);
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        return principal_basis(model, A, {.lost_energy = 0.1}).basis.U;
    };
    EXPECT_EQ(with_threads(1), with_threads(4));
}

TEST(Basis, RefusesWhatCannotBe)
{
    const FemModel model = bar_model({2, 1, 1});
    const MatX good = random_columns(model, 2, 11);
    MatX bad = good;
    bad(3, 1) = std::nan("");
    EXPECT_THAT(message_of([&] { (void)mass_qr(model, bad); }), HasSubstr("not finite"));
    EXPECT_THAT(message_of([&] { (void)snapshot_basis(model, good.topRows(9)); }), HasSubstr("another mesh"));
    EXPECT_THAT(message_of([&] { (void)snapshot_basis(model, MatX::Zero(good.rows(), 3)); }),
                HasSubstr("zero"));
    EXPECT_THAT(message_of([&] { (void)snapshot_basis(model, good, {.lost_energy = 1.0}); }),
                HasSubstr("[0, 1)"));
    EXPECT_THAT(message_of([&] { (void)join(model, {}); }), HasSubstr("at least one"));
    EXPECT_THAT(message_of([&] { (void)project(model, {.U = good}, good); }), HasSubstr("mass-orthonormal"));
}
