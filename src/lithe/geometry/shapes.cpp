#include "lithe/geometry/shapes.hpp"

#include <cmath>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Steps of about `cell` that divide `length` evenly.
int steps(double length, double cell, int least)
{
    return std::max(least, static_cast<int>(std::lround(std::min(length / cell, 1e7))));
}

void require_size(double elements, double cell)
{
    if (!(elements <= static_cast<double>(max_shape_triangles)))
        throw InputError(
            fmt::format("cell = {:.4g} m is too fine: it makes {:.3g} million elements, and {} million are "
                        "allowed; use a larger cell",
                        cell, elements / 1e6, max_shape_triangles / 1'000'000));
}

struct ProfilePoint {
    double r, y; ///< distance from the axis, and height [m]
};

/// A ring of a surface of revolution: `count` vertices from `first`; one when it is a pole.
struct Ring {
    int first, count;
};

/// Zips two rings together: always the side whose next vertex comes first in angle.
void stitch(const Ring& lower, const Ring& upper, std::vector<Eigen::Vector3i>& triangles)
{
    const int m = lower.count == 1 ? 0 : lower.count, n = upper.count == 1 ? 0 : upper.count;
    int i = 0, j = 0;
    while (i < m || j < n) {
        const int a = lower.first + (m ? i % m : 0), b = upper.first + (n ? j % n : 0);
        // (i + 1/2) / m <= (j + 1/2) / n, in whole numbers
        const bool step_lower = j == n || (i < m && (2L * i + 1) * n <= (2L * j + 1) * m);
        if (step_lower)
            triangles.emplace_back(a, lower.first + (i + 1) % m, b);
        else
            triangles.emplace_back(a, upper.first + (j + 1) % n, b);
        step_lower ? ++i : ++j;
    }
}

enum class Profile { Open, Closed };

/// Turns a profile around the y axis; every ring has as many vertices as its girth needs. An open profile goes from
/// a pole (r = 0) up to a pole, a closed one around; the solid lies to its left.
TriangleMesh revolve(const std::vector<ProfilePoint>& profile, Profile kind, double cell)
{
    std::vector<Ring> rings;
    int vertices = 0;
    for (const ProfilePoint& point : profile) {
        const int count = point.r < 1e-9 * cell ? 1 : steps(2.0 * pi * point.r, cell, 4);
        rings.push_back({vertices, count});
        vertices += count;
    }
    TriangleMesh mesh;
    mesh.vertices.resize(3, vertices);
    for (std::size_t k = 0; k < rings.size(); ++k)
        for (int i = 0; i < rings[k].count; ++i) {
            const double angle = 2.0 * pi * i / rings[k].count, r = rings[k].count == 1 ? 0.0 : profile[k].r;
            mesh.vertices.col(rings[k].first + i) << r * std::sin(angle), profile[k].y, r * std::cos(angle);
        }
    std::vector<Eigen::Vector3i> triangles;
    for (std::size_t k = 0; k + 1 < rings.size(); ++k) stitch(rings[k], rings[k + 1], triangles);
    if (kind == Profile::Closed) stitch(rings.back(), rings.front(), triangles);
    mesh.triangles.resize(3, std::ssize(triangles));
    for (Index t = 0; t < mesh.triangle_count(); ++t) mesh.triangles.col(t) = triangles[t];
    return mesh;
}

