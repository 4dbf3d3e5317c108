#include "lithe/geometry/lattice_check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lithe/geometry/embedding.hpp"
#include "lithe/geometry/lattice_cells.hpp"
#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {
namespace {

using Fault = std::optional<std::string>;

struct CellFace {
    int cell;
    LatticeFace corners; ///< vertices, outward
};

/// The faces of the lattice and the cells on their sides.
std::map<LatticeFace, std::vector<CellFace>> faces_with_cells(const ControlLattice& lattice)
{
    std::map<LatticeFace, std::vector<CellFace>> faces;
    for (std::size_t c = 0; c < lattice.cells.size(); ++c) {
        const LatticeCell& cell = lattice.cells[c];
        for (const LatticeFace& face : topology(cell.kind).faces) {
            LatticeFace corners = face;
            for (int k = 0; k < face_size(face); ++k) corners[k] = cell.vertices[face[k]];
            faces[face_key(cell, face)].push_back({static_cast<int>(c), corners});
        }
    }
    return faces;
}

Fault fault_of_vertices(const ControlLattice& lattice)
{
    if (lattice.cells.empty()) return "the lattice has no cells";
    for (std::size_t v = 0; v < lattice.vertices.size(); ++v)
        if (!lattice.vertices[v].allFinite()) return fmt::format("lattice vertex {} is not finite", v);
    return {};
}

Fault fault_of_corners(const ControlLattice& lattice, std::size_t c)
{
    const LatticeCell& cell = lattice.cells[c];
    std::set<int> seen;
    for (int k = 0; k < topology(cell.kind).corner_count; ++k) {
        const int v = cell.vertices[k];
        if (v < 0 || v >= static_cast<int>(lattice.vertices.size()))
            return fmt::format("cell {} of the lattice has the corner {}, but there are {} vertices", c, v,
                               lattice.vertices.size());
        if (!seen.insert(v).second)
            return fmt::format(
                "cell {} of the lattice has vertex {} twice: a corner of it then has not three "
                "edges",
                c, v);
    }
    return {};
}

/// Whether all small tets of a cell, after one subdivision, have the volume that they should.
Fault fault_of_shape(const ControlLattice& lattice, std::size_t c)
{
    ControlLattice alone{.vertices = lattice.vertices, .cells = {lattice.cells[c]}, .bones = {}};
    const TetMesh tets = finest_tets(subdivided(alone, 1));
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < tets.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
        const double v = tet_volume(x(0), x(1), x(2), x(3));
        largest = std::max(largest, v);
        smallest = std::min(smallest, v);
    }
    if (smallest > 1e-9 * largest) return {};
    return fmt::format("cell {} of the lattice is flat, turned inside out or not convex", c);
}

/// Faces without a partner must be the outside: nothing may lie beyond them.
Fault fault_of_lone_faces(const ControlLattice& lattice, const std::vector<CellFace>& lone)
{
    const TetMesh inner = finest_tets(subdivided(lattice, 1));
    Points beyond(3, static_cast<Index>(lone.size()));
    double size = 0.0;
    for (std::size_t f = 0; f < lone.size(); ++f) {
        const LatticeFace& corners = lone[f].corners;
        const auto x = [&](int k) { return lattice.vertices[static_cast<std::size_t>(corners[k])]; };
        const Vec3 normal = (x(1) - x(0)).cross(x(2) - x(0)).normalized();
        const Vec3 middle = face_size(corners) == 3 ? Vec3((x(0) + x(1) + x(2)) / 3.0)
                                                    : Vec3((x(0) + x(1) + x(2) + x(3)) / 4.0);
        size = (x(1) - x(0)).norm();
        beyond.col(static_cast<Index>(f)) = middle + 1e-5 * size * normal;
    }
    const Embedding places = embed(beyond, inner);
    for (std::size_t f = 0; f < lone.size(); ++f) {
        if (places.weights.col(static_cast<Index>(f)).minCoeff() < 0.0) continue;
        const LatticeFace& k = lone[f].corners;
        return fmt::format(
            "the face {} {} {} of cell {} of the lattice has a neighbour that does not share all "
            "of it: faces must match in pairs",
            k[0], k[1], k[2], lone[f].cell);
    }
    return {};
}

Fault fault_of_faces(const ControlLattice& lattice)
{
    std::vector<CellFace> lone;
    for (const auto& [key, sides] : faces_with_cells(lattice)) {
        if (sides.size() > 2)
            return fmt::format(
                "the face {} {} {} of the lattice belongs to {} cells: faces must match in pairs", key[0],
                key[1], key[2], sides.size());
        if (sides.size() == 1) lone.push_back(sides[0]);
    }
    return fault_of_lone_faces(lattice, lone);
}

