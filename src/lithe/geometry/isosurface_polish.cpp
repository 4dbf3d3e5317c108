#include "lithe/geometry/isosurface_polish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <tbb/parallel_sort.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr int grain = 256;
constexpr int max_valence = 24; ///< a collapse that makes more is refused

/// A closed manifold triangle mesh that can be edited: three half-edges 3t, 3t+1, 3t+2 for triangle t.
class EditableSurface {
public:
    explicit EditableSurface(const TriangleMesh& mesh);

    int vertex_count() const { return static_cast<int>(x.cols()); }
    int halfedge_count() const { return static_cast<int>(from_.size()); }
    bool alive(int h) const { return from_[h] >= 0; }
    bool vertex_alive(int v) const { return out_[v] >= 0; }
    static int next(int h) { return h % 3 == 2 ? h - 2 : h + 1; }
    static int previous(int h) { return h % 3 == 0 ? h + 2 : h - 1; }
    int twin(int h) const { return twin_[h]; }
    int from(int h) const { return from_[h]; }
    int to(int h) const { return from_[next(h)]; }
    int tip(int h) const { return from_[previous(h)]; } ///< the corner of h's triangle that h does not touch

    /// Calls f(h) for every half-edge that leaves v.
    template <class F>
    void around(int v, const F& f) const
    {
        const int first = out_[v];
        int h = first;
        do {
            f(h);
            h = twin_[previous(h)];
        } while (h != first);
    }
    int valence(int v) const
    {
        int count = 0;
        around(v, [&](int) { ++count; });
        return count;
    }
    bool connected(int a, int b) const
    {
        bool found = false;
        around(a, [&](int h) { found |= to(h) == b; });
        return found;
    }
    /// Twice the area, along the normal.
    Vec3 area_vector(int h) const
    {
        const Vec3 a = x.col(from(h));
        return (x.col(to(h)) - a).cross(x.col(tip(h)) - a);
    }
    Vec3 normal_at(int v) const
    {
        Vec3 n = Vec3::Zero();
        around(v, [&](int h) { n += area_vector(h); });
        return n;
    }

    /// Whether the surface stays a manifold when the edge is shrunk to a point: its ends share no neighbours
    /// but the two tips, and no tip is left with two triangles. [DEGN99]
    bool may_collapse(int h) const;
    /// Moves from(h) to `where`, and to(h) into it.
    void collapse(int h, const Vec3& where);
    /// Turns the edge within its two triangles.
    void flip(int h);

    TriangleMesh to_mesh() const;

    Points x; ///< positions [m]

private:
    void pair(int a, int b)
    {
        twin_[a] = b;
        twin_[b] = a;
    }
    std::vector<int> from_; ///< -1: removed
    std::vector<int> twin_;
    std::vector<int> out_; ///< a half-edge that leaves the vertex; -1: removed
};

EditableSurface::EditableSurface(const TriangleMesh& mesh)
    : x(mesh.vertices), from_(mesh.triangles.data(), mesh.triangles.data() + mesh.triangles.size()),
      twin_(from_.size()), out_(static_cast<std::size_t>(mesh.vertex_count()), -1)
{
    struct Side {
        std::uint64_t edge;
        int h;
    };
    std::vector<Side> sides(from_.size());
    for (int h = 0; h < halfedge_count(); ++h) {
        const int low = std::min(from(h), to(h)), high = std::max(from(h), to(h));
        sides[h] = {static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high), h};
        out_[from_[h]] = h;
    }
    tbb::parallel_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return a.edge != b.edge ? a.edge < b.edge : a.h < b.h;
    });
    for (std::size_t i = 0; i < sides.size(); i += 2) {
        LITHE_ASSERT(sides[i].edge == sides[i + 1].edge && from(sides[i].h) == to(sides[i + 1].h));
        pair(sides[i].h, sides[i + 1].h);
    }
}

