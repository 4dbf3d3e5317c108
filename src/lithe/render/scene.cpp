#include "lithe/render/scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/render/image.hpp"

namespace lithe {

namespace {

VecX map_values(const TriangleMesh& mesh, const ColorBy& by)
{
    const double range = by.high - by.low;
    const double scale = range != 0.0 && std::isfinite(range) ? 1.0 / range : 0.0;
    return ((field_magnitude(find_field(mesh.fields, by.field)).array() - by.low) * scale)
        .cwiseMax(0.0)
        .cwiseMin(1.0);
}

Points vertex_colors(const TriangleMesh& mesh, const Vec3& otherwise)
{
    const VertexField* field = find_color(mesh.fields);
    if (!field) return linear_from_srgb(otherwise);
    Points colors(3, mesh.vertex_count());
    for (Index i = 0; i < colors.cols(); ++i) colors.col(i) = linear_from_srgb(field->values.col(i));
    return colors;
}

/// For each vertex the first vertex (in a fixed order) at exactly the same place.
std::vector<int> same_place(const Points& vertices)
{
    std::vector<int> order(static_cast<std::size_t>(vertices.cols()));
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](int i) { return std::tuple(vertices(0, i), vertices(1, i), vertices(2, i), i); };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    std::vector<int> first(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const bool same = k > 0 && vertices.col(order[k]) == vertices.col(order[k - 1]);
        first[static_cast<std::size_t>(order[k])] =
            same ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
    }
    return first;
}

/// The corners (3 t + c) around each vertex, one list after the other.
struct CornersOfVertices {
    std::vector<int> begin, corners;
};

CornersOfVertices corners_of_vertices(const std::vector<int>& vertex_of_corner, Index vertex_count)
{
    CornersOfVertices around;
    around.begin.assign(static_cast<std::size_t>(vertex_count) + 1, 0);
    for (int v : vertex_of_corner) ++around.begin[static_cast<std::size_t>(v) + 1];
    std::partial_sum(around.begin.begin(), around.begin.end(), around.begin.begin());
    around.corners.resize(vertex_of_corner.size());
    std::vector<int> next(around.begin.begin(), around.begin.end() - 1);
    for (std::size_t corner = 0; corner < vertex_of_corner.size(); ++corner)
        around.corners[static_cast<std::size_t>(next[static_cast<std::size_t>(vertex_of_corner[corner])]++)] =
            static_cast<int>(corner);
    return around;
}

/// Angle of triangle t at its corner c [rad].
double corner_angle(const Points& vertices, const Triangles& triangles, Index t, int c)
{
    const Vec3 at = vertices.col(triangles(c, t));
    const Vec3 a = vertices.col(triangles((c + 1) % 3, t)) - at,
               b = vertices.col(triangles((c + 2) % 3, t)) - at;
    return std::atan2(a.cross(b).norm(), a.dot(b));
}

} // namespace

const VertexField& find_field(const std::vector<VertexField>& fields, const std::string& name)
{
    std::string known;
    for (const VertexField& field : fields) {
        if (field.name == name) return field;
        known += (known.empty() ? "" : ", ") + field.name;
    }
    throw InputError(
        fmt::format("no vertex field '{}'; fields here: {}", name, known.empty() ? "none" : known));
}

VecX field_magnitude(const VertexField& field)
{
    return field.values.rows() == 1 ? VecX(field.values.row(0)) : VecX(field.values.colwise().norm());
}

Points crease_normals(const Points& vertices, const Triangles& triangles, double crease_angle)
{
    const std::vector<int> first = same_place(vertices);
    Points face(3, triangles.cols());
    VecX angle(3 * triangles.cols());
    std::vector<int> vertex_of_corner(static_cast<std::size_t>(3 * triangles.cols()));
    for (Index t = 0; t < triangles.cols(); ++t) {
        const Vec3 a = vertices.col(triangles(0, t));
        face.col(t) =
            (vertices.col(triangles(1, t)) - a).cross(vertices.col(triangles(2, t)) - a).stableNormalized();
        for (int c = 0; c < 3; ++c) {
            angle[3 * t + c] = corner_angle(vertices, triangles, t, c);
            vertex_of_corner[static_cast<std::size_t>(3 * t + c)] =
                first[static_cast<std::size_t>(triangles(c, t))];
        }
    }

    const CornersOfVertices around = corners_of_vertices(vertex_of_corner, vertices.cols());
    const double cos_crease = std::cos(crease_angle);
    Points normals(3, 3 * triangles.cols());
    parallel_for(normals.cols(), 1024, [&](Index corner) {
        const Vec3 own = face.col(corner / 3);
        const auto v = static_cast<std::size_t>(vertex_of_corner[static_cast<std::size_t>(corner)]);
        Vec3 sum = Vec3::Zero();
        for (int k = around.begin[v]; k < around.begin[v + 1]; ++k) {
            const int other = around.corners[static_cast<std::size_t>(k)];
            if (face.col(other / 3).dot(own) >= cos_crease) sum += angle[other] * face.col(other / 3);
        }
        const double length = sum.norm();
        normals.col(corner) = length > 0.0 ? Vec3(sum / length) : own;
    });
    return normals;
}

RenderSurface make_surface(const TriangleMesh& mesh, const SurfaceOptions& options)
{
    RenderSurface surface;
    surface.vertices = mesh.vertices;
    surface.triangles = mesh.triangles;
    surface.corner_normals = crease_normals(mesh.vertices, mesh.triangles, options.crease_angle);
    surface.colors = vertex_colors(mesh, options.color);
    if (options.color_by) surface.map_values = map_values(mesh, *options.color_by);
    return surface;
}

Vec3 palette_color(std::size_t index)
{
    static const std::array<Vec3, 8> colors = {
        Vec3(0.84, 0.46, 0.33), Vec3(0.32, 0.55, 0.65), Vec3(0.86, 0.69, 0.38), Vec3(0.48, 0.62, 0.43),
        Vec3(0.76, 0.46, 0.52), Vec3(0.53, 0.50, 0.68), Vec3(0.40, 0.64, 0.59), Vec3(0.72, 0.60, 0.49)};
    return colors[index % colors.size()];
}

Box3 bounds(const RenderScene& scene)
{
    Box3 box;
    for (const RenderSurface& surface : scene.surfaces) box.extend(bounds(surface.vertices));
    return box;
}

} // namespace lithe
