#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lithe/contact/continuous.hpp"
#include "lithe/contact/triangle_pack.hpp"
#include "lithe/geometry/bvh.hpp"
#include "lithe/geometry/rigid_shape.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {

struct CollisionEdge {
    int a, b;                     ///< vertices, a < b
    std::array<int, 2> triangles; ///< on its sides; the second is -1 on a border
    bool sharp; ///< the surface bends outward here at rest, or ends: only such edges meet edges of others
};

/// The surface by which a body collides: what is constant of it. A proxy of some hundred vertices does for most bodies.
/// Bodies of the same shape share it.
///
/// A closed surface has an inside, which nothing may enter: it is felt from outside only. An open one is felt from both
/// sides. With a thickness, everything stays so far away from the triangles: a single point with a thickness is a ball,
/// a segment a capsule.
struct CollisionSurface {
    Points rest;            ///< [m]
    Triangles triangles;    ///< outward where it is closed
    double thickness = 0.0; ///< [m], >= 0
    bool closed = false;
    std::vector<int> points; ///< the vertices that triangles use: those that meet triangles of others
    std::vector<CollisionEdge> edges;
    Triangles triangle_edges; ///< of each triangle, from corner k to corner k + 1; -1 where that is no edge
    std::vector<int> fan_start, fans;   ///< the triangles around each vertex
    std::vector<int> ring_start, rings; ///< the vertices at the other ends of the edges of each vertex

    Index vertex_count() const { return rest.cols(); }
    std::span<const int> fan(int vertex) const { return part(fan_start, fans, vertex); }
    std::span<const int> ring(int vertex) const { return part(ring_start, rings, vertex); }

private:
    static std::span<const int> part(const std::vector<int>& start, const std::vector<int>& all, int i)
    {
        const auto begin = static_cast<std::size_t>(start[static_cast<std::size_t>(i)]);
        return std::span<const int>(all).subspan(
            begin, static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]) - begin);
    }
};

/// Throws InputError for a surface without triangles, an index out of range, a number that is not finite or a thickness
/// below zero.
CollisionSurface make_collision_surface(const TriangleMesh& mesh, double thickness = 0.0);

/// A rigid shape as a surface, in its own frame: boxes as they are, balls and capsules exact by their thickness,
/// cylinders with 48 sides. Nothing for planes and fields, which are felt by their distances.
std::optional<CollisionSurface> collision_surface_of(const RigidShape& shape);

/// A collision surface on its way through a step: its vertices go on straight lines from `start` to `end`.
///
/// The owner writes both and calls `update`. Const methods may be called from any thread and allocate nothing.
class SweptSurface {
public:
    SweptSurface() = default;
    /// At rest. `surface` must outlive it.
    explicit SweptSurface(const CollisionSurface& surface);

    Points start, end; ///< [m]

    /// Takes in what `start` and `end` hold now. O(vertices), no allocation.
    void update();

    const CollisionSurface& surface() const { return *surface_; }
    /// Unlike that of any other; a copy has the same.
    std::uint64_t id() const { return id_; }
    /// Between two updates it grows by as much as the fastest vertex has gone, at the start of the step. [m]
    double travel() const { return travel_; }
    /// The mean way of the vertices. [m]
    const Vec3& drift() const { return drift_; }
    /// How far a vertex goes at most beside that. [m]
    double stir() const { return stir_; }
    /// Over the triangles, thickness not counted, in the frame that drifts along: from `start` to `end - drift`.
    const Bvh& tree() const { return tree_; }
    /// Of a triangle in that frame.
    const Box3& box(int triangle) const { return boxes_[static_cast<std::size_t>(triangle)]; }
    /// How far a triangle reaches along its normal of the start, n.x, in that frame.
    struct Slab {
        Vec3 normal; ///< unit; zero where it has no area
        double lower, upper;

        /// Whether what lies between these heights stays more than `reach` away.
        bool misses(double lowest, double highest, double reach) const
        {
            return lowest > upper + reach || highest < lower - reach;
        }
    };
    const Slab& slab(int triangle) const { return slabs_[static_cast<std::size_t>(triangle)]; }
    /// A pack of the tree, about `centre`, in that frame.
    const TrianglePack& pack(int i) const { return packs_[static_cast<std::size_t>(i)]; }
    Vec3 centre() const { return start_box_.center(); }
    /// Of the vertices at the start.
    const Box3& start_box() const { return start_box_; }
    /// Holds all of it over the whole step, with its thickness.
    Box3 swept_box() const;

    MovingPoint point(int vertex) const { return {start.col(vertex), end.col(vertex) - start.col(vertex)}; }

private:
    void update_normals();
    void update_boxes();
    void update_packs();

    const CollisionSurface* surface_ = nullptr;
    Bvh tree_;
    std::vector<Box3> boxes_;
    std::vector<Slab> slabs_;
    std::vector<TrianglePack> packs_;
    TrianglePack::Places places_;
    Vec3 drift_ = Vec3::Zero();
    Box3 start_box_, end_box_;
    std::uint64_t id_ = 0;
    double travel_ = 0.0, stir_ = 0.0;
    Points last_start_; ///< of the last update
};

// Questions to a surface where it is at the start of the step; thickness is not counted.

/// Nothing when it is farther than `max_distance`.
std::optional<ClosestPoint> closest_point(const SweptSurface& surface, const Vec3& p,
                                          double max_distance = std::numeric_limits<double>::infinity());
/// The first hit at 0 <= t <= t_max, from either side; `direction` need not have unit length.
std::optional<RayHit> cast_ray(const SweptSurface& surface, const Vec3& origin, const Vec3& direction,
                               double t_max = std::numeric_limits<double>::infinity());
/// Unit normal of a triangle at the start; zero where it has no area.
Vec3 start_normal(const SweptSurface& surface, int triangle);
/// Whether a closed surface goes around p.
bool encloses(const SweptSurface& surface, const Vec3& p);
/// Of a closed surface: whether p, of which `closest` is the closest point, is inside: by the normals of the triangles
/// there, weighted by their angles, and by how often the whole surface goes around p.
bool inside(const SweptSurface& surface, const Vec3& p, const ClosestPoint& closest);

} // namespace lithe
