#include "lithe/scene/export_creases.hpp"

#include <cmath>
#include <numeric>

#include "lithe/core/union_find.hpp"
#include "lithe/geometry/half_edges.hpp"

namespace lithe::exporting {
namespace {

Points face_normals(const TriangleMesh& surface)
{
    Points normals(3, surface.triangle_count());
    for (Index t = 0; t < normals.cols(); ++t) {
        const Vec3 a = surface.vertices.col(surface.triangles(0, t));
        const Vec3 ab = surface.vertices.col(surface.triangles(1, t)) - a;
        const Vec3 ac = surface.vertices.col(surface.triangles(2, t)) - a;
        normals.col(t) = ab.cross(ac).stableNormalized();
    }
    return normals;
}

/// Sets of corners (3 t + c) of one vertex whose triangles are joined over smooth edges.
UnionFind smooth_corners(const TriangleMesh& surface, double angle)
{
    const Triangles& triangles = surface.triangles;
    const Points normals = face_normals(surface);
    const std::vector<int> twins = half_edge_twins(triangles);
    UnionFind sets(static_cast<int>(twins.size()));
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        const int twin = twins[h];
        if (twin < 0 || normals.col(h / 3).dot(normals.col(twin / 3)) < std::cos(angle)) continue;
        const bool opposite = half_edge_from(triangles, h) == half_edge_to(triangles, twin);
        sets.join(h, opposite ? half_edge_next(twin) : twin);
        sets.join(half_edge_next(h), opposite ? twin : half_edge_next(twin));
    }
    return sets;
}

} // namespace

CreasedSurface split_at_creases(const TriangleMesh& surface, double angle)
{
    UnionFind sets = smooth_corners(surface, angle);
    CreasedSurface creased{.origin = {}, .triangles = Triangles(3, surface.triangle_count())};
    creased.origin.resize(static_cast<std::size_t>(surface.vertex_count()));
    std::iota(creased.origin.begin(), creased.origin.end(), 0);
    // The first set of a vertex keeps its number; the others get new ones behind all.
    std::vector<int> owner(creased.origin.size(), -1), number(static_cast<std::size_t>(sets.size()), -1);
    for (int corner = 0; corner < sets.size(); ++corner) {
        const int set = sets.root(corner), v = surface.triangles(corner % 3, corner / 3);
        if (owner[v] < 0) owner[v] = set;
        if (number[set] < 0) {
            number[set] = owner[v] == set ? v : static_cast<int>(creased.origin.size());
            if (owner[v] != set) creased.origin.push_back(v);
        }
        creased.triangles(corner % 3, corner / 3) = number[set];
    }
    return creased;
}

Eigen::Matrix3Xf crease_normals(const CreasedSurface& surface, const Eigen::Matrix3Xf& positions)
{
    Points sum = Points::Zero(3, surface.vertex_count());
    for (Index t = 0; t < surface.triangles.cols(); ++t) {
        const auto corner = [&](int c) -> Vec3 {
            return positions.col(surface.origin[surface.triangles(c, t)]).cast<double>();
        };
        const Vec3 area = (corner(1) - corner(0)).cross(corner(2) - corner(0));
        for (int c = 0; c < 3; ++c) sum.col(surface.triangles(c, t)) += area;
    }
    for (Index v = 0; v < sum.cols(); ++v) {
        const Vec3 n = sum.col(v).stableNormalized();
        sum.col(v) = n.norm() > 0.5 ? n : Vec3::UnitY();
    }
    return sum.cast<float>();
}

} // namespace lithe::exporting