bool EditableSurface::may_collapse(int h) const
{
    const int a = from(h), b = to(h);
    if (valence(tip(h)) <= 3 || valence(tip(twin_[h])) <= 3) return false;
    if (valence(a) + valence(b) - 4 > max_valence) return false;
    int shared = 0;
    around(a, [&](int g) {
        const int c = to(g);
        if (c != b && connected(b, c)) ++shared;
    });
    return shared == 2;
}

void EditableSurface::collapse(int h, const Vec3& where)
{
    const int a = from(h), b = to(h), g = twin_[h];
    std::array<int, 2 * max_valence> fan; // half-edges that leave b
    int count = 0;
    around(b, [&](int e) { fan[count++] = e; });
    const int tip_h = tip(h), tip_g = tip(g);
    const int h_next = twin_[next(h)], h_previous = twin_[previous(h)];
    const int g_next = twin_[next(g)], g_previous = twin_[previous(g)];
    for (int i = 0; i < count; ++i) from_[fan[i]] = a;

    // the two triangles go; their outer neighbours become each other's twins
    pair(h_next, h_previous);
    pair(g_next, g_previous);
    for (const int dead : {h, next(h), previous(h), g, next(g), previous(g)}) from_[dead] = -1;
    out_[b] = -1;
    out_[a] = h_previous; // leaves a: it was the twin of (tip -> a)
    out_[tip_h] = h_next;
    out_[tip_g] = g_next;
    x.col(a) = where;
}

void EditableSurface::flip(int h)
{
    //      c                c
    //    / | \            /   \       h: a -> b becomes d -> c, g: b -> a becomes c -> d
    //   a -h-> b   to    a     b      (drawn with the edge upright after the flip)
    const int g = twin_[h];
    const int a = from(h), b = to(h), c = tip(h), d = tip(g);
    const int bc = twin_[next(h)], ca = twin_[previous(h)], ad = twin_[next(g)], db = twin_[previous(g)];
    // triangle of h: d c a, triangle of g: c d b
    from_[h] = d, from_[next(h)] = c, from_[previous(h)] = a;
    from_[g] = c, from_[next(g)] = d, from_[previous(g)] = b;
    pair(next(h), ca);
    pair(previous(h), ad);
    pair(next(g), db);
    pair(previous(g), bc);
    out_[a] = previous(h), out_[b] = previous(g), out_[c] = g, out_[d] = h;
}

TriangleMesh EditableSurface::to_mesh() const
{
    TriangleMesh mesh;
    mesh.vertices = x;
    Index count = 0;
    for (int h = 0; h < halfedge_count(); h += 3) count += alive(h);
    mesh.triangles.resize(3, count);
    Index t = 0;
    for (int h = 0; h < halfedge_count(); h += 3)
        if (alive(h)) mesh.triangles.col(t++) << from_[h], from_[h + 1], from_[h + 2];
    drop_unused_vertices(mesh);
    return mesh;
}

struct Collapse {
    double shorter; ///< edges below this are collapsed [m]
    double longest; ///< no edge may become longer than this [m]
};

/// Whether the triangles that stay around the edge would still face the way the surface faces there.
bool collapse_looks_well(const EditableSurface& surface, int h, const Vec3& where, double longest)
{
    const int a = surface.from(h), b = surface.to(h);
    const Vec3 facing = (surface.normal_at(a) + surface.normal_at(b)).normalized();
    bool well = true;
    for (const int v : {a, b})
        surface.around(v, [&](int e) {
            const int p = surface.to(e), q = surface.tip(e);
            if (!well || p == a || p == b || q == a || q == b) return;
            const Vec3 to_p = surface.x.col(p) - where, to_q = surface.x.col(q) - where;
            const Vec3 n = to_p.cross(to_q);
            well = to_p.squaredNorm() < longest * longest && to_q.squaredNorm() < longest * longest &&
                   n.dot(facing) > 0.3 * n.norm();
        });
    return well;
}

