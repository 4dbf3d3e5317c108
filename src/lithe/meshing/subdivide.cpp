#include <cmath>
#include <numbers>
#include <unordered_map>

#include <Eigen/Sparse>
#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/remesh.hpp"

namespace lithe {
namespace {

using Weights = Eigen::SparseMatrix<double>; ///< old vertices x new vertices; each column sums to 1
using Entries = std::vector<Eigen::Triplet<double>>;

/// For each half-edge the number of its edge, in the order in which the triangles name them.
std::vector<int> number_edges(const Triangles& triangles, const std::vector<int>& twins, int& count)
{
    std::vector<int> number(twins.size(), -1);
    std::unordered_map<std::uint64_t, int> shared; // non-manifold edges
    count = 0;
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (twins[h] >= 0 && twins[h] < h) {
            number[h] = number[twins[h]];
            continue;
        }
        number[h] = count;
        if (twins[h] == non_manifold_edge) {
            const auto key = edge_key(half_edge_from(triangles, h), half_edge_to(triangles, h));
            number[h] = shared.emplace(key, count).first->second;
        }
        if (number[h] == count) ++count;
    }
    return number;
}

/// The ends of each vertex's edges: all of them, and those of creases (borders and non-manifold edges).
struct Rings {
    std::vector<std::vector<int>> all, crease;
};

Rings find_rings(const TriangleMesh& mesh, const std::vector<int>& twins, const std::vector<int>& edges,
                 int edge_count)
{
    Rings rings;
    rings.all.resize(static_cast<std::size_t>(mesh.vertex_count()));
    rings.crease.resize(rings.all.size());
    std::vector<char> seen(static_cast<std::size_t>(edge_count), 0);
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (seen[edges[h]]) continue;
        seen[edges[h]] = 1;
        const int a = half_edge_from(mesh.triangles, h), b = half_edge_to(mesh.triangles, h);
        for (auto* ring : {&rings.all, &rings.crease}) {
            if (ring == &rings.crease && twins[h] >= 0) continue;
            (*ring)[a].push_back(b);
            (*ring)[b].push_back(a);
        }
    }
    return rings;
}

/// Old vertices: inside  (1 - n beta) v + beta sum of the n neighbours  [Loop87], on creases 3/4 v + 1/8 each end
/// [HDD94]; where creases end or meet, v.
void add_vertex_weights(const Rings& rings, SubdivisionRule rule, Entries& entries)
{
    for (int v = 0; v < static_cast<int>(rings.all.size()); ++v) {
        const auto& ring = rings.all[v];
        const auto& crease = rings.crease[v];
        double own = 1.0;
        if (rule == SubdivisionRule::Loop && crease.empty() && ring.size() >= 3) {
            const auto n = static_cast<double>(ring.size());
            const double c = 0.375 + 0.25 * std::cos(2.0 * std::numbers::pi / n);
            const double beta = (0.625 - c * c) / n;
            own = 1.0 - n * beta;
            for (const int u : ring) entries.emplace_back(u, v, beta);
        } else if (rule == SubdivisionRule::Loop && crease.size() == 2) {
            own = 0.75;
            for (const int u : crease) entries.emplace_back(u, v, 0.125);
        }
        entries.emplace_back(v, v, own);
    }
}

/// New vertices on edges: 3/8 of the ends and 1/8 of the opposite corners inside, the middle on creases.
void add_edge_weights(const TriangleMesh& mesh, const std::vector<int>& twins, const std::vector<int>& edges,
                      SubdivisionRule rule, Entries& entries)
{
    int next = 0; // edges are met in the order of their numbers
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (edges[h] != next) continue;
        const int column = static_cast<int>(mesh.vertex_count()) + next++;
        const bool smooth = rule == SubdivisionRule::Loop && twins[h] >= 0;
        for (const int v : {half_edge_from(mesh.triangles, h), half_edge_to(mesh.triangles, h)})
            entries.emplace_back(v, column, smooth ? 0.375 : 0.5);
        if (!smooth) continue;
        for (const int g : {h, twins[h]})
            entries.emplace_back(half_edge_to(mesh.triangles, half_edge_next(g)), column, 0.125);
    }
}

Triangles split_triangles(const Triangles& triangles, const std::vector<int>& edges, int vertex_count)
{
    Triangles result(3, 4 * triangles.cols());
    for (int t = 0; t < triangles.cols(); ++t) {
        const auto c = triangles.col(t);
        const int ab = vertex_count + edges[3 * t], bc = vertex_count + edges[3 * t + 1],
                  ca = vertex_count + edges[3 * t + 2];
        result.col(4 * t) << c[0], ab, ca;
        result.col(4 * t + 1) << ab, c[1], bc;
        result.col(4 * t + 2) << ca, bc, c[2];
        result.col(4 * t + 3) << ab, bc, ca;
    }
    return result;
}

TriangleMesh subdivide_once(const TriangleMesh& mesh, SubdivisionRule rule)
{
    const std::vector<int> twins = half_edge_twins(mesh.triangles);
    int edge_count = 0;
    const std::vector<int> edges = number_edges(mesh.triangles, twins, edge_count);

    Entries entries;
    add_vertex_weights(find_rings(mesh, twins, edges, edge_count), rule, entries);
    add_edge_weights(mesh, twins, edges, rule, entries);
    Weights S(mesh.vertex_count(), mesh.vertex_count() + edge_count);
    S.setFromTriplets(entries.begin(), entries.end());

    TriangleMesh result;
    result.vertices = mesh.vertices * S;
    result.triangles = split_triangles(mesh.triangles, edges, static_cast<int>(mesh.vertex_count()));
    for (const VertexField& field : mesh.fields) result.fields.push_back({field.name, field.values * S});
    return result;
}

} // namespace

TriangleMesh subdivide(const TriangleMesh& mesh, int levels, SubdivisionRule rule)
{
    require_valid(mesh);
    if (levels < 0) throw InputError(fmt::format("levels = {} must be 0 or more", levels));
    constexpr double most = 5e8; // half-edges are counted in int
    if (static_cast<double>(mesh.triangle_count()) * std::pow(4.0, levels) > most)
        throw InputError(
            fmt::format("{} subdivided {} times would be more than {:.0e} triangles; ask for fewer levels",
                        counted(mesh.triangle_count(), "triangle"), levels, most));
    TriangleMesh result = mesh;
    for (int level = 0; level < levels; ++level) result = subdivide_once(result, rule);
    return result;
}

} // namespace lithe
