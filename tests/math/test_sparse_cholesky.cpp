#include <cstring>

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/ordering.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "support/random_matrices.hpp"
#include "support/sparse_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

std::vector<CholeskyLibrary> libraries_here()
{
    std::vector<CholeskyLibrary> list = {CholeskyLibrary::Eigen};
    if (default_cholesky_library() == CholeskyLibrary::Cholmod) list.push_back(CholeskyLibrary::Cholmod);
    return list;
}

class Cholesky : public testing::TestWithParam<CholeskyLibrary> {
protected:
    SparseCholesky cholesky_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Libraries, Cholesky, testing::ValuesIn(libraries_here()), [](const auto& library) {
    return library.param == CholeskyLibrary::Eigen ? "Eigen" : "Cholmod";
});

} // namespace

TEST_P(Cholesky, SolvesRandomMatricesLikeTheDenseFactor)
{
    Random random(1);
    for (const int size : {1, 2, 3, 10, 100, 300}) {
        const SparseMatrix A = random_spd(random, size);
        const VecX b = random_vector(random, size);
        ASSERT_EQ(cholesky_.factorise(A), FactorStatus::Success);
        VecX x = b;
        cholesky_.solve(x);
        const VecX dense = MatX(A).llt().solve(b);
        EXPECT_LT((x - dense).norm(), 1e-12 * dense.norm());
        EXPECT_EQ(cholesky_.size(), size);
    }
}

TEST_P(Cholesky, ResidualOnAnElasticGridIsAtRounding)
{
    Random random(2);
    const SparseMatrix A = elastic_grid(12);
    const VecX b = random_vector(random, A.cols());
    VecX x = b;
    ASSERT_EQ(cholesky_.factorise(A), FactorStatus::Success);
    cholesky_.solve(x);
    EXPECT_LT((A * x - b).norm(), 1e-13 * A.norm() * x.norm());
}

TEST_P(Cholesky, ManyRightHandSidesAtOnce)
{
    Random random(3);
    const SparseMatrix A = elastic_grid(5);
    ASSERT_EQ(cholesky_.factorise(A), FactorStatus::Success);
    for (const Index columns : {1, 3, 32, 33, 70, 2, 0}) {
        const MatX B = random_matrix(random, A.rows(), columns);
        MatX X = B;
        cholesky_.solve(X);
        EXPECT_LT((A * X - B).norm(), 1e-11 * (1.0 + B.norm())) << columns;
    }
    MatX wide = random_matrix(random, A.rows() + 2, 3); // a part of a larger matrix, with an outer stride
    const MatX B = wide.middleRows(1, A.rows());
    cholesky_.solve(wide.middleRows(1, A.rows()));
    EXPECT_LT((A * wide.middleRows(1, A.rows()) - B).norm(), 1e-11 * B.norm());
}

TEST_P(Cholesky, NewValuesReuseTheAnalysisAndANewPatternDoesNot)
{
    Random random(4);
    const SparseMatrix A = elastic_grid(6, 0.01), stiffer = elastic_grid(6, 5.0), larger = elastic_grid(7);
    ASSERT_EQ(cholesky_.factorise(A), FactorStatus::Success);
    ASSERT_EQ(cholesky_.factorise(stiffer), FactorStatus::Success);
    EXPECT_EQ(cholesky_.analysis_count(), 1);
    VecX x = random_vector(random, A.cols());
    const VecX b = x;
    cholesky_.solve(x);
    EXPECT_LT((stiffer * x - b).norm(), 1e-12 * b.norm()); // the new values count
    ASSERT_EQ(cholesky_.factorise(larger), FactorStatus::Success);
    EXPECT_EQ(cholesky_.analysis_count(), 2);

    SparseMatrix moved = larger; // as many entries, one pair elsewhere
    moved.coeffRef(0, larger.cols() - 1) = 1e-3;
    moved.coeffRef(larger.cols() - 1, 0) = 1e-3;
    moved.makeCompressed();
    ASSERT_EQ(cholesky_.factorise(moved), FactorStatus::Success);
    EXPECT_EQ(cholesky_.analysis_count(), 3);
}

TEST_P(Cholesky, AnOrderThatIsHandedInIsUsed)
{
    Random random(5);
    const SparseMatrix A = elastic_grid(5);
    std::vector<int> order = nested_dissection(A);
    cholesky_.analyse(A);
    EXPECT_EQ(cholesky_.order(), order);
    const double nonzeros = cholesky_.factor_nonzeros();
    std::reverse(order.begin(), order.end());
    cholesky_.analyse(A, order);
    EXPECT_EQ(cholesky_.order(), order);
    EXPECT_GT(cholesky_.factor_nonzeros(), 1.2 * nonzeros); // separators first is the worst that one can do
    ASSERT_EQ(cholesky_.factorise(A), FactorStatus::Success);
    EXPECT_EQ(cholesky_.analysis_count(), 2);
    VecX x = random_vector(random, A.cols());
    const VecX b = x;
    cholesky_.solve(x);
    EXPECT_LT((A * x - b).norm(), 1e-11 * b.norm());
    EXPECT_THROW(cholesky_.analyse(A, {0, 1, 2}), InputError);
}

