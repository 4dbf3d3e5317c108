#include <algorithm>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/math/ordering.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "support/sparse_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

std::vector<int> natural_order(Index count)
{
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

} // namespace

TEST(Ordering, IsAPermutationAndTheSameEveryTime)
{
    const SparseMatrix A = elastic_grid(8);
    const std::vector<int> order = nested_dissection(A);
    EXPECT_NO_THROW(require_permutation(order, A.cols()));
    EXPECT_EQ(nested_dissection(A), order);
    std::srand(1234); // whatever the C library's generator is doing
    EXPECT_EQ(nested_dissection(A), order);
}

TEST(Ordering, IsTheSameWhenSeveralThreadsAskAtOnce)
{
    const SparseMatrix A = elastic_grid(8);
    const std::vector<int> order = nested_dissection(A);
    std::vector<std::vector<int>> found(4);
    for (int round = 0; round < 10; ++round) {
        std::vector<std::thread> threads;
        for (std::vector<int>& one : found) threads.emplace_back([&] { one = nested_dissection(A); });
        for (std::thread& thread : threads) thread.join();
        for (const std::vector<int>& one : found) ASSERT_EQ(one, order);
    }
}

TEST(Ordering, HasMuchLessFillThanTheNaturalOrder)
{
    const SparseMatrix A = elastic_grid(12);
    SparseCholesky natural(CholeskyLibrary::Eigen), dissected(CholeskyLibrary::Eigen);
    natural.analyse(A, natural_order(A.cols()));
    dissected.analyse(A);
    EXPECT_LT(dissected.factor_nonzeros(), 0.6 * natural.factor_nonzeros());
    EXPECT_LT(dissected.factor_flops(), 0.4 * natural.factor_flops());
}

TEST(Ordering, DiagonalSingleAndSplitMatricesWork)
{
    EXPECT_EQ(nested_dissection(from_triplets(1, {{0, 0, 1.0}})), natural_order(1));
    SparseMatrix identity(5, 5);
    identity.setIdentity();
    EXPECT_EQ(nested_dissection(identity), natural_order(5));
    const SparseMatrix split = from_triplets(6, {{0, 1, 1.0}, {1, 0, 1.0}, {4, 5, 1.0}, {5, 4, 1.0}});
    EXPECT_NO_THROW(require_permutation(nested_dissection(split), 6)); // and no diagonal, two lone rows
}

TEST(Ordering, RefusesWhatIsNotSymmetric)
{
    EXPECT_THROW((void)nested_dissection(SparseMatrix()), InputError);
    EXPECT_THROW((void)nested_dissection(SparseMatrix(2, 3)), InputError);
    EXPECT_THROW((void)nested_dissection(from_triplets(3, {{0, 0, 1.0}, {2, 0, 1.0}})), InputError);
    EXPECT_THROW((void)nested_dissection(from_triplets(3, {{0, 2, 1.0}, {1, 0, 1.0}})), InputError);
    SparseMatrix loose(3, 3);
    loose.insert(0, 0) = 1.0;
    ASSERT_FALSE(loose.isCompressed());
    EXPECT_THROW((void)nested_dissection(loose), InputError);
}

TEST(Ordering, TransposedPlacesFindTheMirrorImages)
{
    Random random(3);
    const SparseMatrix A = random_spd(random, 50);
    const std::vector<int> mirror = transposed_places(A);
    for (int j = 0; j < A.cols(); ++j) {
        for (int p = A.outerIndexPtr()[j]; p < A.outerIndexPtr()[j + 1]; ++p) {
            const int q = mirror[static_cast<std::size_t>(p)], i = A.innerIndexPtr()[p];
            EXPECT_EQ(A.innerIndexPtr()[q], j);
            EXPECT_TRUE(A.outerIndexPtr()[i] <= q && q < A.outerIndexPtr()[i + 1]);
        }
    }
}

TEST(Ordering, RequirePermutationRefusesOthers)
{
    EXPECT_NO_THROW(require_permutation(std::vector{2, 0, 1}, 3));
    EXPECT_THROW(require_permutation(std::vector{0, 1}, 3), InputError);
    EXPECT_THROW(require_permutation(std::vector{0, 1, 1}, 3), InputError);
    EXPECT_THROW(require_permutation(std::vector{0, 1, 3}, 3), InputError);
    EXPECT_THROW(require_permutation(std::vector{-1, 1, 2}, 3), InputError);
}
