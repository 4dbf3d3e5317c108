#pragma once
#include <cstdint>

#include "lithe/geometry/control_lattice.hpp"
#include "lithe/geometry/embedding.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/reduce/prepared_model.hpp"
#include "lithe/rig/skeleton.hpp"

namespace lithe {

/// Flesh that is linear in the frame of one joint. Regions overlap; their weights say how much of the motion each gives.
struct LatticeRegion {
    std::string name;
    int joint = 0; ///< of the skeleton, whose motion from rest the region follows
    VecX weights; ///< W^i, one per vertex of the lattice, >= 0; those of all regions sum to 1 at every vertex
};

/// A bone that is not an edge of the lattice: held by constraints at points along it.
struct HeldBone {
    std::string name;
    int joint = 0;
    Vec3 head = Vec3::Zero(), tail = Vec3::Zero(); ///< at rest in the world [m]
};

/// A surface that follows the lattice: its vertices in the tets of the finest level.
struct LatticeSurface {
    TriangleMesh rest; ///< may carry the field "color"
    Embedding embedding;
};

/// The character that a model was made from, clips and all, so that the model needs no other file.
struct ModelCharacter {
    std::string glb;  ///< a .glb file; empty: it is not kept
    ReadOptions read; ///< how to read it
};

/// How the flesh moves beside what it is made of.
struct LatticeSettings {
    double damping = 2.0;         ///< mu of  M q'' + mu M q' + ... [1/s], >= 0
    double twist_radius = 0.0;    ///< flesh nearer to a bone turns with it [m]; 0: none does
    double twist_stiffness = 0.0; ///< k_t of the twist constraint [N/m^5], >= 0
    double refine_strain =
        0.1; ///< tau_0^+: level 1 comes where level 0 is strained more than this; doubles per level
    int most_functions = 0; ///< active at a time; 0: twice those of level 0
};

/// A skeleton-driven character in a control lattice [CGC02], made ready for real time. Everything is at rest in the world, where the
/// joints were bound. Derived matrices are made when the model is loaded (dynamics/lattice_system.hpp).
struct LatticeModel {
    std::string name;
    ControlLattice lattice;
    Skeleton skeleton;
    std::vector<Affine3>
        bind; ///< of each joint, where it carries the flesh at rest; not always the skeleton's rest
    std::vector<int> bone_joints; ///< of each bone of the lattice, the joint that carries it (at its head)
    std::vector<HeldBone> held_bones = {};
    int levels = 1;               ///< J >= 0: the basis has functions of levels 0 to J
    int integration_levels = 3;   ///< >= max(1, levels): integrals are sums over the tets of this level
    std::vector<float> fractions; ///< of each such tet, how much of it is inside the body, in [0, 1]
    std::vector<std::uint8_t> tet_materials; ///< of each such tet, an index into `materials`
    std::vector<RegionParameters> materials; ///< at least one
    std::vector<LatticeRegion> regions;      ///< at least one
    LatticeSurface shown;
    LatticeSurface collision; ///< coarse and closed
    LatticeSettings settings;
    ModelCharacter character = {}; ///< its joints are those of `skeleton`
    ReductionRecord record;
};

} // namespace lithe