TEST_P(Cholesky, IndefiniteAndSingularMatricesAreToldByStatus)
{
    SparseMatrix A = elastic_grid(5);
    A.coeffRef(30, 30) = -1.0;
    EXPECT_EQ(cholesky_.factorise(A), FactorStatus::NotPositiveDefinite);
    EXPECT_FALSE(cholesky_.has_factor());
    VecX b = VecX::Ones(A.cols());
    EXPECT_THROW(cholesky_.solve(b), InputError);

    const SparseMatrix no_diagonal = from_triplets(2, {{0, 1, 1.0}, {1, 0, 1.0}});
    EXPECT_EQ(cholesky_.factorise(no_diagonal), FactorStatus::NotPositiveDefinite);
    SparseMatrix zero = elastic_grid(2);
    zero *= 0.0;
    EXPECT_EQ(cholesky_.factorise(zero), FactorStatus::NotPositiveDefinite);

    EXPECT_EQ(cholesky_.factorise(elastic_grid(5)), FactorStatus::Success); // and it recovers
    EXPECT_NO_THROW(cholesky_.solve(b));
}

TEST_P(Cholesky, NanAndInfinityAreToldByStatus)
{
    for (const double bad : {std::nan(""), HUGE_VAL}) {
        SparseMatrix A = elastic_grid(3);
        A.coeffRef(4, 5) = A.coeffRef(5, 4) = bad;
        EXPECT_EQ(cholesky_.factorise(A), FactorStatus::NotFinite);
        EXPECT_FALSE(cholesky_.has_factor());
    }
    const SparseMatrix overflows = from_triplets( // l_21 = 1e306 / 1e-2 and its square are past the range
        3,
        {{0, 0, 1e-4}, {0, 1, 1e306}, {1, 0, 1e306}, {1, 1, 1e306}, {2, 2, 1.0}, {1, 2, 1.0}, {2, 1, 1.0}});
    EXPECT_EQ(cholesky_.factorise(overflows), FactorStatus::NotPositiveDefinite);
}

TEST_P(Cholesky, RefusesWhatIsNoSymmetricMatrix)
{
    EXPECT_THROW((void)cholesky_.factorise(SparseMatrix()), InputError);
    EXPECT_THROW((void)cholesky_.factorise(SparseMatrix(2, 3)), InputError);
    EXPECT_THROW((void)cholesky_.factorise(from_triplets(2, {{0, 0, 1.0}, {1, 1, 1.0}, {0, 1, 0.5}})),
                 InputError);
    SparseMatrix A = elastic_grid(3);
    A.coeffRef(4, 5) += 1e-6;
    EXPECT_THROW((void)cholesky_.factorise(A), InputError);
    A.coeffRef(4, 5) -= 1e-6; // rounding is let through
    EXPECT_EQ(cholesky_.factorise(A), FactorStatus::Success);
    VecX b = VecX::Ones(A.cols() - 1);
    EXPECT_THROW(cholesky_.solve(b), InputError);
}

TEST_P(Cholesky, SameBitsForAnyNumberOfThreads)
{
    const SparseMatrix A = elastic_grid(10);
    std::vector<VecX> results;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        SparseCholesky cholesky(GetParam());
        ASSERT_EQ(cholesky.factorise(A), FactorStatus::Success);
        results.push_back(VecX::LinSpaced(A.cols(), -1.0, 2.0));
        cholesky.solve(results.back());
    }
    for (const VecX& x : results)
        EXPECT_EQ(
            std::memcmp(x.data(), results[0].data(), sizeof(double) * static_cast<std::size_t>(x.size())), 0);
}

TEST(CholeskyLibraries, AgreeWithEachOther)
{
    if (libraries_here().size() < 2) GTEST_SKIP() << "this build has no CHOLMOD";
    const SparseMatrix A = elastic_grid(9);
    SparseCholesky one(CholeskyLibrary::Eigen), other(CholeskyLibrary::Cholmod);
    ASSERT_EQ(one.factorise(A), FactorStatus::Success);
    ASSERT_EQ(other.factorise(A), FactorStatus::Success);
    EXPECT_EQ(one.order(), other.order());
    EXPECT_EQ(one.factor_nonzeros(), other.factor_nonzeros());
    EXPECT_EQ(one.factor_flops(), other.factor_flops());
    VecX x = VecX::LinSpaced(A.cols(), -1.0, 2.0), y = x;
    one.solve(x);
    other.solve(y);
    EXPECT_LT((x - y).norm(), 1e-11 * x.norm());
}

TEST(CholeskyLibraries, ABuildWithoutCholmodSaysSo)
{
    if (libraries_here().size() == 2) GTEST_SKIP() << "this build has CHOLMOD";
    EXPECT_THROW(SparseCholesky{CholeskyLibrary::Cholmod}, InputError);
}

TEST(CholeskyLibraries, AMovedFactorStillSolves)
{
    SparseCholesky first;
    const SparseMatrix A = elastic_grid(3);
    ASSERT_EQ(first.factorise(A), FactorStatus::Success);
    SparseCholesky second = std::move(first);
    VecX x = VecX::Ones(A.cols());
    second.solve(x);
    EXPECT_LT((A * x - VecX::Ones(A.cols())).norm(), 1e-12);
}
