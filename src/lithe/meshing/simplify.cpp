#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <queue>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/remesh.hpp"

namespace lithe {
namespace {

using Placement = SimplifyOptions::Placement;

/// Sum of weighted squared distances to planes: x^T A x + 2 b^T x + c.                                   [GH97]
struct Quadric {
    Mat3 A = Mat3::Zero();
    Vec3 b = Vec3::Zero();
    double c = 0.0;
    double weight = 0.0; ///< sum of the planes' weights [m^2]

    void add_plane(const Vec3& n, const Vec3& p, double w)
    {
        const double d = -n.dot(p);
        A += w * n * n.transpose();
        b += w * d * n;
        c += w * d * d;
        weight += w;
    }
    Quadric& operator+=(const Quadric& other)
    {
        A += other.A;
        b += other.b;
        c += other.c;
        weight += other.weight;
        return *this;
    }
    double operator()(const Vec3& x) const { return std::max(0.0, x.dot(A * x) + 2.0 * b.dot(x) + c); }
    /// Root mean square distance to the planes. [m]
    double distance(const Vec3& x) const { return weight > 0.0 ? std::sqrt((*this)(x) / weight) : 0.0; }
};

/// Vertex `from` becomes part of vertex `to`.
struct Collapse {
    double cost;
    int from, to;
    unsigned version; ///< of both vertices together; an older one is out of date
    bool operator>(const Collapse& other) const
    {
        return std::tie(cost, from, to) > std::tie(other.cost, other.from, other.to);
    }
};

class Simplifier {
public:
    Simplifier(const TriangleMesh& mesh, const SimplifyOptions& options)
        : options_(options), X_(mesh.vertices), triangles_(mesh.triangles), fields_(mesh.fields)
    {
        center_ = bounds(X_).center(); // quadrics lose digits far from the origin
        X_.colwise() -= center_;
        const auto vertices = static_cast<std::size_t>(mesh.vertex_count());
        alive_.assign(static_cast<std::size_t>(mesh.triangle_count()), 1);
        around_.resize(vertices);
        quadrics_.resize(vertices);
        versions_.assign(vertices, 0);
        locked_.assign(vertices, 0);
        for (int t = 0; t < mesh.triangle_count(); ++t)
            for (int k = 0; k < 3; ++k) around_[triangles_(k, t)].push_back(t);
        count_ = mesh.triangle_count();
        find_borders();
        sum_quadrics();
    }

    void run(Index target)
    {
        Index before = count_ + 1;
        while (count_ > target && count_ < before) { // refused collapses may have become possible: once more
            before = count_;
            fill_queue();
            while (count_ > target && !queue_.empty()) {
                const Collapse next = queue_.top();
                queue_.pop();
                if (next.version == version(next.from, next.to)) try_collapse(next.from, next.to);
            }
        }
    }

    Index count() const { return count_; }
    double error() const { return error_; }

    SimplifyResult result(const TriangleMesh& input) const
    {
        SimplifyResult result;
        std::vector<int> place(around_.size(), -1);
        std::vector<int> kept;
        for (int t = 0; t < static_cast<int>(alive_.size()); ++t)
            if (alive_[t]) kept.push_back(t);
        result.mesh.triangles = triangles_(Eigen::all, kept);
        for (const int v : result.mesh.triangles.reshaped()) place[v] = 0;
        for (int v = 0; v < static_cast<int>(place.size()); ++v) {
            if (place[v] < 0) continue;
            place[v] = static_cast<int>(result.origin.size());
            result.origin.push_back(v);
        }
        for (int& v : result.mesh.triangles.reshaped()) v = place[v];
        const bool subset = options_.placement == Placement::Subset;
        result.mesh.vertices = subset ? Points(input.vertices(Eigen::all, result.origin))
                                      : Points(X_(Eigen::all, result.origin).colwise() + center_);
        for (const VertexField& field : fields_)
            result.mesh.fields.push_back({field.name, field.values(Eigen::all, result.origin)});
        return result;
    }

private:
    unsigned version(int u, int v) const { return versions_[u] + versions_[v]; }
    Vec3 area_vector(int t) const
    {
        const auto c = triangles_.col(t);
        return 0.5 * (X_.col(c[1]) - X_.col(c[0])).cross(X_.col(c[2]) - X_.col(c[0]));
    }
    bool has(int t, int v) const { return (triangles_.col(t).array() == v).any(); }

    /// Marks the vertices at borders, and locks those at which the surface is not one fan.
    void find_borders()
    {
        const std::vector<int> twins = half_edge_twins(triangles_);
        on_border_.assign(around_.size(), 0);
        std::vector<int> border_edges(around_.size(), 0), edge_ends(around_.size(), 0);
        for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
            const int a = half_edge_from(triangles_, h), b = half_edge_to(triangles_, h);
            const bool turned = twins[h] >= 0 && half_edge_from(triangles_, twins[h]) == a;
            if (twins[h] == non_manifold_edge || turned) locked_[a] = locked_[b] = 1;
            if (twins[h] == border_edge)
                for (const int v : {a, b}) {
                    on_border_[v] = 1;
                    ++border_edges[v];
                }
        }
        for (std::size_t v = 0; v < around_.size(); ++v)
            if (border_edges[v] > 2 || !is_one_fan(static_cast<int>(v), twins)) locked_[v] = 1;
    }

