#include "lithe/geometry/bvh.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lithe/geometry/box.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

using Pairs = std::vector<std::pair<int, int>>;

std::vector<Box3> random_boxes(int count, double size, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Box3> boxes;
    for (int i = 0; i < count; ++i) {
        const Vec3 at = test::random_point(random, -1.0, 1.0);
        boxes.emplace_back(at, Vec3(at + size * test::random_point(random, 0.0, 1.0)));
    }
    return boxes;
}

Pairs brute_pairs(const std::vector<Box3>& boxes)
{
    Pairs pairs;
    for (int i = 0; i < static_cast<int>(boxes.size()); ++i)
        for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j)
            if (boxes[i].intersects(boxes[j])) pairs.emplace_back(i, j);
    return pairs;
}

Pairs sorted(Pairs pairs)
{
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void expect_right(const Bvh& bvh, const std::vector<Box3>& boxes, std::uint64_t seed)
{
    Random random(seed);
    for (int k = 0; k < 50; ++k) {
        const Vec3 at = test::random_point(random, -1.5, 1.5);
        const Box3 probe(at, Vec3(at + test::random_point(random, 0.0, 0.5)));
        std::set<int> found, expected;
        bvh.for_each_overlap(probe, [&](int i) { EXPECT_TRUE(found.insert(i).second); });
        double nearest2 = INFINITY, brute2 = INFINITY;
        for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
            if (boxes[i].intersects(probe)) expected.insert(i);
            brute2 = std::min(brute2, boxes[i].squaredExteriorDistance(at));
        }
        EXPECT_EQ(found, expected);
        bvh.for_each_near(at, INFINITY, [&](int i, double bound2) {
            nearest2 = std::min(nearest2, boxes[i].squaredExteriorDistance(at));
            return std::min(bound2, nearest2);
        });
        EXPECT_EQ(nearest2, brute2);
    }
    Pairs pairs;
    bvh.for_each_self_pair([&](int i, int j) { pairs.emplace_back(i, j); });
    EXPECT_EQ(sorted(pairs), brute_pairs(boxes));
    EXPECT_EQ(bvh.collect_self_pairs([](int, int) { return true; }), brute_pairs(boxes));
}

} // namespace

TEST(Bvh, QueriesAgreeWithBruteForce)
{
    for (const int count : {1, 2, 3, 17, 600}) {
        const auto boxes = random_boxes(count, 0.3, 1);
        const Bvh bvh(boxes);
        EXPECT_EQ(bvh.item_count(), count);
        expect_right(bvh, boxes, 2);
    }
}

TEST(Bvh, QueriesAgreeWithBruteForceAfterRefit)
{
    auto boxes = random_boxes(500, 0.2, 3);
    Bvh bvh(boxes);
    const double fresh = bvh.cost();
    boxes = random_boxes(500, 0.3, 4); // everything is somewhere else
    bvh.refit(boxes);
    expect_right(bvh, boxes, 5);
    EXPECT_GT(bvh.cost(), 2.0 * fresh);
    EXPECT_LT(Bvh(boxes).cost(), 0.5 * bvh.cost());
}

TEST(Bvh, VisitsFewOfMany)
{
    const auto boxes = random_boxes(20000, 0.01, 6);
    const Bvh bvh(boxes);
    int visits = 0;
    for (int k = 0; k < 100; ++k)
        bvh.for_each_near(Vec3(-0.5 + 0.01 * k, 0.1, 0.2), INFINITY, [&](int i, double bound2) {
            ++visits;
            return std::min(bound2, boxes[i].squaredExteriorDistance(Vec3(-0.5 + 0.01 * k, 0.1, 0.2)));
        });
    EXPECT_LT(visits, 100 * 60);
    EXPECT_LT(bvh.cost(), 1000.0);
}

TEST(Bvh, EachItemIsInOnePack)
{
    for (const int count : {1, 2, 8, 9, 600}) {
        auto boxes = random_boxes(count, 0.3, 7);
        Bvh bvh(boxes);
        std::vector<int> items;
        for (int p = 0; p < bvh.pack_count(); ++p) {
            EXPECT_GT(bvh.pack(p).size(), 0u);
            EXPECT_LE(bvh.pack(p).size(), static_cast<std::size_t>(Bvh::pack_size));
            items.insert(items.end(), bvh.pack(p).begin(), bvh.pack(p).end());
        }
        std::ranges::sort(items);
        for (int i = 0; i < count; ++i) EXPECT_EQ(items.at(static_cast<std::size_t>(i)), i);
        EXPECT_EQ(items.size(), static_cast<std::size_t>(count));
        EXPECT_LE(bvh.pack_count(), 1 + count / 3);
    }
}

TEST(Bvh, EqualPointsAndRowsAreNoTrouble)
{
    std::vector<Box3> boxes(300, Box3(Vec3::Ones(), Vec3::Ones()));
    expect_right(Bvh(boxes), boxes, 9);
    double x = 1.0; // a row in which each gap is a tenth of the one before: the worst case for bins
    for (Box3& box : boxes) {
        box = Box3(Vec3(x, 0, 0), Vec3(x, 0, 0));
        x *= 0.1;
    }
    expect_right(Bvh(boxes), boxes, 10);
}

