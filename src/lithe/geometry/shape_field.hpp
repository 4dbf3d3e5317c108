#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/isosurface.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/shape_language.hpp"

namespace lithe {

/// The union of the balls whose centre runs from a to b while their radius runs from radius_a to radius_b.
struct RoundCone {
    RoundCone() = default;
    RoundCone(const Vec3& start, const Vec3& end, double start_radius, double end_radius);

    /// The least of |p - c| - r over the balls: the signed distance outside, with a unit gradient. Cf. [Qui18].
    double distance(const Vec3& p) const;

    Vec3 a = Vec3::Zero(), along = Vec3::UnitY(); ///< one end [m], unit direction to the other
    double length = 0.0;                          ///< [m]; 0: a ball of radius_a
    double radius_a = 1.0, radius_b = 1.0;        ///< [m]
    double sin_A = 0.0, cos_A = 1.0, tan_A = 0.0; ///< of the angle between the side and the axis
};

/// A modelled shape as a function of space: negative inside. Made once, then asked from any thread.
///
/// A joint's parts are blended in the order in which they were written, then its children's subtrees with the
/// result. Two parts flow into each other over the smaller of their blends, by the quadratic smooth minimum [Qui13]
///
///   smin(a, b) = min(a, b) - h^2 k/4,   h = max(0, 1 - |a - b| / k),   k = blend (1 - max(0, n_a.n_b)),
///
/// where n are the gradients: where two surfaces run alike there is nothing to fill, and k vanishes, so that
/// a chain of bones does not bulge at its joints while its blend stays below its radius (the idea of [GBC13]).
///
/// Bound: every part's function is a lower bound of the distance with Lipschitz constant 1, and for m their
/// minimum and K the largest blend, m - K <= f <= m. (smin is monotone, and leaves arguments alone that are
/// more than K apart.) So f is an ImplicitFunction with lipschitz = 1, slack = K.
class ShapeField {
public:
    explicit ShapeField(const ShapeModel& model);

    double value(const Vec3& p) const;
    Vec3 color(const Vec3& p) const; ///< of the nearest flesh, faded where parts blend
    double slack() const { return slack_; }
    const Box3& box() const { return box_; } ///< holds the whole solid

private:
    struct Sample {
        double d;     ///< value [m]
        Vec3 n;       ///< about the gradient, no longer than 1
        double blend; ///< [m]
        Vec3 color;
        double fade; ///< how wide the colour fades into others [m]
    };
    struct Part {
        bool round;     ///< not squashed
        Mat3 to_round;  ///< takes space to where the part is a round cone
        RoundCone cone; ///< there
        double scale;   ///< the least squash: makes the distance there a lower bound here
        double blend;
        Vec3 color;
        Box3 box;
        double bound; ///< value >= bound * distance to the box
    };
    struct Node { ///< a joint
        std::vector<Part> parts;
        std::vector<int> children;
        Box3 box; ///< of the subtree
        double bound;
    };
    static Part prepare(const ShapePart& part);
    static Sample sample(const Part& part, const Vec3& p);
    static Sample nothing();
    Sample blended(const Sample& a, const Sample& b) const;
    Sample subtree(int node, const Vec3& p) const;
    Sample sample(const Vec3& p) const;

    std::vector<Node> nodes_;
    std::vector<int> roots_;
    Box3 box_;
    double slack_ = 0.0;
};

/// The surface of a shape with edges of about `cell` [m]: closed and manifold (see isosurface), with the vertex
/// field "color".
TriangleMesh shape_surface(const ShapeModel& model, double cell, Progress& progress);

/// The cell with which shape_surface makes about 18 000 triangles. [m]
double default_cell(const ShapeModel& model);

} // namespace lithe
