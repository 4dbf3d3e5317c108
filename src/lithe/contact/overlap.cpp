#include "lithe/contact/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace lithe {
namespace {

constexpr double deep = 0.1;            ///< of the size of a region: deeper inside, it leaves as a whole
constexpr double same_direction = 0.98; ///< cosine: no need to try another
constexpr int most_tries = 16;
constexpr double along_the_face =
    0.8; ///< a way out that is so near to the normal of a face goes along the normal
constexpr double parallel_sine = 1e-3;
constexpr double at_the_end = 1e-6;
constexpr double agreeing = 0.7; ///< cosine of directions that agree
constexpr double shallow =
    0.3; ///< of a way out: what is so much nearer to the surface has not come in that way

/// Where a ray leaves a surface.
struct Exit {
    int triangle;
    Vec3 weights;
    double distance; ///< [m]; a little below zero where rounding has it outside
    Vec3 normal;     ///< of the triangle
};

/// The first place where a ray from x along the unit vector `way` leaves the surface.
std::optional<Exit> exit_along(const FeatureView& surface, const Vec3& x, const Vec3& way, double length,
                               double slack)
{
    const std::optional<RayHit> hit =
        cast_ray(surface.swept, x - slack * way, way, length + slack); // starts a little before x
    if (!hit) return {};
    const Exit out{hit->triangle, hit->barycentric, hit->t - slack, surface.normal(hit->triangle, 0.0)};
    return out.normal.dot(way) > 0.0 ? std::optional(out) : std::nullopt;
}

/// Ways out of one vertex, each a normal n of `b` with the weight  (n.e) / distance^2,  e the unit direction that leads
/// there.
struct Ways {
    Vec3 facing = Vec3::Zero(); ///< along which the surface around the vertex follows it
    Vec3 any = Vec3::Zero();

