#pragma once
#include <array>
#include <map>
#include <set>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe::test {

/// What a surface is as a complex, counted the slow and plain way.
struct Topology {
    bool closed = true;          ///< every edge has two triangles, of opposite direction
    bool manifold_vertex = true; ///< the triangles of every vertex are one fan
    int components = 0;
    int genus = 0; ///< summed over the components; meaningful when closed and manifold
};

inline Topology topology(const TriangleMesh& mesh)
{
    Topology result;
    std::map<std::array<int, 2>, std::vector<int>> edges; // directed edge -> triangles
    std::vector<std::vector<int>> around(static_cast<std::size_t>(mesh.vertex_count()));
    for (int t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 0; k < 3; ++k) {
            edges[{mesh.triangles(k, t), mesh.triangles((k + 1) % 3, t)}].push_back(t);
            around[mesh.triangles(k, t)].push_back(t);
        }
    for (const auto& [edge, triangles] : edges) {
        const auto back = edges.find({edge[1], edge[0]});
        if (edge[0] == edge[1] || triangles.size() != 1 || back == edges.end() || back->second.size() != 1)
            result.closed = false;
    }
    if (!result.closed) return result;

    const auto neighbour = [&](int t, int k) {
        return edges[{mesh.triangles((k + 1) % 3, t), mesh.triangles(k, t)}].front();
    };
    for (int v = 0; v < mesh.vertex_count();
         ++v) { // walk once around the vertex: all its triangles must be met
        if (around[v].empty()) {
            result.manifold_vertex = false;
            continue;
        }
        std::size_t met = 0;
        int t = around[v].front();
        do {
            int k = 0;
            while (mesh.triangles(k, t) != v) ++k;
            t = neighbour(t, k);
            ++met;
        } while (t != around[v].front() && met <= around[v].size());
        if (met != around[v].size()) result.manifold_vertex = false;
    }

    std::vector<char> seen(static_cast<std::size_t>(mesh.triangle_count()), 0);
    for (int start = 0; start < mesh.triangle_count(); ++start) {
        if (seen[start]) continue;
        ++result.components;
        std::vector<int> stack = {start};
        seen[start] = 1;
        while (!stack.empty()) {
            const int t = stack.back();
            stack.pop_back();
            for (int k = 0; k < 3; ++k)
                if (const int s = neighbour(t, k); !seen[s]) {
                    seen[s] = 1;
                    stack.push_back(s);
                }
        }
    }
    const auto euler =
        static_cast<int>(mesh.vertex_count() - static_cast<Index>(edges.size() / 2) + mesh.triangle_count());
    result.genus = result.components - euler / 2;
    return result;
}

/// The smallest angle of all triangles. [degrees]
inline double smallest_angle(const TriangleMesh& mesh)
{
    double smallest = 180.0;
    for (int t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Vec3 p = mesh.vertices.col(mesh.triangles(k, t));
            const Vec3 u = mesh.vertices.col(mesh.triangles((k + 1) % 3, t)) - p;
            const Vec3 v = mesh.vertices.col(mesh.triangles((k + 2) % 3, t)) - p;
            smallest = std::min(smallest, std::atan2(u.cross(v).norm(), u.dot(v)) * 180.0 / 3.14159265358979);
        }
    return smallest;
}

} // namespace lithe::test
