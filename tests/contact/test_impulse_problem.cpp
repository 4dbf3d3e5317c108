#include "lithe/body/impulse_problem.hpp"

#include <gtest/gtest.h>

#include "lithe/contact/mixing.hpp"
#include "lithe/core/random.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

TEST(ImpulseProblem, BlocksOfOneBodyAreOne)
{
    Random random(3);
    ImpulseProblem problem;
    const int soft = problem.add_body(9), rigid = problem.add_body(6), still = problem.add_body(0);
    const MatX F = random_matrix(random, 3, 9), G = random_matrix(random, 3, 9),
               H = random_matrix(random, 3, 6);
    problem.add_contact({});
    problem.block(soft) += 0.5 * F;
    problem.block(rigid) -= H;
    problem.block(soft) -= 0.25 * G;
    EXPECT_EQ(problem.block(still).cols(), 0);
    EXPECT_EQ(problem.block(soft), 0.5 * F - 0.25 * G);
    EXPECT_EQ(problem.block(rigid), -H);
    problem.add_limit({});
    EXPECT_EQ(problem.block(soft).rows(), 1);
    EXPECT_EQ(problem.block(soft), MatX::Zero(1, 9));
    problem.add_contact({});
    EXPECT_EQ(problem.block(soft), MatX::Zero(3, 9));

    const ConstraintRows& rows = problem.contact_rows();
    EXPECT_EQ(rows.end(0) - rows.begin(0), 2);
    EXPECT_EQ(rows.end(1) - rows.begin(1), 1);
    EXPECT_EQ(rows.values.size(), 3u * (12 + 8 + 12)); // rows filled up to a multiple of four
    EXPECT_EQ(rows.values[9], 0.0);
    problem.clear();
    EXPECT_EQ(problem.body_count(), 0);
    EXPECT_TRUE(problem.contacts.empty() && problem.contact_rows().values.empty());
}

TEST(ImpulseProblem, CopiesStandOnTheirOwn)
{
    ImpulseProblem first;
    first.add_body(4);
    first.add_contact({});
    first.block(0).setOnes();
    ImpulseProblem second = first;
    second.block(0).setZero();
    EXPECT_EQ(first.block(0), MatX::Ones(3, 4));
}

TEST(Mixing, SolvesALinearFixedPointInAFewSteps)
{
    // x = A x + b in four unknowns, of which the iteration alone needs thousands of steps.
    Random random(5);
    const MatX Q = random_matrix(random, 4, 4).householderQr().householderQ();
    const MatX A = Q * Vec4(0.999, 0.9, -0.5, 0.2).asDiagonal() * Q.transpose();
    const VecX b = random_vector(random, 4), expected = (MatX::Identity(4, 4) - A).inverse() * b;
    const VecX weights = VecX::Ones(4);
    std::vector<double> memory(std::size_t(Mixing::room(4)));
    Mixing mixing;
    mixing.start(4, weights.data(), memory.data());
    VecX x = VecX::Zero(4);
    for (int i = 0; i < 10; ++i) {
        mixing.before(x.data());
        x = (A * x + b).eval();
        mixing.after(x.data());
    }
    EXPECT_LT((x - expected).norm(), 1e-8 * expected.norm());
}

TEST(Mixing, ThrowsAwayWhatDoesHarm)
{
    // |x| with a kink: steps across it mislead, yet it must arrive where the plain iteration does.
    const VecX weights = VecX::Ones(1);
    std::vector<double> memory(std::size_t(Mixing::room(1)));
    Mixing mixing;
    mixing.start(1, weights.data(), memory.data());
    VecX x = VecX::Constant(1, 5.0);
    for (int i = 0; i < 60; ++i) {
        mixing.before(x.data());
        x[0] = std::max(0.9 * x[0] - 0.2, 0.3 * x[0] + 0.07);
        if (i < 59) mixing.after(x.data());
    }
    EXPECT_NEAR(x[0], 0.1, 1e-12);
}
