#pragma once
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

/// The constant part of what a body shows: its name, and its surface at rest in the body's own frame.
struct Shown {
    std::string name;
    TriangleMesh surface = {};       ///< outward; may carry the field "color"
    Vec3 color = {0.85, 0.45, 0.25}; ///< sRGB; of a surface without the field
    TetMesh volume = {};             ///< the tets behind the surface; empty for a body that has none

    bool rigid = false; ///< only its frame moves
    bool backdrop =
        false; ///< a piece of something without end (a plane): pictures and frames for them leave it out
};

/// The part that moves. Positions in the world are  frame.apply(positions)  (or the surface at rest when `positions` is
/// empty: a rigid body).
struct Published {
    RigidPose frame;
    Points positions = {};       ///< of the surface's vertices, in the frame [m]
    Points nodes = {};           ///< of the volume's vertices, in the frame [m]
    Points node_velocities = {}; ///< in world axes [m/s]
};

inline Points in_world(const RigidPose& frame, const Points& X)
{
    return (frame.rotation.toRotationMatrix() * X).colwise() + frame.translation;
}

/// The vertices of the surface in the world. [m]
inline Points surface_in_world(const Shown& shown, const Published& now)
{
    return in_world(now.frame, now.positions.cols() > 0 ? now.positions : shown.surface.vertices);
}

/// The vertices of the volume in the world. [m]
inline Points nodes_in_world(const Shown& shown, const Published& now)
{
    return in_world(now.frame, now.nodes.cols() > 0 ? now.nodes : shown.volume.vertices);
}

/// All bodies at one moment, in the order in which they were shown.
struct Frame {
    int number = 0; ///< 0 is the start
    double t = 0.0; ///< [s]
    std::vector<Published> bodies;
};

/// Where frames go: files, a viewer, a test. Called as begin, frame ..., finish; destroyed without finish, a sink leaves
/// no broken file behind.
class FrameSink {
public:
    virtual ~FrameSink() = default;
    virtual void begin(const std::vector<Shown>& bodies, double fps) = 0;
    virtual void frame(const Frame& frame) = 0;
    virtual void finish() = 0;
};

/// A named set of points, with an arrow at each where `vectors` is not empty: contacts with their forces, pins. Data for
/// whoever draws; no one needs to know which body it came from.
struct Overlay {
    std::string name;
    Points points; ///< in the world [m]
    Points vectors = {};
};

} // namespace lithe
