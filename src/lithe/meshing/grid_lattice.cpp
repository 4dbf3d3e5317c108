#include <cmath>
#include <map>

#include "lithe/meshing/body_cells.hpp"
#include "lithe/meshing/bone_lattice.hpp"

namespace lithe {
namespace {

constexpr double clearance = 0.002; ///< of the body's size: the body is at least so far inside
constexpr int most_tries = 24;      ///< of sizes of cells

/// The cubes of a grid that come near the body, numbered with x fastest.
ControlLattice cubes(const SurfaceQuery& body, const Box3& box, double cell)
{
    const Eigen::Vector3i count =
        (box.sizes() / cell).array().ceil().cast<int>().matrix() + Eigen::Vector3i::Ones();
    const Vec3 origin = box.center() - 0.5 * cell * count.cast<double>();
    std::vector<Eigen::Vector3i> places;
    std::vector<ConvexCell> boxes;
    for (int k = 0; k < count[2]; ++k)
        for (int j = 0; j < count[1]; ++j)
            for (int i = 0; i < count[0]; ++i) {
                const Vec3 low = origin + cell * Vec3(i, j, k);
                places.emplace_back(i, j, k);
                boxes.push_back(box_cell(Box3(low, low + Vec3::Constant(cell))));
            }
    const std::vector<unsigned char> near = near_body(boxes, body, clearance * box.diagonal().norm());

    ControlLattice out;
    std::map<std::array<int, 3>, int> number;
    for (std::size_t c = 0; c < places.size(); ++c) {
        if (!near[c]) continue;
        LatticeCell made{LatticeCellKind::Hex, {}};
        for (int corner = 0; corner < 8; ++corner) {
            const Eigen::Vector3i at = places[c] + Eigen::Vector3i(corner & 1, corner >> 1 & 1, corner >> 2);
            const auto [entry, is_new] =
                number.try_emplace({at[0], at[1], at[2]}, static_cast<int>(out.vertices.size()));
            if (is_new) out.vertices.push_back(origin + cell * at.cast<double>());
            made.vertices[static_cast<std::size_t>(corner)] = entry->second;
        }
        out.cells.push_back(made);
    }
    return out;
}

} // namespace

ControlLattice grid_lattice(const TriangleMesh& body, Index vertices, Progress& progress)
{
    const SurfaceQuery query(body);
    const Box3 box = bounds(body.vertices);
    double fine = 0.0, coarse = box.sizes().maxCoeff();
    ControlLattice best = cubes(query, box, coarse);
    double cell = 0.5 * coarse;
    for (int k = 0; k < most_tries; ++k) {
        progress.check();
        ControlLattice tried = cubes(query, box, cell);
        const auto count = static_cast<Index>(tried.vertices.size());
        if (std::abs(count - vertices) < std::abs(static_cast<Index>(best.vertices.size()) - vertices))
            best = std::move(tried);
        (count > vertices ? fine : coarse) = cell;
        cell = fine > 0.0 ? 0.5 * (fine + coarse) : 0.5 * coarse;
    }
    return best;
}

} // namespace lithe
