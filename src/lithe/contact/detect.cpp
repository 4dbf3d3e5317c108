#include "lithe/contact/detect.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/contact/overlap.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/box.hpp"
#include "lithe/geometry/ray.hpp"

namespace lithe {
namespace {

using Kind = Approach::Kind;

constexpr double touch_share = 1e-3;    ///< of the margin: so near is touching
constexpr double no_direction = 1e-3;   ///< of that: so near, the offset has no direction
constexpr double same_direction = 0.94; ///< cosine: two contacts of one vertex with such normals are one
constexpr double weak_direction = 0.5;  ///< cosine: a contact that is not sure may follow such a normal
constexpr double soon = 4.0;            ///< of the reach: what is farther away is not near soon
constexpr int most_at_vertex = 3;
constexpr double parallel_sine = 1e-3;
constexpr double at_the_end = 1e-6;
constexpr Index pairs_in_block = 8;

template <class MovingPoints>
Box3 way_of(const MovingPoints& points)
{
    Box3 box;
    for (const MovingPoint& p : points) {
        box.extend(p.x);
        box.extend(p.at(1.0));
    }
    return box;
}

/// The contacts of one pair. In the vertices' pass `a` has the vertices and `b` the triangles, whichever body they are.
class PairDetector {
public:
    /// `until` of the vertices of a, as in PairClearance; may be empty.
    PairDetector(const FeatureView& a, const FeatureView& b, const DetectOptions& options, DetectWork& work,
                 NearFeatures& near, std::span<double> until)
        : a_(a), b_(b), options_(options), work_(work), near_(near), until_(until),
          travel_(a.swept.travel() + b.swept.travel()), self_(&a.swept == &b.swept)
    {
        const double thickness = a.surface().thickness + b.surface().thickness;
        limits_ = {thickness + options.margin, thickness, touch_share * options.margin};
    }

    /// Vertices of a against triangles of b; vertices that are inside are marked and left to leave_overlap. Around these, some may
    /// be so deep inside that they are not near.
    void meet_triangles(std::vector<char>& inside)
    {
        inside.assign(static_cast<std::size_t>(a_.surface().vertex_count()), 0);
        work_.inside.clear();
        for (std::size_t i = 0; i < near_.vertices.size(); ++i) {
            const int v = near_.vertices[i];
            const MovingPoint p = a_.point(v);
            if (stays_clear(v, p)) continue;
            const Box3 way = widened(way_of(std::array{p}), limits_.reach);
            if (!b_.swept.tree().box().intersects(way)) continue;
            if (is_inside(v, p.x)) {
                inside[static_cast<std::size_t>(v)] = 1;
                for (const int j : a_.surface().ring(v)) add_vertex(j, near_);
                continue;
            }
            if (clearance(v) > way_to(p)) continue;
            work_.at_vertex.clear();
            for (const int t : near_.across_vertex(a_.surface(), v))
                if (way.intersects(b_.swept.box(t)) && !plane_parts(p, t)) meet_triangle(v, p, t);
            keep_of_vertex(v);
        }
        if (!self_) leave_overlap(a_, b_, inside, options_, work_);
    }

