#include "lithe/render/cut.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "lithe/core/error.hpp"

namespace lithe {

namespace {

const Vec3 opened_color(0.96, 0.83, 0.52); ///< of faces that were inside a body, sRGB

/// Grows a mesh by points on edges of another, each made once.
class EdgePoints {
public:
    EdgePoints(const TriangleMesh& mesh, const VecX& height) : mesh_(mesh), height_(height) {}

    /// The vertex where the edge ab crosses height 0. Ordered ends: both triangles of an edge get the same bits.
    int crossing(int a, int b)
    {
        const auto [edge, is_new] = vertex_of_edge_.try_emplace(std::minmax(a, b), count());
        if (is_new) {
            const auto [i, j] = edge->first;
            points_.push_back({i, j, height_[i] / (height_[i] - height_[j])});
        }
        return edge->second;
    }

    /// The mesh's columns, followed by those of the new points.
    MatX extend(const MatX& columns) const
    {
        MatX out(columns.rows(), count());
        out.leftCols(columns.cols()) = columns;
        for (std::size_t k = 0; k < points_.size(); ++k) {
            const auto& [i, j, t] = points_[k];
            out.col(columns.cols() + static_cast<Index>(k)) = (1.0 - t) * columns.col(i) + t * columns.col(j);
        }
        return out;
    }

private:
    int count() const { return static_cast<int>(mesh_.vertex_count()) + static_cast<int>(points_.size()); }

    struct OnEdge {
        int i, j;
        double t;
    };
    const TriangleMesh& mesh_;
    const VecX& height_;
    std::map<std::pair<int, int>, int> vertex_of_edge_;
    std::vector<OnEdge> points_;
};

/// The corners of the part of a triangle at heights <= 0, in order: none, three or four.
std::vector<int> clip(const Eigen::Vector3i& corners, const VecX& height, EdgePoints& points)
{
    std::vector<int> polygon;
    for (int c = 0; c < 3; ++c) {
        const int a = corners[c], b = corners[(c + 1) % 3];
        if (height[a] <= 0.0) polygon.push_back(a);
        if ((height[a] < 0.0 && height[b] > 0.0) || (height[a] > 0.0 && height[b] < 0.0))
            polygon.push_back(points.crossing(a, b));
    }
    return polygon;
}

Triangles matrix_of(const std::vector<Eigen::Vector3i>& list)
{
    Triangles triangles(3, static_cast<Index>(list.size()));
    for (std::size_t t = 0; t < list.size(); ++t) triangles.col(static_cast<Index>(t)) = list[t];
    return triangles;
}

VecX heights(const Points& points, const CutPlane& plane)
{
    return (plane.normal.transpose() * points).array() - plane.offset;
}

/// Faces as sorted corners, sorted: to ask which faces a mesh has.
std::vector<std::array<int, 3>> face_keys(const Triangles& triangles, const std::vector<int>& origin)
{
    std::vector<std::array<int, 3>> keys;
    for (const auto& t : triangles.colwise()) {
        std::array<int, 3> key = {origin[static_cast<std::size_t>(t[0])],
                                  origin[static_cast<std::size_t>(t[1])],
                                  origin[static_cast<std::size_t>(t[2])]};
        std::sort(key.begin(), key.end());
        keys.push_back(key);
    }
    return keys;
}

TetMesh tets_behind(const TetMesh& mesh, const CutPlane& plane)
{
    const VecX height = heights(mesh.vertices, plane);
    TetMesh kept{mesh.vertices, Tets(4, mesh.tet_count()), {}, mesh.fields};
    Index count = 0;
    for (const auto& tet : mesh.tets.colwise())
        if (height[tet[0]] + height[tet[1]] + height[tet[2]] + height[tet[3]] <= 0.0)
            kept.tets.col(count++) = tet;
    kept.tets.conservativeResize(4, count);
    return kept;
}

} // namespace

TriangleMesh cut_surface(const TriangleMesh& mesh, const CutPlane& plane)
{
    const VecX height = heights(mesh.vertices, plane);
    EdgePoints points(mesh, height);
    std::vector<Eigen::Vector3i> triangles;
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const std::vector<int> polygon = clip(mesh.triangles.col(t), height, points);
        for (std::size_t k = 2; k < polygon.size(); ++k)
            triangles.emplace_back(polygon[0], polygon[k - 1], polygon[k]);
    }
    TriangleMesh cut{points.extend(mesh.vertices), matrix_of(triangles), {}};
    for (const VertexField& field : mesh.fields)
        cut.fields.push_back({field.name, points.extend(field.values)});
    drop_unused_vertices(cut);
    return cut;
}

std::vector<RenderSurface> cut_tets(const TetMesh& mesh, const CutPlane& plane, const SurfaceOptions& options)
{
    std::vector<int> origin;
    const TriangleMesh whole = boundary_surface(mesh, origin);
    std::vector<std::array<int, 3>> outside = face_keys(whole.triangles, origin);
    std::sort(outside.begin(), outside.end());

    // The boundary of what is left is old skin, or faces that the cut laid open.
    const TriangleMesh left = boundary_surface(tets_behind(mesh, plane), origin);
    const std::vector<std::array<int, 3>> keys = face_keys(left.triangles, origin);
    std::vector<Eigen::Vector3i> skin, opened;
    for (Index t = 0; t < left.triangle_count(); ++t) {
        const bool old =
            std::binary_search(outside.begin(), outside.end(), keys[static_cast<std::size_t>(t)]);
        (old ? skin : opened).push_back(left.triangles.col(t));
    }

    std::vector<RenderSurface> surfaces;
    const auto add = [&](const std::vector<Eigen::Vector3i>& triangles, const SurfaceOptions& look,
                         Lines lines) {
        if (triangles.empty()) return;
        TriangleMesh part{left.vertices, matrix_of(triangles), left.fields};
        if (lines == Lines::Always)
            std::erase_if(part.fields, [](const auto& f) { return f.name == "color"; });
        drop_unused_vertices(part);
        surfaces.push_back(make_surface(part, look));
        surfaces.back().lines = lines;
    };
    add(skin, options, Lines::WhenAsked);
    add(opened, {.color = opened_color, .crease_angle = 0.0, .color_by = options.color_by}, Lines::Always);
    return surfaces;
}

} // namespace lithe
