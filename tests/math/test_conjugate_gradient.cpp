#include <cstring>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/conjugate_gradient.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"
#include "support/sparse_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

struct Problem {
    SparseMatrix A = elastic_grid(8);
    VecX b = VecX::LinSpaced(A.cols(), -1.0, 2.0);
    VecX x = VecX::Zero(A.cols());
    CgWork work;

    CgReport solve(LinearMap preconditioner, const CgOptions& options = {})
    {
        const auto times_A = [this](const VecX& in, VecX& out) { multiply_symmetric(A, in, out); };
        return conjugate_gradient(times_A, preconditioner, b, options, x, work);
    }
    double true_residual() const { return (b - A * x).norm() / b.norm(); }
};

/// The same matrix in units that differ from vertex to vertex and from axis to axis.
SparseMatrix badly_scaled(const SparseMatrix& A, const VecX& units)
{
    return units.asDiagonal() * A * units.asDiagonal();
}

bool same_bits(const VecX& a, const VecX& b)
{
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

} // namespace

TEST(ConjugateGradient, FindsTheSolutionOfTheFactor)
{
    Problem problem;
    const CgReport report = problem.solve(IdentityPreconditioner{}, {.relative_residual = 1e-12});
    ASSERT_EQ(report.status, CgStatus::Converged);
    EXPECT_LE(report.relative_residual, 1e-12);
    EXPECT_NEAR(report.relative_residual, problem.true_residual(), 1e-14);
    SparseCholesky cholesky;
    ASSERT_EQ(cholesky.factorise(problem.A), FactorStatus::Success);
    VecX exact = problem.b;
    cholesky.solve(exact);
    EXPECT_LT((problem.x - exact).norm(), 1e-9 * exact.norm());
}

TEST(ConjugateGradient, EndsAfterAsManyStepsAsThereAreEigenvalues)
{
    VecX diagonal(6);
    diagonal << 1, 1, 5, 5, 5, 9; // three
    const auto A = [&](const VecX& x, VecX& y) { y = diagonal.cwiseProduct(x); };
    const VecX b = VecX::Ones(6);
    VecX x = VecX::Zero(6);
    CgWork work;
    const CgReport report =
        conjugate_gradient(A, IdentityPreconditioner{}, b, {.relative_residual = 1e-13}, x, work);
    EXPECT_EQ(report.status, CgStatus::Converged);
    EXPECT_EQ(report.iterations, 3);
    EXPECT_LT((x - diagonal.cwiseInverse()).norm(), 1e-13);
}

TEST(ConjugateGradient, PreconditionersUndoBadUnits)
{
    Problem plain;
    Random random(1);
    VecX units(plain.A.cols());
    for (double& u : units) u = std::pow(10.0, random.uniform(-3.0, 3.0));
    const int plain_iterations = plain.solve(JacobiPreconditioner(plain.A)).iterations;

    Problem scaled;
    scaled.A = badly_scaled(plain.A, units);
    scaled.b = units.cwiseProduct(plain.b);
    const CgReport with = scaled.solve(JacobiPreconditioner(scaled.A), {.relative_residual = 1e-10});
    EXPECT_EQ(with.status, CgStatus::Converged);
    EXPECT_LT(with.iterations, 3 * plain_iterations);
    scaled.x.setZero();
    const CgReport without = scaled.solve(IdentityPreconditioner{}, {.relative_residual = 1e-10});
    EXPECT_EQ(without.status, CgStatus::IterationLimit);
}

TEST(ConjugateGradient, BlocksOfThreeBeatSinglesWhereTheAxesAreMixed)
{
    Problem problem; // each vertex in a strongly skewed frame of its own
    Random random(2);
    std::vector<Triplet> triplets;
    for (int v = 0; v < problem.A.cols() / 3; ++v) {
        const Mat3 frame = random_rotation(random) * Vec3(1, 30, 0.03).asDiagonal() * random_rotation(random);
        for (int e = 0; e < 9; ++e) triplets.emplace_back(3 * v + e % 3, 3 * v + e / 3, frame.data()[e]);
    }
    const SparseMatrix frames = from_triplets(problem.A.cols(), triplets);
    problem.A = SparseMatrix(frames.transpose()) * problem.A * frames;
    problem.A = SparseMatrix(0.5 * (problem.A + SparseMatrix(problem.A.transpose())));
    problem.A.makeCompressed();
    const CgReport blocks = problem.solve(BlockJacobiPreconditioner(problem.A), {.max_iterations = 5000});
    problem.x.setZero();
    const CgReport singles = problem.solve(JacobiPreconditioner(problem.A), {.max_iterations = 5000});
    EXPECT_EQ(blocks.status, CgStatus::Converged);
    EXPECT_LT(3 * blocks.iterations, singles.iterations);
}

TEST(ConjugateGradient, AnExactPreconditionerNeedsOneStep)
{
    Problem problem;
    SparseCholesky cholesky;
    ASSERT_EQ(cholesky.factorise(problem.A), FactorStatus::Success);
    const auto exact = [&](const VecX& r, VecX& z) {
        z = r;
        cholesky.solve(z);
    };
    const CgReport report = problem.solve(exact, {.relative_residual = 1e-10});
    EXPECT_EQ(report.status, CgStatus::Converged);
    EXPECT_EQ(report.iterations, 1);
}

TEST(ConjugateGradient, StartsFromTheGuessAndStopsAtOnceWhenItIsGood)
{
    Problem problem;
    ASSERT_EQ(problem.solve(IdentityPreconditioner{}).status, CgStatus::Converged);
    const VecX solution = problem.x;
    const CgReport again = problem.solve(IdentityPreconditioner{});
    EXPECT_EQ(again.status, CgStatus::Converged);
    EXPECT_EQ(again.iterations, 0);
    EXPECT_TRUE(same_bits(problem.x, solution));
    problem.b.setZero();
    EXPECT_EQ(problem.solve(IdentityPreconditioner{}).status, CgStatus::Converged);
    EXPECT_EQ(problem.x.norm(), 0.0);
}

