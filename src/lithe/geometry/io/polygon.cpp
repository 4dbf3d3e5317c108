#include "lithe/geometry/io/polygon.hpp"

namespace lithe::io {
namespace {

using Polygon = std::vector<Vec2>;

double cross(const Vec2& a, const Vec2& b)
{
    return a.x() * b.y() - a.y() * b.x();
}
double turn(const Vec2& a, const Vec2& b, const Vec2& c)
{
    return cross(b - a, c - b);
}

/// The polygon seen along the axis that its area faces most, counter-clockwise. (The normal is Newell's.)
Polygon flatten(const double* coordinates, std::span<const int> corners)
{
    const auto point = [&](std::size_t k) -> Vec3 {
        return Eigen::Map<const Vec3>(coordinates +
                                      3 * static_cast<std::ptrdiff_t>(corners[k % corners.size()]));
    };
    const Vec3 o = point(0);
    Vec3 n = Vec3::Zero();
    for (std::size_t k = 0; k < corners.size(); ++k) n += (point(k) - o).cross(point(k + 1) - o);
    int axis = 0;
    n.cwiseAbs().maxCoeff(&axis);
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    Polygon flat;
    for (std::size_t k = 0; k < corners.size(); ++k) {
        const Vec3 d = point(k) - o;
        flat.push_back(n[axis] < 0.0 ? Vec2(d[v], d[u]) : Vec2(d[u], d[v]));
    }
    return flat;
}

bool is_convex(const Polygon& flat)
{
    const std::size_t n = flat.size();
    for (std::size_t k = 0; k < n; ++k)
        if (turn(flat[k], flat[(k + 1) % n], flat[(k + 2) % n]) <= 0.0) return false;
    return true;
}

/// Whether the corner between its neighbours sticks out and no other corner of the polygon lies under it.
bool is_ear(const Polygon& flat, const std::vector<std::size_t>& ring, std::size_t k)
{
    const std::size_t n = ring.size(), before = (k + n - 1) % n, after = (k + 1) % n;
    const Vec2 &a = flat[ring[before]], &b = flat[ring[k]], &c = flat[ring[after]];
    if (turn(a, b, c) <= 0.0) return false;
    for (std::size_t j = 0; j < n; ++j) {
        if (j == before || j == k || j == after) continue;
        const Vec2& p = flat[ring[j]];
        if (p == a || p == b || p == c) continue; // bridges to holes visit a corner twice
        if (cross(b - a, p - a) >= 0.0 && cross(c - b, p - b) >= 0.0 && cross(a - c, p - c) >= 0.0)
            return false;
    }
    return true;
}

} // namespace

void triangulate_polygon(const double* coordinates, std::span<const int> corners, std::vector<int>& triangles)
{
    std::vector<std::size_t> ring(corners.size());
    for (std::size_t k = 0; k < ring.size(); ++k) ring[k] = k;
    const auto emit = [&](std::size_t a, std::size_t b, std::size_t c) {
        for (const std::size_t k : {a, b, c}) triangles.push_back(corners[ring[k]]);
    };
    if (corners.size() > 3 && corners.size() <= longest_clipped) {
        const Polygon flat = flatten(coordinates, corners);
        std::size_t k = 1, misses = 0;
        if (is_convex(flat)) misses = ring.size();
        while (ring.size() > 3 && misses < ring.size()) {
            const std::size_t n = ring.size();
            if (is_ear(flat, ring, k % n)) {
                emit((k + n - 1) % n, k % n, (k + 1) % n);
                ring.erase(ring.begin() + static_cast<std::ptrdiff_t>(k % n));
                misses = 0;
            } else {
                ++k;
                ++misses;
            }
        }
    }
    for (std::size_t k = 1; k + 1 < ring.size(); ++k) emit(0, k, k + 1);
}

} // namespace lithe::io
