#include <cmath>

#include <gtest/gtest.h>

#include "lithe/math/nnls.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

struct Problem {
    MatX A;
    VecX b;
    MatX G() const { return A.transpose() * A; }
    VecX h() const { return A.transpose() * b; }
    double residual(const VecX& w) const { return (A * w - b).norm(); }
};

Problem random_problem(std::uint64_t seed, Index rows, Index columns)
{
    Random random(seed);
    return {random_matrix(random, rows, columns), random_vector(random, rows)};
}

/// The best of all subsets of columns whose least-squares weights are not negative.
VecX by_brute_force(const Problem& problem)
{
    const Index n = problem.A.cols();
    VecX best = VecX::Zero(n);
    for (unsigned subset = 1; subset < 1u << n; ++subset) {
        std::vector<Index> columns;
        for (Index i = 0; i < n; ++i)
            if (subset >> i & 1u) columns.push_back(i);
        const VecX s = MatX(problem.A(Eigen::all, columns)).colPivHouseholderQr().solve(problem.b);
        if (s.minCoeff() < 0.0) continue;
        VecX w = VecX::Zero(n);
        w(columns) = s;
        if (problem.residual(w) < problem.residual(best)) best = w;
    }
    return best;
}

} // namespace

TEST(Nnls, FindsTheBestOfAllSubsets)
{
    NnlsWork work;
    int active = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Problem problem = random_problem(seed, 12, 7);
        VecX w = VecX::Zero(7);
        ASSERT_EQ(solve_nnls(problem.G(), problem.h(), w, work), NnlsStatus::Converged);
        EXPECT_GE(w.minCoeff(), 0.0);
        EXPECT_LT((w - by_brute_force(problem)).cwiseAbs().maxCoeff(), 1e-10) << "seed " << seed;
        active += static_cast<int>((w.array() == 0.0).count());
    }
    EXPECT_GT(active, 40); // the bounds mattered
}

TEST(Nnls, WhereItStartsDoesNotMatter)
{
    NnlsWork work;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Problem problem = random_problem(seed, 60, 25);
        VecX cold = VecX::Zero(25), warm = VecX::Ones(25), half = VecX::Zero(25);
        half.head(12).setConstant(3.0);
        for (VecX* w : {&cold, &warm, &half})
            ASSERT_EQ(solve_nnls(problem.G(), problem.h(), *w, work), NnlsStatus::Converged);
        EXPECT_LT((warm - cold).cwiseAbs().maxCoeff(), 1e-10);
        EXPECT_LT((half - cold).cwiseAbs().maxCoeff(), 1e-10);
        // optimal: no gradient on the support, none that would lower the residual outside of it
        const VecX dual = problem.A.transpose() * (problem.b - problem.A * cold);
        for (Index i = 0; i < 25; ++i) {
            if (cold[i] > 0.0)
                EXPECT_NEAR(dual[i], 0.0, 1e-9);
            else
                EXPECT_LT(dual[i], 1e-9);
        }
    }
}

TEST(Nnls, ReproducesWeightsThatAreNotNegative)
{
    Random random(5);
    Problem problem = random_problem(6, 80, 30);
    const VecX expected = random_vector(random, 30).cwiseMax(0.0);
    problem.b = problem.A * expected;
    VecX w = VecX::Zero(30);
    NnlsWork work;
    ASSERT_EQ(solve_nnls(problem.G(), problem.h(), w, work), NnlsStatus::Converged);
    EXPECT_LT((w - expected).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Nnls, NothingHelps)
{
    VecX w = VecX::Ones(2);
    NnlsWork work;
    ASSERT_EQ(solve_nnls(MatX::Identity(2, 2), VecX::Constant(2, -1.0), w, work), NnlsStatus::Converged);
    EXPECT_EQ(w, VecX::Zero(2));
    VecX none(0);
    EXPECT_EQ(solve_nnls(MatX(0, 0), VecX(0), none, work), NnlsStatus::Converged);
}

TEST(Nnls, SaysWhenTheMatrixIsNotOne)
{
    VecX w = VecX::Ones(2);
    NnlsWork work;
    const MatX indefinite = (MatX(2, 2) << 1.0, 2.0, 2.0, 1.0).finished();
    EXPECT_EQ(solve_nnls(indefinite, VecX::Ones(2), w, work), NnlsStatus::NotPositiveDefinite);
}
