#pragma once
#include "lithe/core/random.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe::test {

inline SparseMatrix from_triplets(Index size, const std::vector<Triplet>& triplets)
{
    SparseMatrix A(size, size);
    A.setFromTriplets(triplets.begin(), triplets.end());
    return A;
}

/// The matrix of springs along the edges (and face diagonals) of an n x n x n grid, three unknowns per vertex, each
/// vertex also tied to its place: symmetric positive definite, with the pattern of a tet mesh.
///
///   A = sum over springs of k (d d^T + 0.1 I) (x_a - x_b) + tie I
inline SparseMatrix elastic_grid(int n, double tie = 0.01)
{
    const auto vertex = [n](int i, int j, int k) { return (k * n + j) * n + i; };
    const int offsets[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    std::vector<Triplet> triplets;
    const auto add_block = [&](int a, int b, const Mat3& block) {
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) triplets.emplace_back(3 * a + r, 3 * b + c, block(r, c));
    };
    for (int cell = 0; cell < n * n * n; ++cell) {
        const int i = cell % n, j = cell / n % n, k = cell / (n * n);
        add_block(cell, cell, tie * Mat3::Identity());
        for (const auto& o : offsets) {
            if (i + o[0] >= n || j + o[1] >= n || k + o[2] >= n) continue;
            const int other = vertex(i + o[0], j + o[1], k + o[2]);
            const Vec3 d = Vec3(o[0], o[1], o[2]).normalized();
            const Mat3 K = d * d.transpose() + 0.1 * Mat3::Identity();
            add_block(cell, cell, K);
            add_block(other, other, K);
            add_block(cell, other, -K);
            add_block(other, cell, -K);
        }
    }
    return from_triplets(3 * n * n * n, triplets);
}

/// Random symmetric with a few entries per row and a dominant diagonal: positive definite.
inline SparseMatrix random_spd(Random& random, int size)
{
    std::vector<Triplet> triplets;
    for (int i = 0; i < size; ++i) {
        triplets.emplace_back(i, i, 1.0 + random.uniform());
        for (int e = 0; e < 3; ++e) {
            const int j = static_cast<int>(random.index(static_cast<std::uint64_t>(size)));
            const double a = random.uniform(-1.0, 1.0);
            triplets.emplace_back(i, j, a);
            triplets.emplace_back(j, i, a);
            triplets.emplace_back(i, i, 1.1 * std::abs(a));
            triplets.emplace_back(j, j, 1.1 * std::abs(a));
        }
    }
    return from_triplets(size, triplets);
}

} // namespace lithe::test
