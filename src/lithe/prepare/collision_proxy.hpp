#pragma once
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct CollisionProxyOptions {
    Index vertices = 300; ///< of the proxy, about; at least 4
    double max_error =
        0.0; ///< it may lie so far from the surface [m], and has more vertices if it must; 0: any
};

/// A coarse surface by which a body collides. Its vertices are vertices of the surface that it stands for, so that all
/// that is known there (a basis, skin weights, an embedding) is known of the proxy.
struct [[nodiscard]] CollisionProxy {
    TriangleMesh surface;
    std::vector<int> origin; ///< of each vertex, the vertex of the given surface that it is
    double distance = 0.0;   ///< the farthest that a vertex of the given surface is from the proxy [m]
    bool reached = true;     ///< false: it has more vertices than asked for, see notes
    std::vector<std::string> notes = {};
};

/// Closed surfaces stay closed. A surface that is small enough is its own proxy.
/// Throws InputError for fewer than 4 vertices, an error below zero, or a surface without triangles.
CollisionProxy make_collision_proxy(const TriangleMesh& surface, const CollisionProxyOptions& options = {});

} // namespace lithe
