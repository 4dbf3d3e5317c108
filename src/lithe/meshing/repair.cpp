#include "lithe/meshing/repair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/point_grid.hpp"

namespace lithe {
namespace {

/// For each vertex the first one that has the same coordinates.
std::vector<int> equal_vertices(const Points& points)
{
    std::vector<int> order(static_cast<std::size_t>(points.cols())), target(order.size());
    std::iota(order.begin(), order.end(), 0);
    const auto place = [&](int v) { return std::array{points(0, v), points(1, v), points(2, v)}; };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const auto xa = place(a), xb = place(b);
        return xa != xb ? xa < xb : a < b;
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool same = i > 0 && points.col(order[i]) == points.col(order[i - 1]);
        target[order[i]] = same ? target[order[i - 1]] : order[i];
    }
    return target;
}

/// For each vertex the kept one that it joins.
std::vector<int> close_vertices(const Points& points, double tolerance)
{
    std::vector<int> target(static_cast<std::size_t>(points.cols()));
    PointGrid kept(points, tolerance);
    for (int v = 0; v < points.cols(); ++v) {
        const int near = kept.nearest(points.col(v));
        target[v] = near < 0 ? v : near;
        if (near < 0) kept.insert(v);
    }
    return target;
}

/// Renumbers the triangles to the vertices with target[v] == v and drops the others.
void merge_vertices(TriangleMesh& mesh, const std::vector<int>& target)
{
    std::vector<int> kept, place(target.size(), -1);
    for (int v = 0; v < static_cast<int>(target.size()); ++v) {
        if (target[v] != v) continue;
        place[v] = static_cast<int>(kept.size());
        kept.push_back(v);
    }
    for (int& v : mesh.triangles.reshaped()) v = place[target[v]];
    mesh.vertices = Points(mesh.vertices(Eigen::all, kept));
    for (VertexField& field : mesh.fields) field.values = MatX(field.values(Eigen::all, kept));
}

void keep_triangles(TriangleMesh& mesh, const std::vector<char>& keep)
{
    std::vector<int> kept;
    for (int t = 0; t < static_cast<int>(keep.size()); ++t)
        if (keep[t]) kept.push_back(t);
    mesh.triangles = Triangles(mesh.triangles(Eigen::all, kept));
}

bool has_repeated_corner(const Eigen::Vector3i& c)
{
    return c[0] == c[1] || c[1] == c[2] || c[2] == c[0];
}

Index remove_repeated_corners(TriangleMesh& mesh)
{
    std::vector<char> keep(static_cast<std::size_t>(mesh.triangle_count()));
    for (Index t = 0; t < mesh.triangle_count(); ++t) keep[t] = !has_repeated_corner(mesh.triangles.col(t));
    keep_triangles(mesh, keep);
    return std::count(keep.begin(), keep.end(), 0);
}

struct SortedTriangle {
    std::array<int, 3> key;
    int triangle;
    int sign; ///< +1 when sorting the corners was an even permutation
};

SortedTriangle sorted_corners(const Triangles& triangles, int t)
{
    std::array<int, 3> c{triangles(0, t), triangles(1, t), triangles(2, t)};
    int sign = 1;
    const auto order = [&](int i, int j) {
        if (c[i] <= c[j]) return;
        std::swap(c[i], c[j]);
        sign = -sign;
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
    return {c, t, sign};
}

std::vector<SortedTriangle> sorted_triangles(const Triangles& triangles)
{
    std::vector<SortedTriangle> sorted;
    for (int t = 0; t < triangles.cols(); ++t) sorted.push_back(sorted_corners(triangles, t));
    std::sort(sorted.begin(), sorted.end(), [](const SortedTriangle& a, const SortedTriangle& b) {
        return a.key != b.key ? a.key < b.key : a.triangle < b.triangle;
    });
    return sorted;
}

/// Of the triangles that are left once in each orientation (`back_to_back`, one of each pair), those that belong to an inner
/// wall: a connected piece of pairs at whose whole rim the rest of the surface goes on.
std::vector<char> inner_walls(const Triangles& triangles, const std::vector<int>& back_to_back,
                              const std::vector<char>& keep, const std::vector<char>& is_paired)
{
    std::unordered_set<std::uint64_t> rest; // edges of triangles that have no partner
    for (int t = 0; t < triangles.cols(); ++t)
        for (int s = 0; s < 3 && keep[t] && !is_paired[t]; ++s)
            rest.insert(edge_key(triangles(s, t), triangles((s + 1) % 3, t)));

    UnionFind pieces(static_cast<int>(back_to_back.size()));
    std::unordered_map<std::uint64_t, int> uses, first; // of edges, by pairs
    for (int p = 0; p < pieces.size(); ++p)
        for (int s = 0; s < 3; ++s) {
            const int t = back_to_back[p];
            const auto key = edge_key(triangles(s, t), triangles((s + 1) % 3, t));
            ++uses[key];
            pieces.join(first.emplace(key, p).first->second, p);
        }

    std::vector<char> free_rim(back_to_back.size(), 0);
    for (int p = 0; p < pieces.size(); ++p)
        for (int s = 0; s < 3; ++s) {
            const int t = back_to_back[p];
            const auto key = edge_key(triangles(s, t), triangles((s + 1) % 3, t));
            if (uses[key] == 1 && !rest.contains(key)) free_rim[pieces.root(p)] = 1;
        }
    std::vector<char> wall(back_to_back.size());
    for (int p = 0; p < pieces.size(); ++p) wall[p] = !free_rim[pieces.root(p)];
    return wall;
}

/// Keeps one of each set of triangles with the same corners, or none where the set is an inner wall.
void remove_duplicates(TriangleMesh& mesh, WeldReport& report)
{
    const std::vector<SortedTriangle> sorted = sorted_triangles(mesh.triangles);
    std::vector<char> keep(sorted.size(), 1), is_paired(sorted.size(), 0);
    std::vector<int> back_to_back, partner;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t j = i;
        int net = 0;
        for (; j < sorted.size() && sorted[j].key == sorted[i].key; ++j) net += sorted[j].sign;
        int one[2] = {-1, -1}; // the first triangle of each orientation
        for (std::size_t k = i; k < j; ++k) {
            int& side = one[sorted[k].sign > 0];
            if (side < 0) side = sorted[k].triangle;
            keep[sorted[k].triangle] = 0;
        }
        if (net != 0) {
            keep[one[net > 0]] = 1;
        } else {
            back_to_back.push_back(std::min(one[0], one[1]));
            partner.push_back(std::max(one[0], one[1]));
            for (const int t : one) keep[t] = is_paired[t] = 1;
        }
        i = j;
    }

    const std::vector<char> wall = inner_walls(mesh.triangles, back_to_back, keep, is_paired);
    report.duplicate_triangles = std::count(keep.begin(), keep.end(), 0);
    for (std::size_t p = 0; p < wall.size(); ++p) {
        keep[partner[p]] = 0;
        keep[back_to_back[p]] = !wall[p];
        report.inner_wall_triangles += wall[p] ? 2 : 0;
        report.duplicate_triangles += wall[p] ? 0 : 1;
    }
    if (report.duplicate_triangles + report.inner_wall_triangles > 0) keep_triangles(mesh, keep);
}

double longest_side(const TriangleMesh& mesh, int t, int& side)
{
    double longest = -1.0;
    for (int s = 0; s < 3; ++s) {
        const int a = mesh.triangles(s, t), b = mesh.triangles((s + 1) % 3, t);
        const double length = (mesh.vertices.col(b) - mesh.vertices.col(a)).norm();
        if (length > longest) {
            longest = length;
            side = s;
        }
    }
    return longest;
}

double triangle_area(const TriangleMesh& mesh, int t)
{
    const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
    const Vec3 ab = mesh.vertices.col(mesh.triangles(1, t)) - a,
               ac = mesh.vertices.col(mesh.triangles(2, t)) - a;
    return 0.5 * ab.cross(ac).norm();
}

bool is_flat(const TriangleMesh& mesh, int t, double flatness, int& side)
{
    const double longest = longest_side(mesh, t, side);
    return 2.0 * triangle_area(mesh, t) <= flatness * longest * longest;
}

/// Flips the longest sides of flat triangles where that is possible; returns how many.
Index flip_flat_triangles(TriangleMesh& mesh, double flatness)
{
    const std::vector<int> twins = half_edge_twins(mesh.triangles);
    std::unordered_set<std::uint64_t> edges;
    for (int h = 0; h < static_cast<int>(twins.size()); ++h)
        edges.insert(edge_key(half_edge_from(mesh.triangles, h), half_edge_to(mesh.triangles, h)));

    std::vector<char> touched(static_cast<std::size_t>(mesh.triangle_count()),
                              0); // its twins are out of date
    Index flipped = 0;
    for (int t = 0; t < mesh.triangle_count(); ++t) {
        int side = 0;
        if (touched[t] || !is_flat(mesh, t, flatness, side)) continue;
        const int h = 3 * t + side, g = twins[h];
        if (g < 0 || touched[g / 3]) continue;
        //    b            b
        //  c | d   ->   c - d       triangle (a, b, c) is flat: c lies on the side a b
        //    a            a
        const int a = half_edge_from(mesh.triangles, h), b = half_edge_to(mesh.triangles, h);
        const int c = half_edge_to(mesh.triangles, half_edge_next(h)),
                  d = half_edge_to(mesh.triangles, half_edge_next(g));
        const bool alike = half_edge_from(mesh.triangles, g) == b;
        if (!alike || c == d || edges.contains(edge_key(c, d))) continue;
        mesh.triangles.col(t) << a, d, c;
        mesh.triangles.col(g / 3) << d, b, c;
        edges.insert(edge_key(c, d));
        touched[t] = touched[g / 3] = 1;
        ++flipped;
    }
    return flipped;
}

} // namespace