int collapse_short_edges(EditableSurface& surface, const Collapse& rule)
{
    int count = 0;
    for (int h = 0; h < surface.halfedge_count(); ++h) {
        if (!surface.alive(h) || surface.twin(h) < h) continue;
        const Vec3 a = surface.x.col(surface.from(h)), b = surface.x.col(surface.to(h));
        if ((b - a).squaredNorm() >= rule.shorter * rule.shorter || !surface.may_collapse(h)) continue;
        const Vec3 middle = 0.5 * (a + b);
        if (!collapse_looks_well(surface, h, middle, rule.longest)) continue;
        surface.collapse(h, middle);
        ++count;
    }
    return count;
}

/// The cotangent of the angle at p, facing the edge a b.
double cotangent(const Vec3& p, const Vec3& a, const Vec3& b)
{
    const Vec3 u = a - p, v = b - p;
    return u.dot(v) / std::max(u.cross(v).norm(), 1e-300);
}

/// Delaunay: the angles that face the edge are more than a half turn together; and the surface is flat enough
/// there, before and after, for the flip not to dent it.
bool wants_flip(const EditableSurface& surface, int h)
{
    const int g = surface.twin(h);
    const int ia = surface.from(h), ib = surface.to(h), ic = surface.tip(h), id = surface.tip(g);
    const Vec3 a = surface.x.col(ia), b = surface.x.col(ib), c = surface.x.col(ic), d = surface.x.col(id);
    if (cotangent(c, a, b) + cotangent(d, a, b) >= -1e-6) return false;
    const Vec3 n0 = surface.area_vector(h).normalized(), n1 = surface.area_vector(g).normalized();
    const Vec3 m0 = (c - d).cross(a - d).normalized(), m1 = (d - c).cross(b - c).normalized();
    const Vec3 mean = (n0 + n1).normalized();
    if (m0.dot(m1) < 0.7 || m0.dot(mean) < 0.7 || m1.dot(mean) < 0.7) return false;
    if (surface.valence(ia) <= 4 || surface.valence(ib) <= 4) return false;
    return !surface.connected(ic, id);
}

void flip_edges(EditableSurface& surface)
{
    for (int pass = 0; pass < 4; ++pass) {
        int count = 0;
        for (int h = 0; h < surface.halfedge_count(); ++h)
            if (surface.alive(h) && h < surface.twin(h) && wants_flip(surface, h)) {
                surface.flip(h);
                ++count;
            }
        if (count == 0) return;
    }
}

/// Newton steps p -= f grad f / |grad f|^2 while they bring |f| down, at most a third of an edge each.
Vec3 project(const ImplicitFunction& f, double edge, double tolerance, Vec3 p)
{
    const double step = 1e-4 * edge;
    double value = f.value(p);
    for (int i = 0; i < 4 && std::abs(value) > tolerance; ++i) {
        Vec3 gradient;
        for (int axis = 0; axis < 3; ++axis)
            gradient[axis] = (f.value(p + step * Vec3::Unit(axis)) - value) / step;
        Vec3 move = -value / std::max(gradient.squaredNorm(), 1e-12) * gradient;
        if (move.norm() > edge / 3.0) move *= edge / 3.0 / move.norm();
        const double moved_value = f.value(p + move);
        if (!(std::abs(moved_value) < std::abs(value))) break;
        p += move;
        value = moved_value;
    }
    return p;
}

