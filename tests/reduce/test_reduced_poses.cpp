#include "lithe/reduce/reduced_poses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/modal_derivatives.hpp"
#include "support/message_of.hpp"
#include "table_beam.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

struct Body {
    FemModel model = bar_model({8, 2, 2});
    Basis basis;
    Body()
    {
        RestSystem system(model, vertices_at(model.rest, 0, 0.0));
        Progress progress;
        const Modes modes = linear_modes(system, {.count = 6}, progress);
        basis = modal_derivative_basis(system, modes, {.lost_energy = 1e-6, .max_rank = 10}, progress).basis;
    }
    CubaturePoses poses(const RandomPoseOptions& options) const
    {
        Progress progress;
        return random_poses(model, basis.U, options, progress);
    }
};

/// Rising Green strains of all tets of a pose, and how many tets are inverted.
struct Strains {
    std::vector<double> sorted;
    Index inverted = 0;
    double at(double share) const
    {
        return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))];
    }
};

Strains strains(const FemModel& model, const MatX& U, const VecX& q)
{
    Strains out;
    MatX B(9, U.cols());
    for (Index slot = 0; slot < model.elements.slot_count(); ++slot) {
        if (model.elements.tet_of_slot[static_cast<std::size_t>(slot)] < 0) continue;
        set_deformation_rows(model.elements, U, slot, B);
        const VecX f = B * q;
        const Mat3 F = Mat3::Identity() + Eigen::Map<const Mat3>(f.data());
        out.sorted.push_back(0.5 * (F.transpose() * F - Mat3::Identity()).norm());
        if (F.determinant() <= 0.0) ++out.inverted;
    }
    std::ranges::sort(out.sorted);
    return out;
}

} // namespace

TEST(ReducedPoses, DeformAsMuchAsAsked)
{
    const Body body;
    const CubaturePoses poses = body.poses({.training = 60, .held_out = 20});
    ASSERT_EQ(poses.training.cols(), 60);
    ASSERT_EQ(poses.held_out.cols(), 20);
    double least = 1.0, most = 0.0;
    for (const MatX* some : {&poses.training, &poses.held_out})
        for (Index t = 0; t < some->cols(); ++t) {
            const Strains found = strains(body.model, body.basis.U, some->col(t));
            least = std::min(least, found.at(0.9));
            most = std::max(most, found.at(0.9));
            EXPECT_LE(found.inverted, 2); // a hundredth of 192
        }
    EXPECT_GT(least, 0.1 * 0.01); // never the rest
    EXPECT_LT(least, 0.03);       // small ones are there,
    EXPECT_GT(most, 0.1);         // and large ones,
    EXPECT_LT(most, 1.5 * 0.3);   // but none beyond
    const CubaturePoses small =
        body.poses({.training = 20, .held_out = 0, .smallest_strain = 1e-4, .largest_strain = 1e-4});
    for (Index t = 0; t < 20;
         ++t) // there the body is linear: the strain that was asked for, to its own order
        EXPECT_NEAR(strains(body.model, body.basis.U, small.training.col(t)).at(0.9), 1e-4, 5e-6);
}

TEST(ReducedPoses, AreTheSameForAnyNumberOfThreadsAndChangeWithTheSeed)
{
    const Body body;
    const auto draw = [&](int threads, std::uint64_t seed) {
        const ThreadLimit limit(threads);
        return body.poses({.training = 12, .held_out = 4, .seed = seed});
    };
    const CubaturePoses one = draw(1, 1), four = draw(4, 1), other = draw(1, 2);
    EXPECT_EQ(one.training, four.training);
    EXPECT_EQ(one.held_out, four.held_out);
    EXPECT_NE(one.training, other.training);
}

/// Without any run, the beam of the table is integrated as well on the equilibria that full space finds as on the
/// held-out poses. (Poses that are linear combinations, not equilibria, give errors of 80 % and more here.)
TEST(ReducedPoses, StandForPosesOfTheFullBody)
{
    const CubatureScene scene = beam_of_the_table();
    Progress progress;
    const CubaturePoses poses = random_poses(scene.model, scene.U, {}, progress);
    const TrainedCubature trained =
        train_cubature(scene.model, scene.U, poses, {.tolerance = 0.02, .candidates = 200}, progress);
    ASSERT_EQ(trained.status, CubatureStatus::Converged);
    EXPECT_LT(trained.cubature.size(), 170);
    EXPECT_LT(cubature_error(scene.model, scene.U, trained.cubature, scene.test.leftCols(12)), 0.04);
}

TEST(ReducedPoses, OfSnapshotsAreProjectionsAndTheirNeighbours)
{
    const Body body;
    const CubaturePoses drawn = body.poses({.training = 40, .held_out = 0});
    MatX u = body.basis.U * drawn.training;
    u.col(7).setZero(); // the rest, which must be left out
    const CubaturePoses poses = snapshot_poses(body.model, body.basis, u, {.training = 20, .held_out = 10});
    ASSERT_EQ(poses.training.cols(), 20);
    ASSERT_EQ(poses.held_out.cols(), 10);
    const auto source = [&](const VecX& q) { // the snapshot that it is, or -1
        for (Index t = 0; t < 40; ++t)
            if ((drawn.training.col(t) - q).norm() < 1e-9 * q.norm()) return t;
        return Index(-1);
    };
    std::vector<Index> trained, held_out;
    for (Index k = 0; k < 12; ++k) trained.push_back(source(poses.training.col(k)));
    for (Index k = 0; k < 6; ++k) held_out.push_back(source(poses.held_out.col(k)));
    EXPECT_THAT(trained, testing::Each(testing::Ge(0)));
    EXPECT_THAT(held_out, testing::Each(testing::Ge(0)));
    for (const Index t : held_out) EXPECT_THAT(trained, testing::Not(testing::Contains(t)));
    for (Index k = 12; k < 20; ++k) EXPECT_EQ(source(poses.training.col(k)), -1);
    EXPECT_GT(poses.training.colwise().norm().minCoeff(), 0.0);
}

TEST(ReducedPoses, RefuseWhatCannotBe)
{
    const Body body;
    const auto message = [&](const RandomPoseOptions& options) {
        return message_of([&] { (void)body.poses(options); });
    };
    EXPECT_THAT(message({.training = 0}), HasSubstr("at least one pose"));
    EXPECT_THAT(message({.held_out = -1}), HasSubstr("must not be negative"));
    EXPECT_THAT(message({.smallest_strain = 0.0}), HasSubstr("smallest_strain"));
    EXPECT_THAT(message({.smallest_strain = 0.5, .largest_strain = 0.1}), HasSubstr("must not be above"));
    const MatX few = body.basis.U.leftCols(1);
    EXPECT_THAT(message_of([&] { (void)snapshot_poses(body.model, body.basis, few, {}); }),
                HasSubstr("too few of the 1 snapshots"));
    EXPECT_THAT(message_of([&] { (void)snapshot_poses(body.model, body.basis, few, {.jitter = 0.0}); }),
                HasSubstr("jitter"));
}
