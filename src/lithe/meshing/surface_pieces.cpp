#include "lithe/meshing/surface_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/repair.hpp"

namespace lithe {
namespace {

constexpr double largest_lid =
    0.45; // of the closed piece's area: more than that to close, and it was a sheet
constexpr std::size_t most_tried = 1000;

/// The triangles of each piece, in their order.
std::vector<std::vector<int>> connected_triangles(const Triangles& triangles)
{
    const std::vector<int> twins = half_edge_twins(triangles);
    std::vector<char> seen(static_cast<std::size_t>(triangles.cols()), 0);
    std::vector<std::vector<int>> pieces;
    for (int seed = 0; seed < triangles.cols(); ++seed) {
        if (seen[seed]) continue;
        std::vector<int> piece = {seed};
        seen[seed] = 1;
        for (std::size_t i = 0; i < piece.size(); ++i)
            for (int h = 3 * piece[i]; h < 3 * piece[i] + 3; ++h) {
                const int u = twins[h] < 0 ? -1 : twins[h] / 3;
                if (u < 0 || seen[u]) continue;
                seen[u] = 1;
                piece.push_back(u);
            }
        std::sort(piece.begin(), piece.end());
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

/// `local` is scratch: -1 for every vertex of the mesh, before and after.
TriangleMesh extracted(const TriangleMesh& mesh, const std::vector<int>& triangles, std::vector<int>& local)
{
    TriangleMesh part;
    part.triangles = mesh.triangles(Eigen::all, triangles);
    std::vector<int> used;
    for (int& corner : part.triangles.reshaped()) {
        if (local[corner] < 0) {
            local[corner] = static_cast<int>(used.size());
            used.push_back(corner);
        }
        corner = local[corner];
    }
    part.vertices = mesh.vertices(Eigen::all, used);
    for (const int v : used) local[v] = -1;
    return part;
}

/// Volume by the divergence theorem about the middle, which matters where a border is left.
double enclosed(const TriangleMesh& mesh)
{
    TriangleMesh centred = mesh;
    centred.vertices.colwise() -= Vec3(bounds(mesh.vertices).center());
    return volume(centred);
}

/// A closed copy of the piece if that makes it a solid.
void make_solid(SurfacePiece& piece, double thinnest)
{
    TriangleMesh closed = piece.mesh;
    (void)orient(closed);
    const FillReport fill = fill_holes(closed, std::numeric_limits<Index>::max());
    const double whole = area(closed);
    if (whole - area(piece.mesh) > largest_lid * whole) return;
    if (!fill.filled.empty()) (void)orient(closed);
    if (!(2.0 * enclosed(closed) > thinnest * whole)) return;

    piece.kind = SurfacePiece::Kind::Solid;
    piece.mesh = std::move(closed);
    piece.lids = static_cast<Index>(fill.filled.size());
    for (const HoleLoop& loop : fill.left) piece.open_length = std::max(piece.open_length, loop.length);
}

} // namespace

std::vector<SurfacePiece> solid_pieces(const TriangleMesh& surface, double thinnest)
{
    std::vector<int> local(static_cast<std::size_t>(surface.vertex_count()), -1);
    std::vector<SurfacePiece> pieces;
    std::vector<double> areas;
    for (const std::vector<int>& triangles : connected_triangles(surface.triangles)) {
        pieces.emplace_back();
        pieces.back().mesh = extracted(surface, triangles, local);
        areas.push_back(area(pieces.back().mesh));
    }
    std::vector<std::size_t> order(pieces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return areas[a] > areas[b]; });
    std::vector<SurfacePiece> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(pieces[i]));

    parallel_for(static_cast<Index>(std::min(sorted.size(), most_tried)), 1,
                 [&](Index i) { make_solid(sorted[static_cast<std::size_t>(i)], thinnest); });
    return sorted;
}

TriangleMesh joined(const std::vector<SurfacePiece>& pieces, SurfacePiece::Kind kind)
{
    Index vertices = 0, triangles = 0;
    for (const SurfacePiece& piece : pieces)
        if (piece.kind == kind) {
            vertices += piece.mesh.vertex_count();
            triangles += piece.mesh.triangle_count();
        }
    TriangleMesh mesh;
    mesh.vertices.resize(3, vertices);
    mesh.triangles.resize(3, triangles);
    Index v = 0, t = 0;
    for (const SurfacePiece& piece : pieces) {
        if (piece.kind != kind) continue;
        mesh.vertices.middleCols(v, piece.mesh.vertex_count()) = piece.mesh.vertices;
        mesh.triangles.middleCols(t, piece.mesh.triangle_count()) =
            piece.mesh.triangles.array() + static_cast<int>(v);
        v += piece.mesh.vertex_count();
        t += piece.mesh.triangle_count();
    }
    return mesh;
}

TriangleMesh selected(const TriangleMesh& mesh, const std::vector<char>& keep)
{
    std::vector<int> triangles;
    for (int t = 0; t < mesh.triangle_count(); ++t)
        if (keep[t]) triangles.push_back(t);
    TriangleMesh part = mesh;
    part.triangles = mesh.triangles(Eigen::all, triangles).eval();
    drop_unused_vertices(part);
    return part;
}

} // namespace lithe
