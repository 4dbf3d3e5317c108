#include "lithe/contact/collision_surface.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "lithe/contact/features.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/box.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/ray.hpp"
#include "lithe/geometry/shapes.hpp"

namespace lithe {
namespace {

std::uint64_t next_id()
{
    static std::atomic<std::uint64_t> count = 0;
    return ++count;
}

constexpr double flat_sine = 0.02; ///< an edge that bends by less than about a degree is flat

void require_usable(const TriangleMesh& mesh, double thickness)
{
    if (mesh.triangle_count() == 0)
        throw InputError("a collision surface needs triangles: this one has none");
    if (mesh.triangles.minCoeff() < 0 || mesh.triangles.maxCoeff() >= mesh.vertex_count())
        throw InputError("a triangle of the collision surface names a vertex that is not there");
    if (!mesh.vertices.allFinite())
        throw InputError("a vertex of the collision surface has a coordinate that is not finite");
    if (!(thickness >= 0.0) || !std::isfinite(thickness))
        throw InputError("the thickness of a collision surface must not be below zero");
}

/// Lists of `items` by `key`, behind each other: those of key k from start[k] to start[k + 1].
struct Grouped {
    std::vector<int> start, items;
};
Grouped grouped(const std::vector<std::array<int, 2>>& key_and_item, Index keys)
{
    Grouped out{std::vector<int>(static_cast<std::size_t>(keys) + 1, 0),
                std::vector<int>(key_and_item.size())};
    for (const auto& [key, item] : key_and_item) ++out.start[static_cast<std::size_t>(key) + 1];
    for (std::size_t k = 1; k < out.start.size(); ++k) out.start[k] += out.start[k - 1];
    std::vector<int> next = out.start;
    for (const auto& [key, item] : key_and_item)
        out.items[static_cast<std::size_t>(next[static_cast<std::size_t>(key)]++)] = item;
    return out;
}

Vec3 area_vector(const Points& x, const Triangles& triangles, int t)
{
    const Vec3 a = x.col(triangles(0, t));
    return (Vec3(x.col(triangles(1, t))) - a).cross(Vec3(x.col(triangles(2, t))) - a);
}

/// Whether the far corner of the second triangle lies below the plane of the first.
bool bends_outward(const CollisionSurface& surface, const CollisionEdge& edge)
{
    const Vec3 n = area_vector(surface.rest, surface.triangles, edge.triangles[0]).normalized();
    for (const int v : surface.triangles.col(edge.triangles[1])) {
        if (v == edge.a || v == edge.b) continue;
        const Vec3 across = surface.rest.col(v) - surface.rest.col(edge.a);
        const Vec3 along = (surface.rest.col(edge.b) - surface.rest.col(edge.a)).normalized();
        return n.dot(across) < -flat_sine * (across - along.dot(across) * along).norm();
    }
    return true;
}

void add_edges(CollisionSurface& surface)
{
    const SurfaceEdges all = surface_edges(surface.triangles);
    surface.triangle_edges = Triangles::Constant(3, surface.triangles.cols(), -1);
    for (const SurfaceEdge& edge : all.edges) {
        CollisionEdge added{edge.a, edge.b, {all.half_edges[edge.first] / 3, -1}, true};
        if (edge.count > 1) added.triangles[1] = all.half_edges[edge.first + 1] / 3;
        if (surface.closed) added.sharp = bends_outward(surface, added);
        for (int k = 0; k < edge.count; ++k) {
            const int h = all.half_edges[edge.first + static_cast<std::size_t>(k)];
            surface.triangle_edges(h % 3, h / 3) = static_cast<int>(surface.edges.size());
        }
        surface.edges.push_back(added);
    }
}

void add_neighbours(CollisionSurface& surface)
{
    std::vector<std::array<int, 2>> fans, rings;
    for (int t = 0; t < surface.triangles.cols(); ++t) {
        const Eigen::Vector3i v = surface.triangles.col(t);
        for (int k = 0; k < 3; ++k)
            if ((v.head(k).array() != v[k]).all()) fans.push_back({v[k], t});
    }
    for (const CollisionEdge& edge : surface.edges) {
        rings.push_back({edge.a, edge.b});
        rings.push_back({edge.b, edge.a});
    }
    Grouped around = grouped(fans, surface.vertex_count());
    surface.fan_start = std::move(around.start);
    surface.fans = std::move(around.items);
    around = grouped(rings, surface.vertex_count());
    surface.ring_start = std::move(around.start);
    surface.rings = std::move(around.items);
}

/// A surface of one triangle that is a point or a segment, with thickness around it.
CollisionSurface rounded(const Points& vertices, double radius)
{
    const int last = static_cast<int>(vertices.cols()) - 1;
    TriangleMesh mesh{.vertices = vertices, .triangles = Eigen::Vector3i(0, last, last)};
    CollisionSurface out = make_collision_surface(mesh, radius);
    if (last > 0) {
        out.edges = {CollisionEdge{0, last, {0, -1}, true}};
        out.triangle_edges(0, 0) = 0;
        add_neighbours(out);
    }
    return out;
}

struct Shaped {
    std::optional<CollisionSurface> operator()(const PlaneShape&) const { return {}; }
    std::optional<CollisionSurface> operator()(const FieldShape&) const { return {}; }
    std::optional<CollisionSurface> operator()(const SphereShape& ball) const
    {
        return rounded(Points::Zero(3, 1), ball.radius);
    }
    std::optional<CollisionSurface> operator()(const CapsuleShape& capsule) const
    {
        Points ends = Points::Zero(3, 2);
        ends(1, 0) = -0.5 * capsule.length;
        ends(1, 1) = 0.5 * capsule.length;
        return rounded(ends, capsule.radius);
    }
    std::optional<CollisionSurface> operator()(const BoxShape& box) const
    {
        TriangleMesh mesh = make_box(Vec3::Ones(), 1.0);
        mesh.vertices = box.size.asDiagonal() * mesh.vertices;
        return make_collision_surface(mesh);
    }
    std::optional<CollisionSurface> operator()(const CylinderShape& cylinder) const;
};

/// A prism whose sides touch and cut the cylinder by the same amount.
std::optional<CollisionSurface> Shaped::operator()(const CylinderShape& cylinder) const
{
    constexpr int sides = 48;
    constexpr double turn = 6.283185307179586 / sides;
    const double radius = cylinder.radius * 2.0 / (1.0 + std::cos(0.5 * turn));
    TriangleMesh mesh{.vertices = Points(3, 2 * sides + 2), .triangles = Triangles(3, 4 * sides)};
    const int bottom = 2 * sides, top = bottom + 1;
    const double half = 0.5 * cylinder.length;
    mesh.vertices.col(bottom) = Vec3(0.0, -half, 0.0);
    mesh.vertices.col(top) = Vec3(0.0, half, 0.0);
    for (int i = 0; i < sides; ++i) {
        const double x = radius * std::cos(turn * i), z = radius * std::sin(turn * i);
        const int low = 2 * i, high = low + 1, next_low = (low + 2) % (2 * sides), next_high = next_low + 1;
        mesh.vertices.col(low) = Vec3(x, -half, z);
        mesh.vertices.col(high) = Vec3(x, half, z);
        mesh.triangles.col(4 * i) = Eigen::Vector3i(low, high, next_high);
        mesh.triangles.col(4 * i + 1) = Eigen::Vector3i(low, next_high, next_low);
        mesh.triangles.col(4 * i + 2) = Eigen::Vector3i(high, top, next_high);
        mesh.triangles.col(4 * i + 3) = Eigen::Vector3i(low, next_low, bottom);
    }
    return make_collision_surface(mesh);
}

/// A line through p along an axis. Where it goes through edges or corners it is moved aside by next to nothing, the same for all
/// triangles: so it meets one of those around it.
class AxisLine {
public:
    AxisLine(const Points& x, const Vec3& p, int axis) : x_(x), p_(p), u_((axis + 1) % 3), v_((axis + 2) % 3)
    {
    }

