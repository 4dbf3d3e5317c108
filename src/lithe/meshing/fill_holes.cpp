#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/repair.hpp"

namespace lithe {
namespace {

using Loop = std::vector<int>; ///< vertices along the border as the triangles beside it run, each once
using Triangle = Eigen::Vector3i;

constexpr Index longest_exact_loop = 500; ///< the triangulation of least area takes O(n^3)

/// The border half-edge that follows `h`, turning through the triangles around its end; -1 where the surface does not allow that.
int next_on_border(const Triangles& triangles, const std::vector<int>& twins, int h)
{
    int g = half_edge_next(h);
    while (twins[g] >= 0) {
        const int across = twins[g];
        if (half_edge_to(triangles, across) != half_edge_from(triangles, g)) return -1; // a turned triangle
        g = half_edge_next(across);
        if (g == half_edge_next(h)) return -1;
    }
    return twins[g] == border_edge ? g : -1;
}

/// Splits a closed walk where it comes back to a vertex, so that each loop has every vertex once.
void split_loops(const std::vector<int>& walk, std::vector<Loop>& loops)
{
    std::vector<int> path;
    std::unordered_map<int, std::size_t> place;
    for (const int v : walk) {
        if (const auto seen = place.find(v); seen != place.end()) {
            const std::size_t first = seen->second;
            loops.emplace_back(path.begin() + static_cast<std::ptrdiff_t>(first), path.end());
            for (std::size_t i = first; i < path.size(); ++i) place.erase(path[i]);
            path.resize(first);
        }
        place[v] = path.size();
        path.push_back(v);
    }
    loops.push_back(path);
}

struct Borders {
    std::vector<Loop> loops;
    std::vector<Loop>
        unfit; ///< walks that end at a turned triangle or a non-manifold edge, rims of single triangles
};

Borders find_borders(const Triangles& triangles)
{
    const std::vector<int> twins = half_edge_twins(triangles);
    std::vector<int> next(twins.size(), -1);
    std::vector<char> has_previous(twins.size(), 0);
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (twins[h] != border_edge) continue;
        next[h] = next_on_border(triangles, twins, h);
        if (next[h] >= 0) has_previous[next[h]] = 1;
    }

    Borders borders;
    std::vector<char> done(twins.size(), 0);
    const auto walk = [&](int start) {
        std::vector<int> vertices;
        int h = start;
        for (; h >= 0 && !done[h]; h = next[h]) {
            done[h] = 1;
            vertices.push_back(half_edge_from(triangles, h));
        }
        const bool single =
            vertices.size() == 3 && h >= 0 && next[h] / 3 == h / 3 && next[next[h]] / 3 == h / 3;
        if (h >= 0 && !single)
            split_loops(vertices, borders.loops);
        else
            borders.unfit.push_back(vertices);
    };
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) // first those with a beginning: they have an end
        if (twins[h] == border_edge && !has_previous[h]) walk(h);
    for (int h = 0; h < static_cast<int>(twins.size()); ++h)
        if (twins[h] == border_edge && !done[h]) walk(h);
    return borders;
}

HoleLoop describe(const TriangleMesh& mesh, const Loop& loop)
{
    HoleLoop hole;
    hole.edges = static_cast<Index>(loop.size());
    for (std::size_t i = 0; i < loop.size(); ++i) {
        const Vec3 x = mesh.vertices.col(loop[i]);
        hole.place += x / static_cast<double>(loop.size());
        hole.length += (mesh.vertices.col(loop[(i + 1) % loop.size()]) - x).norm();
    }
    return hole;
}

/// The cost of a triangle: its area, and a little for long sides so that of equal areas the rounder shapes win.
/// Triangles without height cost more than any others, so that they come only where nothing else fits.
double triangle_cost(const Vec3& a, const Vec3& b, const Vec3& c)
{
    const double longest2 = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    const double area = 0.5 * (b - a).cross(c - a).norm();
    constexpr double roundness = 1e-3, no_height = 1e-8, dear = 1e6;
    return area <= no_height * longest2 ? dear * longest2 : area + roundness * longest2;
}

