#include "lithe/fem/elements.hpp"

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/core/error.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

const Material stuff = Corotational({1e4, 0.3});

Elements plain_elements(const TetMesh& mesh)
{
    const RegionMaterial materials[] = {{0, stuff, 1000.0}};
    return make_elements(mesh, materials);
}

} // namespace

TEST(Elements, HoldEveryTetOnceWithItsVolumeAndGradients)
{
    const TetMesh mesh = box_tets({2, 1, 3}, {1.0, 2.0, 0.5});
    const Elements elements = plain_elements(mesh);
    double total = 0.0;
    std::vector<int> seen(static_cast<std::size_t>(mesh.tet_count()), 0);
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        const TetBatch& batch = elements.batches[static_cast<std::size_t>(slot / 8)];
        const int lane = static_cast<int>(slot % 8);
        total += batch.volume[lane];
        const int tet = elements.tet_of_slot[static_cast<std::size_t>(slot)];
        if (tet < 0) {
            EXPECT_EQ(batch.volume[lane], 0.0);
            continue;
        }
        ++seen[static_cast<std::size_t>(tet)];
        for (int a = 0; a < 3; ++a) // shape function a + 1 rises from 0 to 1 between the corners
            for (int b = 0; b < 4; ++b) {
                const Vec3 edge = mesh.vertices.col(mesh.tets(b, tet)) - mesh.vertices.col(mesh.tets(0, tet));
                const Vec3 gradient(batch.inverse_rest[a][lane], batch.inverse_rest[a + 3][lane],
                                    batch.inverse_rest[a + 6][lane]);
                EXPECT_NEAR(gradient.dot(edge), b == a + 1 ? 1.0 : 0.0, 1e-14);
            }
    }
    EXPECT_NEAR(total, 1.0, 1e-14);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), mesh.tet_count());
}

TEST(Elements, PatternIsTheGraphOfTheMesh)
{
    const TetMesh mesh = box_tets({2, 2, 2}, {1.0, 1.0, 1.0});
    const StiffnessPattern pattern = make_stiffness_pattern(plain_elements(mesh));
    MatX expected = MatX::Zero(mesh.vertex_count(), mesh.vertex_count());
    for (Index t = 0; t < mesh.tet_count(); ++t)
        for (const int i : mesh.tets.col(t))
            for (const int j : mesh.tets.col(t)) expected(i, j) = 1.0;
    EXPECT_EQ(pattern.block_count(), static_cast<Index>(expected.sum()));
    EXPECT_EQ(pattern.zero.nonZeros(), 9 * pattern.block_count());
    for (Index j = 0; j < mesh.vertex_count(); ++j)
        for (SparseMatrix::InnerIterator it(pattern.zero, 3 * j); it; ++it)
            EXPECT_EQ(expected(it.row() / 3, j), 1.0);
}

TEST(Elements, RefuseBrokenMeshes)
{
    TetMesh mesh = box_tets({1, 1, 1}, {1.0, 1.0, 1.0});
    const TetMesh good = mesh;
    EXPECT_NO_THROW((void)plain_elements(mesh));

    std::swap(mesh.tets(0, 2), mesh.tets(1, 2));
    EXPECT_THROW((void)plain_elements(mesh), InputError); // inverted
    mesh = good;
    mesh.vertices.col(mesh.tets(3, 0)) = mesh.vertices.col(mesh.tets(0, 0));
    EXPECT_THROW((void)plain_elements(mesh), InputError); // flat
    mesh = good;
    mesh.tets(0, 0) = 8;
    EXPECT_THROW((void)plain_elements(mesh), InputError); // outside
    mesh = good;
    mesh.vertices.conservativeResize(3, 9);
    mesh.vertices.col(8).setZero();
    EXPECT_THROW((void)plain_elements(mesh), InputError); // lonely vertex
    mesh = good;
    mesh.vertices(1, 3) = std::nan("");
    EXPECT_THROW((void)plain_elements(mesh), InputError);
    mesh = good;
    mesh.tets.resize(4, 0);
    EXPECT_THROW((void)plain_elements(mesh), InputError);
}

TEST(Elements, RefuseRegionsThatDoNotFit)
{
    TetMesh mesh = box_tets({1, 1, 1}, {1.0, 1.0, 1.0});
    mesh.regions = {0, 0, 0, 1, 1, 1};
    const RegionMaterial both[] = {{0, stuff, 1000.0}, {1, stuff, 500.0}};
    const RegionMaterial twice[] = {{0, stuff, 1000.0}, {0, stuff, 500.0}, {1, stuff, 500.0}};
    const RegionMaterial weightless[] = {{0, stuff, 0.0}, {1, stuff, 500.0}};
    EXPECT_NO_THROW((void)make_elements(mesh, both));
    EXPECT_THROW((void)plain_elements(mesh), InputError); // region 1 has no material
    EXPECT_THROW((void)make_elements(mesh, twice), InputError);
    EXPECT_THROW((void)make_elements(mesh, weightless), InputError);
    mesh.regions.pop_back();
    EXPECT_THROW((void)make_elements(mesh, both), InputError);
}
