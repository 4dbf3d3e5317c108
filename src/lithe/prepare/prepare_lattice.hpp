#pragma once
#include "lithe/meshing/bone_lattice.hpp"
#include "lithe/reduce/lattice_model.hpp"
#include "lithe/rig/character.hpp"
#include "lithe/scene/scene.hpp"

namespace lithe {

/// Flesh of a stiffness of its own: around a bone, below skin of a colour, or inside a closed mesh.
struct LatticeStiffness {
    enum class Where { Bone, Color, Mask };
    Where where = Where::Bone;
    std::string what;   ///< name of the bone, "#rrggbb", or file of the mesh
    double young = 0.0; ///< [Pa], > 0
};

/// "BONE=5e4", "#ff8000=5e4" or "mask:FILE=5e4". Throws InputError for anything else.
LatticeStiffness parse_stiffness(const std::string& text);

struct LatticePrepareOptions {
    std::optional<Index> vertices = {};                ///< about; without: 200, or three per bone
    std::optional<std::filesystem::path> lattice = {}; ///< hand-made, instead of one of ours
    int levels = 1;                                    ///< J, 0 to 3
    Index proxy_vertices = 300;                        ///< of the collision surface, about
    std::optional<double> young = {};             ///< [Pa], > 0; without it, one that fits size and weight
    double poisson = 0.4;                         ///< in (-1, 1/2)
    double density = 1000.0;                      ///< [kg/m^3], > 0
    std::optional<double> damping = {};           ///< [1/s], >= 0
    std::vector<LatticeStiffness> stiffness = {}; ///< of flesh that two have, the first counts
};

/// A bone of a skeleton as a line, with the joint that carries it.
struct JointLine {
    BoneLine line;
    int joint = 0;
};

/// Lines along the bones that carry skin, where they were bound: a joint with one child has the line to it, one with several the
/// shortest tree over them (all of it moves with the joint), one at the end of a chain goes on for half the length of its parent
/// or as far as the body reaches. Joints that lie on each other have none; notes say what was left out.
std::vector<JointLine> bone_lines(const Character& character, const TriangleMesh& closed,
                                  std::vector<std::string>& notes);

/// Makes a character with flesh in a control lattice (docs/lattice.md). Notes say what was chosen, and whether bones had to be held
/// by points instead of edges.
///
/// Throws InputError for a character without weights or bones, one that is not of the size of a body, bones that are all outside of
/// the surface, and a hand-made lattice with a fault or without the body inside.
LatticeModel prepare_lattice(const Character& character, const LatticePrepareOptions& options,
                             Progress& progress, std::vector<std::string>& notes);
/// Of a file or a shape, which the record names.
LatticeModel prepare_lattice(const SceneSource& source, const LatticePrepareOptions& options,
                             Progress& progress, std::vector<std::string>& notes);

} // namespace lithe
