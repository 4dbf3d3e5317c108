#pragma once
#include <functional>

#include "lithe/core/progress.hpp"
#include "lithe/reduce/lattice_model.hpp"
#include "lithe/rig/skin_weights.hpp"

namespace lithe {

/// What a lattice model is made of. All of it at rest in the world.
struct LatticeDescription {
    std::string name;
    ControlLattice lattice;
    std::vector<int> bone_joints; ///< as in LatticeModel
    std::vector<HeldBone> held_bones = {};
    Skeleton skeleton;
    std::vector<Bone> bones; ///< that `weights` names
    SkinWeights weights;     ///< of the vertices of `shown`
    TriangleMesh shown;
    TriangleMesh closed;    ///< what is inside of it has mass
    TriangleMesh collision; ///< coarse and closed
    std::vector<RegionParameters> materials = {{}};
    std::function<int(const Vec3&)> material_at =
        {}; ///< an index into `materials`; the first when there is none
    int levels = 1;
    int integration_levels = 3;
    LatticeSettings settings = {}; ///< twist_radius 0: chosen with its stiffness, see chosen_twist
};

/// Throws InputError with the first fault of the lattice, for joints that are not there, and for a body without volume in it.
LatticeModel make_lattice_model(const LatticeDescription& description, Progress& progress);

/// Of each tet, the share of 64 fixed points in it at which the distance to the surface is negative. Tets that are clear of the
/// surface are not sampled.
std::vector<float> inside_fractions(const TetMesh& tets, const TriangleMesh& closed, Progress& progress);

/// Regions from skin weights: one for each joint that carries a bone; what follows other joints goes to their nearest ancestor that
/// does. Weights of a vertex are those of the nearest point of the surface, or of its bones. Every cell lies in at least one
/// region: where none reaches all of its corners, the heaviest is given a little of them.
std::vector<LatticeRegion> regions_of(const LatticeDescription& description);

/// Radius and stiffness of the twist constraint: a quarter of the mean distance from the bones to the surface, and
/// k_t = E / radius^2 with the softest E.
struct Twist {
    double radius;    ///< [m]
    double stiffness; ///< [N/m^5]
};
Twist chosen_twist(const LatticeDescription& description);

} // namespace lithe