    /// +1 where it goes out ahead of p, -1 where it goes in, 0 where it does not.
    int crossing(const Triangles& triangles, int t) const
    {
        const auto corner = triangles.col(t);
        const bool left = is_left(corner[0], corner[1]);
        if (is_left(corner[1], corner[2]) != left || is_left(corner[2], corner[0]) != left) return 0;
        const double height = area_vector(x_, triangles, t).dot(x_.col(corner[0]) - p_);
        const bool ahead = left ? height > 0.0 : height < 0.0;
        return !ahead ? 0 : left ? 1 : -1;
    }

private:
    /// Seen along the axis. On the edge: of p + (e, e^2), e tiny.
    bool is_left(int i, int j) const
    {
        if (i > j) return !is_left(j, i);
        const auto a = x_.col(i), b = x_.col(j);
        const double up = (b[u_] - a[u_]) * (p_[v_] - a[v_]), down = (b[v_] - a[v_]) * (p_[u_] - a[u_]);
        if (up != down) return up > down;
        return a[v_] != b[v_] ? a[v_] > b[v_] : b[u_] > a[u_];
    }

    const Points& x_;
    const Vec3& p_;
    int u_, v_; ///< the other axes
};

} // namespace

CollisionSurface make_collision_surface(const TriangleMesh& mesh, double thickness)
{
    require_usable(mesh, thickness);
    CollisionSurface out;
    out.rest = mesh.vertices;
    out.triangles = mesh.triangles;
    out.thickness = thickness;
    const EdgeCensus census = count_edges(mesh.triangles);
    out.closed = census.edges > 0 && census.closed() && census.inconsistent == 0;
    add_edges(out);
    add_neighbours(out);
    for (int v = 0; v < out.vertex_count(); ++v)
        if (!out.fan(v).empty()) out.points.push_back(v);
    return out;
}

std::optional<CollisionSurface> collision_surface_of(const RigidShape& shape)
{
    require_valid(shape);
    return std::visit(Shaped(), shape);
}

SweptSurface::SweptSurface(const CollisionSurface& surface)
    : start(surface.rest), end(surface.rest), surface_(&surface), id_(next_id())
{
    triangle_boxes(start, surface.triangles, 0.0, boxes_);
    tree_ = Bvh(boxes_);
    slabs_.resize(boxes_.size());
    for (int p = 0; p < tree_.pack_count(); ++p) packs_.emplace_back(surface.triangles, tree_.pack(p));
    places_ = TrianglePack::Places::Zero(TrianglePack::Places::RowsAtCompileTime, surface.vertex_count());
    update_normals();
    update();
}

void SweptSurface::update()
{
    LITHE_ASSERT(start.cols() == surface_->vertex_count() && end.cols() == start.cols());
    const bool is_new = last_start_.cols() != start.cols();
    const double moved = is_new ? 0.0 : std::sqrt((start - last_start_).colwise().squaredNorm().maxCoeff());
    if (!(moved == 0.0)) {
        travel_ += moved;
        update_normals();
    }
    last_start_ = start;
    start_box_ = bounds(start);
    end_box_ = bounds(end);
    drift_ = (end - start).rowwise().mean();
    stir_ = std::sqrt(((end - start).colwise() - drift_).colwise().squaredNorm().maxCoeff());
    update_boxes();
    update_packs();
    tree_.refit(boxes_);
}

void SweptSurface::update_normals()
{
    for (int t = 0; t < surface_->triangles.cols(); ++t)
        slabs_[static_cast<std::size_t>(t)].normal =
            area_vector(start, surface_->triangles, t).stableNormalized();
}

void SweptSurface::update_boxes()
{
    for (Index t = 0; t < surface_->triangles.cols(); ++t) {
        Slab& slab = slabs_[static_cast<std::size_t>(t)];
        slab.lower = slab.upper = slab.normal.dot(start.col(surface_->triangles(0, t)));
        Box3 box;
        for (const int v : surface_->triangles.col(t)) {
            const Vec3 x = start.col(v), y = Vec3(end.col(v)) - drift_;
            box.extend(x);
            box.extend(y);
            const double from = slab.normal.dot(x), to = slab.normal.dot(y);
            slab.lower = std::min({slab.lower, from, to});
            slab.upper = std::max({slab.upper, from, to});
        }
        boxes_[static_cast<std::size_t>(t)] = box;
    }
}

void SweptSurface::update_packs()
{
    const Vec3 middle = centre(), drifted = middle + drift_;
    places_.topRows<3>() = (start.colwise() - middle).cast<float>();
    places_.middleRows<3>(4) = (end.colwise() - drifted).cast<float>();
    for (TrianglePack& pack : packs_) pack.update(places_);
}

Box3 SweptSurface::swept_box() const
{
    return widened(start_box_.merged(end_box_), surface_->thickness);
}

std::optional<ClosestPoint> closest_point(const SweptSurface& surface, const Vec3& p, double max_distance)
{
    const Triangles& triangles = surface.surface().triangles;
    std::optional<ClosestPoint> best;
    surface.tree().for_each_near(p, max_distance * max_distance, [&](int t, double bound2) {
        ClosestPoint found =
            closest_point_on_triangle(p, surface.start.col(triangles(0, t)),
                                      surface.start.col(triangles(1, t)), surface.start.col(triangles(2, t)));
        const double distance2 = found.distance * found.distance;
        if (distance2 > bound2 || (best && distance2 == bound2 && best->triangle < t)) return bound2;
        found.triangle = t;
        best = found;
        return distance2;
    });
    return best;
}

std::optional<RayHit> cast_ray(const SweptSurface& surface, const Vec3& origin, const Vec3& direction,
                               double t_max)
{
    const Triangles& triangles = surface.surface().triangles;
    const Box3 around = surface.tree().box();
    const double pad = rounding_in(around);
    const Ray ray{origin, direction};
    const auto [enter, leave] = clipped(widened(around, pad), ray, t_max);
    // in pieces, so that boxes along it stay small
    const double share = (leave - enter) * direction.norm() / around.diagonal().norm();
    const int pieces = 1 + static_cast<int>(std::clamp(8.0 * share, 0.0, 7.0));
    std::optional<RayHit> best;
    for (int i = 0; i < pieces && enter <= leave; ++i) {
        const double from = enter + (leave - enter) * i / pieces,
                     to = enter + (leave - enter) * (i + 1) / pieces;
        const Vec3 p = ray.at(from), q = ray.at(to);
        surface.tree().for_each_overlap(widened({p.cwiseMin(q), p.cwiseMax(q)}, pad), [&](int t) {
            std::optional<RayHit> hit =
                hit_triangle(ray, surface.start.col(triangles(0, t)), surface.start.col(triangles(1, t)),
                             surface.start.col(triangles(2, t)));
            if (!hit || hit->t < 0.0 || hit->t > t_max) return;
            if (best && (best->t < hit->t || (best->t == hit->t && best->triangle < t))) return;
            hit->triangle = t;
            best = hit;
        });
        if (best && best->t <= to) break;
    }
    return best;
}

Vec3 start_normal(const SweptSurface& surface, int triangle)
{
    return surface.slab(triangle).normal;
}

/// How often the surface goes around p at the start, along the line that leaves its box soonest.
static int winding(const SweptSurface& surface, const Vec3& p)
{
    const Box3& box = surface.start_box();
    int axis = 0;
    (box.max() - p).minCoeff(&axis);
    Vec3 out = p;
    out[axis] = std::max(p[axis], box.max()[axis]);
    const AxisLine line(surface.start, p, axis);
    int sum = 0;
    surface.tree().for_each_overlap({p, out},
                                    [&](int t) { sum += line.crossing(surface.surface().triangles, t); });
    return sum;
}

bool encloses(const SweptSurface& surface, const Vec3& p)
{
    return winding(surface, p) > 0;
}

/// The outward direction at the nearest point tells, but where a surface is folded that may look out of a fold: then the whole
/// surface is asked.
bool inside(const SweptSurface& surface, const Vec3& p, const ClosestPoint& closest)
{
    const FeatureView view{surface};
    return (p - closest.point).dot(view.outward(closest.triangle, closest.barycentric, 0.0)) < 0.0 &&
           encloses(surface, p);
}

} // namespace lithe
