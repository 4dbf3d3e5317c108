#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "lithe/core/union_find.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/rig/bind.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

struct Case {
    TetMesh volume;
    SkinWeights weights;
};

/// A beam along x of length 3 whose weights go linearly from bone to bone, with their middles at 0.5, 1.5 and 2.5.
Case three_bone_beam()
{
    Case out;
    out.volume = make_box_tets({3.0, 0.5, 0.5}, 0.125);
    out.volume.vertices.row(0).array() -= bounds(out.volume.vertices).min()[0];
    MatX dense(3, out.volume.vertex_count());
    for (Index v = 0; v < dense.cols(); ++v)
        for (Index b = 0; b < 3; ++b)
            dense(b, v) = std::max(0.0, 1.0 - std::abs(std::clamp(out.volume.vertices(0, v), 0.5, 2.5) - 0.5 -
                                                       static_cast<double>(b)));
    out.weights = sparse_weights(dense, 3);
    return out;
}

std::vector<int> domains_of_each_tet(const TetMesh& volume, const Segmentation& segmentation)
{
    std::vector<int> count(static_cast<std::size_t>(volume.tet_count()), 0);
    for (const std::vector<int>& domain : segmentation.tets)
        for (const int t : domain) ++count[t];
    return count;
}

bool connected(const TetMesh& volume, const std::vector<int>& tets)
{
    UnionFind sets(static_cast<int>(volume.vertex_count()));
    for (const int t : tets)
        for (int a = 1; a < 4; ++a) sets.join(volume.tets(0, t), volume.tets(a, t));
    std::set<int> roots;
    for (const int t : tets) roots.insert(sets.root(volume.tets(0, t)));
    return roots.size() == 1;
}

} // namespace

TEST(Segment, WithoutThresholdEveryTetIsInOneDomain)
{
    const Case beam = three_bone_beam();
    const Segmentation out = segment(beam.volume, beam.weights, 3);
    ASSERT_EQ(out.tets.size(), 3u);
    ASSERT_EQ(out.heaviest.size(), static_cast<std::size_t>(beam.volume.tet_count()));
    for (const int count : domains_of_each_tet(beam.volume, out)) EXPECT_EQ(count, 1);
    for (int b = 0; b < 3; ++b) {
        EXPECT_TRUE(std::is_sorted(out.tets[b].begin(), out.tets[b].end()));
        EXPECT_TRUE(connected(beam.volume, out.tets[b]));
        for (const int t : out.tets[b]) {
            EXPECT_EQ(out.heaviest[t], b);
            double x = 0.0; // the middle of the tet: in the third of the bone
            for (int a = 0; a < 4; ++a) x += 0.25 * beam.volume.vertices(0, beam.volume.tets(a, t));
            EXPECT_GE(x, b - 1e-9);
            EXPECT_LE(x, b + 1 + 1e-9);
        }
    }
}

TEST(Segment, LowerThresholdsOverlapMore)
{
    const Case beam = three_bone_beam();
    std::vector<std::vector<int>> before(3);
    for (const double threshold : {0.9, 0.6, 0.4, 0.2, 0.01}) {
        const Segmentation out = segment(beam.volume, beam.weights, 3, threshold);
        for (const int count : domains_of_each_tet(beam.volume, out)) EXPECT_GE(count, 1);
        for (std::size_t b = 0; b < 3; ++b) {
            EXPECT_TRUE(
                std::includes(out.tets[b].begin(), out.tets[b].end(), before[b].begin(), before[b].end()));
            EXPECT_TRUE(connected(beam.volume, out.tets[b]));
        }
        if (threshold < 0.5) {
            EXPECT_GT(out.tets[1].size(), before[1].size());
        }
        before = out.tets;
    }
    // at 0.01 the middle domain reaches as far as its weights do: from 0.5 to 2.5
    for (const int t : before[1]) {
        double x = 0.0;
        for (int a = 0; a < 4; ++a) x += 0.25 * beam.volume.vertices(0, beam.volume.tets(a, t));
        EXPECT_GT(x, 0.5);
        EXPECT_LT(x, 2.5);
    }
}

TEST(Segment, BonesThatHoldNothingHaveNoTets)
{
    const Case beam = three_bone_beam();
    const Segmentation out = segment(beam.volume, beam.weights, 5, 0.2);
    ASSERT_EQ(out.tets.size(), 5u);
    EXPECT_TRUE(out.tets[3].empty());
    EXPECT_TRUE(out.tets[4].empty());
}

TEST(Segment, RefusesThresholdsThatAreNoShare)
{
    const Case beam = three_bone_beam();
    for (const double threshold : {-0.1, 1.0, std::nan("")})
        EXPECT_THROW(segment(beam.volume, beam.weights, 3, threshold), InputError);
    EXPECT_EQ(message_of([&] { segment(beam.volume, beam.weights, 3, 1.0); }),
              "domains by bone: a threshold of 1; give one in [0, 1)");
}
