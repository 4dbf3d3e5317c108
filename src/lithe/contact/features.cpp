#include "lithe/contact/features.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {
namespace {

constexpr double slack = 0.035;        ///< sine of the angle by which a direction may miss
constexpr double on_the_border = 1e-9; ///< weights below this are zero

/// Which of the three weights are above zero.
struct Corners {
    std::array<int, 3> of;
    int count = 0;
};
Corners positive(const Vec3& weights)
{
    Corners out;
    for (int k = 0; k < 3; ++k)
        if (weights[k] > on_the_border) out.of[static_cast<std::size_t>(out.count++)] = k;
    return out;
}

/// The side of a triangle that lies between two of its corners.
int side_between(const Corners& corners)
{
    return corners.of[0] == 0 && corners.of[1] == 2 ? 2 : corners.of[0];
}

} // namespace

std::array<MovingPoint, 3> FeatureView::corners(int triangle) const
{
    const auto v = surface().triangles.col(triangle);
    return {point(v[0]), point(v[1]), point(v[2])};
}

std::array<MovingPoint, 2> FeatureView::ends(int edge) const
{
    const CollisionEdge& at = surface().edges[static_cast<std::size_t>(edge)];
    return {point(at.a), point(at.b)};
}

Vec3 FeatureView::normal(int triangle, double s) const
{
    const auto v = surface().triangles.col(triangle);
    const Vec3 a = at(v[0], s);
    return (at(v[1], s) - a).cross(at(v[2], s) - a).stableNormalized();
}

Vec3 FeatureView::vertex_outward(int vertex, double s) const
{
    Vec3 sum = Vec3::Zero();
    const Vec3 x = at(vertex, s);
    for (const int t : surface().fan(vertex)) {
        const auto v = surface().triangles.col(t);
        const int k = v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
        const Vec3 u = at(v[(k + 1) % 3], s) - x, w = at(v[(k + 2) % 3], s) - x;
        sum += std::atan2(u.cross(w).norm(), u.dot(w)) * normal(t, s);
    }
    return sum;
}

Vec3 FeatureView::edge_outward(int edge, double s) const
{
    Vec3 sum = Vec3::Zero();
    for (const int t : surface().edges[static_cast<std::size_t>(edge)].triangles)
        if (t >= 0) sum += normal(t, s);
    return sum;
}

Vec3 FeatureView::outward(int triangle, const Vec3& weights, double s) const
{
    const Corners corners = positive(weights);
    if (corners.count == 1) return vertex_outward(surface().triangles(corners.of[0], triangle), s);
    const int edge = corners.count == 2 ? surface().triangle_edges(side_between(corners), triangle) : -1;
    return edge >= 0 ? edge_outward(edge, s) : normal(triangle, s);
}

bool FeatureView::vertex_faces(int vertex, const Vec3& n, double s) const
{
    const Vec3 x = at(vertex, s);
    for (const int neighbour : surface().ring(vertex)) {
        const Vec3 away = at(neighbour, s) - x;
        if (n.dot(away) > slack * away.norm()) return false;
    }
    if (!surface().closed) return true;
    double up = 0.0; // where it is flat, both ways look alike
    for (const int t : surface().fan(vertex)) {
        const auto v = surface().triangles.col(t);
        const Vec3 a = at(v[0], s);
        up += n.dot((at(v[1], s) - a).cross(at(v[2], s) - a));
    }
    return up > 0.0;
}

/// Both triangles go down from it, seen along n.
bool FeatureView::edge_faces(int edge, const Vec3& n, double s) const
{
    const CollisionEdge& at_edge = surface().edges[static_cast<std::size_t>(edge)];
    const Vec3 a = at(at_edge.a, s), along = (at(at_edge.b, s) - a).stableNormalized();
    return std::ranges::all_of(at_edge.triangles, [&](int t) {
        if (t < 0) return true;
        for (const int v : surface().triangles.col(t)) {
            if (v == at_edge.a || v == at_edge.b) continue;
            Vec3 into = at(v, s) - a;
            into -= along.dot(into) * along;
            return n.dot(into) <= slack * into.norm();
        }
        return true;
    });
}

bool FeatureView::faces(int triangle, const Vec3& weights, const Vec3& n, double s) const
{
    const Corners corners = positive(weights);
    if (surface().closed && outward(triangle, weights, s).dot(n) <= 0.0) return false;
    if (corners.count == 1) return vertex_faces(surface().triangles(corners.of[0], triangle), n, s);
    const int edge = corners.count == 2 ? surface().triangle_edges(side_between(corners), triangle) : -1;
    return edge < 0 || edge_faces(edge, n, s);
}

} // namespace lithe
