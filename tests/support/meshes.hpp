#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe::test {

/// One tet: the corner of the unit cube. Volume 1/6.
inline TetMesh unit_tet()
{
    TetMesh mesh;
    mesh.vertices = Points::Zero(3, 4);
    mesh.vertices.rightCols(3) = Mat3::Identity();
    mesh.tets = Tets(4, 1);
    mesh.tets.col(0) << 0, 1, 2, 3;
    return mesh;
}

/// The unit cube as n x n x n cells of six tets each.
inline TetMesh unit_cube_tets(int n)
{
    TetMesh mesh;
    const int m = n + 1;
    mesh.vertices.resize(3, m * m * m);
    const auto vertex = [m](int i, int j, int k) { return (k * m + j) * m + i; };
    for (int k = 0; k < m; ++k)
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < m; ++i) mesh.vertices.col(vertex(i, j, k)) = Vec3(i, j, k) / n;

    constexpr int walks[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    mesh.tets.resize(4, 6 * n * n * n);
    Index t = 0;
    for (int cell = 0; cell < n * n * n; ++cell) {
        const Eigen::Vector3i base(cell % n, cell / n % n, cell / (n * n));
        for (int w = 0; w < 6; ++w) { // along three axes from corner to corner; odd walks are mirrored
            Eigen::Vector3i at = base;
            Eigen::Vector4i corner;
            corner[0] = vertex(at[0], at[1], at[2]);
            for (int s = 0; s < 3; ++s) {
                ++at[walks[w][s]];
                corner[s + 1] = vertex(at[0], at[1], at[2]);
            }
            if (w >= 3) std::swap(corner[1], corner[2]);
            mesh.tets.col(t++) = corner;
        }
    }
    return mesh;
}

/// The unit cube's surface, two triangles a side, outward.
inline TriangleMesh unit_cube()
{
    return boundary_surface(unit_cube_tets(1));
}

/// Two surfaces as one mesh, the first one's vertices and triangles first.
inline TriangleMesh joined(const TriangleMesh& a, const TriangleMesh& b)
{
    TriangleMesh mesh;
    mesh.vertices.resize(3, a.vertex_count() + b.vertex_count());
    mesh.vertices << a.vertices, b.vertices;
    mesh.triangles.resize(3, a.triangle_count() + b.triangle_count());
    mesh.triangles << a.triangles, (b.triangles.array() + static_cast<int>(a.vertex_count())).matrix();
    return mesh;
}

} // namespace lithe::test
