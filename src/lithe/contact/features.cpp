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

FeatureView::Wedge FeatureView::wedge(int edge) const
{
    const CollisionEdge& at_edge = surface().edges[static_cast<std::size_t>(edge)];
    const MovingPoint a = swept.point(at_edge.a);
    Wedge out;
    out.change = 0.0;
    const auto measure = [&](int to, Vec3& line, double& length) {
        const MovingPoint b = swept.point(to);
        line = b.x - a.x;
        length = line.norm();
        const double change = (b.dx - a.dx).norm();
        if (change > out.change * length) out.change = change / length; // infinite where it has no length
    };
    measure(at_edge.b, out.along, out.length);
    for (std::size_t k = 0; k < 2; ++k) {
        out.into[k].setZero();
        out.lengths[k] = 0.0;
        if (at_edge.triangles[k] < 0) continue;
        for (const int v : surface().triangles.col(at_edge.triangles[k]))
            if (v != at_edge.a && v != at_edge.b) measure(v, out.into[k], out.lengths[k]);
    }
    return out;
}

/// With n = +-(u x v)/|u x v| and w into a triangle of an edge, n.w / |w| may be at most the slack. At the start the determinant of
/// u, v and w tells it, and in the step that changes by no more than  |u| |v| |w| (growth - 1).
bool may_touch(const FeatureView::Wedge& a, const FeatureView::Wedge& b)
{
    const Vec3 n = a.along.cross(b.along);
    const double growth = (1.0 + a.change) * (1.0 + b.change) * (1.0 + std::max(a.change, b.change));
    const double room = ((1.0 + 1.1 * slack) * growth - 1.0) * a.length * b.length;
    bool up = true, down = true; // n, or -n, leads from b to a
    for (std::size_t k = 0; k < 2; ++k) {
        const double from_a = n.dot(a.into[k]), room_a = room * a.lengths[k];
        const double from_b = n.dot(b.into[k]), room_b = room * b.lengths[k];
        up = up && !(from_b > room_b) && !(from_a < -room_a);
        down = down && !(from_b < -room_b) && !(from_a > room_a);
    }
    return up || down;
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
