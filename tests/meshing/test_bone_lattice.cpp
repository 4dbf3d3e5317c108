#include "lithe/meshing/bone_lattice.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/lattice_check.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/predicates.hpp"

using namespace lithe;

namespace {

TriangleMesh capsule()
{
    Progress progress;
    return make_shape("capsule:radius=0.1,length=0.6", 0.03, progress);
}

/// Two bones along the capsule, which stands upright.
std::vector<BoneLine> two_bones()
{
    return {{"lower", {0, -0.25, 0}, {0, 0.05, 0}}, {"upper", {0, 0.05, 0}, {0, 0.3, 0}}};
}

BoneLattice made(const TriangleMesh& body, const std::vector<BoneLine>& bones, Index vertices)
{
    Progress progress;
    return bone_lattice(body, bones, {.vertices = vertices}, progress);
}

} // namespace

TEST(BoneLattice, HasTheBonesOnItsEdgesAndTheBodyInside)
{
    const TriangleMesh body = capsule();
    const BoneLattice result = made(body, two_bones(), 60);
    ASSERT_EQ(result.failure, "");
    EXPECT_NEAR(static_cast<double>(result.lattice.vertices.size()), 60.0, 10.0);
    EXPECT_EQ(first_fault(result.lattice, body), std::nullopt);
    ASSERT_EQ(result.lattice.bones.size(), 2u);
    for (std::size_t b = 0; b < 2; ++b) {
        const BoneLine line = two_bones()[b];
        const auto& chain = result.lattice.bones[b].vertices;
        EXPECT_EQ(result.lattice.vertices[chain.front()], line.head); // bits: bone error zero
        EXPECT_EQ(result.lattice.vertices[chain.back()], line.tail);
    }
    EXPECT_EQ(result.lattice.bones[0].vertices.back(), result.lattice.bones[1].vertices.front());
}

TEST(BoneLattice, BuiltInShapesAtEverySize)
{
    Progress progress;
    for (const char* name : {"cow", "hand"}) {
        const ShapeModel model = *find_shape_model(name);
        const TriangleMesh body = make_shape(name, std::nullopt, progress);
        std::vector<BoneLine> bones;
        for (std::size_t j = 0; j < model.joints.size(); ++j)
            if (model.joints[j].parent >= 0) {
                const bool only =
                    std::ranges::count(model.joints, model.joints[j].parent, &ShapeJoint::parent) == 1;
                if (only)
                    bones.push_back({model.joints[j].name, model.joints[model.joints[j].parent].position,
                                     model.joints[j].position});
            }
        for (const Index vertices : {Index{120}, Index{250}}) {
            SCOPED_TRACE(std::string(name) + " " + std::to_string(vertices));
            const BoneLattice result = made(body, bones, vertices);
            ASSERT_EQ(result.failure, "");
            EXPECT_EQ(first_fault(result.lattice, body), std::nullopt);
            EXPECT_NEAR(static_cast<double>(result.lattice.vertices.size()), static_cast<double>(vertices),
                        0.2 * static_cast<double>(vertices));
        }
    }
}

TEST(BoneLattice, SameBitsForAnyNumberOfThreads)
{
    const TriangleMesh body = capsule();
    const auto on = [&](int threads) {
        const ThreadLimit limit(threads);
        return made(body, two_bones(), 80).lattice;
    };
    const ControlLattice a = on(1), b = on(2);
    ASSERT_EQ(a.vertices, b.vertices);
    ASSERT_EQ(a.cells.size(), b.cells.size());
    for (std::size_t c = 0; c < a.cells.size(); ++c) ASSERT_EQ(a.cells[c].vertices, b.cells[c].vertices);
}

TEST(BoneLattice, SaysWhichBonesCannotBeEdges)
{
    std::vector<BoneLine> crossing = two_bones();
    crossing.push_back({"across", {-0.05, 0.2, 0}, {0.05, 0.2, 0}});
    EXPECT_EQ(made(capsule(), crossing, 60).failure, "bones 'upper' and 'across' cross or touch");
    std::vector<BoneLine> folded = two_bones();
    folded.push_back({"back", {0, 0.05, 0}, {0, 0.2, 0}});
    EXPECT_EQ(made(capsule(), folded, 60).failure, "bones 'upper' and 'back' lie on each other");
}

TEST(GridLattice, HoldsTheBodyInCubes)
{
    const TriangleMesh body = capsule();
    Progress progress;
    const ControlLattice lattice = grid_lattice(body, 100, progress);
    EXPECT_NEAR(static_cast<double>(lattice.vertices.size()), 100.0, 40.0);
    EXPECT_EQ(first_fault(lattice, body), std::nullopt);
    for (const LatticeCell& cell : lattice.cells) EXPECT_EQ(cell.kind, LatticeCellKind::Hex);
}
