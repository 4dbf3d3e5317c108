#include <Eigen/SparseQR>
#include <gtest/gtest.h>

#include "lithe/geometry/embedding.hpp"
#include "lithe/geometry/lattice_check.hpp"
#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/lattices.hpp"

using namespace lithe;

namespace {

Points level_zero_points(const ControlLattice& lattice)
{
    Points points(3, static_cast<Index>(lattice.vertices.size()));
    for (std::size_t v = 0; v < lattice.vertices.size(); ++v)
        points.col(static_cast<Index>(v)) = lattice.vertices[v];
    return points;
}

TEST(ControlLattice, SubdivisionGivesTheHexesAndVerticesThatItShould)
{
    const LatticeLevels levels = subdivided(test::mixed_lattice(), 3);
    const Index vertices[] = {11, 47, 241, 1505};
    const std::size_t cells[] = {3, 18, 144, 1152};
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_EQ(levels.levels[l].vertices.cols(), vertices[l]);
        EXPECT_EQ(levels.levels[l].cells.size(), cells[l]);
    }
    EXPECT_EQ(levels.first_finest_cell, (std::vector<Index>{0, 512, 896, 1152}));
}

TEST(ControlLattice, TheTetsOfTheFinestLevelFillTheCellsAndFit)
{
    const ControlLattice lattice = test::mixed_lattice();
    const TetMesh tets = finest_tets(subdivided(lattice, 2));
    for (Index t = 0; t < tets.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
        EXPECT_GT(tet_volume(x(0), x(1), x(2), x(3)), 0.0);
    }
    // The boundary of tets that fit has as much volume as they have, and each of its edges twice: Euler's formula.
    const TriangleMesh boundary = boundary_surface(tets);
    EXPECT_NEAR(volume(boundary), volume(tets), 1e-12);
    EXPECT_EQ(boundary.vertex_count() - boundary.triangle_count() / 2, 2);
}

TEST(ControlLattice, TheBasisIsAPartitionOfUnityAndExactForLinearFunctions)
{
    const ControlLattice lattice = test::mixed_lattice();
    const LatticeLevels levels = subdivided(lattice, 3);
    const SparseRows P = prolongation(levels, 0);
    const VecX ones = VecX::Ones(P.cols());
    EXPECT_LE((P * ones - VecX::Ones(P.rows())).cwiseAbs().maxCoeff(), 1e-15);
    const Points x = level_zero_points(lattice) * P.transpose();
    EXPECT_LE((x - levels.finest().vertices).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(ControlLattice, OnATetTheFunctionsAreItsBarycentricCoordinates)
{
    const ControlLattice lattice = test::mixed_lattice();
    const LatticeLevels levels = subdivided(lattice, 3);
    const SparseRows P = prolongation(levels, 0);
    const TetMesh tet{.vertices = level_zero_points(lattice), .tets = Tets(Eigen::Vector4i(5, 9, 7, 10))};
    for (Index c = levels.first_finest_cell[2]; c < levels.first_finest_cell[3]; ++c)
        for (const int v : levels.finest().cells[static_cast<std::size_t>(c)].vertices) {
            const Embedding place = embed(levels.finest().vertices.col(v), tet);
            for (int k = 0; k < 4; ++k) EXPECT_NEAR(P.coeff(v, tet.tets(k, 0)), place.weights(k, 0), 1e-12);
        }
}

TEST(ControlLattice, TheFunctionsOfAllLevelsAreIndependentAndBonesStayStraight)
{
    const LatticeLevels levels = subdivided(test::mixed_lattice(), 3);
    const LatticeBasis basis = hierarchical_basis(levels, 3);
    EXPECT_EQ(basis.count(), 1505 - 14);
    // Functions of one level differ at the vertices of that level only: the rank is their count.
    Eigen::SparseQR<SparseMatrix, Eigen::COLAMDOrdering<int>> qr;
    SparseMatrix values = basis.values;
    values.makeCompressed();
    qr.compute(values);
    EXPECT_EQ(qr.rank(), basis.count());

    const LatticeLevel& finest = levels.finest();
    for (Index v = 0; v < finest.vertices.cols(); ++v) {
        if (!finest.on_bone[static_cast<std::size_t>(v)]) continue;
        double joints = 0.0; // share of the ends of bones
        for (SparseRows::InnerIterator it(basis.values, v); it; ++it) {
            const LatticeFunction& f = basis.functions[static_cast<std::size_t>(it.col())];
            ASSERT_TRUE(f.level == 0 && (f.vertex == 0 || f.vertex == 1 || f.vertex == 5));
            joints += it.value();
        }
        EXPECT_NEAR(joints, 1.0, 1e-15);
    }
}

TEST(ControlLattice, AGoodOneHasNoFault)
{
    EXPECT_EQ(first_fault(test::mixed_lattice()), std::nullopt);
}

TEST(ControlLattice, TheFirstFaultIsNamed)
{
    ControlLattice none;
    EXPECT_EQ(first_fault(none), "the lattice has no cells");

    ControlLattice missing = test::mixed_lattice();
    missing.cells[1].vertices[1] = 40;
    EXPECT_EQ(first_fault(missing), "cell 1 of the lattice has the corner 40, but there are 11 vertices");

    ControlLattice pyramid = test::mixed_lattice();
    pyramid.cells[0].vertices[7] = 6;
    EXPECT_EQ(first_fault(pyramid),
              "cell 0 of the lattice has vertex 6 twice: a corner of it then has not three edges");

    ControlLattice inverted = test::mixed_lattice();
    std::swap(inverted.cells[2].vertices[0], inverted.cells[2].vertices[1]);
    EXPECT_EQ(first_fault(inverted), "cell 2 of the lattice is flat, turned inside out or not convex");

    ControlLattice torn = test::mixed_lattice();
    torn.vertices.push_back(torn.vertices[5]);
    torn.cells[2].vertices[0] = 11;
    EXPECT_NE(first_fault(torn).value().find("faces must match in pairs"), std::string::npos);

    ControlLattice floating = test::mixed_lattice();
    floating.bones[1].vertices = {1, 6};
    EXPECT_EQ(first_fault(floating),
              "bone 'upper' goes from vertex 1 to 6, which no edge of the lattice joins");
}

TEST(ControlLattice, ASurfaceHasToBeStrictlyInside)
{
    const ControlLattice lattice = test::mixed_lattice();
    TriangleMesh ball = make_sphere(0.3, 0.1);
    ball.vertices.colwise() += Vec3::Constant(0.5);
    EXPECT_EQ(first_fault(lattice, ball), std::nullopt);
    ball.vertices.colwise() += Vec3(0.0, 0.3, 0.0);
    EXPECT_NE(first_fault(lattice, ball).value().find("the surface is not inside the lattice"),
              std::string::npos);
}

} // namespace