    void add(const FeatureView& a, int vertex, const Vec3& n, double weight)
    {
        any += weight * n;
        if (a.vertex_faces(vertex, -n, 0.0)) facing += weight * n;
    }
};

/// By the edges that go out, and by the nearest point where the vertex faces it: not out of the far side of a thin
/// wall.
Vec3 way_along_edges(const FeatureView& a, const FeatureView& b, const DetectWork::Inside& at,
                     const std::vector<char>& inside, double slack)
{
    Ways ways;
    const Vec3 x = a.at(at.vertex, 0.0);
    const auto weight = [&](double distance) { return 1.0 / std::max(distance * distance, slack * slack); };
    for (const int neighbour : a.surface().ring(at.vertex)) {
        if (inside[static_cast<std::size_t>(neighbour)]) continue;
        const Vec3 edge = a.at(neighbour, 0.0) - x;
        const double length = edge.norm();
        if (!(length > 0.0)) continue;
        if (const auto exit = exit_along(b, x, edge / length, length, slack))
            ways.add(a, at.vertex, exit->normal, exit->normal.dot(edge) / length * weight(exit->distance));
    }
    const Vec3 nearest = b.normal(at.closest.triangle, 0.0);
    if (a.vertex_faces(at.vertex, -nearest, 0.0)) ways.facing += weight(at.closest.distance) * nearest;
    return ways.facing.isZero(0.0) ? ways.any : ways.facing;
}

/// Vertices without a way out take the mean of their neighbours', in rounds, until nothing changes.
void follow_neighbours(const FeatureView& a, const std::vector<char>& inside, DetectWork& work)
{
    const auto has_way = [&](int v) { return !work.way_out.col(v).isZero(0.0); };
    do {
        work.changed.clear();
        for (const DetectWork::Inside& at : work.inside) {
            if (has_way(at.vertex)) continue;
            Vec3 sum = Vec3::Zero();
            for (const int j : a.surface().ring(at.vertex))
                if (inside[static_cast<std::size_t>(j)] && has_way(j)) sum += work.way_out.col(j);
            work.next_way_out.col(at.vertex) = sum.stableNormalized();
            if (!sum.isZero(0.0)) work.changed.push_back(at.vertex);
        }
        for (const int v : work.changed) work.way_out.col(v) = work.next_way_out.col(v);
    } while (!work.changed.empty());
}

/// How a vertex leaves.
struct Leaving {
    Vec3 normal;
    double depth;
    ContactSide side;
};

Leaving leave_nearest(const FeatureView& b, const Vec3& x, const ClosestPoint& closest, double slack)
{
    const Vec3 out = closest.distance > slack
                         ? Vec3((closest.point - x) / closest.distance)
                         : b.outward(closest.triangle, closest.barycentric, 0.0).normalized();
    return {out, closest.distance, side_in_triangle(b, closest.triangle, closest.barycentric)};
}

double far_out(const FeatureView& b)
{
    return 2.0 * b.swept.start_box().diagonal().norm();
}

/// Straight along the way, or by the nearest point where that leads nowhere.
Leaving leave_straight(const FeatureView& b, const Vec3& x, const Vec3& way, const ClosestPoint& closest,
                       double slack)
{
    const auto exit = exit_along(b, x, way, far_out(b), slack);
    if (!exit) return leave_nearest(b, x, closest, slack);
    return {way, exit->distance, side_in_triangle(b, exit->triangle, exit->weights)};
}

/// About the given way: along the normal of the face where it leads, if that leads there too.
Leaving leave_by_face(const FeatureView& b, const Vec3& x, const Vec3& way, const ClosestPoint& closest,
                      double slack)
{
    if (way.isZero(0.0)) return leave_nearest(b, x, closest, slack);
    const auto exit = exit_along(b, x, way, far_out(b), slack);
    if (exit && exit->normal.dot(way) > along_the_face) {
        const auto straight = exit_along(b, x, exit->normal, far_out(b), slack);
        if (straight && straight->normal.dot(exit->normal) > along_the_face)
            return {exit->normal, straight->distance,
                    side_in_triangle(b, straight->triangle, straight->weights)};
    }
    return leave_straight(b, x, way, closest, slack);
}

void add_leaving(const FeatureView& a, int vertex, const Leaving& leaving, double thickness, DetectWork& work)
{
    SurfaceContact contact;
    contact.a = side_at_vertex(a, vertex);
    contact.b = leaving.side;
    contact.normal = leaving.normal;
    contact.gap = -leaving.depth - thickness;
    contact.key = vertex_key(vertex, 0);
    work.found.push_back({.contact = contact});
}

/// Collects into work.region what hangs together with the vertex at this place of work.inside, and marks it as done.
void collect_region(const FeatureView& a, int first, DetectWork& work)
{
    work.region.assign(1, first);
    work.place[static_cast<std::size_t>(work.inside[static_cast<std::size_t>(first)].vertex)] = -1;
    for (std::size_t i = 0; i < work.region.size(); ++i) {
        const int vertex = work.inside[static_cast<std::size_t>(work.region[i])].vertex;
        for (const int neighbour : a.surface().ring(vertex)) {
            int& at = work.place[static_cast<std::size_t>(neighbour)];
            if (at >= 0) work.region.push_back(at);
            at = -1;
        }
    }
}

/// How far all vertices of the region must go along `way` to be out.
double distance_out(const FeatureView& a, const FeatureView& b, const Vec3& way, double slack, double enough,
                    const DetectWork& work)
{
    double most = 0.0;
    for (const int i : work.region) {
        const Vec3 x = a.at(work.inside[static_cast<std::size_t>(i)].vertex, 0.0);
        const auto exit = exit_along(b, x, way, far_out(b), slack);
        if (exit) most = std::max(most, exit->distance);
        if (most >= enough) break;
    }
    return most;
}

/// Of the ways of the vertices in the region (work.found from `first` on), and their mean, the one on which all of it
/// is out soonest.
Vec3 common_way(const FeatureView& a, const FeatureView& b, double slack, std::size_t first,
                const DetectWork& work)
{
    Vec3 best = Vec3::Zero();
    for (std::size_t i = first; i < work.found.size(); ++i) best += work.found[i].contact.normal;
    best = best.stableNormalized();
    double least = distance_out(a, b, best, slack, std::numeric_limits<double>::infinity(), work);

    std::array<Vec3, most_tries> tried;
    auto end = tried.begin();
    for (std::size_t i = first; i < work.found.size() && end != tried.end(); ++i) {
        const Vec3& way = work.found[i].contact.normal;
        if (std::any_of(tried.begin(), end,
                        [&](const Vec3& other) { return other.dot(way) > same_direction; }))
            continue;
        *end++ = way;
        const double distance = distance_out(a, b, way, slack, least, work);
        if (distance >= least) continue;
        least = distance;
        best = way;
    }
    return best;
}

/// Adds the contacts of work.region.
void leave_region(const FeatureView& a, const FeatureView& b, double slack, DetectWork& work)
{
    const double thickness = a.surface().thickness + b.surface().thickness;
    const std::size_t first = work.found.size();
    Box3 box;
    double depth = 0.0;
    for (const int i : work.region) {
        const DetectWork::Inside& at = work.inside[static_cast<std::size_t>(i)];
        const Vec3 x = a.at(at.vertex, 0.0);
        const Leaving leaving = leave_by_face(b, x, work.way_out.col(at.vertex), at.closest, slack);
        add_leaving(a, at.vertex, leaving, thickness, work);
        box.extend(x);
        depth = std::max(depth, leaving.depth);
    }
    if (work.region.size() < 2 || depth < deep * box.diagonal().norm()) return;
    const Vec3 way = common_way(a, b, slack, first, work);
    if (way.isZero(0.0)) return;
    work.found.resize(first);
    for (const int i : work.region) {
        const DetectWork::Inside& at = work.inside[static_cast<std::size_t>(i)];
        add_leaving(a, at.vertex, leave_straight(b, a.at(at.vertex, 0.0), way, at.closest, slack), thickness,
                    work);
    }
}

} // namespace