/// Puts vertices back where they were wherever a triangle would turn away from the way the surface faces there,
/// and did not before. What counts is the normal at the vertices: a needle's own normal means little.
void revert_bad_moves(const EditableSurface& surface, const Points& before, Points& after)
{
    Points normals = Points::Zero(3, surface.vertex_count());
    parallel_for(surface.vertex_count(), grain, [&](std::ptrdiff_t v) {
        if (surface.vertex_alive(static_cast<int>(v)))
            normals.col(v) = surface.normal_at(static_cast<int>(v)).normalized();
    });
    const auto turned_away = [&](const Points& x, int a, int b, int c) {
        const Vec3 n = (x.col(b) - x.col(a)).cross(x.col(c) - x.col(a));
        const Vec3 facing = normals.col(a) + normals.col(b) + normals.col(c);
        return n.dot(facing) < 0.3 * n.norm() * facing.norm();
    };
    std::vector<char> bad(static_cast<std::size_t>(surface.vertex_count()));
    for (int round = 0; round < 3; ++round) {
        parallel_for(surface.vertex_count(), grain, [&](std::ptrdiff_t v) {
            bad[v] = 0;
            if (!surface.vertex_alive(static_cast<int>(v))) return;
            surface.around(static_cast<int>(v), [&](int h) {
                const int a = surface.from(h), b = surface.to(h), c = surface.tip(h);
                if (turned_away(after, a, b, c) && !turned_away(before, a, b, c)) bad[v] = 1;
            });
        });
        parallel_for(surface.vertex_count(), grain, [&](std::ptrdiff_t v) {
            if (bad[v]) after.col(v) = before.col(v);
        });
    }
}

/// One round of tangential smoothing: towards the area-weighted middle of the triangles around, in the tangent
/// plane, then back to f = 0. All vertices move at once, from the same old positions.
void relax(const ImplicitFunction& f, double edge, EditableSurface& surface)
{
    Points moved = surface.x;
    parallel_for(surface.vertex_count(), grain, [&](std::ptrdiff_t i) {
        const int v = static_cast<int>(i);
        if (!surface.vertex_alive(v)) return;
        const Vec3 p = surface.x.col(v);
        Vec3 middle = Vec3::Zero(), normal = Vec3::Zero();
        double weight = 0.0;
        surface.around(v, [&](int h) {
            const Vec3 n = surface.area_vector(h);
            const Vec3 centre = (p + surface.x.col(surface.to(h)) + surface.x.col(surface.tip(h))) / 3.0;
            middle += n.norm() * centre;
            weight += n.norm();
            normal += n;
        });
        if (!(weight > 0.0)) return;
        Vec3 move = middle / weight - p;
        if (normal.squaredNorm() > 0.0) move -= normal * (normal.dot(move) / normal.squaredNorm());
        moved.col(v) = project(f, edge, 1e-3 * edge, p + 0.8 * move);
    });
    revert_bad_moves(surface, surface.x, moved);
    surface.x = moved;
}

void project_all(const ImplicitFunction& f, double edge, EditableSurface& surface)
{
    Points moved = surface.x;
    parallel_for(surface.vertex_count(), grain, [&](std::ptrdiff_t v) {
        if (surface.vertex_alive(static_cast<int>(v)))
            moved.col(v) = project(f, edge, 1e-6 * edge, surface.x.col(v));
    });
    revert_bad_moves(surface, surface.x, moved);
    surface.x = moved;
}

} // namespace

void polish(const ImplicitFunction& f, double edge, TriangleMesh& mesh, Progress& progress)
{
    struct Round {
        double shorter; ///< edges to collapse, in shares of `edge`
        int moves;
    };
    constexpr std::array rounds = {Round{0.3, 0}, Round{0.5, 0}, Round{0.6, 1},
                                   Round{0.7, 1}, Round{0.7, 1}, Round{0.7, 2}};
    EditableSurface surface(mesh);
    progress.begin("even triangles", std::ssize(rounds));
    for (const Round& round : rounds) {
        collapse_short_edges(surface, {round.shorter * edge, 1.35 * edge});
        flip_edges(surface);
        for (int i = 0; i < round.moves; ++i) relax(f, edge, surface);
        progress.advance();
    }
    flip_edges(surface);
    project_all(f, edge, surface);
    progress.end();
    mesh = surface.to_mesh();
}

} // namespace lithe
