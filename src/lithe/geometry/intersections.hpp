#pragma once
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

// Exact answers: only the signs of geometry/predicates.hpp decide. All sets are closed: touching is meeting.

/// Whether segment pq and triangle abc, which must have area, have a point in common.
bool segment_meets_triangle(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c);

/// Whether two triangles, which must have area, have a point in common. Coplanar ones are compared in their plane.
bool triangles_meet(const Vec3& a0, const Vec3& a1, const Vec3& a2, const Vec3& b0, const Vec3& b1,
                    const Vec3& b2);

/// Whether triangles (v, a, b) and (v, c, d), which must have area, meet in more than their common corner v.
bool triangles_meet_beyond(const Vec3& v, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Whether triangles (a, b, c) and (b, a, d), which must have area, are folded flat onto each other at their common edge.
bool folded_at_edge(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

struct SelfIntersection {
    int first, second;      ///< triangles, first < second
    int shared_vertex = -1; ///< the corner that they have in common (by index), or -1
    friend bool operator==(const SelfIntersection&, const SelfIntersection&) = default;
};

/// The pairs of triangles without a common edge whose intersection is more than a common vertex, sorted. Common means
/// by index: vertices at the same place under different numbers are different. Triangles without area are left out
/// (they are a fault of their own, and their edges are edges of their neighbours).
std::vector<SelfIntersection> self_intersections(const TriangleMesh& mesh);

} // namespace lithe