WeldReport weld(TriangleMesh& mesh, double tolerance)
{
    require_valid(mesh);
    if (!(tolerance >= 0.0 && std::isfinite(tolerance)))
        throw InputError(fmt::format("weld tolerance {} must be a length of 0 or more", tolerance));

    const Index vertices = mesh.vertex_count();
    merge_vertices(mesh, tolerance > 0.0 ? close_vertices(mesh.vertices, tolerance)
                                         : equal_vertices(mesh.vertices));
    WeldReport report;
    report.welded_vertices = vertices - mesh.vertex_count();
    report.collapsed_triangles = remove_repeated_corners(mesh);
    remove_duplicates(mesh, report);

    const auto note = [&](Index count, const std::string& words) {
        if (count > 0) report.notes.push_back(words);
    };
    note(report.welded_vertices,
         tolerance > 0.0
             ? fmt::format("welded {} closer than {}", counted(report.welded_vertices, "vertex"), tolerance)
             : fmt::format("welded {} at equal places", counted(report.welded_vertices, "vertex")));
    note(report.collapsed_triangles, fmt::format("removed {} with two corners in one place",
                                                 counted(report.collapsed_triangles, "triangle")));
    note(report.duplicate_triangles,
         fmt::format("removed {} that were there twice", counted(report.duplicate_triangles, "triangle")));
    note(report.inner_wall_triangles,
         fmt::format("removed {} of inner walls", counted(report.inner_wall_triangles, "triangle")));
    return report;
}

