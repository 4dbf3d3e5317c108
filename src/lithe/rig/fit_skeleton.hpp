#pragma once
#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/rig/skeleton.hpp"

namespace lithe {

enum class SkeletonTemplate {
    Biped, ///< pelvis, spine, chest, neck, head; arms of shoulder, elbow, wrist, tip; legs of hip, knee, ankle, toe
    Quadruped, ///< spine between two pairs of legs, neck and head, tail
    Chain,     ///< one line from end to end of the body
};

struct FitOptions {
    SkeletonTemplate kind = SkeletonTemplate::Biped;
    int chain_joints = 8; ///< of a chain, 2 to 100
    double cell = 0.0;    ///< of the distance field [m]; 0: chosen from the body
};

struct FittedSkeleton {
    Skeleton skeleton; ///< all joints inside the body, rest rotations the identity
    VecX depth;        ///< of each joint below the surface [m]
    std::vector<std::string> notes = {};
};

/// Puts a template's joints into a body: its limbs' ends are found as the farthest points of the body measured through its
/// inside, joints lie on the ways between them that keep in the middle. The body stands upright (y up), in any pose in which
/// its limbs can be told apart, facing +z (left is +x). Throws InputError when the body has not the limbs of the template.
FittedSkeleton fit_skeleton(const TriangleMesh& closed_surface, const FitOptions& options,
                            Progress& progress);

} // namespace lithe