    /// Whether all triangles around v are reached from one of them across edges at v.
    bool is_one_fan(int v, const std::vector<int>& twins) const
    {
        if (around_[v].empty()) return true;
        std::vector<int> reached{around_[v].front()};
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (int h = 3 * reached[i]; h < 3 * reached[i] + 3; ++h) {
                if (twins[h] < 0 || (half_edge_from(triangles_, h) != v && half_edge_to(triangles_, h) != v))
                    continue;
                const int t = twins[h] / 3;
                if (std::find(reached.begin(), reached.end(), t) == reached.end()) reached.push_back(t);
            }
        return reached.size() == around_[v].size();
    }

    /// Planes of the triangles, and at borders planes through the edge across the triangle, so that borders stay in place.
    void sum_quadrics()
    {
        const std::vector<int> twins = half_edge_twins(triangles_);
        for (int t = 0; t < triangles_.cols(); ++t) {
            const double area = area_vector(t).norm();
            if (!(area > 0.0)) continue;
            const Vec3 n = area_vector(t) / area;
            for (int s = 0; s < 3; ++s) {
                const int a = triangles_(s, t), b = triangles_((s + 1) % 3, t);
                quadrics_[a].add_plane(n, X_.col(a), area / 3.0);
                if (twins[3 * t + s] >= 0) continue;
                const Vec3 along = X_.col(b) - X_.col(a);
                const Vec3 across = along.cross(n).normalized();
                for (const int v : {a, b}) quadrics_[v].add_plane(across, X_.col(a), along.squaredNorm());
            }
        }
    }

    /// Where the vertex of a collapsed edge goes.
    Vec3 place(int from, int to, const Quadric& Q) const
    {
        const Vec3 x_from = X_.col(from), x_to = X_.col(to);
        if (options_.placement == Placement::Subset) return x_to;
        // the quadric's minimum, held near the edge's middle where the planes do not determine it
        const Vec3 middle = 0.5 * (x_from + x_to);
        const double hold = 1e-3 * Q.A.trace();
        const Mat3 A = Q.A + hold * Mat3::Identity();
        const Vec3 x = A.ldlt().solve(hold * middle - Q.b);
        const bool near = (x - middle).norm() <= (x_from - x_to).norm();
        return x.allFinite() && near ? x : middle;
    }

    void push(int from, int to)
    {
        if (locked_[from] || locked_[to]) return;
        if (options_.placement == Placement::Optimal && from > to)
            return; // both directions are the same there
        Quadric Q = quadrics_[from];
        Q += quadrics_[to];
        const Vec3 x = place(from, to, Q);
        const double length2 = (X_.col(from) - X_.col(to)).squaredNorm();
        constexpr double shortness =
            1e-6; // among edges that cost nothing (in a plane) the short ones go first
        queue_.push({Q(x) + shortness * length2 * length2, from, to, version(from, to)});
    }

    void fill_queue()
    {
        for (int t = 0; t < triangles_.cols(); ++t)
            for (int s = 0; s < 3 && alive_[t]; ++s) {
                push(triangles_(s, t), triangles_((s + 1) % 3, t));
                push(triangles_((s + 1) % 3, t),
                     triangles_(s, t)); // seen from both triangles: the second is out of date then
            }
    }

    /// The vertices that share a triangle with v, sorted.
    std::vector<int> neighbours(int v) const
    {
        std::vector<int> ring;
        for (const int t : around_[v])
            for (const int u : triangles_.col(t))
                if (u != v) ring.push_back(u);
        std::sort(ring.begin(), ring.end());
        ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
        return ring;
    }

    /// The link condition: u and v have no neighbours in common but those of the triangles at their edge, and
    /// those have other triangles to live on.                                                            [DEGN99]
    bool keeps_topology(int u, int v) const
    {
        std::vector<int> opposite;
        for (const int t : around_[u]) {
            if (!has(t, v)) continue;
            for (const int w : triangles_.col(t))
                if (w != u && w != v) opposite.push_back(w);
        }
        if (opposite.empty()) return false;
        const bool border = opposite.size() == 1;
        if (!border && on_border_[u] && on_border_[v]) return false; // would pinch the surface
        for (const int w : opposite)
            if (around_[w].size() <= (on_border_[w] ? 1u : 3u)) return false;
        // on a border ring of three vertices the third may be opposite, too: then a triangle hole or a lone strip would close
        std::sort(opposite.begin(), opposite.end());
        const std::vector<int> a = neighbours(u), b = neighbours(v);
        std::vector<int> common;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
        return common == opposite;
    }

