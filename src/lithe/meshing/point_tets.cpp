#include "lithe/meshing/point_tets.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "lithe/core/error.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/predicates.hpp"

namespace lithe {
namespace {

constexpr double far_share = 30.0; ///< how far the far corners are, in sizes of the box
/// Six volumes of a tet over its longest edge cubed, that a new one should have, from good to any.
constexpr std::array<double, 5> wished_shapes = {3e-2, 1e-2, 3e-3, 3e-4, 0.0};
constexpr double same_share = 1e-9; ///< of the box: points nearer than this are one

double longest_edge(const std::array<Vec3, 4>& x)
{
    double longest = 0.0;
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b) longest = std::max(longest, (x[a] - x[b]).norm());
    return longest;
}

/// The edge between the two other vertices of a tet, the smaller one first.
std::array<int, 2> edge_without(const std::array<int, 4>& vertices, int a, int b)
{
    std::array<int, 2> edge = {-1, -1};
    for (int k = 0; k < 4; ++k)
        if (k != a && k != b) (edge[0] < 0 ? edge[0] : edge[1]) = vertices[k];
    std::ranges::sort(edge);
    return edge;
}

} // namespace

PointTets::PointTets(const Box3& box) : same_(same_share * box.diagonal().norm())
{
    LITHE_ASSERT(same_ > 0.0);
    const double far = far_share * box.diagonal().norm();
    for (const Vec3& corner : {Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, -1, 1), Vec3(-1, 1, -1)})
        vertices_.push_back(box.center() + far * corner);
    const bool positive = orient3d(vertices_[0], vertices_[1], vertices_[2], vertices_[3]) > 0;
    tets_.push_back({positive ? std::array{0, 1, 2, 3} : std::array{0, 1, 3, 2}, {-1, -1, -1, -1}});
}

/// Of the tet with the vertex opposite of the face moved to the point.
std::array<Vec3, 4> PointTets::corners(const Face& face, const Vec3& point) const
{
    std::array<Vec3, 4> x;
    for (int k = 0; k < 4; ++k) x[k] = k == face.side ? point : vertices_[tets_[face.tet].vertices[k]];
    return x;
}

int PointTets::side_behind(int tet, const Vec3& point) const
{
    for (int side = 0; side < 4; ++side) {
        const auto x = corners({tet, side}, point);
        if (orient3d(x[0], x[1], x[2], x[3]) < 0) return side;
    }
    return -1;
}

/// Walks through faces that the point lies behind; looks at all tets where the walk does not end.
int PointTets::locate(const Vec3& point) const
{
    int at = last_;
    for (std::size_t step = 0; step < tets_.size() && at >= 0; ++step) {
        const int side = side_behind(at, point);
        if (side < 0) return at;
        at = tets_[at].neighbours[side];
    }
    for (int t = 0; t < static_cast<int>(tets_.size()); ++t)
        if (tets_[t].alive && side_behind(t, point) < 0) return t;
    return -1;
}

/// The tets around `first` whose circumspheres hold the point, `first` in front.
std::vector<int> PointTets::conflicts(const Vec3& point, int first) const
{
    std::vector<unsigned char> seen(tets_.size(), 0);
    std::vector<int> out = {first};
    seen[first] = 1;
    for (std::size_t i = 0; i < out.size(); ++i)
        for (const int n : tets_[out[i]].neighbours) {
            if (n < 0 || std::exchange(seen[n], 1)) continue;
            const auto& v = tets_[n].vertices;
            if (in_sphere(vertices_[v[0]], vertices_[v[1]], vertices_[v[2]], vertices_[v[3]], point) > 0)
                out.push_back(n);
        }
    return out;
}

bool PointTets::sees(const Vec3& point, const Face& face, double least_shape) const
{
    const auto x = corners(face, point);
    if (orient3d(x[0], x[1], x[2], x[3]) <= 0) return false;
    for (int k = 0; k < 4; ++k) // tets to the far corners are of no use
        if (k != face.side && tets_[face.tet].vertices[k] < far_vertices) return true;
    const double longest = longest_edge(x);
    return 6.0 * tet_volume(x[0], x[1], x[2], x[3]) >= least_shape * longest * longest * longest;
}

