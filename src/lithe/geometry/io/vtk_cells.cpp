#include "lithe/geometry/io/vtk_cells.hpp"

#include <fmt/format.h>

namespace lithe::io {
namespace {

/// A strip of n corners is n - 2 triangles, every second one turned.
void add_strip(std::span<const int> strip, MeshBuilder& build, const NumberSource& at)
{
    for (std::size_t k = 0; k + 2 < strip.size(); ++k) {
        const std::array<int, 3> corners = {strip[k], strip[k + 1 + k % 2], strip[k + 2 - k % 2]};
        build.add_face(corners, at);
    }
}

void require_corners(std::span<const int> corners, std::size_t count, const NumberSource& at)
{
    if (corners.size() != count)
        at.fail(fmt::format("a cell has {} corners where its type needs {}", corners.size(), count));
}

void add_cell(std::int64_t type, std::span<const int> corners, int region, MeshBuilder& build,
              const NumberSource& at)
{
    switch (type) {
    case vtk_triangle:
        require_corners(corners, 3, at);
        return build.add_face(corners, at);
    case 6:
        return add_strip(corners, build, at);
    case 7:
        return build.add_face(corners, at); // a polygon
    case 8: {                               // a pixel, whose corners go row by row
        require_corners(corners, 4, at);
        return build.add_face(std::array<int, 4>{corners[0], corners[1], corners[3], corners[2]}, at);
    }
    case 9:
        require_corners(corners, 4, at);
        return build.add_face(corners, at);
    case vtk_tet:
        require_corners(corners, 4, at);
        return build.add_tet(corners.first<4>(), region);
    case 22: // a quadratic triangle
        require_corners(corners, 6, at);
        build.linearised();
        return build.add_face(corners.first<3>(), at);
    case 24: // a quadratic tet
        require_corners(corners, 10, at);
        build.linearised();
        return build.add_tet(corners.first<4>(), region);
    default:
        return build.skipped(fmt::format("cells of VTK's type {}", type));
    }
}

} // namespace

void VtkCells::build(MeshBuilder& build, const NumberSource& at) const
{
    if (ends.size() != types.size())
        at.fail(fmt::format("has {} cells but {} types of cells; both must be the same", ends.size(),
                            types.size()));
    if (!regions.empty() && regions.size() != ends.size())
        at.fail(fmt::format("has {} cells but regions for {}; both must be the same", ends.size(),
                            regions.size()));
    std::int64_t begin = 0;
    for (std::size_t c = 0; c < ends.size(); ++c) {
        if (ends[c] < begin || ends[c] > std::ssize(corners))
            at.fail(fmt::format("the offset {} of cell {} is out of order or beyond the {} corners", ends[c],
                                c, corners.size()));
        const std::span<const int> cell(corners.data() + begin, corners.data() + ends[c]);
        add_cell(types[c], cell, regions.empty() ? 0 : MeshBuilder::region(regions[c], at), build, at);
        begin = ends[c];
    }
}

bool names_regions(std::string_view name)
{
    const std::string small = lower_case(name);
    for (const std::string_view known : {"region", "regions", "region_id", "material", "materialids",
                                         "material_id", "gmsh:physical", "cellentityids", "medit:ref"})
        if (small == known) return true;
    return false;
}

std::vector<double> read_tuples(NumberSource& from, std::int64_t count, std::int64_t components, Scalar type)
{
    std::vector<double> values(static_cast<std::size_t>(count * components));
    for (double& value : values) value = from.real(type);
    return values;
}

} // namespace lithe::io