TEST(Bvh, EmptyBoxesMeetNothing)
{
    auto boxes = random_boxes(50, 0.5, 11);
    for (std::size_t i = 0; i < boxes.size(); i += 3) boxes[i].setEmpty();
    const Bvh bvh(boxes);
    for (const auto& [i, j] : bvh.collect_self_pairs([](int, int) { return true; }))
        EXPECT_TRUE(i % 3 != 0 && j % 3 != 0);
}

TEST(Bvh, NothingToFindInNothing)
{
    const Bvh none{std::span<const Box3>()};
    EXPECT_EQ(none.item_count(), 0);
    EXPECT_TRUE(none.box().isEmpty());
    none.for_each_overlap(Box3(Vec3::Zero(), Vec3::Ones()), [](int) { FAIL(); });
    none.for_each_near(Vec3::Zero(), INFINITY, [](int, double b) {
        ADD_FAILURE();
        return b;
    });
    none.for_each_self_pair([](int, int) { FAIL(); });
    EXPECT_TRUE(none.collect_self_pairs([](int, int) { return true; }).empty());
}

TEST(Bvh, SameTreeForAnyNumberOfThreads)
{
    const auto boxes = random_boxes(30000, 0.02, 12);
    std::vector<int> order;
    const Box3 everything(Vec3::Constant(-9), Vec3::Constant(9));
    Bvh(boxes).for_each_overlap(everything, [&](int i) { order.push_back(i); });
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        std::vector<int> again;
        Bvh(boxes).for_each_overlap(everything, [&](int i) { again.push_back(i); });
        EXPECT_EQ(again, order);
    }
}

TEST(Bvh, BoxesOfElementsHoldThemAndTheirMargin)
{
    const TetMesh tets = test::unit_cube_tets(2);
    std::vector<Box3> boxes;
    tet_boxes(tets.vertices, tets.tets, 0.1, boxes);
    ASSERT_EQ(boxes.size(), 48u);
    for (int t = 0; t < 48; ++t) {
        Box3 plain;
        for (int k = 0; k < 4; ++k) plain.extend(tets.vertices.col(tets.tets(k, t)));
        EXPECT_LE((boxes[t].min() - (plain.min() - Vec3::Constant(0.1))).norm(), 1e-15);
        EXPECT_LE((boxes[t].max() - (plain.max() + Vec3::Constant(0.1))).norm(), 1e-15);
    }
    const TriangleMesh cube = test::unit_cube();
    triangle_boxes(cube.vertices, cube.triangles, 0.0, boxes);
    ASSERT_EQ(boxes.size(), 12u);
    for (const Box3& box : boxes) EXPECT_EQ(box.volume(), 0.0);
}

Box3 box_of_pack(const Bvh& bvh, int pack, const std::vector<Box3>& boxes)
{
    Box3 box;
    for (const int i : bvh.pack(pack)) box.extend(boxes[static_cast<std::size_t>(i)]);
    return box;
}

TEST(Bvh, PacksOnTheirWayMeetThoseOfAnother)
{
    // far from the origin too, where single precision is coarse
    for (const double offset : {0.0, 1000.0}) {
        auto left = random_boxes(300, 0.1, 13), right = random_boxes(200, 0.1, 14);
        for (auto* boxes : {&left, &right})
            for (Box3& box : *boxes) box.translate(Vec3::Constant(offset));
        const Vec3 way(0.15, -0.05, 0.0);
        constexpr double reach = 0.01, rounding = 0.01; // [m]
        const Bvh a(left), b(right);
        std::set<std::pair<int, int>> found;
        a.for_each_pack_pair(b, way, reach, [&](int p, int q) { EXPECT_TRUE(found.emplace(p, q).second); });
        int meeting = 0;
        for (int p = 0; p < a.pack_count(); ++p)
            for (int q = 0; q < b.pack_count(); ++q) {
                const Box3 start = box_of_pack(a, p, left);
                const Box3 swept = start.merged(start.translated(way)), other = box_of_pack(b, q, right);
                const bool meets = widened(swept, reach).intersects(other);
                const bool nearly = widened(swept, reach + rounding).intersects(other);
                meeting += meets;
                EXPECT_TRUE(found.contains({p, q}) ? nearly : !meets) << p << ", " << q;
            }
        EXPECT_GT(meeting, 100);
        EXPECT_LT(meeting, a.pack_count() * b.pack_count() / 2);
    }
}

TEST(FloatBox, HoldsItsBoxAtEverySize)
{
    Random random(15);
    for (const double size : {1e-300, 1e-30, 1.0, 1e7, 1e30, 1e300})
        for (int k = 0; k < 200; ++k) {
            const Vec3 p = size * test::random_point(random, -1.0, 1.0);
            const Vec3 q = p + 1e-9 * size * test::random_point(random, 0.0, 1.0);
            const FloatBox out = around({p, q});
            for (int c = 0; c < 3; ++c) {
                EXPECT_LE(static_cast<double>(out.lo[c]), p[c]) << size;
                EXPECT_GE(static_cast<double>(out.hi[c]), q[c]) << size;
                if (size == 1.0) {
                    EXPECT_LT(out.hi[c] - out.lo[c], 1e-6f);
                }
            }
        }
    EXPECT_FALSE(meet(around(Box3()), around({Vec3::Constant(-1.0), Vec3::Ones()})));
}