/// A cavity whose whole border the point sees. A tet with a face that it does not see stays out of the cavity; the
/// one that holds the point, and those added for it, cannot, and take the tet behind that face in.
std::optional<PointTets::Cavity> PointTets::visible_cavity(const Vec3& point, const std::vector<int>& wanted,
                                                           double least_shape) const
{
    enum : unsigned char { Outside, Inside, Kept };
    std::vector<unsigned char> state(tets_.size(), Outside);
    for (const int t : wanted) state[t] = Inside;
    state[wanted.front()] = Kept;
    std::vector<int> reached(tets_.size(), 0);           // the round in which a tet was last met
    std::vector<signed char> seen(4 * tets_.size(), -1); // faces that were asked for before
    const auto is_seen = [&](const Face& face) {
        signed char& known = seen[static_cast<std::size_t>(4 * face.tet + face.side)];
        if (known < 0) known = sees(point, face, least_shape);
        return known > 0;
    };

    /// The border of what is joined to the first tet, up to the first face that is not seen.
    int round = 0;
    const auto grown = [&](Cavity& cavity) -> std::optional<Face> {
        cavity.tets = {wanted.front()};
        cavity.border.clear();
        reached[wanted.front()] = ++round;
        for (std::size_t i = 0; i < cavity.tets.size(); ++i)
            for (int side = 0; side < 4; ++side) {
                const int t = cavity.tets[i], n = tets_[t].neighbours[side];
                if (n >= 0 && state[n] != Outside) {
                    if (std::exchange(reached[n], round) != round) cavity.tets.push_back(n);
                } else if (is_seen({t, side})) {
                    cavity.border.push_back({t, side});
                } else {
                    return Face{t, side};
                }
            }
        return std::nullopt;
    };
    Cavity cavity;
    while (const std::optional<Face> hidden = grown(cavity)) {
        const int behind = tets_[hidden->tet].neighbours[hidden->side];
        if (state[hidden->tet] != Kept)
            state[hidden->tet] = Outside;
        else if (behind >= 0)
            state[behind] = Kept;
        else
            return std::nullopt;
    }
    if (loses_vertex(cavity)) return std::nullopt;
    return cavity;
}

bool PointTets::loses_vertex(const Cavity& cavity) const
{
    std::vector<unsigned char> on_border(vertices_.size(), 0);
    for (const Face& face : cavity.border)
        for (int k = 0; k < 4; ++k)
            if (k != face.side) on_border[tets_[face.tet].vertices[k]] = 1;
    return std::ranges::any_of(cavity.tets, [&](int t) {
        return std::ranges::any_of(tets_[t].vertices, [&](int v) { return !on_border[v]; });
    });
}

/// A tet from the point to each face of the border, in place of those inside it.
void PointTets::fill(const Vec3& point, const Cavity& cavity)
{
    const int vertex = static_cast<int>(vertices_.size());
    vertices_.push_back(point);
    std::map<std::array<int, 2>, Face> open; // faces with the point, by their edge on the border
    for (const Face& face : cavity.border) {
        const int made = last_ = free_slot();
        std::array<int, 4> vertices = tets_[face.tet].vertices;
        vertices[face.side] = vertex;
        const int behind = tets_[face.tet].neighbours[face.side];
        tets_[made] = {vertices, {-1, -1, -1, -1}};
        tets_[made].neighbours[face.side] = behind;
        if (behind >= 0) std::ranges::replace(tets_[behind].neighbours, face.tet, made);
        for (int side = 0; side < 4; ++side) {
            if (side == face.side) continue;
            const auto [twin, is_new] =
                open.try_emplace(edge_without(vertices, side, face.side), Face{made, side});
            if (is_new) continue;
            tets_[made].neighbours[side] = twin->second.tet;
            tets_[twin->second.tet].neighbours[twin->second.side] = made;
        }
    }
    for (const int t : cavity.tets) tets_[t].alive = false;
    free_.insert(free_.end(), cavity.tets.begin(), cavity.tets.end());
}

int PointTets::free_slot()
{
    if (free_.empty()) {
        tets_.emplace_back();
        return static_cast<int>(tets_.size()) - 1;
    }
    const int slot = free_.back();
    free_.pop_back();
    return slot;
}

std::optional<int> PointTets::insert(const Vec3& point, Wish wish)
{
    const int first = locate(point);
    if (first < 0) return std::nullopt;
    for (const int v : tets_[first].vertices)
        if ((vertices_[v] - point).norm() < same_) return v;

    const std::vector<int> wanted = conflicts(point, first);
    for (const double least_shape : wished_shapes) {
        if (wish == Wish::Delaunay && least_shape > 0.0) continue;
        if (const auto cavity = visible_cavity(point, wanted, least_shape)) {
            fill(point, *cavity);
            return static_cast<int>(vertices_.size()) - 1;
        }
    }
    return std::nullopt;
}

std::array<int, 4> PointTets::tet_at(const Vec3& point) const
{
    const int tet = locate(point);
    LITHE_ASSERT(tet >= 0);
    return tets_[tet].vertices;
}

std::vector<std::array<int, 4>> PointTets::tets() const
{
    std::vector<std::array<int, 4>> out;
    for (const Tet& tet : tets_)
        if (tet.alive) out.push_back(tet.vertices);
    return out;
}

std::vector<std::array<int, 2>> PointTets::edges() const
{
    std::vector<std::array<int, 2>> out;
    for (const auto& v : tets())
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                if (v[a] < v[b]) out.push_back({v[a], v[b]});
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

} // namespace lithe