    /// Edges of a against those of b that may be near.
    void meet_edges(const NearFeatures& near_b)
    {
        work_.near_edges.resize(std::max(work_.near_edges.size(), b_.surface().edges.size()));
        for (const int j : near_b.edges) {
            if (!b_.surface().edges[static_cast<std::size_t>(j)].sharp) continue;
            const auto ends = b_.ends(j);
            near_edge(j) = {ends, around(way_of(ends)), b_.wedge(j)};
        }
        for (const int i : near_.edges) {
            if (!a_.surface().edges[static_cast<std::size_t>(i)].sharp) continue;
            const std::span<const int> across = near_.across_edge(a_.surface(), i);
            if (across.empty()) continue;
            const auto ends = a_.ends(i);
            if (edge_stays_clear(i, ends)) continue;
            const FloatBox way = around(widened(way_of(ends), limits_.reach));
            const FeatureView::Wedge wedge = a_.wedge(i);
            for (const int t : across)
                for (const int j : b_.surface().triangle_edges.col(t))
                    if (j >= 0 && owns(t, j) && meet(way, near_edge(j).way) &&
                        may_touch(wedge, near_edge(j).wedge))
                        meet_edge(i, ends, j);
        }
    }

private:
    /// At least so far from b is a vertex at the start; not known when below zero.
    double clearance(int vertex) const
    {
        return until_.empty() ? 0.0 : until_[static_cast<std::size_t>(vertex)] - travel_;
    }
    /// How near a vertex must be at the start to come near b in this step.
    double way_to(const MovingPoint& p) const { return limits_.reach + p.dx.norm() + b_.swept.stir(); }
    /// Whether a vertex cannot, by what is known of it or by the box around b.
    bool stays_clear(int vertex, const MovingPoint& p)
    {
        if (until_.empty()) return false;
        double& until = until_[static_cast<std::size_t>(vertex)];
        if (travel_ >= until)
            until = travel_ + b_.swept.start_box().exteriorDistance(p.x) - 2.0 * limits_.tolerance;
        return until - travel_ > way_to(p);
    }
    /// Whether an edge cannot, by what is known of its ends: balls around them hold it.
    bool edge_stays_clear(int i, const std::array<MovingPoint, 2>& ends) const
    {
        const CollisionEdge& edge = a_.surface().edges[static_cast<std::size_t>(i)];
        const double at_start =
            0.5 * (clearance(edge.a) + clearance(edge.b) - (ends[1].x - ends[0].x).norm());
        return at_start > std::max(way_to(ends[0]), way_to(ends[1]));
    }

    DetectWork::NearEdge& near_edge(int j) { return work_.near_edges[static_cast<std::size_t>(j)]; }
    /// Each edge is looked at from one of its triangles.
    bool owns(int triangle, int edge) const
    {
        const CollisionEdge& at = b_.surface().edges[static_cast<std::size_t>(edge)];
        return at.sharp && at.triangles[0] == triangle;
    }

    /// So near to the surface that rounding would decide counts as inside. What is outside is asked how far from the surface it is
    /// only as long as that matters soon.
    bool is_inside(int vertex, const Vec3& x)
    {
        if (self_ || !b_.surface().closed) return false;
        if (!widened(b_.swept.start_box(), limits_.tolerance).contains(x)) return false;
        const auto v = static_cast<std::size_t>(vertex);
        if (!until_.empty() && travel_ < until_[v]) return false;
        const double far = soon * limits_.reach;
        auto closest = closest_point(b_.swept, x, far);
        if (!closest && encloses(b_.swept, x)) closest = closest_point(b_.swept, x);
        if (closest && (closest->distance <= limits_.tolerance || inside(b_.swept, x, *closest))) {
            work_.inside.push_back({vertex, *closest});
            return true;
        }
        if (!until_.empty())
            until_[v] = travel_ + (closest ? closest->distance : far) - 2.0 * limits_.tolerance;
        return false;
    }

    /// Whether the plane of a triangle keeps a vertex out of reach.
    bool plane_parts(const MovingPoint& p, int triangle) const
    {
        const SweptSurface::Slab& slab = b_.swept.slab(triangle);
        const double from = slab.normal.dot(p.x), to = from + slab.normal.dot(p.dx);
        return slab.misses(std::min(from, to), std::max(from, to), limits_.reach);
    }

    bool near_at_rest(const Vec3& offset) const { return offset.norm() < options_.self_distance; }

    /// Of one surface: vertices of the triangle or beside it, and those that were near it at rest, do not meet it.
    bool belongs_together(int vertex, int triangle) const
    {
        const CollisionSurface& surface = a_.surface();
        const Eigen::Vector3i corner = surface.triangles.col(triangle);
        for (const int v : corner)
            if (v == vertex || std::ranges::count(surface.ring(vertex), v)) return true;
        const Vec3 X = surface.rest.col(vertex);
        return near_at_rest(X - closest_point_on_triangle(X, surface.rest.col(corner[0]),
                                                          surface.rest.col(corner[1]),
                                                          surface.rest.col(corner[2]))
                                    .point);
    }

