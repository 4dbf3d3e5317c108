#pragma once
#include "lithe/geometry/control_lattice.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe {

/// Few numbers in each row, rows together.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// A lattice after some subdivisions. Its first vertices are those of the level before; of its cells, those that came from
/// one cell of level 0 are together, in the order of these.
struct LatticeLevel {
    Points vertices;
    std::vector<LatticeCell> cells; ///< hexes, but for level 0
    SparseRows from_coarser;        ///< S: values here = S values of the level before; empty for level 0
    std::vector<std::array<int, 2>> bone_edges; ///< in which the bones lie
    std::vector<char> on_bone;                  ///< of each vertex
};

/// A control lattice and its subdivisions [CGC02]: a new vertex per edge, face and cell, at the average of its corners;
/// a hex (v, e1, e2, f12, e3, f13, f23, c) per corner v of a cell. Values at the vertices are averaged alike, so that what is linear stays
/// linear.
struct LatticeLevels {
    std::vector<LatticeLevel> levels; ///< at least level 0
    /// Of each cell of level 0, its first one among those of the finest level; and their number at the end.
    std::vector<Index> first_finest_cell;

    const LatticeLevel& finest() const { return levels.back(); }
    int count() const { return static_cast<int>(levels.size()) - 1; } ///< of subdivisions
};

/// The lattice must be free of faults (lattice_check.hpp).
LatticeLevels subdivided(const ControlLattice& lattice, int subdivisions);

/// Six tets per hex of the finest level, 6 h to 6 h + 5 of hex h, around its diagonal from v to c: neighbours fit. There
/// has to be at least one subdivision.
TetMesh finest_tets(const LatticeLevels& levels);

/// Where values at the vertices of `level` lead on the finest one: S_J ... S_(level+1).
SparseRows prolongation(const LatticeLevels& levels, int level);

/// One function of the hierarchical basis: that of level `level` which is 1 at `vertex` and 0 at all others.
struct LatticeFunction {
    int level = 0;
    int vertex = 0;
};

/// The functions of levels 0 to J that are independent of each other: all vertices of level 0, and of every further level the new
/// vertices that lie on no bone. So bones stay straight, and a vertex of level 0 on a bone is where its coefficient says.
struct LatticeBasis {
    std::vector<LatticeFunction> functions; ///< vertices of level 0 first, in their order; by rising level
    SparseRows values;                      ///< at the vertices of the finest level

    int count() const { return static_cast<int>(functions.size()); }
};
LatticeBasis hierarchical_basis(const LatticeLevels& levels, int highest_level);

} // namespace lithe
