#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lithe/geometry/mesh_io.hpp"
#include "lithe/rig/clip.hpp"
#include "lithe/rig/skin_weights.hpp"

namespace lithe {

class GltfDocument;

/// A piece of a character's surface that its file keeps apart: a primitive of a glTF mesh.
struct SurfacePart {
    std::string name;
    int joint = 0;               ///< the node that the mesh hangs on
    int mesh = 0, primitive = 0; ///< numbers in the file
    Index first_vertex = 0, vertex_count = 0;
    Index first_triangle = 0, triangle_count = 0;
    bool skinned = false; ///< else it follows `joint` rigidly
    std::vector<Points> morphs =
        {};               ///< displacements of its vertices per morph target, at rest in the world [m]
    VecX morph_rest = {}; ///< their weights when nothing moves them
};

/// A surface, the skeleton in it, what binds them, and motions. All in metres, y up, in the world.
struct Character {
    std::filesystem::path file = {};
    /// At rest: the bind pose, put in the world where the skeleton at rest carries it. Parts one after the other, vertices
    /// as in the file (seams are doubled), with the field "color" where the file has colours or textures.
    TriangleMesh surface = {};
    std::vector<SurfacePart> parts = {};
    Skeleton skeleton = {};
    std::vector<Bone> bones = {};
    SkinWeights weights = {}; ///< of the surface's vertices; without columns: there are none yet
    std::vector<Clip> clips = {};
    std::vector<std::string> notes = {};                  ///< what was assumed or mended in reading
    std::shared_ptr<const GltfDocument> source = nullptr; ///< all that the file holds, for the way back
};

/// .glb .gltf .bvh .shape and .skel.txt (with .obj, .weights.txt and .*.anim.txt of the same name beside it).
bool holds_character(const std::filesystem::path& file);

/// Reads any of them. A .bvh has no surface; a .shape gets its surface made and no weights. Throws InputError with the
/// file and the place in it.
Character read_character(const std::filesystem::path& file, const ReadOptions& options = {});

/// The weights of all morph targets at time t of a clip, or at rest without one, part after part.
VecX morph_weights(const Character& character, const Clip* clip, double t);

/// The surface's vertices with the morph targets of a clip at time t, or of rest without a clip: what is skinned. [m]
Points morphed_surface(const Character& character, const Clip* clip, double t);

} // namespace lithe
