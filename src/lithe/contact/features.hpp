#pragma once
#include "lithe/contact/collision_surface.hpp"

namespace lithe {

/// The vertices, edges and faces of a surface on its way, seen from a frame that drifts along: which way each of them
/// is able to touch. A direction is outward of a feature when nothing of the surface around the feature lies further
/// that way.
struct FeatureView {
    const SweptSurface& swept;
    Vec3 frame = Vec3::Zero(); ///< how far the frame goes during the step [m]

    const CollisionSurface& surface() const { return swept.surface(); }
    MovingPoint point(int vertex) const
    {
        MovingPoint out = swept.point(vertex);
        out.dx -= frame;
        return out;
    }
    Vec3 at(int vertex, double s) const { return point(vertex).at(s); }
    std::array<MovingPoint, 3> corners(int triangle) const;
    std::array<MovingPoint, 2> ends(int edge) const;

    /// Unit; zero for a triangle without area.
    Vec3 normal(int triangle, double s) const;
    /// Of the face, edge or corner of a triangle at which the weights lie: the mean of the normals around it, by their
    /// angles. Its length means nothing.
    Vec3 outward(int triangle, const Vec3& weights, double s) const;
    Vec3 edge_outward(int edge, double s) const;

    // Whether n is an outward direction, to a slack of about two degrees.
    bool vertex_faces(int vertex, const Vec3& n, double s) const;
    bool edge_faces(int edge, const Vec3& n, double s) const;
    /// An edge with its triangles.
    struct Wedge {
        Vec3 along;                    ///< the edge, at the start [m]
        std::array<Vec3, 2> into;      ///< from it to the far corners; zero where there is none [m]
        double length;                 ///< [m]
        std::array<double, 2> lengths; ///< of `into` [m]
        double change;                 ///< in the step, of any of these, relative to its length at the start
    };
    Wedge wedge(int edge) const;
    /// Of the face, edge or corner of a triangle at which the weights lie.
    bool faces(int triangle, const Vec3& weights, const Vec3& n, double s) const;

private:
    Vec3 vertex_outward(int vertex, double s) const;
};

/// False when two edges cannot touch in the step, wherever they are: no direction across both is outward of one and inward of the
/// other at any time (`edge_faces`).
bool may_touch(const FeatureView::Wedge& a, const FeatureView::Wedge& b);

} // namespace lithe