TEST(ConjugateGradient, TheIterationLimitIsKeptAndTheEnergyFalls)
{
    double energy_0 = 0.0;
    for (const int limit : {1, 2, 4, 8, 16}) { // the residual may rise, the energy may not
        Problem problem;
        const CgReport report = problem.solve(IdentityPreconditioner{}, {.max_iterations = limit});
        EXPECT_EQ(report.status, CgStatus::IterationLimit);
        EXPECT_EQ(report.iterations, limit);
        EXPECT_NEAR(report.relative_residual, problem.true_residual(), 1e-12);
        const double energy = 0.5 * problem.x.dot(problem.A * problem.x) - problem.b.dot(problem.x);
        EXPECT_LT(energy, energy_0);
        energy_0 = energy;
    }
}

TEST(ConjugateGradient, ATargetBelowRoundingDoesNotPretend)
{
    Problem problem;
    const CgReport report =
        problem.solve(IdentityPreconditioner{}, {.max_iterations = 400, .relative_residual = 1e-19});
    EXPECT_NE(report.status, CgStatus::Converged);
    EXPECT_LT(problem.true_residual(), 1e-12);
}

TEST(ConjugateGradient, IndefiniteMatricesAndPreconditionersAreTold)
{
    Problem problem;
    problem.A.coeffRef(30, 30) = -50.0;
    EXPECT_EQ(problem.solve(JacobiPreconditioner(problem.A)).status, CgStatus::NotPositiveDefinite);
    EXPECT_EQ(problem.solve(BlockJacobiPreconditioner(problem.A)).status, CgStatus::NotPositiveDefinite);
    EXPECT_TRUE(problem.x.allFinite());
    Problem fine;
    const auto negative = [](const VecX& r, VecX& z) { z = -r; };
    EXPECT_EQ(fine.solve(negative).status, CgStatus::NotPositiveDefinite);
}

TEST(ConjugateGradient, NanStopsItAndLeavesXFinite)
{
    Problem problem;
    problem.A.coeffRef(30, 30) = std::nan("");
    EXPECT_EQ(problem.solve(IdentityPreconditioner{}).status, CgStatus::NotFinite);
    EXPECT_TRUE(problem.x.allFinite());
    Problem other;
    other.b[7] = HUGE_VAL;
    EXPECT_EQ(other.solve(IdentityPreconditioner{}).status, CgStatus::NotFinite);
    EXPECT_TRUE(other.x.allFinite());
}

TEST(ConjugateGradient, AllocatesNothingAfterTheFirstCall)
{
    const ThreadLimit one(1); // the scheduler's own tasks are not ours to count
    Problem problem;
    const BlockJacobiPreconditioner blocks(problem.A);
    ASSERT_EQ(problem.solve(blocks).status, CgStatus::Converged);
    problem.x.setZero();
    const MallocCounter counter;
    const CgReport report = problem.solve(blocks);
    EXPECT_EQ(counter.count(), 0);
    EXPECT_EQ(report.status, CgStatus::Converged);
    if (!MallocCounter::works()) return;
    ::operator delete(::operator new(100)); // the counter counts (a compiler may elide `new`, but not this)
    EXPECT_EQ(counter.count(), 1);
}

TEST(ConjugateGradient, SameBitsForAnyNumberOfThreads)
{
    std::vector<VecX> results;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        Problem problem;
        problem.A = elastic_grid(16); // three blocks of the dot product
        problem.b = VecX::LinSpaced(problem.A.cols(), -1.0, 2.0);
        problem.x = VecX::Zero(problem.A.cols());
        ASSERT_EQ(problem.solve(BlockJacobiPreconditioner(problem.A)).status, CgStatus::Converged);
        results.push_back(problem.x);
    }
    EXPECT_TRUE(same_bits(results[0], results[1]));
    EXPECT_TRUE(same_bits(results[0], results[2]));
}

TEST(ConjugateGradient, RefusesBadOptionsAndSizes)
{
    Problem problem;
    EXPECT_THROW((void)problem.solve(IdentityPreconditioner{}, {.relative_residual = 0.0}), InputError);
    EXPECT_THROW((void)problem.solve(IdentityPreconditioner{}, {.relative_residual = std::nan("")}),
                 InputError);
    EXPECT_THROW((void)problem.solve(IdentityPreconditioner{}, {.max_iterations = 0}), InputError);
    EXPECT_THROW(BlockJacobiPreconditioner(from_triplets(4, {{0, 0, 1.0}})), InputError);
    problem.x = VecX::Zero(5);
    EXPECT_THROW((void)problem.solve(IdentityPreconditioner{}), InputError);
}

TEST(Sparse, ProductWithASymmetricMatrixIsEigens)
{
    Random random(3);
    const SparseMatrix A = random_spd(random, 3000);
    const VecX x = random_vector(random, 3000);
    VecX y;
    multiply_symmetric(A, x, y);
    EXPECT_LT((y - A * x).norm(), 1e-14 * A.norm() * x.norm());
}

TEST(Sparse, DotIsTheSum)
{
    std::vector<double> partial;
    for (const Index n : {0, 1, 4095, 4096, 4097, 20000}) {
        const VecX a = VecX::LinSpaced(n, 1.0, static_cast<double>(n)); // 1, 2, 3 ...
        const double count = static_cast<double>(n);
        EXPECT_DOUBLE_EQ(dot(a, a, partial), count * (count + 1) * (2 * count + 1) / 6) << n;
    }
}
