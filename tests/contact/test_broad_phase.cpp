#include "lithe/contact/broad_phase.hpp"

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

std::vector<Box3> random_boxes(int count, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Box3> boxes;
    for (int i = 0; i < count; ++i) {
        const Vec3 at = 10.0 * random_vector(random, 3),
                   size = Vec3::Constant(0.4) + 0.3 * random_vector(random, 3);
        boxes.emplace_back(at - size, at + size);
    }
    return boxes;
}

std::vector<std::pair<int, int>> by_force(const std::vector<Box3>& boxes)
{
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < static_cast<int>(boxes.size()); ++i)
        for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j)
            if (boxes[static_cast<std::size_t>(i)].intersects(boxes[static_cast<std::size_t>(j)]))
                pairs.emplace_back(i, j);
    return pairs;
}

const auto all = [](int, int) { return true; };

} // namespace

TEST(BroadPhase, FindsThePairsThatMeetWhileTheyMove)
{
    BroadPhase broad;
    std::vector<std::pair<int, int>> pairs;
    std::vector<Box3> boxes = random_boxes(600, 1);
    Random random(2);
    for (int step = 0; step < 20; ++step) {
        broad.update(boxes);
        broad.find_pairs(all, pairs);
        EXPECT_EQ(pairs, by_force(boxes));
        EXPECT_FALSE(pairs.empty());
        for (Box3& box : boxes) box.translate(Vec3(0.8 * random_vector(random, 3)));
    }
    boxes.resize(300); // bodies leave
    broad.update(boxes);
    broad.find_pairs(all, pairs);
    EXPECT_EQ(pairs, by_force(boxes));
    boxes.clear();
    broad.update(boxes);
    broad.find_pairs(all, pairs);
    EXPECT_TRUE(pairs.empty());
}

TEST(BroadPhase, KeepsOnlyWhatItIsAskedFor)
{
    BroadPhase broad;
    std::vector<Box3> boxes = random_boxes(300, 3);
    boxes[7] = Box3(); // touches nothing
    broad.update(boxes);
    std::vector<std::pair<int, int>> some, every;
    broad.find_pairs([](int i, int j) { return (i + j) % 2 == 0; }, some);
    broad.find_pairs(all, every);
    EXPECT_EQ(every, by_force(boxes));
    std::erase_if(every, [](const auto& pair) { return (pair.first + pair.second) % 2 != 0; });
    EXPECT_EQ(some, every);
}

TEST(BroadPhase, AllocatesNothingWhileBodiesStayNear)
{
    if (!MallocCounter::works()) GTEST_SKIP();
    BroadPhase broad;
    std::vector<Box3> boxes = random_boxes(500, 4);
    std::vector<std::pair<int, int>> pairs;
    broad.update(boxes);
    broad.find_pairs(all, pairs);
    for (Box3& box : boxes) box.translate(Vec3(0.0, -0.001, 0.0));
    const MallocCounter mallocs;
    broad.update(boxes);
    broad.find_pairs(all, pairs);
    EXPECT_EQ(mallocs.count(), 0);
}