    bool edges_belong_together(int i, int j) const
    {
        const CollisionSurface& surface = a_.surface();
        const CollisionEdge &p = surface.edges[static_cast<std::size_t>(i)],
                            &q = surface.edges[static_cast<std::size_t>(j)];
        for (const int v : {p.a, p.b})
            for (const int w : {q.a, q.b})
                if (v == w || std::ranges::count(surface.ring(v), w)) return true;
        const Vec3 a0 = surface.rest.col(p.a), a1 = surface.rest.col(p.b);
        const Vec3 b0 = surface.rest.col(q.a), b1 = surface.rest.col(q.b);
        const SegmentPair at = closest_on_segments(a0, a1, b0, b1);
        return near_at_rest((a0 + at.s * (a1 - a0)) - (b0 + at.t * (b1 - b0)));
    }

    /// Out of a face that the vertex touches so closely that rounding would decide; an open surface turns it against
    /// the motion.
    Vec3 touching_normal(int triangle, const Approach& at) const
    {
        const Vec3 n = b_.normal(triangle, at.time);
        return !b_.surface().closed && n.dot(at.motion) > 0.0 ? Vec3(-n) : n;
    }

    void meet_triangle(int vertex, const MovingPoint& p, int triangle)
    {
        if (self_ && belongs_together(vertex, triangle)) return;
        Approach at = approach(p, b_.corners(triangle), limits_);
        if (at.kind == Kind::Clear) return;
        const double distance = at.offset.norm();
        const bool has_direction = distance > no_direction * limits_.tolerance;
        Vec3 n = has_direction ? Vec3(at.offset / distance) : touching_normal(triangle, at);
        if (self_ && at.time == 0.0 && !b_.faces(triangle, at.weights_b, n, 0.0)) {
            n = -n; // far apart at rest and so near now, on the wrong side: it went through
            at.kind = Kind::Touches;
        }
        if (!b_.faces(triangle, at.weights_b, n, at.time)) return;
        const bool sure = a_.vertex_faces(vertex, -n, at.time);
        if (!sure && (at.kind == Kind::Passes || !has_direction)) return;

        DetectWork::Found found;
        found.contact.a = side_at_vertex(a_, vertex);
        found.contact.b = side_in_triangle(b_, triangle, at.weights_b);
        set_normal(found.contact, n, at);
        found.touches = at.kind == Kind::Touches;
        found.sure = sure;
        work_.at_vertex.push_back(found);
    }

    /// The gap at the start; of those that only pass never so small that their predicted motion would be hindered.
    void set_normal(SurfaceContact& contact, const Vec3& n, const Approach& at) const
    {
        contact.normal = n;
        contact.time = at.time;
        contact.gap = n.dot(contact.a.point - contact.b.point) - limits_.thickness;
        if (at.kind == Kind::Passes) contact.gap = std::max(contact.gap, -n.dot(at.motion));
    }

    /// Of one vertex: what touches first, then what touches or passes in other directions.
    void keep_of_vertex(int vertex)
    {
        std::ranges::sort(work_.at_vertex, [](const DetectWork::Found& p, const DetectWork::Found& q) {
            if (p.touches != q.touches) return p.touches;
            if (p.sure != q.sure) return p.sure;
            if (p.contact.time != q.contact.time) return p.contact.time < q.contact.time;
            if (p.contact.gap != q.contact.gap) return p.contact.gap < q.contact.gap;
            return p.contact.b.triangle < q.contact.b.triangle;
        });
        const std::size_t first = work_.found.size();
        for (DetectWork::Found& at : work_.at_vertex) {
            const auto same = [&](const DetectWork::Found& other) {
                return other.contact.normal.dot(at.contact.normal) > same_direction;
            };
            if (std::any_of(work_.found.begin() + static_cast<std::ptrdiff_t>(first), work_.found.end(),
                            same))
                continue;
            const auto which = static_cast<int>(work_.found.size() - first);
            if (which == most_at_vertex) return;
            at.contact.key = vertex_key(vertex, which);
            work_.found.push_back(at);
        }
    }

