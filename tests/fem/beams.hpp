#pragma once
#include <vector>

#include "lithe/fem/solve.hpp"
#include "support/meshes.hpp"
#include "support/random_matrices.hpp"

namespace lithe::test {

/// A box of cells (six tets each) with the given edge lengths, one corner at the origin.
inline TetMesh box_tets(const Eigen::Vector3i& cells, const Vec3& size)
{
    const TetMesh cell = unit_cube_tets(1);
    const Eigen::Vector3i m = cells + Eigen::Vector3i::Ones();
    const auto vertex = [&](int i, int j, int k) { return (k * m[1] + j) * m[0] + i; };
    TetMesh mesh;
    mesh.vertices.resize(3, m.prod());
    for (int k = 0; k < m[2]; ++k)
        for (int j = 0; j < m[1]; ++j)
            for (int i = 0; i < m[0]; ++i)
                mesh.vertices.col(vertex(i, j, k)) =
                    Vec3(i, j, k).cwiseQuotient(cells.cast<double>()).cwiseProduct(size);
    mesh.tets.resize(4, 6 * cells.prod());
    Index t = 0;
    for (int k = 0; k < cells[2]; ++k)
        for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i)
                for (Index c = 0; c < 6; ++c, ++t)
                    for (int a = 0; a < 4; ++a) {
                        const int corner = cell.tets(a, c); // bits: x, y, z
                        mesh.tets(a, t) = vertex(i + corner % 2, j + corner / 2 % 2, k + corner / 4);
                    }
    return mesh;
}

/// The vertices whose coordinate along `axis` is `value`.
inline std::vector<int> vertices_at(const Points& x, int axis, double value)
{
    std::vector<int> found;
    for (Index i = 0; i < x.cols(); ++i)
        if (std::abs(x(axis, i) - value) < 1e-9) found.push_back(static_cast<int>(i));
    return found;
}

inline PinnedVertices pinned_where_they_are(const Points& x, std::vector<int> vertices)
{
    Points targets = x(Eigen::all, vertices);
    return {std::move(vertices), std::move(targets)};
}

inline Points noise(Random& random, Index count, double size)
{
    return size * Points(random_matrix(random, 3, count));
}

} // namespace lithe::test