    /// Whether the triangles around u, but not around v, keep their side when u moves to x.
    bool keeps_facing(int u, int v, const Vec3& x) const
    {
        constexpr double least_cosine = 0.2;
        for (const int t : around_[u]) {
            if (has(t, v)) continue;
            Vec3 c[3];
            for (int k = 0; k < 3; ++k) c[k] = triangles_(k, t) == u ? x : Vec3(X_.col(triangles_(k, t)));
            const Vec3 before = area_vector(t), after = 0.5 * (c[1] - c[0]).cross(c[2] - c[0]);
            const double longest2 = std::max(
                {(c[1] - c[0]).squaredNorm(), (c[2] - c[1]).squaredNorm(), (c[0] - c[2]).squaredNorm()});
            if (after.norm() <= 1e-4 * longest2) return false; // a sliver
            if (before.norm() > 0.0 && before.dot(after) < least_cosine * before.norm() * after.norm())
                return false;
        }
        return true;
    }

    void try_collapse(int from, int to)
    {
        // a border vertex may only move along its border
        if (options_.placement == Placement::Subset && on_border_[from] && !on_border_[to]) return;
        if (!keeps_topology(from, to)) return;
        Quadric Q = quadrics_[from];
        Q += quadrics_[to];
        Vec3 x = place(from, to, Q);
        if (on_border_[from] != on_border_[to]) x = X_.col(on_border_[from] ? from : to);
        if (Q.distance(x) > options_.max_error) return;
        if (!keeps_facing(from, to, x) ||
            (options_.placement == Placement::Optimal && !keeps_facing(to, from, x)))
            return;
        error_ = std::max(error_, Q.distance(x));
        quadrics_[to] = Q;
        collapse(from, to, x);
    }

    void collapse(int from, int to, const Vec3& x)
    {
        blend_fields(from, to, x);
        X_.col(to) = x;
        on_border_[to] = on_border_[to] || on_border_[from];
        for (const int t : around_[from]) {
            if (has(t, to)) {
                alive_[t] = 0;
                --count_;
                for (const int w : triangles_.col(t))
                    if (w != from) std::erase(around_[w], t);
                continue;
            }
            for (int& w : triangles_.col(t))
                if (w == from) w = to;
            around_[to].push_back(t);
        }
        around_[from].clear();
        ++versions_[from];
        ++versions_[to];
        for (const int w : neighbours(to)) {
            push(to, w);
            push(w, to);
        }
    }

    /// In Optimal mode the fields are taken from the nearest point of the edge.
    void blend_fields(int from, int to, const Vec3& x)
    {
        if (options_.placement == Placement::Subset) return;
        const Vec3 edge = X_.col(from) - X_.col(to);
        const double length2 = edge.squaredNorm();
        const double s = length2 > 0.0 ? std::clamp((x - X_.col(to)).dot(edge) / length2, 0.0, 1.0) : 0.0;
        for (VertexField& field : fields_)
            field.values.col(to) = (1.0 - s) * field.values.col(to) + s * field.values.col(from);
    }

    const SimplifyOptions options_;
    Vec3 center_;
    Points X_; ///< about the centre
    Triangles triangles_;
    std::vector<VertexField> fields_;
    std::vector<char> alive_, on_border_, locked_;
    std::vector<std::vector<int>> around_; ///< living triangles at each vertex
    std::vector<Quadric> quadrics_;
    std::vector<unsigned> versions_;
    std::priority_queue<Collapse, std::vector<Collapse>, std::greater<>> queue_;
    Index count_ = 0;
    double error_ = 0.0;
};

} // namespace

SimplifyResult simplify(const TriangleMesh& mesh, Index target_triangles, const SimplifyOptions& options)
{
    require_valid(mesh);
    if (target_triangles < 1)
        throw InputError(fmt::format("a surface cannot be simplified to {} triangles; ask for 1 or more",
                                     target_triangles));
    if (!(options.max_error > 0.0))
        throw InputError(fmt::format("max_error = {} must be above zero", options.max_error));

    Simplifier simplifier(mesh, options);
    simplifier.run(target_triangles);
    SimplifyResult result = simplifier.result(mesh);
    result.error = simplifier.error();
    result.reached = simplifier.count() <= target_triangles;
    if (mesh.triangle_count() > simplifier.count())
        result.notes.push_back(fmt::format("simplified {} to {}, off by about {:.3g}",
                                           counted(mesh.triangle_count(), "triangle"), simplifier.count(),
                                           result.error));
    if (!result.reached)
        result.notes.push_back(fmt::format("could not go below {} (asked: {}): no edge left that can go "
                                           "without a fold, a tear or too large an error",
                                           counted(simplifier.count(), "triangle"), target_triangles));
    return result;
}

} // namespace lithe