    void meet_edge(int i, const std::array<MovingPoint, 2>& ends, int j)
    {
        if (self_ && (j <= i || edges_belong_together(i, j))) return;
        const auto& others = near_edge(j).ends;
        const Approach at = approach(ends, others, limits_);
        if (at.kind == Kind::Clear) return;
        const double s = at.weights_a[1], t = at.weights_b[1];
        if (std::min(s, t) < at_the_end || std::max(s, t) > 1.0 - at_the_end) return; // a matter of vertices
        const Vec3 u = ends[1].at(at.time) - ends[0].at(at.time),
                   v = others[1].at(at.time) - others[0].at(at.time), across = u.cross(v);
        if (!(across.norm() > parallel_sine * u.norm() * v.norm())) return;

        const double distance = at.offset.norm();
        Vec3 n = at.offset / distance;
        if (!(distance > no_direction * limits_.tolerance)) {
            n = across.normalized();
            const Vec3 out = b_.surface().closed ? b_.edge_outward(j, at.time) : Vec3(-at.motion);
            if (n.dot(out) < 0.0) n = -n;
        }
        if (!edge_faces(b_, j, n, at.time) || !edge_faces(a_, i, -n, at.time)) return;
        DetectWork::Found found;
        found.contact = edge_contact(a_, i, b_, j, s, t);
        set_normal(found.contact, n, at);
        found.touches = at.kind == Kind::Touches;
        work_.found.push_back(found);
    }

    static bool edge_faces(const FeatureView& view, int edge, const Vec3& n, double s)
    {
        return view.edge_faces(edge, n, s) &&
               (!view.surface().closed || view.edge_outward(edge, s).dot(n) > 0.0);
    }

