#include "lithe/reduce/choose_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/reduce/modal_derivatives.hpp"
#include "lithe/reduce/reduced_poses.hpp"
#include "support/message_of.hpp"
#include "table_beam.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

struct Body {
    FemModel model = bar_model({8, 2, 2});
    Basis basis;
    MatX references;
    Body()
    {
        RestSystem system(model, vertices_at(model.rest, 0, 0.0));
        Progress progress;
        const Modes modes = linear_modes(system, {.count = 8}, progress);
        basis = modal_derivative_basis(system, modes, {.lost_energy = 0.0, .max_rank = 32}, progress).basis;
        references =
            random_poses(model, basis.U,
                         {.training = 24, .held_out = 0, .loads = PoseLoads::Pushes, .seed = 7}, progress)
                .training;
    }
    RankChoice choose(double tolerance) const
    {
        Progress progress;
        return choose_rank(model, basis, references, tolerance, progress);
    }
    double error_at(Index rank) const
    {
        Progress progress;
        return rank_errors(model, basis, references, {rank}, progress).front();
    }
};

} // namespace

TEST(ChooseRank, FindsTheSmallestOne)
{
    const Body body;
    const RankChoice rough = body.choose(0.2), fine = body.choose(0.05);
    ASSERT_EQ(rough.status, RankStatus::Converged);
    ASSERT_EQ(fine.status, RankStatus::Converged);
    EXPECT_LT(rough.rank, fine.rank);
    for (const auto& [choice, tolerance] : {std::pair{&rough, 0.2}, std::pair{&fine, 0.05}}) {
        ASSERT_EQ(choice->ranks.size(), choice->errors.size());
        EXPECT_TRUE(std::ranges::is_sorted(choice->ranks));
        const auto at = std::ranges::find(choice->ranks, choice->rank) - choice->ranks.begin();
        EXPECT_LE(choice->errors[static_cast<std::size_t>(at)], tolerance);
        EXPECT_GT(body.error_at(choice->rank - 1), tolerance);
        for (std::size_t k = 0; k < choice->ranks.size(); ++k) {
            if (choice->ranks[k] < choice->rank) {
                EXPECT_GT(choice->errors[k], tolerance);
            }
            // what is left out is a lower bound
            const Index r = choice->ranks[k];
            const MatX rest = body.references.bottomRows(body.references.rows() - r);
            const double left_out = std::sqrt(
                (rest.colwise().squaredNorm().array() / body.references.colwise().squaredNorm().array())
                    .mean());
            EXPECT_GE(choice->errors[k], left_out - 1e-9);
        }
    }
}

TEST(ChooseRank, SaysWhenTheBasisIsTooSmall)
{
    const Body body;
    const RankChoice choice = body.choose(1e-5);
    EXPECT_EQ(choice.status, RankStatus::BasisTooSmall);
    EXPECT_EQ(choice.rank, 32);
    EXPECT_EQ(choice.ranks.back(), 24); // three quarters
}

TEST(ChooseRank, SameForAnyNumberOfThreads)
{
    const Body body;
    const auto choose = [&](int threads) {
        const ThreadLimit limit(threads);
        return body.choose(0.1);
    };
    EXPECT_EQ(choose(1).errors, choose(4).errors);
}

/// Smallest rank and point set for 1 % on the beam of the specification: at most 1.3 times the points of its table.
TEST(ChooseRank, BeamOfTheTable)
{
    const FemModel model =
        make_fem_model(box_tets({4, 4, 20}, {0.2, 0.2, 1.0}), Corotational({1e5, 0.45}), 1000.0);
    const MatX snapshots = equilibria(model, {0.1, 0.4, 1.0});
    const Basis whole = snapshot_basis(model, snapshots, {.lost_energy = 0.0, .max_rank = 30}).basis;
    Progress progress;
    const MatX unseen = project(model, whole, equilibria(model, {0.25, 0.7}));
    const RankChoice choice = choose_rank(model, whole, unseen, 0.01, progress);
    ASSERT_EQ(choice.status, RankStatus::Converged);
    EXPECT_LE(choice.rank, 16); // that of the table
    Basis basis = whole;
    basis.U = MatX(whole.U.leftCols(choice.rank));
    const CubaturePoses poses = snapshot_poses(model, basis, snapshots, {});
    const TrainedCubature trained = train_cubature(model, basis.U, poses, {.tolerance = 0.01}, progress);
    EXPECT_EQ(trained.status, CubatureStatus::Converged);
    EXPECT_LE(static_cast<double>(trained.cubature.size()), 1.3 * 87);
    RecordProperty("rank", static_cast<int>(choice.rank));
    RecordProperty("points", static_cast<int>(trained.cubature.size()));
}

TEST(ChooseRank, RefusesWhatCannotBe)
{
    Body body;
    EXPECT_THAT(message_of([&] { (void)body.choose(0.0); }), HasSubstr("tolerance"));
    MatX references = body.references;
    const auto message = [&] { return message_of([&] { (void)body.choose(0.1); }); };
    body.references.col(3).setZero();
    EXPECT_THAT(message(), HasSubstr("at rest"));
    body.references = references.topRows(5);
    EXPECT_THAT(message(), HasSubstr("5 coordinates"));
    body.references = references.leftCols(0);
    EXPECT_THAT(message(), HasSubstr("at least one pose"));
    body.references = references;
    body.basis.mass_orthonormal = false;
    EXPECT_THAT(message(), HasSubstr("mass-orthonormal"));
}
