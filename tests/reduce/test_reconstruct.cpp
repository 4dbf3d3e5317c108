#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/reduce/prepared_model.hpp"
#include "support/count_mallocs.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

struct Case {
    ReducedSurface surface;
    VecX q;
};

Case some_surface(Index vertices, Index rank)
{
    Random random(1);
    Case out;
    out.surface.rest.vertices.resize(3, vertices);
    for (double& entry : out.surface.rest.vertices.reshaped()) entry = random.normal();
    out.surface.basis.resize(3 * vertices, rank);
    for (Index i = 0; i < out.surface.basis.size(); ++i)
        out.surface.basis.data()[i] = static_cast<float>(random.normal());
    out.q.resize(rank);
    for (double& entry : out.q) entry = random.normal();
    return out;
}

} // namespace

TEST(Reconstruct, IsRestAndBasis)
{
    for (const Index rank : {1, 3, 4, 6, 30, 33})
        for (const Index vertices : {1, 2, 5, 2000}) {
            const auto [surface, q] = some_surface(vertices, rank);
            Points x;
            reconstruct(surface, q, x);
            const VecX moved = surface.basis.cast<double>() * q;
            const Points expected = surface.rest.vertices + moved.reshaped(3, vertices);
            ASSERT_EQ(x.cols(), vertices);
            EXPECT_LT((x - expected).cwiseAbs().maxCoeff(), 1e-13)
                << rank << " of " << vertices; // rounding of doubles
        }
}

TEST(Reconstruct, SomeVerticesAreTheSameBits)
{
    const auto [surface, q] = some_surface(500, 30);
    Points all, some;
    reconstruct(surface, q, all);
    const std::vector<int> vertices = {499, 3, 4, 0, 77, 3, 200};
    reconstruct(surface, vertices, q, some);
    EXPECT_EQ(some, all(Eigen::all, vertices));
    reconstruct(surface, std::span<const int>(), q, some);
    EXPECT_EQ(some.cols(), 0);
}

TEST(Reconstruct, SameBitsForAnyNumberOfThreads)
{
    const auto [surface, q] = some_surface(5000, 13);
    const auto with_threads = [&](int count) {
        const ThreadLimit limit(count);
        Points x;
        reconstruct(surface, q, x);
        return x;
    };
    EXPECT_EQ(with_threads(1), with_threads(4));
}

TEST(Reconstruct, ReadsNothingBeyondTheBasis)
{
    const auto [surface, q] = some_surface(4, 6);
    ReducedSurface poisoned = surface; // what follows a row must not reach it, not even times zero
    poisoned.basis.row(1).setConstant(std::numeric_limits<float>::quiet_NaN());
    Points x, with_poison;
    reconstruct(surface, q, x);
    reconstruct(poisoned, q, with_poison);
    EXPECT_EQ(with_poison(0, 0), x(0, 0));
    EXPECT_EQ(with_poison(2, 0), x(2, 0));
    EXPECT_TRUE(std::isnan(with_poison(1, 0)));
}

TEST(Reconstruct, AllocatesNothingForTheNextTime)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "allocations cannot be counted in this build";
    const auto [surface, q] = some_surface(100, 30); // one block: no task is made for another thread
    const std::vector<int> vertices = {1, 2, 99};
    Points all, some;
    reconstruct(surface, q, all);
    reconstruct(surface, vertices, q, some);
    const MallocCounter counter;
    reconstruct(surface, q, all);
    reconstruct(surface, vertices, q, some);
    EXPECT_EQ(counter.count(), 0);
}