ContactSide side_at_vertex(const FeatureView& view, int vertex)
{
    const int triangle = view.surface().fan(vertex).front();
    const auto corners = view.surface().triangles.col(triangle);
    const int k = corners[0] == vertex ? 0 : corners[1] == vertex ? 1 : 2;
    return {triangle, Vec3::Unit(k), view.at(vertex, 0.0)};
}

ContactSide side_on_edge(const FeatureView& view, int edge, double s)
{
    const CollisionEdge& at = view.surface().edges[static_cast<std::size_t>(edge)];
    const int triangle = at.triangles[0];
    const auto corners = view.surface().triangles.col(triangle);
    ContactSide side{triangle, Vec3::Zero(), (1.0 - s) * view.at(at.a, 0.0) + s * view.at(at.b, 0.0)};
    side.weights[corners[0] == at.a ? 0 : corners[1] == at.a ? 1 : 2] = 1.0 - s;
    side.weights[corners[0] == at.b ? 0 : corners[1] == at.b ? 1 : 2] = s;
    return side;
}

ContactSide side_in_triangle(const FeatureView& view, int triangle, const Vec3& weights)
{
    const auto v = view.surface().triangles.col(triangle);
    return {triangle, weights,
            weights[0] * view.at(v[0], 0.0) + weights[1] * view.at(v[1], 0.0) +
                weights[2] * view.at(v[2], 0.0)};
}

std::uint64_t vertex_key(int vertex, int which)
{
    return (static_cast<std::uint64_t>(which) << 32) | static_cast<std::uint32_t>(vertex);
}

std::uint64_t edges_key(int edge_a, int edge_b)
{
    return (static_cast<std::uint64_t>(edge_a) << 32) | static_cast<std::uint32_t>(edge_b);
}

SurfaceContact edge_contact(const FeatureView& a, int edge_a, const FeatureView& b, int edge_b, double s,
                            double t)
{
    SurfaceContact out;
    out.kind = ContactKind::EdgeEdge;
    out.a = side_on_edge(a, edge_a, s);
    out.b = side_on_edge(b, edge_b, t);
    out.key = edges_key(edge_a, edge_b);
    return out;
}

