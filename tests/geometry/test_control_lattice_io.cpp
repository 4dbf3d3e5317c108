#include "lithe/geometry/control_lattice_io.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using test::message_of;

TEST(ControlLatticeIo, WhatIsWrittenIsRead)
{
    const ControlLattice lattice{.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.0 / 3.0}, {1, 1, 1}},
                                 .cells = {{LatticeCellKind::Tet, {0, 1, 2, 3, -1, -1, -1, -1}},
                                           {LatticeCellKind::Tet, {1, 2, 3, 4, -1, -1, -1, -1}}},
                                 .bones = {{"upper arm", {0, 1, 4}}}};
    const ControlLattice read = parse_lattice("# by hand\n\n" + lattice_text(lattice), "a.lattice");
    EXPECT_EQ(read.vertices, lattice.vertices);
    ASSERT_EQ(read.cells.size(), 2u);
    EXPECT_EQ(read.cells[1].vertices, lattice.cells[1].vertices);
    ASSERT_EQ(read.bones.size(), 1u);
    EXPECT_EQ(read.bones[0].name, "upper arm");
    EXPECT_EQ(read.bones[0].vertices, lattice.bones[0].vertices);
}

TEST(ControlLatticeIo, KindsOfCells)
{
    const ControlLattice read = parse_lattice("hex 0 1 2 3 4 5 6 7\nprism 0 1 2 3 4 5 # a comment\r\n", "a");
    EXPECT_EQ(read.cells[0].kind, LatticeCellKind::Hex);
    EXPECT_EQ(read.cells[1].kind, LatticeCellKind::Prism);
    EXPECT_EQ(read.cells[1].vertices[6], -1);
}

TEST(ControlLatticeIo, SaysWhichLineIsWrong)
{
    const auto said = [](const char* text) {
        return message_of([&] { (void)parse_lattice(text, "a.lattice"); });
    };
    EXPECT_EQ(said("tet 0 1 2 3\nvertex 0 1\n"), "a.lattice:2: expected three coordinates, found ''");
    EXPECT_EQ(said("tet 0 1 2\n"), "a.lattice:1: expected 4 vertices, found ''");
    EXPECT_EQ(said("tet 0 1 2 3 4\n"), "a.lattice:1: '4' is more than this line takes");
    EXPECT_EQ(said("bone 3 arm\n"), "a.lattice:1: a bone needs two vertices or more");
    EXPECT_EQ(said("bone 3 4\n"), "a.lattice:1: a bone needs the name of its joint behind its vertices");
    EXPECT_EQ(said("vertx 0 0 0\n"),
              "a.lattice:1: 'vertx' is not known here; a line begins with vertex, tet, prism, hex or bone");
    EXPECT_EQ(said("vertex 0 0 nan\n"), "a.lattice:1: a coordinate is not finite");
    EXPECT_EQ(said("vertex 0 0 0\n"),
              "a.lattice: there is no cell in it; write 'tet 0 1 2 3' for one (docs/lattice.md)");
}
