#include "lithe/geometry/mesh.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr Index block = 4096;

/// The faces of a tet, each seen counter-clockwise from outside.
constexpr int tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

struct Face {
    std::array<int, 3> key; ///< sorted corners
    int tet, side;
};

std::vector<Face> sorted_faces(const Tets& tets)
{
    std::vector<Face> faces(static_cast<std::size_t>(4 * tets.cols()));
    for (int t = 0; t < tets.cols(); ++t)
        for (int side = 0; side < 4; ++side) {
            std::array<int, 3> key;
            for (int k = 0; k < 3; ++k) key[k] = tets(tet_faces[side][k], t);
            std::sort(key.begin(), key.end());
            faces[static_cast<std::size_t>(4 * t + side)] = {key, t, side};
        }
    std::sort(faces.begin(), faces.end(),
              [](const Face& a, const Face& b) { return a.key != b.key ? a.key < b.key : a.tet < b.tet; });
    return faces;
}

/// Renumbers `corners` to the vertices that it uses; returns them in their old order.
template <class Corners>
std::vector<int> compact(Corners& corners, Index vertex_count)
{
    std::vector<int> place(static_cast<std::size_t>(vertex_count), -1), kept;
    for (const int v : corners.reshaped()) place[v] = 0;
    for (int v = 0; v < vertex_count; ++v)
        if (place[v] == 0) {
            place[v] = static_cast<int>(kept.size());
            kept.push_back(v);
        }
    for (int& v : corners.reshaped()) v = place[v];
    return kept;
}

std::vector<VertexField> select(const std::vector<VertexField>& fields, const std::vector<int>& kept)
{
    std::vector<VertexField> selected;
    for (const VertexField& field : fields) selected.push_back({field.name, field.values(Eigen::all, kept)});
    return selected;
}

template <class Mesh, class Corners>
void drop_unused(Mesh& mesh, Corners& corners)
{
    const std::vector<int> kept = compact(corners, mesh.vertices.cols());
    if (static_cast<Index>(kept.size()) == mesh.vertices.cols()) return;
    mesh.vertices = Points(mesh.vertices(Eigen::all, kept));
    mesh.fields = select(mesh.fields, kept);
}

} // namespace

const VertexField* find_color(const std::vector<VertexField>& fields)
{
    for (const VertexField& field : fields)
        if (field.name == "color" && field.values.rows() == 3) return &field;
    return nullptr;
}

Box3 bounds(const Points& points)
{
    Box3 box;
    for (Index i = 0; i < points.cols(); ++i) box.extend(points.col(i));
    return box;
}

double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    return (b - a).dot((c - a).cross(d - a)) / 6.0;
}

double volume(const TriangleMesh& mesh)
{
    if (mesh.vertex_count() == 0) return 0.0;
    const Vec3 o = bounds(mesh.vertices).center(); // near the surface, so that little cancels
    const auto sum = [&](Index begin, Index end) {
        double V = 0.0;
        for (Index t = begin; t < end; ++t) {
            const auto corner = mesh.triangles.col(t);
            V += tet_volume(o, mesh.vertices.col(corner[0]), mesh.vertices.col(corner[1]),
                            mesh.vertices.col(corner[2]));
        }
        return V;
    };
    return parallel_reduce(mesh.triangle_count(), block, 0.0, sum, std::plus<>());
}

double volume(const TetMesh& mesh)
{
    const auto sum = [&](Index begin, Index end) {
        double V = 0.0;
        for (Index t = begin; t < end; ++t) {
            const auto corner = mesh.tets.col(t);
            V += tet_volume(mesh.vertices.col(corner[0]), mesh.vertices.col(corner[1]),
                            mesh.vertices.col(corner[2]), mesh.vertices.col(corner[3]));
        }
        return V;
    };
    return parallel_reduce(mesh.tet_count(), block, 0.0, sum, std::plus<>());
}

double area(const TriangleMesh& mesh)
{
    const auto sum = [&](Index begin, Index end) {
        double A = 0.0;
        for (Index t = begin; t < end; ++t) {
            const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
            const Vec3 ab = mesh.vertices.col(mesh.triangles(1, t)) - a,
                       ac = mesh.vertices.col(mesh.triangles(2, t)) - a;
            A += 0.5 * ab.cross(ac).norm();
        }
        return A;
    };
    return parallel_reduce(mesh.triangle_count(), block, 0.0, sum, std::plus<>());
}

Points vertex_normals(const TriangleMesh& mesh)
{
    Points normals = Points::Zero(3, mesh.vertex_count());
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
        const Vec3 ab = mesh.vertices.col(mesh.triangles(1, t)) - a,
                   ac = mesh.vertices.col(mesh.triangles(2, t)) - a;
        const Vec3 n = ab.cross(ac);
        for (int k = 0; k < 3; ++k) normals.col(mesh.triangles(k, t)) += n;
    }
    for (Index v = 0; v < normals.cols(); ++v) normals.col(v).normalize(); // a zero column stays zero
    return normals;
}

TriangleMesh boundary_surface(const TetMesh& mesh, std::vector<int>& origin)
{
    const std::vector<Face> faces = sorted_faces(mesh.tets);
    std::vector<Face> outer;
    for (std::size_t i = 0; i < faces.size();) {
        std::size_t j = i + 1;
        while (j < faces.size() && faces[j].key == faces[i].key) ++j;
        if (j == i + 1) outer.push_back(faces[i]);
        i = j;
    }
    // in the order of the tets, so that the surface of an unchanged region keeps its numbers
    std::sort(outer.begin(), outer.end(), [](const Face& a, const Face& b) {
        return std::pair(a.tet, a.side) < std::pair(b.tet, b.side);
    });

    TriangleMesh surface;
    surface.triangles.resize(3, static_cast<Index>(outer.size()));
    for (std::size_t f = 0; f < outer.size(); ++f)
        for (int k = 0; k < 3; ++k)
            surface.triangles(k, static_cast<Index>(f)) =
                mesh.tets(tet_faces[outer[f].side][k], outer[f].tet);
    origin = compact(surface.triangles, mesh.vertex_count());
    surface.vertices = mesh.vertices(Eigen::all, origin);
    surface.fields = select(mesh.fields, origin);
    return surface;
}

TriangleMesh boundary_surface(const TetMesh& mesh)
{
    std::vector<int> origin;
    return boundary_surface(mesh, origin);
}

void drop_unused_vertices(TriangleMesh& mesh)
{
    drop_unused(mesh, mesh.triangles);
}
void drop_unused_vertices(TetMesh& mesh)
{
    drop_unused(mesh, mesh.tets);
}

} // namespace lithe