std::set<std::array<int, 2>> edges_of(const ControlLattice& lattice)
{
    std::set<std::array<int, 2>> edges;
    for (const LatticeCell& cell : lattice.cells)
        for (const auto& [a, b] : topology(cell.kind).edges)
            edges.insert(edge_key(cell.vertices[a], cell.vertices[b]));
    return edges;
}

Fault fault_of_bones(const ControlLattice& lattice)
{
    const std::set<std::array<int, 2>> edges = edges_of(lattice);
    for (const LatticeBone& bone : lattice.bones) {
        if (bone.vertices.size() < 2) return fmt::format("bone '{}' of the lattice has no edge", bone.name);
        for (std::size_t k = 1; k < bone.vertices.size(); ++k) {
            const int a = bone.vertices[k - 1], b = bone.vertices[k];
            if (!edges.contains(edge_key(a, b)))
                return fmt::format("bone '{}' goes from vertex {} to {}, which no edge of the lattice joins",
                                   bone.name, a, b);
        }
    }
    return {};
}

std::string outside_message(Index vertex)
{
    return fmt::format(
        "the surface is not inside the lattice: vertex {} of it is outside or on its border; make the "
        "lattice larger",
        vertex);
}

/// Whether an edge of one surface goes through the other: the number of its triangle, or -1.
Index crossing_triangle(const TriangleMesh& mesh, const SurfaceQuery& other)
{
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Vec3 a = mesh.vertices.col(mesh.triangles(k, t));
            const Vec3 b = mesh.vertices.col(mesh.triangles((k + 1) % 3, t));
            if (other.cast_ray(a, b - a, 1.0)) return t;
        }
    return -1;
}

Fault fault_of_inside(const ControlLattice& lattice, const TriangleMesh& surface)
{
    TriangleMesh outer = outer_surface(lattice);
    const SurfaceQuery around(outer);
    const double margin = 1e-9 * bounds(outer.vertices).diagonal().norm();
    const VecX distances = signed_distances(around, surface.vertices);
    for (Index v = 0; v < surface.vertex_count(); ++v)
        if (!(distances[v] < -margin)) return outside_message(v);
    if (const Index t = crossing_triangle(surface, around); t >= 0)
        return outside_message(surface.triangles(0, t));
    if (crossing_triangle(outer, SurfaceQuery(surface)) >= 0)
        return "the surface is not inside the lattice: an edge of the lattice's border goes through it";
    return {};
}

} // namespace

std::optional<std::string> first_fault(const ControlLattice& lattice)
{
    if (Fault fault = fault_of_vertices(lattice)) return fault;
    for (std::size_t c = 0; c < lattice.cells.size(); ++c)
        if (Fault fault = fault_of_corners(lattice, c)) return fault;
    for (std::size_t c = 0; c < lattice.cells.size(); ++c)
        if (Fault fault = fault_of_shape(lattice, c)) return fault;
    if (Fault fault = fault_of_faces(lattice)) return fault;
    return fault_of_bones(lattice);
}

std::optional<std::string> first_fault(const ControlLattice& lattice, const TriangleMesh& surface)
{
    if (Fault fault = first_fault(lattice)) return fault;
    return fault_of_inside(lattice, surface);
}

TriangleMesh outer_surface(const ControlLattice& lattice)
{
    std::vector<std::array<int, 3>> triangles;
    for (const auto& [key, sides] : faces_with_cells(lattice)) {
        if (sides.size() != 1) continue;
        const LatticeFace& f = sides[0].corners;
        triangles.push_back({f[0], f[1], f[2]});
        if (face_size(f) == 4) triangles.push_back({f[0], f[2], f[3]});
    }
    TriangleMesh mesh{.vertices = Points(3, static_cast<Index>(lattice.vertices.size())),
                      .triangles = Triangles(3, static_cast<Index>(triangles.size()))};
    for (std::size_t v = 0; v < lattice.vertices.size(); ++v)
        mesh.vertices.col(static_cast<Index>(v)) = lattice.vertices[v];
    for (std::size_t t = 0; t < triangles.size(); ++t)
        mesh.triangles.col(static_cast<Index>(t)) << triangles[t][0], triangles[t][1], triangles[t][2];
    return mesh;
}

} // namespace lithe