void leave_overlap(const FeatureView& a, const FeatureView& b, const std::vector<char>& inside,
                   const DetectOptions& options, DetectWork& work)
{
    if (work.inside.empty()) return;
    const double slack = 1e-3 * options.margin;
    const auto vertices = a.surface().vertex_count();
    if (work.way_out.cols() < vertices) {
        work.way_out.resize(3, vertices);
        work.next_way_out.resize(3, vertices);
    }
    work.place.assign(static_cast<std::size_t>(vertices), -1);
    for (std::size_t i = 0; i < work.inside.size(); ++i) {
        const DetectWork::Inside& at = work.inside[i];
        work.place[static_cast<std::size_t>(at.vertex)] = static_cast<int>(i);
        work.way_out.col(at.vertex) = way_along_edges(a, b, at, inside, slack).stableNormalized();
    }
    follow_neighbours(a, inside, work);
    for (std::size_t i = 0; i < work.inside.size(); ++i) {
        if (work.place[static_cast<std::size_t>(work.inside[i].vertex)] < 0) continue;
        collect_region(a, static_cast<int>(i), work);
        leave_region(a, b, slack, work);
    }
}

/// Whether a point is inside, and about as deep as a way out of that length says.
static bool is_deep_in(const FeatureView& surface, const Vec3& x, double way)
{
    const auto closest = closest_point(surface.swept, x);
    return closest && closest->distance >= shallow * way && inside(surface.swept, x, *closest);
}

/// Takes away crossings that disagree with vertices that leave; without those, with the shallowest crossing.
static void keep_agreeing(DetectWork& work)
{
    const bool any = std::ranges::any_of(work.found, [](const auto& at) { return at.contact.gap < 0.0; });
    const auto shallowest = std::ranges::max_element(work.crossings, {}, &SurfaceContact::gap);
    const Vec3 way = shallowest != work.crossings.end() ? shallowest->normal : Vec3::Zero();
    std::erase_if(work.crossings, [&](const SurfaceContact& crossing) {
        if (!any) return crossing.normal.dot(way) < agreeing;
        return std::ranges::none_of(work.found, [&](const auto& at) {
            return at.contact.gap < 0.0 && at.contact.normal.dot(crossing.normal) > agreeing;
        });
    });
}

void part_crossing_edges(const FeatureView& a, const FeatureView& b, const DetectOptions& options,
                         DetectWork& work)
{
    const double thickness = a.surface().thickness + b.surface().thickness;
    work.crossings.clear();
    for (const int i : work.through_a)
        for (const int j : work.through_b) {
            const auto p = a.ends(i);
            const auto q = b.ends(j);
            const Vec3 u = p[1].x - p[0].x, v = q[1].x - q[0].x;
            Vec3 n = u.cross(v);
            if (!(n.norm() > parallel_sine * u.norm() * v.norm())) continue;
            n.normalize();
            if (n.dot(b.edge_outward(j, 0.0)) < 0.0) n = -n;
            if (!b.edge_faces(j, n, 0.0) || !a.edge_faces(i, -n, 0.0) || n.dot(a.edge_outward(i, 0.0)) >= 0.0)
                continue;
            const SegmentPair at = closest_on_segments(p[0].x, p[1].x, q[0].x, q[1].x);
            if (std::min(at.s, at.t) < at_the_end || std::max(at.s, at.t) > 1.0 - at_the_end) continue;
            SurfaceContact contact = edge_contact(a, i, b, j, at.s, at.t);
            contact.normal = n;
            contact.gap = n.dot(contact.a.point - contact.b.point) - thickness;
            if (contact.gap >= 0.0) continue;
            // edges on far sides of bodies that just touch elsewhere pierce them too, but are not each other's business
            const double way = -contact.gap - thickness;
            if (way < options.margin ||
                (is_deep_in(b, contact.a.point, way) && is_deep_in(a, contact.b.point, way)))
                work.crossings.push_back(contact);
        }
    keep_agreeing(work);
    for (const SurfaceContact& crossing : work.crossings) work.found.push_back({.contact = crossing});
}

} // namespace lithe
