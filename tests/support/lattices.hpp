#pragma once
#include "lithe/geometry/control_lattice.hpp"

namespace lithe::test {

/// A unit cube, a prism on its side x = 1 and a tet on top of the prism; two bones along edges of the cube.
inline ControlLattice mixed_lattice()
{
    ControlLattice lattice;
    for (int v = 0; v < 8; ++v) lattice.vertices.emplace_back(v & 1, (v >> 1) & 1, v >> 2);
    lattice.vertices.emplace_back(1.8, 0.5, 0.1);
    lattice.vertices.emplace_back(1.9, 0.4, 1.1);
    lattice.vertices.emplace_back(1.3, 0.5, 2.0);
    lattice.cells = {{LatticeCellKind::Hex, {0, 1, 2, 3, 4, 5, 6, 7}},
                     {LatticeCellKind::Prism, {1, 8, 3, 5, 9, 7, -1, -1}},
                     {LatticeCellKind::Tet, {5, 9, 7, 10, -1, -1, -1, -1}}};
    lattice.bones = {{"lower", {0, 1}}, {"upper", {1, 5}}};
    return lattice;
}

} // namespace lithe::test
