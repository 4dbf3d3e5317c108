#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A solid as a function: below zero inside, above outside, and nowhere steeper than a distance [m].
/// It is asked from many threads at once.
using LevelSet = std::function<double(const Vec3&)>;

/// Everywhere: asked at every vertex of the box, for functions that change their sign away from zero too.
enum class LatticeSampling { NearTheSurface, Everywhere };

/// How finely, and how far around its surface, a level set is sampled.
struct LatticeOptions {
    double cell = 0.0;  ///< edge of the cubic cells of the lattice [m], > 0
    double reach = 0.0; ///< largest level that will be asked for, plus largest jump of the function [m]
    LatticeSampling sampling = LatticeSampling::NearTheSurface;
};

/// A level set sampled on a body-centred cubic lattice: the corners and the centres of cubes with edge `cell`.
///
/// Neighbours are joined by long edges (length `cell`, corner to corner or centre to centre) and short ones
/// (sqrt(3)/2 cell, corner to centre). Four neighbours around a face of two cubes make a tet; 12 tets fill a
/// cube and all have the same shape. Only blocks of cells that hold some of the solid or touch
/// its surface are stored, and the function is asked only near the surface: a block whose centre is farther
/// from the surface than its corners has one sign. The solid must lie in the box.
class LevelLattice {
public:
    LevelLattice(LevelSet level_set, const Box3& box, const LatticeOptions& options, Progress& progress);

    static constexpr int block_cells = 8; ///< cells along the edge of a block
    static constexpr int block_vertices = 2 * block_cells * block_cells * block_cells;

    double cell() const { return cell_; }
    const LevelSet& level_set() const { return level_set_; }
    /// Vertices have slots: all of a stored block in a row.
    Index slot_count() const { return static_cast<Index>(values_.size()); }
    /// The slot at a lattice coordinate (half cells: all even for corners, all odd for centres); -1: far outside.
    std::int64_t slot(const Eigen::Vector3i& at) const;
    Eigen::Vector3i coordinate(std::int64_t slot) const;
    Vec3 position(const Eigen::Vector3i& at) const { return origin_ + 0.5 * cell_ * at.cast<double>(); }
    /// The function at a vertex, or plus or minus infinity where it is farther from zero than any edge is long.
    double value(std::int64_t slot) const { return values_[static_cast<std::size_t>(slot)]; }
    /// The vertex nearest to a point of the box.
    std::int64_t nearest_slot(const Vec3& point) const;
    /// The vertex counts as inside (outside) whatever its value, and is not moved onto the surface.
    void hold_inside(std::int64_t slot) { held_[static_cast<std::size_t>(slot)] = Held::Inside; }
    void hold_outside(std::int64_t slot) { held_[static_cast<std::size_t>(slot)] = Held::Outside; }
    bool is_held(std::int64_t slot) const { return held_[static_cast<std::size_t>(slot)] != Held::Free; }
    /// Held inside, or else with a value below `level`.
    bool is_inside(std::int64_t slot, double level) const
    {
        const Held held = held_[static_cast<std::size_t>(slot)];
        return held == Held::Free ? value(slot) < level : held == Held::Inside;
    }
    /// The share of the lattice's vertices with a value below `level`, as a volume. [m^3]
    double sampled_volume(double level) const;

private:
    enum class Held : std::uint8_t { Free, Inside, Outside };
    void choose_blocks(Progress& progress);
    void fill(const Eigen::Vector3i& first_cell, int cells, double* block) const;
    bool one_sign(double centre_value, int cells) const;

    LevelSet level_set_;
    Vec3 origin_;
    double cell_;
    double reach_;
    LatticeSampling sampling_;
    Eigen::Vector3i blocks_;                ///< along each axis
    std::vector<std::int32_t> block_index_; ///< stored block of each block of the box, -1: outside
    std::vector<Eigen::Vector3i> stored_;   ///< first cell of each stored block
    std::vector<double> values_;            ///< one per slot
    std::vector<Held> held_;                ///< one per slot
};

/// Fills {x : f(x) < level} with tets by isosurface stuffing.                                       [LS07]
///
/// Lattice vertices that the surface passes too near are moved onto it; the lattice tets are then cut by a few
/// stencils. Dihedral angles are above 9 and below 165 degrees whatever the function: a random search over the sides,
/// warps and cut points of one lattice tet (6e7 tries) found 9.2 to 161.7. That is a search, not a proof.
///
/// Differs from [LS07]: a vertex is not warped where that would tear or pinch the solid (its cut points are moved away
/// from it instead), so thin parts stay whole and the boundary seldom touches itself. This gives up the
/// proven bound of 10.7 degrees of the paper; tests "noise keeps the angles", "a sheet of one layer stays whole".
///
/// The same bits for any number of threads. The boundary may touch itself; see `tidy_solid`.
TetMesh stuff(const LevelLattice& lattice, double level, Progress& progress);

} // namespace lithe
