#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lithe/body/obstacle.hpp"
#include "lithe/contact/features.hpp"
#include "lithe/contact/near_features.hpp"

namespace lithe {

/// One side of a contact: a point fixed in the material.
struct ContactSide {
    int triangle = -1;         ///< of its collision surface; -1: of a rigid shape
    Vec3 weights = {1, 0, 0};  ///< barycentric in it; a vertex or an edge is a corner or a side
    Vec3 point = Vec3::Zero(); ///< where it is at the start of the step [m]
};

enum class ContactKind : std::uint8_t { VertexTriangle, TriangleVertex, EdgeEdge, VertexShape };

/// Two points that must not pass each other in this step:  n.(u_a - u_b) >= -gap / h.
///
/// Either they touch on their ways, and then this stops them in time; or they come near, and then the ways as they were
/// predicted satisfy it: what only passes by is not pushed.
struct SurfaceContact {
    ContactKind kind = ContactKind::VertexTriangle;
    ContactSide a, b;
    Vec3 normal = Vec3::UnitY(); ///< n, unit, from b to a
    double gap = 0.0;            ///< along n at the start, less the thicknesses; below zero they overlap [m]
    double time = 0.0;           ///< when they touch or are nearest on their ways, a share of the step
    std::uint64_t key = 0;       ///< the same from step to step for the same features of the same pair

    /// Where both sides feel the impulse: a common point keeps the angular momentum.
    Vec3 point() const { return 0.5 * (a.point + b.point); }
};

/// Which contacts of a pair are kept.
struct ReduceOptions {
    int most = 12; ///< of contacts with about the same normal; fewer when there are many normals; 0: all
    double spacing = 0.0; ///< beyond that, one for each such distance of a large patch [m]; 0: none
};

struct DetectOptions {
    double margin = 1e-3;        ///< what comes nearer than this is in contact [m], > 0
    double self_distance = 4e-3; ///< parts of one surface that are nearer than this at rest never touch [m]
    ReduceOptions reduce = {};
};

/// Buffers of one detection, sized on first use.
struct DetectWork {
    struct Inside {
        int vertex;
        ClosestPoint closest;
    };
    struct Found {
        SurfaceContact contact;
        bool touches = true;
        bool sure = true; ///< no part of the surface around it would have touched before
    };
    NearPair near;
    struct NearEdge {
        std::array<MovingPoint, 2> ends;
        FloatBox way; ///< around it in the whole step
        FeatureView::Wedge wedge;
    };
    std::vector<NearEdge> near_edges;     ///< those of b that are sharp, by their numbers
    std::vector<char> inside_a, inside_b; ///< of each vertex
    std::vector<Inside> inside;
    Points way_out, next_way_out; ///< unit, of each vertex inside; zero where it is not known
    std::vector<int> changed;     ///< vertices whose way out was found last
    std::vector<int> region;      ///< places in `inside` of vertices that hang together
    std::vector<int> place;       ///< in `inside` of each vertex there; -1 once its region is done
    std::vector<Found> found, at_vertex;
    std::vector<int> through_a, through_b; ///< edges that pierce the other surface
    std::vector<SurfaceContact> crossings, sorted;
    std::vector<int> cluster, order;
    std::vector<Vec3> cluster_normals;
    std::vector<double> spread;
};

/// What is known of the vertices of a pair from earlier steps: a vertex at a distance d from the other surface stays outside until
/// both have travelled by d together. Changes no result, only what it costs.
struct PairClearance {
    std::uint64_t id_a = 0, id_b = 0;      ///< of the surfaces that it is known of
    std::vector<double> until_a, until_b;  ///< of each vertex: the travel of both until which it is outside
    double travel = -1.0;                  ///< of both, when through_a and through_b were found
    std::vector<int> through_a, through_b; ///< edges that pierce the other surface
    std::uint64_t call = 0;                ///< in which it was last asked for
};

/// The contacts between two surfaces, reduced, after those that `out` has already. `pair` tells pairs apart in the
/// keys.
///
/// Vertices against triangles and edges against edges, each on its straight way. Where the surfaces overlap at the
/// start, vertices that are inside leave the way their own edges come in, so that neighbours agree; edges that cross
/// leave across both.
void detect_contacts(const SweptSurface& a, const SweptSurface& b, std::uint64_t pair,
                     const DetectOptions& options, DetectWork& work, std::vector<SurfaceContact>& out,
                     PairClearance* clearance = nullptr);

/// The contacts of a surface with itself: of its parts that are not neighbours, at rest or by their edges.
void detect_self_contacts(const SweptSurface& surface, std::uint64_t pair, const DetectOptions& options,
                          DetectWork& work, std::vector<SurfaceContact>& out);

/// The contacts of the vertices of `a` with a rigid shape `b` that moves from pose_0 to pose_1. Shapes that may be
/// smaller than the triangles of `a` are better met as surfaces (collision_surface_of, place); obstacles that deform
/// must be.
void detect_contacts(const SweptSurface& a, const Obstacle& b, std::uint64_t pair,
                     const DetectOptions& options, DetectWork& work, std::vector<SurfaceContact>& out);

/// Moves the collision surface of an obstacle along with it: of its shape, or of its surface at rest.
void place(const Obstacle& obstacle, SweptSurface& surface);

/// The contacts of many pairs, on all threads; the same for any number of them.
struct ContactSet {
    std::vector<SurfaceContact> contacts;
    std::vector<int> start; ///< those of pair i are from start[i] to start[i + 1]

    std::span<const SurfaceContact> of(std::size_t pair) const
    {
        const auto begin = static_cast<std::size_t>(start[pair]);
        return std::span(contacts).subspan(begin, static_cast<std::size_t>(start[pair + 1]) - begin);
    }
};
/// Two that may touch: a surface, and a surface or an obstacle that is felt by its distance. A surface with itself where both are the
/// same.
struct SurfacePair {
    const SweptSurface* a = nullptr;
    const SweptSurface* b = nullptr;
    const Obstacle* obstacle = nullptr; ///< where there is no b
    std::uint64_t key = 0;              ///< tells pairs apart in the keys
    int most = 12;                      ///< contacts to keep, as ReduceOptions::most
    /// What `find_near` has just found of a and b, to work with; null: it was not asked. Without b nobody looks at it.
    NearPair* near = nullptr;
};
struct DetectManyWork {
    std::vector<DetectWork> blocks;
    std::vector<std::vector<SurfaceContact>> found;              ///< by block
    std::vector<int> counts;                                     ///< by pair
    std::unordered_map<std::uint64_t, PairClearance> clearances; ///< by the key of the pair
    std::vector<PairClearance*> clearance; ///< by pair; null for self contact and obstacles
    std::uint64_t call = 0;
};
void detect_contacts(std::span<const SurfacePair> pairs, const DetectOptions& options, DetectManyWork& work,
                     ContactSet& out);

/// Keeps the deepest contact and those that span the patch, for each direction of normals, of those from `first` on.
/// Deterministic; the order of the contacts does not matter as long as their keys differ.
void reduce_contacts(const ReduceOptions& options, std::size_t first, DetectWork& work,
                     std::vector<SurfaceContact>& contacts);

/// A number for a pair of bodies, or of features, that depends on the order of the two.
std::uint64_t pair_key(std::uint64_t a, std::uint64_t b);

} // namespace lithe
