#include "lithe/geometry/intersections.hpp"

#include <array>

#include "lithe/geometry/bvh.hpp"
#include "lithe/geometry/predicates.hpp"

namespace lithe {
namespace {

struct Corners2 {
    Vec2 a, b, c;
};

/// Whether x, on the line through p and q, lies between them.
bool between(const Vec2& x, const Vec2& p, const Vec2& q)
{
    return std::min(p[0], q[0]) <= x[0] && x[0] <= std::max(p[0], q[0]) && std::min(p[1], q[1]) <= x[1] &&
           x[1] <= std::max(p[1], q[1]);
}

bool segments_meet(const Vec2& p, const Vec2& q, const Vec2& r, const Vec2& s)
{
    const int pqr = orient2d(p, q, r), pqs = orient2d(p, q, s), rsp = orient2d(r, s, p),
              rsq = orient2d(r, s, q);
    if (pqr * pqs < 0 && rsp * rsq < 0) return true;
    return (pqr == 0 && between(r, p, q)) || (pqs == 0 && between(s, p, q)) ||
           (rsp == 0 && between(p, r, s)) || (rsq == 0 && between(q, r, s));
}

bool inside_triangle(const Vec2& x, const Corners2& t)
{
    const int ab = orient2d(t.a, t.b, x), bc = orient2d(t.b, t.c, x), ca = orient2d(t.c, t.a, x);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

/// In a coordinate plane onto which the triangle's area does not vanish, all of its plane is seen one to one.
bool coplanar_segment_meets(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c)
{
    for (int k = 0; k < 3; ++k) {
        const auto flat = [k](const Vec3& x) { return Vec2(x[k], x[(k + 1) % 3]); };
        const Corners2 t{flat(a), flat(b), flat(c)};
        if (orient2d(t.a, t.b, t.c) == 0) continue;
        const Vec2 u = flat(p), v = flat(q);
        return inside_triangle(u, t) || inside_triangle(v, t) || segments_meet(u, v, t.a, t.b) ||
               segments_meet(u, v, t.b, t.c) || segments_meet(u, v, t.c, t.a);
    }
    return false; // no area
}

/// The same with the sides of p and q with respect to abc known: their signs of orient3d.
bool segment_meets(const Vec3& p, const Vec3& q, int side_p, int side_q, const Vec3& a, const Vec3& b,
                   const Vec3& c)
{
    if (side_p * side_q > 0) return false;
    if (side_p == 0 && side_q == 0) return coplanar_segment_meets(p, q, a, b, c);
    // the line crosses the plane in one point, which lies in abc unless the line turns around its edges both ways
    const int ab = orient3d(p, q, a, b), bc = orient3d(p, q, b, c);
    if (ab * bc < 0) return false;
    const int ca = orient3d(p, q, c, a);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

bool same_side(int x, int y, int z)
{
    return (x > 0 && y > 0 && z > 0) || (x < 0 && y < 0 && z < 0);
}

/// The corner that two triangles share, and how many they share.
struct Shared {
    int count = 0;
    int first = 0, second = 0; ///< its place in either triangle; the last when there are several
};

template <class Column>
Shared shared_corners(const Column& s, const Column& t)
{
    Shared shared;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (s[i] == t[j]) shared = {shared.count + 1, i, j};
    return shared;
}

/// The triangle as three points, beginning with corner k.
std::array<Vec3, 3> corners_from(const TriangleMesh& mesh, int triangle, int k)
{
    const auto at = [&](int i) { return Vec3(mesh.vertices.col(mesh.triangles((k + i) % 3, triangle))); };
    return {at(0), at(1), at(2)};
}

bool pair_intersects(const TriangleMesh& mesh, int i, int j)
{
    const Shared shared = shared_corners(mesh.triangles.col(i), mesh.triangles.col(j));
    if (shared.count > 1) return false;
    const auto s = corners_from(mesh, i, shared.first), t = corners_from(mesh, j, shared.second);
    if (shared.count == 1) return triangles_meet_beyond(s[0], s[1], s[2], t[1], t[2]);
    return triangles_meet(s[0], s[1], s[2], t[0], t[1], t[2]);
}

} // namespace

bool segment_meets_triangle(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c)
{
    return segment_meets(p, q, orient3d(a, b, c, p), orient3d(a, b, c, q), a, b, c);
}

/// Two triangles meet exactly when an edge of one meets the other.
bool triangles_meet(const Vec3& a0, const Vec3& a1, const Vec3& a2, const Vec3& b0, const Vec3& b1,
                    const Vec3& b2)
{
    const int sb0 = orient3d(a0, a1, a2, b0), sb1 = orient3d(a0, a1, a2, b1), sb2 = orient3d(a0, a1, a2, b2);
    if (same_side(sb0, sb1, sb2)) return false;
    const int sa0 = orient3d(b0, b1, b2, a0), sa1 = orient3d(b0, b1, b2, a1), sa2 = orient3d(b0, b1, b2, a2);
    if (same_side(sa0, sa1, sa2)) return false;
    return segment_meets(b0, b1, sb0, sb1, a0, a1, a2) || segment_meets(b1, b2, sb1, sb2, a0, a1, a2) ||
           segment_meets(b2, b0, sb2, sb0, a0, a1, a2) || segment_meets(a0, a1, sa0, sa1, b0, b1, b2) ||
           segment_meets(a1, a2, sa1, sa2, b0, b1, b2) || segment_meets(a2, a0, sa2, sa0, b0, b1, b2);
}

/// From v towards another common point, one triangle is left first, through its edge opposite to v and inside the other.
bool triangles_meet_beyond(const Vec3& v, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const int side_c = orient3d(v, a, b, c), side_d = orient3d(v, a, b, d);
    if (side_c * side_d > 0) return false;
    const int side_a = orient3d(v, c, d, a), side_b = orient3d(v, c, d, b);
    if (side_a * side_b > 0) return false;
    return segment_meets(c, d, side_c, side_d, v, a, b) || segment_meets(a, b, side_a, side_b, v, c, d);
}

bool folded_at_edge(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    if (orient3d(a, b, c, d) != 0) return false;
    for (int k = 0; k < 3; ++k) {
        const auto flat = [k](const Vec3& x) { return Vec2(x[k], x[(k + 1) % 3]); };
        const int side_c = orient2d(flat(a), flat(b), flat(c));
        if (side_c != 0) return side_c == orient2d(flat(a), flat(b), flat(d));
    }
    return false; // no area
}

std::vector<SelfIntersection> self_intersections(const TriangleMesh& mesh)
{
    std::vector<Box3> boxes;
    triangle_boxes(mesh.vertices, mesh.triangles, 0.0, boxes);
    parallel_for(mesh.triangle_count(), 1024, [&](Index t) {
        const auto p = corners_from(mesh, static_cast<int>(t), 0);
        if (collinear(p[0], p[1], p[2])) boxes[static_cast<std::size_t>(t)].setEmpty(); // meets nothing
    });
    const auto pairs =
        Bvh(boxes).collect_self_pairs([&](int i, int j) { return pair_intersects(mesh, i, j); });

    std::vector<SelfIntersection> found;
    found.reserve(pairs.size());
    for (const auto& [i, j] : pairs) {
        const Shared shared = shared_corners(mesh.triangles.col(i), mesh.triangles.col(j));
        found.push_back({i, j, shared.count == 1 ? mesh.triangles(shared.first, i) : -1});
    }
    return found;
}

} // namespace lithe
