#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lithe/body/skin.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

struct Character; // lithe/rig/character.hpp

/// The constant part of what a body shows: its name, and its surface at rest in the body's own frame.
struct Shown {
    std::string name;
    TriangleMesh surface = {}; ///< outward; may carry the field "color"
    /// Of a body whose surface is a sum of shapes; none for others. Shared, since the model that it belongs to and every
    /// sink would else keep the largest thing of all once more.
    std::shared_ptr<const SurfaceMorphs> morphs = nullptr;
    /// Of a body whose surface follows several bones that deform; none for others.
    std::shared_ptr<const std::vector<SkinBone>> skin = nullptr;
    /// Of a body that is the skin of a skeleton; for those who can write skeletons.
    std::shared_ptr<const Character> character = nullptr;
    Vec3 color = {0.85, 0.45, 0.25}; ///< sRGB; of a surface without the field
    TetMesh volume = {};             ///< the tets behind the surface; empty for a body that has none

    bool rigid = false; ///< only its frame moves
    bool flesh = false; ///< of a character: its surface is not where its joints alone bring it
    bool backdrop =
        false; ///< a piece of something without end (a plane): pictures and frames for them leave it out
};

/// The part that moves. Positions in the world are  frame.apply(positions), where a body fills `positions`, or the
/// `weights` of its morphs, or its `bones`, or none of them when it is rigid; ask surface_in_frame for them.
struct Published {
    /// Of one bone of Shown::skin.
    struct Bone {
        RigidPose frame; ///< in Published::frame
        VecX q;
    };
    RigidPose frame;
    Points positions = {}; ///< of the surface's vertices, in the frame [m]
    /// Of Shown::morphs, as many as it has columns: q of a reduced body; or of the morph targets of Shown::character, part
    /// after part.
    VecX weights = {};
    std::vector<Eigen::Transform<double, 3, Eigen::AffineCompact>> joints =
        {};                       ///< of Shown::character's skeleton, in the world
    std::vector<Bone> bones = {}; ///< of Shown::skin, as many as it has
    Points nodes = {};            ///< of the volume's vertices, in the frame [m]
    Points node_velocities = {};  ///< in world axes [m/s]
};

/// Moved along with a frame, on all threads.
Points in_world(const RigidPose& frame, Points X);

/// The vertices of the surface in the body's frame: those published, or  rest + morphs * weights,  or on the bones,
/// or at rest. [m]
Points surface_in_frame(const Shown& shown, const Published& now);

/// The vertices of the surface in the world, on all threads. [m]
Points surface_in_world(const Shown& shown, const Published& now);
/// The same where there may be room for them already.
void place_surface(const Shown& shown, const Published& now, Points& x);

/// Those of many bodies: what they share is read once.
void place_surfaces(std::span<const Shown> shown, std::span<const Published> now, std::span<Points> x);

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

/// What a number at each vertex of a surface is called, for those who colour by it.
struct FieldLabel {
    std::string name;
    std::string unit;
};

} // namespace lithe