DegenerateReport drop_degenerate(TriangleMesh& mesh, double flatness)
{
    require_valid(mesh);
    DegenerateReport report;
    report.removed = remove_repeated_corners(mesh);
    constexpr int max_rounds = 8; // a flip may hand the flatness on to a neighbour
    for (int round = 0; round < max_rounds; ++round) {
        const Index flipped = flip_flat_triangles(mesh, flatness);
        report.flipped += flipped;
        if (flipped == 0) break;
    }
    int side = 0;
    for (int t = 0; t < mesh.triangle_count(); ++t) report.left += is_flat(mesh, t, flatness, side);

    if (report.removed > 0)
        report.notes.push_back(
            fmt::format("removed {} with two corners in one place", counted(report.removed, "triangle")));
    if (report.flipped > 0)
        report.notes.push_back(
            fmt::format("flipped an edge of {} without height", counted(report.flipped, "triangle")));
    if (report.left > 0)
        report.notes.push_back(
            fmt::format("left {} without height: weld with a tolerance", counted(report.left, "triangle")));
    return report;
}

ComponentReport drop_small_components(TriangleMesh& mesh, double share)
{
    require_valid(mesh);
    if (!(share >= 0.0 && share <= 1.0))
        throw InputError(fmt::format("component share {} must lie in [0, 1]", share));
    UnionFind parts(static_cast<int>(mesh.vertex_count()));
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 1; k < 3; ++k) parts.join(mesh.triangles(0, t), mesh.triangles(k, t));

    std::vector<double> areas(static_cast<std::size_t>(mesh.vertex_count()), 0.0);
    std::vector<char> used(areas.size(), 0);
    for (int t = 0; t < mesh.triangle_count(); ++t) {
        const int root = parts.root(mesh.triangles(0, t));
        areas[root] += triangle_area(mesh, t);
        used[root] = 1;
    }
    const double limit = areas.empty() ? 0.0 : share * *std::max_element(areas.begin(), areas.end());
    std::vector<char> keep(static_cast<std::size_t>(mesh.triangle_count()));
    for (int t = 0; t < mesh.triangle_count(); ++t)
        keep[t] = areas[parts.root(mesh.triangles(0, t))] >= limit;

    ComponentReport report;
    for (std::size_t v = 0; v < used.size(); ++v) {
        report.components += used[v];
        report.removed_components += used[v] && areas[v] < limit;
    }
    report.removed_triangles = std::count(keep.begin(), keep.end(), 0);
    if (report.removed_triangles > 0) {
        keep_triangles(mesh, keep);
        drop_unused_vertices(mesh);
        report.notes.push_back(fmt::format("removed {} with {} in all",
                                           counted(report.removed_components, "small part"),
                                           counted(report.removed_triangles, "triangle")));
    }
    return report;
}

RepairReport repair(TriangleMesh& mesh, const RepairOptions& options)
{
    RepairReport report;
    report.weld = weld(mesh, options.weld_tolerance);
    report.degenerate = drop_degenerate(mesh);
    report.components = drop_small_components(mesh, options.component_share);
    report.orient = orient(mesh);
    report.holes = fill_holes(mesh, options.hole_edges);
    if (!report.holes.filled.empty()) {
        const OrientReport again = orient(mesh);
        report.orient.turned += again.turned;
        report.orient.closed_patches = again.closed_patches;
    }
    for (const auto* notes : {&report.weld.notes, &report.degenerate.notes, &report.components.notes,
                              &report.orient.notes, &report.holes.notes})
        report.notes.insert(report.notes.end(), notes->begin(), notes->end());
    return report;
}

} // namespace lithe
