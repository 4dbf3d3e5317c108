#pragma once
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/reduce/bone_model.hpp"
#include "lithe/rig/character.hpp"
#include "lithe/scene/scene.hpp"

namespace lithe {

/// An example pose: the character's surface, vertex by vertex, in the world. The way that it deforms a bone becomes one of
/// that bone's coordinates.
struct BoneShape {
    std::string bone;
    std::filesystem::path file;
};

struct BoneOptions {
    Index modes = 10;      ///< of each bone, >= 0
    double overlap = 0.15; ///< weight from which a tet is a bone's too, in [0, 1); 0: no tet has two bones
    BoneHold hold = BoneHold::Weld;
    std::vector<std::string> rigid = {}; ///< bones that do not deform
    Index proxy_vertices = 300;          ///< of the collision surface, about
    TetrahedraliseOptions tets = {};     ///< that the body is filled with
    std::optional<double> young = {};    ///< [Pa], > 0; without it, one that fits size and weight
    double poisson = 0.4;                ///< in (-1, 1/2)
    double density = 1000.0;             ///< [kg/m^3], > 0
    RayleighDamping damping = {};
    ElasticChoice elastic = ElasticChoice::Linear; ///< or Polynomial
    std::vector<BoneShape> shapes = {};
};

/// Makes a character of deformable bones (docs/bones.md): its closed surface is filled with tets, which its bones share by their
/// weights; each is reduced as a body of its own and joined to its parent. Notes say what was chosen.
///
/// Throws InputError for a character without weights, weights that do not sum to one, a skeleton that is elsewhere than the surface,
/// bones that are not there, and options out of range.
BoneModel prepare_bones(const Character& character, const BoneOptions& options, Progress& progress,
                        std::vector<std::string>& notes);
/// Of a file or a shape, which the record names.
BoneModel prepare_bones(const SceneSource& source, const BoneOptions& options, Progress& progress,
                        std::vector<std::string>& notes);

} // namespace lithe