/// Appends an arc around (r0, y0) from angle a to angle b (0 points away from the axis), without its last point.
void add_arc(std::vector<ProfilePoint>& profile, const ProfilePoint& centre, double radius, double a,
             double b, double cell)
{
    const int n = steps(radius * std::abs(b - a), cell * std::sqrt(0.75), 2);
    for (int i = 0; i < n; ++i) {
        const double angle = a + (b - a) * i / n;
        profile.push_back({centre.r + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
    }
}

void add_line(std::vector<ProfilePoint>& profile, const ProfilePoint& a, const ProfilePoint& b, double cell)
{
    const int n = steps(std::hypot(b.r - a.r, b.y - a.y), cell * std::sqrt(0.75), 1);
    for (int i = 0; i < n; ++i) profile.push_back({a.r + (b.r - a.r) * i / n, a.y + (b.y - a.y) * i / n});
}

/// A regular grid over a box centred on the origin.
struct Grid {
    Vec3 size;
    Eigen::Vector3i n; ///< cells

    Grid(const Vec3& box_size, double cell) : size(box_size)
    {
        require_positive("cell", cell);
        for (int k = 0; k < 3; ++k) n[k] = steps(require_positive("size", size[k]), cell, 1);
    }
    Index vertex(const Eigen::Vector3i& at) const
    {
        return (static_cast<Index>(at[2]) * (n[1] + 1) + at[1]) * (n[0] + 1) + at[0];
    }
    Vec3 position(const Eigen::Vector3i& at) const
    {
        return (at.cast<double>().array() / n.cast<double>().array() - 0.5) * size.array();
    }
};

} // namespace

TriangleMesh make_sphere(double radius, double cell)
{
    require_positive("radius", radius);
    require_positive("cell", cell);
    require_size(4.0 * pi * radius * radius / (0.43 * cell * cell), cell);
    std::vector<ProfilePoint> profile;
    add_arc(profile, {0, 0}, radius, -0.5 * pi, 0.5 * pi, cell);
    profile.push_back({0, radius});
    profile.front().r = 0.0;
    return revolve(profile, Profile::Open, cell);
}

TriangleMesh make_capsule(double radius, double length, double cell)
{
    require_positive("radius", radius);
    require_positive("length", length);
    require_positive("cell", cell);
    require_size((4.0 * pi * radius * radius + 2.0 * pi * radius * length) / (0.43 * cell * cell), cell);
    const double h = 0.5 * length;
    std::vector<ProfilePoint> profile;
    add_arc(profile, {0, -h}, radius, -0.5 * pi, 0.0, cell);
    profile.front().r = 0.0;
    add_line(profile, {radius, -h}, {radius, h}, cell);
    add_arc(profile, {0, h}, radius, 0.0, 0.5 * pi, cell);
    profile.push_back({0, h + radius});
    return revolve(profile, Profile::Open, cell);
}

TriangleMesh make_cylinder(double radius, double length, double cell)
{
    require_positive("radius", radius);
    require_positive("length", length);
    require_positive("cell", cell);
    require_size(2.0 * pi * radius * (radius + length) / (0.43 * cell * cell), cell);
    const double h = 0.5 * length;
    std::vector<ProfilePoint> profile;
    add_line(profile, {0, -h}, {radius, -h}, cell);
    add_line(profile, {radius, -h}, {radius, h}, cell);
    add_line(profile, {radius, h}, {0, h}, cell);
    profile.push_back({0, h});
    return revolve(profile, Profile::Open, cell);
}

TriangleMesh make_torus(double major, double minor, double cell)
{
    require_positive("major", major);
    require_positive("minor", minor);
    require_positive("cell", cell);
    if (minor >= major)
        throw InputError(fmt::format("minor = {:g} m must be below major = {:g} m, or the torus has no hole",
                                     minor, major));
    require_size(4.0 * pi * pi * major * minor / (0.43 * cell * cell), cell);
    std::vector<ProfilePoint> profile;
    add_arc(profile, {major, 0}, minor, -pi, -pi / 3.0, cell);
    add_arc(profile, {major, 0}, minor, -pi / 3.0, pi / 3.0, cell);
    add_arc(profile, {major, 0}, minor, pi / 3.0, pi, cell);
    return revolve(profile, Profile::Closed, cell);
}

TetMesh make_box_tets(const Vec3& size, double cell)
{
    const Grid grid(size, cell);
    require_size(6.0 * grid.n.cast<double>().prod(), cell);

    TetMesh mesh;
    const Eigen::Vector3i n = grid.n, m = grid.n.array() + 1;
    mesh.vertices.resize(3, m.cast<Index>().prod());
    Eigen::Vector3i at;
    for (at[2] = 0; at[2] < m[2]; ++at[2])
        for (at[1] = 0; at[1] < m[1]; ++at[1])
            for (at[0] = 0; at[0] < m[0]; ++at[0]) mesh.vertices.col(grid.vertex(at)) = grid.position(at);

    // six walks along the three axes from the low corner to the high one; the odd ones are mirrored [Kuh60]
    constexpr int walks[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    mesh.tets.resize(4, 6 * n.cast<Index>().prod());
    Index t = 0;
    for (at[2] = 0; at[2] < n[2]; ++at[2])
        for (at[1] = 0; at[1] < n[1]; ++at[1])
            for (at[0] = 0; at[0] < n[0]; ++at[0])
                for (int w = 0; w < 6; ++w) {
                    Eigen::Vector3i corner = at;
                    Eigen::Vector4i tet;
                    tet[0] = static_cast<int>(grid.vertex(corner));
                    for (int s = 0; s < 3; ++s) {
                        ++corner[walks[w][s]];
                        tet[s + 1] = static_cast<int>(grid.vertex(corner));
                    }
                    if (w >= 3) std::swap(tet[1], tet[2]);
                    mesh.tets.col(t++) = tet;
                }
    return mesh;
}

TriangleMesh make_box(const Vec3& size, double cell)
{
    const Grid grid(size, cell);
    const Vec3 n = grid.n.cast<double>();
    require_size(4.0 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]), cell);

    std::vector<Vec3> vertices;
    std::vector<Eigen::Vector3i> triangles;
    std::unordered_map<Index, int> known; // grid point -> vertex; only looked up, never walked through
    const auto vertex = [&](const Eigen::Vector3i& at) {
        const auto [place, fresh] = known.try_emplace(grid.vertex(at), static_cast<int>(vertices.size()));
        if (fresh) vertices.push_back(grid.position(at));
        return place->second;
    };
    for (int axis = 0; axis < 3; ++axis)
        for (const int end : {0, grid.n[axis]}) {
            // u, v turn counter-clockwise around the outward normal
            const int u = end ? (axis + 1) % 3 : (axis + 2) % 3, v = end ? (axis + 2) % 3 : (axis + 1) % 3;
            Eigen::Vector3i at;
            at[axis] = end;
            for (at[v] = 0; at[v] < grid.n[v]; ++at[v])
                for (at[u] = 0; at[u] < grid.n[u]; ++at[u]) {
                    const Eigen::Vector3i right = Eigen::Vector3i::Unit(u), up = Eigen::Vector3i::Unit(v);
                    const int a = vertex(at), b = vertex(at + right), c = vertex(at + right + up),
                              d = vertex(at + up);
                    triangles.emplace_back(a, b, c);
                    triangles.emplace_back(a, c, d);
                }
        }
    TriangleMesh mesh;
    mesh.vertices.resize(3, std::ssize(vertices));
    for (Index i = 0; i < mesh.vertex_count(); ++i) mesh.vertices.col(i) = vertices[i];
    mesh.triangles.resize(3, std::ssize(triangles));
    for (Index t = 0; t < mesh.triangle_count(); ++t) mesh.triangles.col(t) = triangles[t];
    return mesh;
}

} // namespace lithe