/// The triangulation of least cost of the polygon `loop`; empty when every one needs an edge that is there already.
///
///   W(i, k) = min over i < m < k of  W(i, m) + W(m, k) + cost(i, m, k)                                   [BS95]
std::vector<Triangle> least_area(const Points& X, const Loop& loop,
                                 const std::unordered_set<std::uint64_t>& edges)
{
    const int n = static_cast<int>(loop.size());
    constexpr double none = std::numeric_limits<double>::infinity();
    MatX W = MatX::Constant(n, n, none);
    Eigen::MatrixXi best = Eigen::MatrixXi::Constant(n, n, -1);
    for (int i = 0; i + 1 < n; ++i) W(i, i + 1) = 0.0;
    for (int span = 2; span < n; ++span)
        for (int i = 0; i + span < n; ++i) {
            const int k = i + span;
            const bool diagonal = span < n - 1; // else it is the edge that closes the loop
            if (diagonal && edges.contains(edge_key(loop[i], loop[k]))) continue;
            for (int m = i + 1; m < k; ++m) {
                const double below = W(i, m) + W(m, k);
                if (!(below < W(i, k))) continue;
                const double cost = below + triangle_cost(X.col(loop[i]), X.col(loop[m]), X.col(loop[k]));
                if (cost < W(i, k)) {
                    W(i, k) = cost;
                    best(i, k) = m;
                }
            }
        }
    if (W(0, n - 1) == none) return {};

    std::vector<Triangle> triangles;
    std::vector<std::pair<int, int>> open{{0, n - 1}};
    while (!open.empty()) {
        const auto [i, k] = open.back();
        open.pop_back();
        if (k - i < 2) continue;
        const int m = best(i, k);
        triangles.emplace_back(loop[i], loop[k], loop[m]); // against the border's direction
        open.emplace_back(m, k);
        open.emplace_back(i, m);
    }
    return triangles;
}

std::vector<Triangle> fan(const Loop& loop, int center)
{
    std::vector<Triangle> triangles;
    for (std::size_t i = 0; i < loop.size(); ++i)
        triangles.emplace_back(loop[(i + 1) % loop.size()], loop[i], center);
    return triangles;
}

/// Appends a vertex at the mean of `loop`, with the mean of the fields.
int append_center(TriangleMesh& mesh, const Loop& loop)
{
    const Index v = mesh.vertex_count();
    const auto mean = [&](const auto& values) { return VecX(values(Eigen::all, loop).rowwise().mean()); };
    const Vec3 x = mean(mesh.vertices);
    mesh.vertices.conservativeResize(Eigen::NoChange, v + 1);
    mesh.vertices.col(v) = x;
    for (VertexField& field : mesh.fields) {
        const VecX value = mean(field.values);
        field.values.conservativeResize(Eigen::NoChange, v + 1);
        field.values.col(v) = value;
    }
    return static_cast<int>(v);
}

std::string describe(const std::vector<HoleLoop>& loops, const std::string& verb)
{
    const auto longest = std::max_element(
        loops.begin(), loops.end(), [](const HoleLoop& a, const HoleLoop& b) { return a.edges < b.edges; });
    const auto count = static_cast<Index>(loops.size());
    return fmt::format("{} {}; the longest has {} near ({:.4g}, {:.4g}, {:.4g})", verb,
                       counted(count, "hole"), counted(longest->edges, "edge"), longest->place[0],
                       longest->place[1], longest->place[2]);
}

} // namespace

FillReport fill_holes(TriangleMesh& mesh, Index max_edges)
{
    require_valid(mesh);
    const Borders borders = find_borders(mesh.triangles);
    std::unordered_set<std::uint64_t> edges;
    for (int h = 0; h < 3 * static_cast<int>(mesh.triangle_count()) && !borders.loops.empty(); ++h)
        edges.insert(edge_key(half_edge_from(mesh.triangles, h), half_edge_to(mesh.triangles, h)));

    FillReport report;
    std::vector<Triangle> added;
    for (const Loop& loop : borders.loops) {
        const auto size = static_cast<Index>(loop.size());
        if (size > max_edges || size < 3) {
            report.left.push_back(describe(mesh, loop));
            continue;
        }
        report.filled.push_back(describe(mesh, loop));
        std::vector<Triangle> patch;
        if (size <= longest_exact_loop) patch = least_area(mesh.vertices, loop, edges);
        if (patch.empty()) {
            patch = fan(loop, append_center(mesh, loop));
            ++report.new_vertices;
        }
        for (const Triangle& c : patch)
            for (int s = 0; s < 3; ++s) edges.insert(edge_key(c[s], c[(s + 1) % 3]));
        added.insert(added.end(), patch.begin(), patch.end());
    }
    for (const Loop& walk : borders.unfit) report.left.push_back(describe(mesh, walk));

    const Index before = mesh.triangle_count();
    report.new_triangles = static_cast<Index>(added.size());
    mesh.triangles.conservativeResize(Eigen::NoChange, before + report.new_triangles);
    for (Index t = 0; t < report.new_triangles; ++t) mesh.triangles.col(before + t) = added[t];
    if (!report.filled.empty()) report.notes.push_back(describe(report.filled, "filled"));
    if (!report.left.empty()) report.notes.push_back(describe(report.left, "left open"));
    return report;
}

} // namespace lithe
