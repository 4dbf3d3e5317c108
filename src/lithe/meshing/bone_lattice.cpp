#include "lithe/meshing/bone_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/meshing/body_cells.hpp"
#include "lithe/meshing/point_tets.hpp"

namespace lithe {
namespace {

constexpr double off_surface = 0.4; ///< of the spacing of the outer vertices: how far they are from the body
constexpr double least_spacing = 0.02; ///< of the body's size, where bones come near the surface
constexpr double touching = 1e-4;      ///< of the body's size: bones that come so near without sharing an end
constexpr double least_angle = 0.02;   ///< between bones of one joint [rad]
constexpr double clearance = 0.002;    ///< of the body's size: the body is at least so far inside
constexpr Index least_candidates = 1200; ///< for outer vertices, at least
constexpr double least_shape = 0.01; ///< six volumes over the longest edge cubed, of a tet that is not flat
constexpr int most_moves = 40;       ///< of outer vertices of flat tets
constexpr int most_splits = 64;      ///< pieces of one bone

/// What is measured once: the body, its bones, and candidates for outer vertices in the order in which they are taken.
struct Surroundings {
    const TriangleMesh& body;
    const std::vector<BoneLine>& bones;
    SurfaceQuery query;
    Points normals; ///< of the body's vertices
    Box3 box;       ///< of body and bones
    double size;    ///< of the box
};

// ---- bones

Vec3 closest_on_line(const Vec3& p, const Vec3& a, const Vec3& b)
{
    const Vec3 ab = b - a;
    const double s = std::clamp((p - a).dot(ab) / ab.squaredNorm(), 0.0, 1.0);
    return a + s * ab;
}

double distance_to_bones(const Vec3& p, const std::vector<BoneLine>& bones)
{
    double nearest = std::numeric_limits<double>::infinity();
    for (const BoneLine& bone : bones)
        nearest = std::min(nearest, (p - closest_on_line(p, bone.head, bone.tail)).norm());
    return nearest;
}

/// The least distance of two lines, by alternating projections from both ends and the middle: lines are convex.
double line_distance(const BoneLine& p, const BoneLine& q)
{
    const auto descended = [&](Vec3 x) {
        Vec3 y = x;
        for (int k = 0; k < 200; ++k) {
            y = closest_on_line(x, q.head, q.tail);
            x = closest_on_line(y, p.head, p.tail);
        }
        return (x - y).norm();
    };
    return descended(0.5 * (p.head + p.tail));
}

/// Whether two bones that share the end `at` leave it in one direction.
bool fold(const Vec3& at, const Vec3& p, const Vec3& q)
{
    const Vec3 a = (p - at).normalized(), b = (q - at).normalized();
    return a.dot(b) > 0.0 && a.cross(b).norm() < std::sin(least_angle);
}

/// Why bones p and q cannot both be edges; empty: they can.
std::string conflict(const BoneLine& p, const BoneLine& q, double near)
{
    for (const auto& [end, other] : {std::pair(p.head, p.tail), std::pair(p.tail, p.head)})
        for (const auto& [mate, far] : {std::pair(q.head, q.tail), std::pair(q.tail, q.head)})
            if ((end - mate).norm() < near)
                return fold(end, other, far)
                           ? fmt::format("bones '{}' and '{}' lie on each other", p.name, q.name)
                           : "";
    if (line_distance(p, q) < near) return fmt::format("bones '{}' and '{}' cross or touch", p.name, q.name);
    return "";
}

std::string first_conflict(const std::vector<BoneLine>& bones, double near)
{
    for (std::size_t i = 0; i < bones.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (std::string text = conflict(bones[j], bones[i], near); !text.empty()) return text;
    return "";
}

// ---- outer vertices

/// Points of the body's surface, each the one that is farthest from those before it in units of its own spacing.
struct OuterOrder {
    std::vector<int> vertices; ///< of the body
    std::vector<double> reach; ///< the distance in these units when it was taken
};

double spacing_unit(const Surroundings& at, const Vec3& p)
{
    return std::max(distance_to_bones(p, at.bones), least_spacing * at.size);
}

OuterOrder farthest_first(const Surroundings& at, Index count)
{
    const Index n = at.body.vertex_count();
    VecX unit(n);
    parallel_for(n, 64, [&](Index v) { unit[v] = spacing_unit(at, at.body.vertices.col(v)); });
    VecX away = VecX::Constant(n, std::numeric_limits<double>::infinity());
    OuterOrder out;
    Index next = 0;
    (void)at.body.vertices.row(1).maxCoeff(&next); // the highest vertex comes first
    for (Index k = 0; k < std::min(count, n) && away[next] > 0.0; ++k) {
        out.vertices.push_back(static_cast<int>(next));
        out.reach.push_back(away[next]);
        const Vec3 p = at.body.vertices.col(next);
        parallel_for(n, 1024, [&](Index v) {
            away[v] = std::min(away[v], (at.body.vertices.col(v) - p).norm() / unit[v]);
        });
        (void)away.maxCoeff(&next);
    }
    return out;
}

/// From a point of the surface outward until it is `off` away, or as far as a narrow place lets it.
std::optional<Vec3> pushed_off(const Surroundings& at, Vec3 p, const Vec3& normal, double off)
{
    constexpr int steps = 6;
    Vec3 direction = normal;
    for (int k = 0; k < steps; ++k) {
        p += off / steps * direction;
        const ClosestPoint near = at.query.closest_point(p);
        if (near.distance > 0.1 * off / steps) direction = (p - near.point) / near.distance;
    }
    const double d = at.query.signed_distance(p);
    if (d < 0.35 * off) return std::nullopt;
    return p;
}

// ---- the lattice of so many outer vertices

struct Piece {
    int bone;
    int from, to; ///< vertices
};

/// The tets of some points, and the bones as pieces that are edges, or are to become them.
struct Draft {
    PointTets tets;
    std::vector<Piece> pieces; ///< those of a bone in a row, from head to tail
};

/// Where to split: in the middle, but next to a joint at distances that are the same for all of its bones, so that splitting one
/// does not make the others split for ever.
Vec3 split_point(const Vec3& a, const Vec3& b, bool a_is_joint, bool b_is_joint)
{
    if (a_is_joint == b_is_joint) return 0.5 * (a + b);
    const Vec3 joint = a_is_joint ? a : b, end = a_is_joint ? b : a;
    const double length = (b - a).norm();
    const double shell = std::exp2(std::round(std::log2(0.5 * length)));
    return joint + shell / length * (end - joint);
}

enum class Splitting { Done, Goes, Fails };

/// Splits the pieces that are no edges.
Splitting split_missing(Draft& draft, const std::vector<BoneLine>& bones)
{
    const auto edges = draft.tets.edges();
    const std::vector<Piece> old = std::exchange(draft.pieces, {});
    Splitting out = Splitting::Done;
    for (const Piece& piece : old) {
        const std::array<int, 2> edge = {std::min(piece.from, piece.to), std::max(piece.from, piece.to)};
        if (std::ranges::binary_search(edges, edge)) {
            draft.pieces.push_back(piece);
            continue;
        }
        const BoneLine& bone = bones[piece.bone];
        const Vec3 a = draft.tets.vertices()[piece.from], b = draft.tets.vertices()[piece.to];
        const std::optional<int> middle =
            draft.tets.insert(split_point(a, b, a == bone.head, b == bone.tail), PointTets::Wish::GoodShapes);
        if (!middle || *middle == piece.from || *middle == piece.to) return Splitting::Fails;
        draft.pieces.push_back({piece.bone, piece.from, *middle});
        draft.pieces.push_back({piece.bone, *middle, piece.to});
        out = Splitting::Goes;
    }
    return out;
}

bool make_edges(Draft& draft, const std::vector<BoneLine>& bones)
{
    const std::size_t most = most_splits * bones.size();
    Splitting state = Splitting::Goes;
    while (state == Splitting::Goes && draft.pieces.size() < most) state = split_missing(draft, bones);
    return state == Splitting::Done;
}

/// Of the body's vertices, moved out by `margin`, the one that sticks farthest out of the hull of the points; -1: none.
int sticking_out(const PointTets& tets, const Surroundings& at, const std::vector<int>& candidates,
                 double margin)
{
    int worst = -1;
    double farthest = 0.0;
    for (const int v : candidates) {
        const Vec3 p = at.body.vertices.col(v) + margin * at.normals.col(v);
        const std::array<int, 4> tet = tets.tet_at(p);
        if (std::ranges::min(tet) >= PointTets::far_vertices) continue;
        double nearest = std::numeric_limits<double>::infinity();
        for (const int c : tet) nearest = std::min(nearest, (tets.vertices()[c] - p).norm());
        if (nearest <= farthest) continue;
        farthest = nearest;
        worst = v;
    }
    return worst;
}

/// Outer vertices: the first `count` in their order, then more where the body, made thicker by `margin`, sticks out of the others.
std::vector<Vec3> outer_vertices(const Surroundings& at, const OuterOrder& order, std::size_t count,
                                 double margin)
{
    PointTets tets(at.box);
    const double reach = order.reach[std::min(count, order.reach.size() - 1)];
    const auto insert = [&](int v) {
        const Vec3 p = at.body.vertices.col(v);
        const double off = std::max(off_surface * reach * spacing_unit(at, p), 2.0 * margin);
        if (const auto pushed = pushed_off(at, p, at.normals.col(v), off))
            (void)tets.insert(*pushed, PointTets::Wish::Delaunay);
    };
    for (std::size_t k = 0; k < std::min(count, order.vertices.size()); ++k) insert(order.vertices[k]);
    std::vector<int> all(static_cast<std::size_t>(at.body.vertex_count()));
    std::iota(all.begin(), all.end(), 0);
    for (const std::vector<int>& candidates : {order.vertices, all})
        for (std::size_t before = 0; before != tets.vertices().size();) {
            before = tets.vertices().size();
            if (const int v = sticking_out(tets, at, candidates, margin); v >= 0) insert(v);
        }
    return {tets.vertices().begin() + PointTets::far_vertices, tets.vertices().end()};
}

/// Nothing when the bones cannot be made edges.
std::optional<Draft> drafted(const Surroundings& at, const std::vector<Vec3>& outer)
{
    Draft draft{PointTets(at.box), {}};
    for (const Vec3& p : outer) (void)draft.tets.insert(p, PointTets::Wish::Delaunay);
    for (int b = 0; b < static_cast<int>(at.bones.size()); ++b) {
        const auto from = draft.tets.insert(at.bones[b].head, PointTets::Wish::GoodShapes);
        const auto to = draft.tets.insert(at.bones[b].tail, PointTets::Wish::GoodShapes);
        if (!from || !to) return std::nullopt;
        draft.pieces.push_back({b, *from, *to});
    }
    if (!make_edges(draft, at.bones)) return std::nullopt;
    return draft;
}

ConvexCell cell_of(const Draft& draft, const std::array<int, 4>& v)
{
    const auto& x = draft.tets.vertices();
    return tet_cell(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
}

/// Of some tets, those that come near the body or hold a bone.
std::vector<std::array<int, 4>> kept(const Draft& draft, const Surroundings& at,
                                     const std::vector<std::array<int, 4>>& tets)
{
    std::vector<ConvexCell> cells;
    for (const auto& v : tets) cells.push_back(cell_of(draft, v));
    const std::vector<unsigned char> near = near_body(cells, at.query, clearance * at.size);

    std::set<std::array<int, 2>> bone_edges;
    for (const Piece& p : draft.pieces) bone_edges.insert({std::min(p.from, p.to), std::max(p.from, p.to)});
    const auto holds_bone = [&](const std::array<int, 4>& v) {
        for (const int a : v)
            for (const int b : v)
                if (a < b && bone_edges.contains({a, b})) return true;
        return false;
    };
    std::vector<std::array<int, 4>> out;
    for (std::size_t t = 0; t < tets.size(); ++t)
        if (near[t] || holds_bone(tets[t])) out.push_back(tets[t]);
    return out;
}

bool reaches_far(const std::vector<std::array<int, 4>>& tets)
{
    return std::ranges::any_of(tets,
                               [](const auto& v) { return std::ranges::min(v) < PointTets::far_vertices; });
}

// ---- flat tets

double shape(const Draft& draft, const std::array<int, 4>& v)
{
    const ConvexCell cell = cell_of(draft, v);
    double longest = 0.0;
    for (const Vec3& edge : cell.edges) longest = std::max(longest, edge.norm());
    const auto& x = cell.corners;
    return 6.0 * tet_volume(x[0], x[1], x[2], x[3]) / (longest * longest * longest);
}

/// 1 for the outer vertices that are on the hull of all.
std::vector<unsigned char> on_hull(const Draft& draft)
{
    std::vector<unsigned char> out(draft.tets.vertices().size(), 0);
    for (const auto& v : draft.tets.tets())
        if (std::ranges::min(v) < PointTets::far_vertices)
            for (const int c : v) out[static_cast<std::size_t>(c)] = 1;
    return out;
}

/// The tets of the lattice that are nearly flat and have an outer vertex, the flattest first.
std::vector<std::array<int, 4>> flat_tets(const Draft& draft, const Surroundings& at, int outer_count)
{
    std::vector<std::array<int, 4>> flat;
    for (const auto& v : draft.tets.tets())
        if (std::ranges::min(v) >= PointTets::far_vertices &&
            std::ranges::min(v) < PointTets::far_vertices + outer_count && shape(draft, v) < least_shape)
            flat.push_back(v);
    flat = kept(draft, at, flat);
    std::ranges::stable_sort(flat, {}, [&](const auto& v) { return shape(draft, v); });
    return flat;
}

/// Moves outer vertices of flat tets about a little, as long as that makes fewer of them.
void improve(std::vector<Vec3>& outer, const Surroundings& at, double margin, Progress& progress)
{
    std::optional<Draft> draft = drafted(at, outer);
    if (!draft || draft->tets.vertices().size() < outer.size()) return;
    Random random(1);
    const int count = static_cast<int>(outer.size()), first_bone = PointTets::far_vertices + count;
    const std::vector<unsigned char> hull = on_hull(*draft);
    std::vector<std::array<int, 4>> flat = flat_tets(*draft, at, count);
    for (int trial = 0; trial < most_moves && !flat.empty(); ++trial) {
        progress.check();
        const auto& worst = flat[static_cast<std::size_t>(trial) % flat.size()];
        const auto inner = std::ranges::find_if(worst, [&](int v) { return v < first_bone && !hull[v]; });
        if (inner == worst.end()) continue;
        const auto vertex = static_cast<std::size_t>(*inner - PointTets::far_vertices);
        std::vector<Vec3> moved = outer;
        const Vec3 direction(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
        moved[vertex] += 0.5 * at.query.closest_point(outer[vertex]).distance * direction;
        if (at.query.signed_distance(moved[vertex]) < margin) continue;
        std::optional<Draft> other = drafted(at, moved);
        if (!other) continue;
        std::vector<std::array<int, 4>> still_flat = flat_tets(*other, at, count);
        if (still_flat.size() >= flat.size()) continue;
        outer = std::move(moved);
        flat = std::move(still_flat);
    }
}

ControlLattice to_lattice(const Draft& draft, const Surroundings& at,
                          const std::vector<std::array<int, 4>>& tets)
{
    ControlLattice out;
    std::vector<int> number(draft.tets.vertices().size(), -1);
    const auto numbered = [&](int v) {
        if (number[v] < 0) {
            number[v] = static_cast<int>(out.vertices.size());
            out.vertices.push_back(draft.tets.vertices()[v]);
        }
        return number[v];
    };
    for (const Piece& piece : draft.pieces) {
        if (piece.bone == static_cast<int>(out.bones.size()))
            out.bones.push_back({at.bones[piece.bone].name, {numbered(piece.from)}});
        out.bones.back().vertices.push_back(numbered(piece.to));
    }
    for (const auto& tet : tets) {
        LatticeCell cell;
        for (int k = 0; k < 4; ++k) cell.vertices[k] = numbered(tet[k]);
        out.cells.push_back(cell);
    }
    return out;
}

} // namespace

namespace {

/// The lattice with these outer vertices; nothing when it does not hold all of the body or a bone is no edge.
std::optional<ControlLattice> lattice_of(const Surroundings& at, const std::vector<Vec3>& outer)
{
    const std::optional<Draft> draft = drafted(at, outer);
    if (!draft) return std::nullopt;
    const std::vector<std::array<int, 4>> tets = kept(*draft, at, draft->tets.tets());
    if (reaches_far(tets)) return std::nullopt;
    return to_lattice(*draft, at, tets);
}

/// The outer vertices whose lattice has about so many vertices; none: there is no lattice.
std::vector<Vec3> fitting_outer(const Surroundings& at, Index vertices, double margin, Progress& progress)
{
    const OuterOrder order = farthest_first(at, std::max(2 * vertices, least_candidates));
    std::vector<Vec3> best;
    double best_miss = std::numeric_limits<double>::infinity();
    for (Index low = 8, high = std::min<Index>(static_cast<Index>(order.vertices.size()), 2 * vertices);
         low <= high;) {
        progress.check();
        const Index count = (low + high) / 2;
        std::vector<Vec3> outer = outer_vertices(at, order, static_cast<std::size_t>(count), margin);
        const std::optional<ControlLattice> lattice = lattice_of(at, outer);
        const double over =
            lattice ? static_cast<double>(lattice->vertices.size()) - static_cast<double>(vertices) : 0.0;
        if (lattice && std::abs(over) < best_miss) {
            best_miss = std::abs(over);
            best = std::move(outer);
        }
        (over > 0.0 ? high : low) = over > 0.0 ? count - 1 : count + 1;
    }
    return best;
}

} // namespace

BoneLattice bone_lattice(const TriangleMesh& body, const std::vector<BoneLine>& bones,
                         const BoneLatticeOptions& options, Progress& progress)
{
    LITHE_ASSERT(!bones.empty());
    Box3 box = bounds(body.vertices);
    for (const BoneLine& bone : bones) box.extend(bone.head).extend(bone.tail);
    const Surroundings at{body, bones, SurfaceQuery(body), vertex_normals(body), box, box.diagonal().norm()};
    if (std::string text = first_conflict(bones, touching * at.size); !text.empty())
        return {{}, std::move(text)};

    for (const double margin : {3.0 * clearance * at.size, 10.0 * clearance * at.size}) {
        std::vector<Vec3> outer = fitting_outer(at, options.vertices, margin, progress);
        if (outer.empty()) continue;
        improve(outer, at, margin, progress);
        if (auto lattice = lattice_of(at, outer)) return {std::move(*lattice), ""};
    }
    return {{}, "the bones are too close to each other, or too far outside, for a coarse lattice"};
}

} // namespace lithe
