#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "lithe/rig/bind.hpp"
#include "lithe/rig/tet_laplacian.hpp"
#include "lithe/rig/weight_mix.hpp"

namespace lithe {
namespace {

SkinWeights empty_weights(Index slots, Index vertices)
{
    LITHE_ASSERT(slots >= 1 && slots <= most_influences);
    SkinWeights out;
    out.bones.setZero(slots, vertices);
    out.weights.setZero(slots, vertices);
    return out;
}

/// The vertices at the boundary, and those that no tet with volume holds.
std::vector<char> given_vertices(const TetMesh& volume, const VecX& V)
{
    std::vector<char> given(static_cast<std::size_t>(volume.vertex_count()), 0);
    std::vector<int> origin;
    boundary_surface(volume, origin);
    for (const int v : origin) given[v] = 1;
    for (Index v = 0; v < volume.vertex_count(); ++v)
        if (!(V[v] > 0.0)) given[v] = 1;
    return given;
}

/// The unknowns of a Dirichlet problem: which vertices are inside, and the columns of L that they meet.
struct Inside {
    std::vector<int> vertex; ///< of each unknown
    std::vector<int> row;    ///< unknown of each vertex, -1: given

    explicit Inside(const std::vector<char>& given) : row(given.size(), -1)
    {
        for (std::size_t v = 0; v < given.size(); ++v) {
            if (given[v]) continue;
            row[v] = static_cast<int>(vertex.size());
            vertex.push_back(static_cast<int>(v));
        }
    }
    Index count() const { return static_cast<Index>(vertex.size()); }

    SparseMatrix stiffness(const SparseMatrix& L) const
    {
        std::vector<Triplet> entries;
        for_each_entry(L, [&](Index i, int neighbour, double value) {
            const int j = row[neighbour];
            if (j >= 0) entries.emplace_back(static_cast<int>(i), j, value);
        });
        SparseMatrix out(count(), count());
        out.setFromTriplets(entries.begin(), entries.end());
        return out;
    }

    /// -L_inside,given w_given for every row (bone) of w, as columns.
    MatX right_hand_side(const SparseMatrix& L, const MatX& w) const
    {
        MatX b = MatX::Zero(count(), w.rows());
        for_each_entry(L, [&](Index i, int neighbour, double value) {
            if (row[neighbour] < 0) b.row(i) -= value * w.col(neighbour).transpose();
        });
        return b;
    }

private:
    /// f(unknown, neighbour, L between them); L is symmetric, so that a column is a row.
    template <class F>
    void for_each_entry(const SparseMatrix& L, const F& f) const
    {
        for (Index i = 0; i < count(); ++i)
            for (SparseMatrix::InnerIterator entry(L, vertex[i]); entry; ++entry)
                f(i, static_cast<int>(entry.index()), entry.value());
    }
};

/// L w = 0 inside, one row of w (bones x vertices) per bone; w holds what is given already.
void extend_harmonically(const SparseMatrix& L, const std::vector<char>& given, MatX& w)
{
    const Inside inside(given);
    if (inside.count() == 0) return;
    SparseCholesky cholesky;
    if (cholesky.factorise(inside.stiffness(L)) != FactorStatus::Success)
        throw InputError("carrying weights into a volume: its tets are too flat to solve on; mesh it anew");
    MatX x = inside.right_hand_side(L, w);
    cholesky.solve(x);
    for (Index i = 0; i < inside.count(); ++i) w.col(inside.vertex[i]) = x.row(i).transpose();
}

} // namespace

SkinWeights carried(const SkinWeights& volume, const Embedding& embedding, Index slots)
{
    SkinWeights out = empty_weights(slots, embedding.point_count());
    parallel_for(embedding.point_count(), 1024, [&](Index p) {
        WeightMix mix;
        for (int a = 0; a < 4; ++a) mix.add(volume, embedding.corners(a, p), embedding.weights(a, p));
        mix.sort();
        mix.store(out, p);
    });
    return out;
}

SkinWeights carried(const SkinWeights& surface_weights, const TriangleMesh& surface, const Points& points,
                    Index slots)
{
    LITHE_ASSERT(surface_weights.vertex_count() == surface.vertex_count());
    const SurfaceQuery query(surface);
    SkinWeights out = empty_weights(slots, points.cols());
    parallel_for(points.cols(), 64, [&](Index p) {
        const ClosestPoint nearest = query.closest_point(points.col(p));
        WeightMix mix;
        for (int a = 0; a < 3; ++a)
            mix.add(surface_weights, surface.triangles(a, nearest.triangle), nearest.barycentric[a]);
        mix.sort();
        mix.store(out, p);
    });
    return out;
}

SkinWeights carried_into(const SkinWeights& surface_weights, const TriangleMesh& surface,
                         const TetMesh& volume, Index slots)
{
    if (volume.vertex_count() == 0) return empty_weights(slots, 0);
    const TetLaplacian laplacian = tet_laplacian(volume);
    const Index bones = surface_weights.vertex_count() == 0 ? 0 : surface_weights.bones.maxCoeff() + 1;
    MatX w = dense_weights(carried(surface_weights, surface, volume.vertices), bones);
    extend_harmonically(laplacian.L, given_vertices(volume, laplacian.V), w);
    return sparse_weights(w.cwiseMax(0.0), slots); // obtuse tets can leave a little below zero
}

} // namespace lithe
