#include "lithe/meshing/pull_boundary.hpp"

#include <algorithm>
#include <vector>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/tet_quality.hpp"

namespace lithe {
namespace {

struct FarVertex {
    int vertex;
    Vec3 way; ///< to where it would be near enough
    std::vector<int> tets;
};

/// The boundary's vertices beyond the distance, with the tets around them.
std::vector<FarVertex> find_far_vertices(const TetMesh& mesh, const SurfaceQuery& surface, double distance)
{
    std::vector<int> origin;
    (void)boundary_surface(mesh, origin);
    std::vector<Vec3> ways(origin.size(), Vec3::Zero());
    parallel_for(static_cast<Index>(origin.size()), 256, [&](Index i) {
        const Vec3 x = mesh.vertices.col(origin[static_cast<std::size_t>(i)]);
        const ClosestPoint closest = surface.closest_point(x);
        if (closest.distance > distance)
            ways[static_cast<std::size_t>(i)] = (1.0 - distance / closest.distance) * (closest.point - x);
    });
    std::vector<FarVertex> far;
    std::vector<int> place(static_cast<std::size_t>(mesh.vertex_count()), -1);
    for (std::size_t i = 0; i < origin.size(); ++i) {
        if (ways[i].isZero()) continue;
        place[static_cast<std::size_t>(origin[i])] = static_cast<int>(far.size());
        far.push_back({origin[i], ways[i], {}});
    }
    if (far.empty()) return far;
    for (int t = 0; t < mesh.tet_count(); ++t)
        for (int c = 0; c < 4; ++c) {
            const int p = place[static_cast<std::size_t>(mesh.tets(c, t))];
            if (p >= 0) far[static_cast<std::size_t>(p)].tets.push_back(t);
        }
    return far;
}

bool all_good(const TetMesh& mesh, const std::vector<int>& tets, double smallest_angle)
{
    return std::all_of(tets.begin(), tets.end(), [&](int t) {
        const auto corner = [&](int c) -> Vec3 { return mesh.vertices.col(mesh.tets(c, t)); };
        if (!(tet_volume(corner(0), corner(1), corner(2), corner(3)) > 0.0)) return false;
        const auto angles = dihedral_angles(corner(0), corner(1), corner(2), corner(3));
        return *std::min_element(angles.begin(), angles.end()) >= smallest_angle;
    });
}

/// Goes as much of the way as is allowed: all of it, a half, a quarter or an eighth.
bool pull(TetMesh& mesh, const FarVertex& far, double smallest_angle)
{
    const Vec3 start = mesh.vertices.col(far.vertex);
    for (double share = 1.0; share > 0.1; share *= 0.5) {
        mesh.vertices.col(far.vertex) = start + share * far.way;
        if (all_good(mesh, far.tets, smallest_angle)) return true;
    }
    mesh.vertices.col(far.vertex) = start;
    return false;
}

} // namespace

Index pull_boundary(TetMesh& mesh, const SurfaceQuery& surface, const PullOptions& options)
{
    Index moved = 0;
    for (int sweep = 0; sweep < 6; ++sweep) {
        Index now = 0;
        for (const FarVertex& far : find_far_vertices(mesh, surface, options.distance))
            now += pull(mesh, far, options.smallest_angle);
        moved += now;
        if (now == 0) break;
    }
    return moved;
}

} // namespace lithe
