#pragma once
#include "lithe/geometry/io/mesh_builder.hpp"

namespace lithe::io {

/// The cells of an unstructured grid as both of VTK's formats give them.
struct VtkCells {
    std::vector<int> corners;       ///< of all cells, one after the other, through MeshBuilder::corner
    std::vector<std::int64_t> ends; ///< of each cell in `corners`
    std::vector<std::int64_t> types;
    std::vector<std::int64_t> regions; ///< empty, or one per cell

    /// Checks the ends, and hands triangles, polygons and tets to the builder.
    void build(MeshBuilder& build, const NumberSource& at) const;
};

constexpr int vtk_triangle = 5, vtk_tet = 10;

/// A cell array of this name numbers the regions.
bool names_regions(std::string_view name);

/// Reads `count` tuples of `components` numbers; the caller has checked the claim.
std::vector<double> read_tuples(NumberSource& from, std::int64_t count, std::int64_t components, Scalar type);

} // namespace lithe::io
