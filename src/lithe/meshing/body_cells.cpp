#include "lithe/meshing/body_cells.hpp"

#include <array>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

using Triangle = std::array<Vec3, 3>;

/// Whether the two are more than `margin` apart along an axis.
bool apart(const Vec3& axis, const std::vector<Vec3>& cell, const Triangle& triangle, double margin)
{
    const double length = axis.norm();
    if (length == 0.0) return false;
    double cell_low = axis.dot(cell[0]), cell_high = cell_low;
    for (const Vec3& x : cell) {
        cell_low = std::min(cell_low, axis.dot(x));
        cell_high = std::max(cell_high, axis.dot(x));
    }
    double low = axis.dot(triangle[0]), high = low;
    for (const Vec3& x : triangle) {
        low = std::min(low, axis.dot(x));
        high = std::max(high, axis.dot(x));
    }
    return low - cell_high > margin * length || cell_low - high > margin * length;
}

/// By the separating axes of two convex bodies.
bool near(const ConvexCell& cell, const Triangle& triangle, double margin)
{
    const std::array<Vec3, 3> sides = {triangle[1] - triangle[0], triangle[2] - triangle[1],
                                       triangle[0] - triangle[2]};
    for (const Vec3& n : cell.normals)
        if (apart(n, cell.corners, triangle, margin)) return false;
    if (apart(sides[0].cross(sides[1]), cell.corners, triangle, margin)) return false;
    for (const Vec3& e : cell.edges)
        for (const Vec3& s : sides)
            if (apart(e.cross(s), cell.corners, triangle, margin)) return false;
    return true;
}

bool near_surface(const ConvexCell& cell, const TriangleMesh& body, double margin)
{
    Box3 box;
    for (const Vec3& x : cell.corners) box.extend(x);
    box.min().array() -= margin;
    box.max().array() += margin;
    for (Index t = 0; t < body.triangle_count(); ++t) {
        const Triangle triangle = {body.vertices.col(body.triangles(0, t)),
                                   body.vertices.col(body.triangles(1, t)),
                                   body.vertices.col(body.triangles(2, t))};
        Box3 own(triangle[0]);
        own.extend(triangle[1]).extend(triangle[2]);
        if (box.intersects(own) && near(cell, triangle, margin)) return true;
    }
    return false;
}

/// By the ball around the cell: quick, and seldom wrong about a cell that is far.
bool far_from(const ConvexCell& cell, const SurfaceQuery& body, double margin)
{
    Vec3 centre = Vec3::Zero();
    for (const Vec3& x : cell.corners) centre += x / static_cast<double>(cell.corners.size());
    double radius = 0.0;
    for (const Vec3& x : cell.corners) radius = std::max(radius, (x - centre).norm());
    return !body.closest_point(centre, radius + margin);
}

} // namespace

ConvexCell tet_cell(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    ConvexCell out{{a, b, c, d}, {}, {b - a, c - a, d - a, c - b, d - b, d - c}};
    out.normals = {(b - a).cross(c - a), (b - a).cross(d - a), (c - a).cross(d - a), (c - b).cross(d - b)};
    return out;
}

ConvexCell box_cell(const Box3& box)
{
    ConvexCell out;
    for (int k = 0; k < 8; ++k) out.corners.push_back(box.corner(static_cast<Box3::CornerType>(k)));
    out.normals = out.edges = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
    return out;
}

std::vector<unsigned char> near_body(const std::vector<ConvexCell>& cells, const SurfaceQuery& body,
                                     double margin)
{
    std::vector<unsigned char> out(cells.size(), 0);
    parallel_for(static_cast<std::ptrdiff_t>(cells.size()), 4, [&](std::ptrdiff_t c) {
        const ConvexCell& cell = cells[static_cast<std::size_t>(c)];
        out[static_cast<std::size_t>(c)] =
            body.inside(cell.corners.front()) ||
            (!far_from(cell, body, margin) && near_surface(cell, body.mesh(), margin));
    });
    return out;
}

} // namespace lithe
