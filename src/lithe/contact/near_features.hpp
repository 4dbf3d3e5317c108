#pragma once
#include "lithe/contact/collision_surface.hpp"

namespace lithe {

/// The part of a surface that may come near another: its vertices and edges, and which triangles of the other each of its own
/// triangles may come near.
struct NearFeatures {
    std::vector<int> vertices, edges;
    std::vector<char> has_vertex, has_edge; ///< of each

    std::span<const int> across(int triangle) const
    {
        const auto first = static_cast<std::size_t>(start[static_cast<std::size_t>(triangle)]);
        return std::span(others).subspan(
            first, static_cast<std::size_t>(start[static_cast<std::size_t>(triangle) + 1]) - first);
    }
    /// What a vertex, or an edge, may come near: that of one of its triangles.
    std::span<const int> across_vertex(const CollisionSurface& surface, int vertex) const
    {
        return across(surface.fan(vertex).front());
    }
    std::span<const int> across_edge(const CollisionSurface& surface, int edge) const
    {
        return across(surface.edges[static_cast<std::size_t>(edge)].triangles[0]);
    }

    std::vector<int> start, others; ///< of `across`
};

/// Of two surfaces, or of one and itself.
struct NearPair {
    NearFeatures a, b;
    std::vector<std::array<int, 2>> triangles; ///< of a and b
};

/// What comes within `reach` [m] of each other in the step. Nothing that does is missed, and little else is kept: the ways of two
/// triangles are told apart by boxes and by the planes of both. All vertices of a surface that may have been swallowed by the other.
void find_near(const SweptSurface& a, const SweptSurface& b, double reach, NearPair& near);

/// Adds a vertex that is not there yet.
void add_vertex(int vertex, NearFeatures& near);

} // namespace lithe
