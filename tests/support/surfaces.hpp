#pragma once
#include <cmath>

#include "lithe/core/random.hpp"
#include "support/meshes.hpp"

namespace lithe::test {

/// A closed surface near the sphere of radius 1 about the origin, 12 n^2 triangles of very different shapes;
/// its vertices lie on the sphere exactly.
inline TriangleMesh sphere_surface(int n)
{
    TriangleMesh mesh = boundary_surface(unit_cube_tets(n));
    mesh.vertices.array() -= 0.5;
    mesh.vertices.colwise().normalize();
    return mesh;
}

/// A closed torus about the z axis with m x n quads in two triangles each, outward.
inline TriangleMesh torus_surface(int m, int n, double R, double r)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, m * n);
    mesh.triangles.resize(3, 2 * m * n);
    const double step_u = 2.0 * M_PI / m, step_v = 2.0 * M_PI / n;
    Index t = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            const double u = i * step_u, v = j * step_v, rho = R + r * std::cos(v);
            mesh.vertices.col(i * n + j) = Vec3(rho * std::cos(u), rho * std::sin(u), r * std::sin(v));
            const int a = i * n + j, b = (i + 1) % m * n + j, c = (i + 1) % m * n + (j + 1) % n,
                      d = i * n + (j + 1) % n;
            mesh.triangles.col(t++) << a, b, c;
            mesh.triangles.col(t++) << a, c, d;
        }
    return mesh;
}

inline Vec3 random_point(Random& random, double lo, double hi)
{
    return {random.uniform(lo, hi), random.uniform(lo, hi), random.uniform(lo, hi)};
}

/// Unconnected triangles of about `size` with corners around [-1, 1]^3.
inline TriangleMesh triangle_soup(int count, double size, std::uint64_t seed)
{
    Random random(seed);
    TriangleMesh mesh;
    mesh.vertices.resize(3, 3 * count);
    mesh.triangles.resize(3, count);
    for (int t = 0; t < count; ++t) {
        const Vec3 at = random_point(random, -1.0, 1.0);
        for (int k = 0; k < 3; ++k) mesh.vertices.col(3 * t + k) = at + random_point(random, -size, size);
        mesh.triangles.col(t) << 3 * t, 3 * t + 1, 3 * t + 2;
    }
    return mesh;
}

inline Vec3 corner(const TriangleMesh& mesh, Index triangle, int k)
{
    return mesh.vertices.col(mesh.triangles(k, triangle));
}

} // namespace lithe::test
