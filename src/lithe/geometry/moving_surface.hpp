#pragma once
#include <array>

#include "lithe/geometry/rigid_shape.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {

/// The two moments between which a step goes.
enum class StepEnd { Start, End };

/// A closed surface that deforms: where it is at both ends of a step, and which of its material lies where. Points of the
/// material are named by where they are at rest.
///
/// Const methods may be called from any thread and allocate nothing.
class MovingSurface {
public:
    /// At rest, at both ends. Throws InputError as SurfaceQuery does.
    explicit MovingSurface(const TriangleMesh& rest);

    /// Where the vertices are. Builds the structures for queries anew: O(n log n).
    void place(StepEnd end, const Points& vertices);
    /// The end of the step becomes the start of the next.
    void advance() { std::swap(queries_[0], queries_[1]); }

    const TriangleMesh& rest() const { return rest_.mesh(); }
    const Box3& box(StepEnd end) const { return posed(end).box; }
    const TriangleMesh& surface(StepEnd end) const { return posed(end).query.mesh(); }

    /// Negative inside, where the winding number is above 1/2. Outside of the box it is the distance to the box.
    SignedDistance signed_distance(StepEnd end, const Vec3& p) const;
    /// False only when a ball about p is clear of it.
    bool may_touch(StepEnd end, const Vec3& p, double radius) const;

    /// The material nearest to p.
    Vec3 material_at(StepEnd end, const Vec3& p) const;
    /// Where material is, given by where it is at rest (anything near the surface is taken to it).
    Vec3 place_of(StepEnd end, const Vec3& X) const;
    /// The unit normal of the surface at that material.
    Vec3 normal_of(StepEnd end, const Vec3& X) const;

private:
    struct Posed {
        SurfaceQuery query;
        Box3 box;
    };
    const Posed& posed(StepEnd end) const { return queries_[end == StepEnd::Start ? 0 : 1]; }

    SurfaceQuery rest_;
    std::array<Posed, 2> queries_;
};

} // namespace lithe
