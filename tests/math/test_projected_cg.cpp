#include "lithe/math/projected_cg.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"

using namespace lithe;

namespace {

MatX random_matrix(Index rows, Index columns, std::uint64_t seed)
{
    Random random(seed);
    MatX A(rows, columns);
    for (double& value : A.reshaped()) value = random.uniform(-1.0, 1.0);
    return A;
}

struct Problem {
    MatX A, C;
    VecX b, a;

    Problem()
    {
        const MatX B = random_matrix(30, 30, 1);
        A = B * B.transpose() + MatX::Identity(30, 30);
        C = random_matrix(30, 4, 2);
        C.col(3) = C.col(0) + 1e-3 * C.col(3); // nearly parallel
        b = random_matrix(30, 1, 3);
        a = C.transpose() * VecX(random_matrix(30, 1, 4));
    }

    VecX by_multipliers() const
    {
        MatX kkt = MatX::Zero(34, 34);
        kkt.topLeftCorner(30, 30) = A;
        kkt.topRightCorner(30, 4) = C;
        kkt.bottomLeftCorner(4, 30) = C.transpose();
        VecX right(34);
        right << b, a;
        return kkt.fullPivLu().solve(right).head(30);
    }
};

TEST(ProjectedCg, IsTheSolutionWithMultipliers)
{
    const Problem problem;
    const auto multiply = [&](const VecX& x, VecX& y) { y = problem.A * x; };
    VecX x = VecX::Zero(30);
    const LinearConstraints constraints(problem.C, problem.a);
    const auto report = solve_projected(multiply, problem.b, constraints, IdentityPreconditioner{},
                                        {.max_iterations = 200, .relative_residual = 1e-13}, x);
    EXPECT_TRUE(report.converged);
    EXPECT_LE((x - problem.by_multipliers()).norm(), 1e-8 * x.norm());
    EXPECT_LE((problem.C.transpose() * x - problem.a).norm(), 1e-10);
}

TEST(ProjectedCg, APreconditionerChangesTheWayNotTheEnd)
{
    const Problem problem;
    const auto multiply = [&](const VecX& x, VecX& y) { y = problem.A * x; };
    const Eigen::LLT<MatX> llt(problem.A);
    const auto inverse = [&](const VecX& r, VecX& z) { z = llt.solve(r); };
    VecX x = random_matrix(30, 1, 9);
    const auto report = solve_projected(multiply, problem.b, LinearConstraints(problem.C, problem.a), inverse,
                                        {.max_iterations = 200, .relative_residual = 1e-12}, x);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.iterations, 15);
    EXPECT_LE((x - problem.by_multipliers()).norm(), 1e-8 * x.norm());
}

TEST(ProjectedCg, ContradictionsAreDropped)
{
    const MatX C = random_matrix(10, 1, 5).replicate(1, 2);
    const LinearConstraints constraints(C, Vec2(1.0, 2.0));
    EXPECT_EQ(constraints.rank(), 1);
    EXPECT_TRUE(constraints.start().allFinite());
}

} // namespace