    FeatureView a_, b_;
    const DetectOptions& options_;
    DetectWork& work_;
    NearFeatures& near_; ///< of a
    std::span<double> until_;
    double travel_; ///< of both surfaces
    bool self_;
    ApproachLimits limits_;
};

/// Seen from a's side as from b's.
void swap_sides(SurfaceContact& contact)
{
    std::swap(contact.a, contact.b);
    contact.normal = -contact.normal;
    contact.kind = ContactKind::TriangleVertex;
}

/// Whether the segment from x to y goes through one of these triangles at the start.
bool pierces(const Vec3& x, const Vec3& y, const FeatureView& surface, std::span<const int> triangles)
{
    const Points& points = surface.swept.start;
    return std::ranges::any_of(triangles, [&](int t) {
        const SweptSurface::Slab& slab = surface.swept.slab(t);
        const auto v = surface.surface().triangles.col(t);
        const Vec3 corner = points.col(v[0]);
        if (slab.normal.dot(x - corner) * slab.normal.dot(y - corner) > 0.0) return false;
        const auto hit = hit_triangle({x, y - x}, corner, points.col(v[1]), points.col(v[2]));
        return hit && hit->t >= 0.0 && hit->t <= 1.0;
    });
}

/// Sharp edges of `a`, of those that may be near, that pierce `b`. `until` of the vertices of a, as in PairClearance; may be empty.
void find_through(const FeatureView& a, const FeatureView& b, const NearFeatures& near,
                  const std::vector<char>& inside, std::span<const double> until, std::vector<int>& through)
{
    through.clear();
    if (!b.surface().closed) return;
    const double travel = a.swept.travel() + b.swept.travel();
    const auto clearance = [&](int vertex) {
        return until.empty() ? 0.0 : until[static_cast<std::size_t>(vertex)] - travel;
    };
    for (const int i : near.edges) {
        const CollisionEdge& edge = a.surface().edges[static_cast<std::size_t>(i)];
        if (!edge.sharp) continue;
        if (inside[static_cast<std::size_t>(edge.a)] && inside[static_cast<std::size_t>(edge.b)]) continue;
        const Vec3 x = a.at(edge.a, 0.0), y = a.at(edge.b, 0.0);
        if (clearance(edge.a) + clearance(edge.b) > (y - x).norm()) continue;
        if (pierces(x, y, b, near.across_edge(a.surface(), i))) through.push_back(i);
    }
}

/// A vertex that would touch only after others around it have is not sure of its normal: it takes that of the sure
/// contact which is nearest to its own. Without a sure one the first to touch is.
void settle_directions(double thickness, DetectWork& work)
{
    const auto is_sure = [](const DetectWork::Found& at) { return at.sure && at.touches; };
    if (std::ranges::all_of(work.found, &DetectWork::Found::sure)) return;
    if (std::ranges::none_of(work.found, is_sure)) {
        const auto first = std::ranges::min_element(work.found, [](const auto& p, const auto& q) {
            return std::pair(!p.touches, p.contact.time) < std::pair(!q.touches, q.contact.time);
        });
        if (first->touches) first->sure = true;
    }
    for (DetectWork::Found& at : work.found) {
        if (at.sure) continue;
        double best = weak_direction;
        Vec3 n = Vec3::Zero();
        for (const DetectWork::Found& other : work.found) {
            const double cosine = other.contact.normal.dot(at.contact.normal);
            if (!is_sure(other) || cosine <= best) continue;
            best = cosine;
            n = other.contact.normal;
        }
        at.contact.normal = n;
        at.contact.gap = n.dot(at.contact.a.point - at.contact.b.point) - thickness;
        at.touches = !n.isZero(0.0) && at.contact.gap > 0.0;
    }
    std::erase_if(work.found, [](const DetectWork::Found& at) { return !at.sure && !at.touches; });
}

/// Puts what was found behind `out`, with keys that tell kinds and pairs apart, and reduces it.
void finish(std::uint64_t pair, const DetectOptions& options, DetectWork& work,
            std::vector<SurfaceContact>& out)
{
    const std::size_t first = out.size();
    for (const DetectWork::Found& at : work.found) {
        out.push_back(at.contact);
        SurfaceContact& contact = out.back();
        contact.key = pair_key(pair_key(pair, static_cast<std::uint64_t>(contact.kind)), contact.key);
    }
    reduce_contacts(options.reduce, first, work, out);
}

/// Forgets what is known of other surfaces.
void prepare(const SweptSurface& a, const SweptSurface& b, PairClearance& clearance)
{
    if (clearance.id_a == a.id() && clearance.id_b == b.id()) return;
    clearance.id_a = a.id();
    clearance.id_b = b.id();
    clearance.travel = -1.0;
    clearance.until_a.assign(static_cast<std::size_t>(a.surface().vertex_count()), 0.0);
    clearance.until_b.assign(static_cast<std::size_t>(b.surface().vertex_count()), 0.0);
}

} // namespace

std::uint64_t pair_key(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// How near two surfaces have to come for a contact. [m]
static double reach_of(const SweptSurface& a, const SweptSurface& b, const DetectOptions& options)
{
    LITHE_ASSERT(options.margin > 0.0);
    return a.surface().thickness + b.surface().thickness + options.margin;
}

/// `near`: what they have near each other.
static void detect_contacts(const SweptSurface& a, const SweptSurface& b, NearPair& near, std::uint64_t pair,
                            const DetectOptions& options, DetectWork& work, std::vector<SurfaceContact>& out,
                            PairClearance* clearance)
{
    if (clearance) prepare(a, b, *clearance);
    const std::span<double> until_a = clearance ? std::span(clearance->until_a) : std::span<double>(),
                            until_b = clearance ? std::span(clearance->until_b) : std::span<double>();
    const FeatureView a_from_b{a, b.drift()}, b_from_b{b, b.drift()}; // where b hardly moves
    const FeatureView a_from_a{a, a.drift()}, b_from_a{b, a.drift()};
    work.found.clear();
    if (near.a.vertices.empty() && near.b.vertices.empty()) return;
    PairDetector(b_from_a, a_from_a, options, work, near.b, until_b).meet_triangles(work.inside_b);
    for (DetectWork::Found& at : work.found) swap_sides(at.contact);
    PairDetector detector(a_from_b, b_from_b, options, work, near.a, until_a);
    detector.meet_triangles(work.inside_a);
    detector.meet_edges(near.b);
    if (a.start_box().intersects(b.start_box())) {
        const double travel = a.travel() + b.travel();
        if (clearance && clearance->travel == travel) { // of an earlier look at the same start
            work.through_a = clearance->through_a;
            work.through_b = clearance->through_b;
        } else {
            work.through_b.clear();
            find_through(a_from_b, b_from_b, near.a, work.inside_a, until_a, work.through_a);
            if (!work.through_a.empty())
                find_through(b_from_b, a_from_b, near.b, work.inside_b, until_b, work.through_b);
            if (clearance) {
                clearance->travel = travel;
                clearance->through_a = work.through_a;
                clearance->through_b = work.through_b;
            }
        }
        if (!work.through_a.empty()) part_crossing_edges(a_from_b, b_from_b, options, work);
    }
    settle_directions(a.surface().thickness + b.surface().thickness, work);
    finish(pair, options, work, out);
}

static void detect_self_contacts(const SweptSurface& surface, NearPair& near, std::uint64_t pair,
                                 const DetectOptions& options, DetectWork& work,
                                 std::vector<SurfaceContact>& out)
{
    const FeatureView view{surface, surface.drift()};
    work.found.clear();
    PairDetector detector(view, view, options, work, near.a, {});
    detector.meet_triangles(work.inside_a);
    detector.meet_edges(near.b);
    settle_directions(2.0 * surface.surface().thickness, work);
    finish(pair, options, work, out);
}

void detect_contacts(const SweptSurface& a, const SweptSurface& b, std::uint64_t pair,
                     const DetectOptions& options, DetectWork& work, std::vector<SurfaceContact>& out,
                     PairClearance* clearance)
{
    find_near(a, b, reach_of(a, b, options), work.near);
    detect_contacts(a, b, work.near, pair, options, work, out, clearance);
}

void detect_self_contacts(const SweptSurface& surface, std::uint64_t pair, const DetectOptions& options,
                          DetectWork& work, std::vector<SurfaceContact>& out)
{
    find_near(surface, surface, reach_of(surface, surface, options), work.near);
    detect_self_contacts(surface, work.near, pair, options, work, out);
}

static void detect_contacts(const SurfacePair& pair, DetectOptions options, DetectWork& work,
                            std::vector<SurfaceContact>& out, PairClearance* clearance)
{
    options.reduce.most = pair.most;
    if (!pair.b) return detect_contacts(*pair.a, *pair.obstacle, pair.key, options, work, out);
    if (!pair.near) find_near(*pair.a, *pair.b, reach_of(*pair.a, *pair.b, options), work.near);
    NearPair& near = pair.near ? *pair.near : work.near;
    if (pair.a == pair.b)
        detect_self_contacts(*pair.a, near, pair.key, options, work, out);
    else
        detect_contacts(*pair.a, *pair.b, near, pair.key, options, work, out, clearance);
}

/// Finds what is known of each pair, and forgets pairs that are long gone.
static void find_clearances(std::span<const SurfacePair> pairs, DetectManyWork& work)
{
    ++work.call;
    work.clearance.clear();
    for (const SurfacePair& pair : pairs) {
        const bool two = pair.b && pair.a != pair.b;
        work.clearance.push_back(two ? &work.clearances[pair.key] : nullptr);
        if (two) work.clearance.back()->call = work.call;
    }
    if (work.clearances.size() > 4 * pairs.size() + 256)
        std::erase_if(work.clearances, [&](const auto& known) { return known.second.call != work.call; });
}

void detect_contacts(std::span<const SurfacePair> pairs, const DetectOptions& options, DetectManyWork& work,
                     ContactSet& out)
{
    const auto count = static_cast<Index>(pairs.size());
    const auto blocks = static_cast<std::size_t>((count + pairs_in_block - 1) / pairs_in_block);
    if (work.blocks.size() < blocks) {
        work.blocks.resize(blocks);
        work.found.resize(blocks);
    }
    work.counts.resize(pairs.size());
    find_clearances(pairs, work);
    parallel_blocks(count, pairs_in_block, [&](Index begin, Index end) {
        const auto block = static_cast<std::size_t>(begin / pairs_in_block);
        std::vector<SurfaceContact>& found = work.found[block];
        found.clear();
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const std::size_t before = found.size();
            detect_contacts(pairs[i], options, work.blocks[block], found, work.clearance[i]);
            work.counts[i] = static_cast<int>(found.size() - before);
        }
    });
    out.contacts.clear();
    out.start.assign(1, 0);
    for (std::size_t i = 0; i < pairs.size(); ++i) out.start.push_back(out.start.back() + work.counts[i]);
    for (std::size_t block = 0; block < blocks; ++block)
        out.contacts.insert(out.contacts.end(), work.found[block].begin(), work.found[block].end());
}

} // namespace lithe
