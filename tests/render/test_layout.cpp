#include "lithe/render/layout.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace lithe {
namespace {

const std::vector<Box3> boxes = {Box3(Vec3(-1, -1, -1), Vec3(1, 1, 1)),
                                 Box3(Vec3(5, 5, 5), Vec3(5.5, 9, 5.1)), Box3(Vec3(0, 0, 0), Vec3(0, 3, 0)),
                                 Box3(Vec3(-9, 2, 0), Vec3(-3, 3, 4)), Box3(Vec3(0, 0, 0), Vec3(1, 1, 1))};

Box3 placed(const Box3& box, const Placement& at)
{
    return Box3(at.scale * box.min() + at.shift, at.scale * box.max() + at.shift);
}

void expect_apart_on_one_ground(const std::vector<Placement>& placements)
{
    ASSERT_EQ(placements.size(), boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box3 a = placed(boxes[i], placements[i]);
        EXPECT_NEAR(a.min().y(), 0.0, 1e-12);
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_GT(a.exteriorDistance(placed(boxes[j], placements[j])), 0.1) << i << " and " << j;
    }
}

TEST(Layout, RowKeepsSizesAndOrder)
{
    const std::vector<Placement> placements = arrange(boxes, Arrangement::Row);
    expect_apart_on_one_ground(placements);
    for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(placements[i].scale, 1.0);
    for (std::size_t i = 1; i < boxes.size(); ++i)
        EXPECT_GT(placed(boxes[i], placements[i]).min().x(),
                  placed(boxes[i - 1], placements[i - 1]).max().x());
}

TEST(Layout, GridScalesToOneSize)
{
    const std::vector<Placement> placements = arrange(boxes, Arrangement::Grid);
    expect_apart_on_one_ground(placements);
    for (std::size_t i = 0; i < boxes.size(); ++i)
        EXPECT_NEAR(placed(boxes[i], placements[i]).sizes().maxCoeff(), 1.0, 1e-12);
}

TEST(Layout, AsIsMovesNothing)
{
    for (const Placement& at : arrange(boxes, Arrangement::AsIs)) {
        EXPECT_EQ(at.scale, 1.0);
        EXPECT_EQ(at.shift, Vec3(Vec3::Zero()));
    }
}

} // namespace
} // namespace lithe
