#pragma once
#include "lithe/rig/gltf_character.hpp"

// What reading a character from glTF and writing it back have in common: which node is which joint, and where the
// meshes of the file lie at rest.

namespace lithe::gltf {

using Json = GltfDocument::Json;

/// The nodes of the default scene as joints: depth first, parents before children.
struct SceneNodes {
    std::vector<int> node;   ///< of each joint
    std::vector<int> joint;  ///< of each node; -1: not in the scene
    std::vector<int> parent; ///< of each joint, a joint; -1: a root
    int strays = 0;          ///< roots that no scene shows but that skins need
};
SceneNodes scene_nodes(const GltfDocument& document);

constexpr int vertex_data = 34962; ///< the target of buffer views that hold attributes of vertices

/// The integer at `key`, or `otherwise`.
int int_at(const Json& object, const char* key, int otherwise);
/// The object at `path` ("extensions", "KHR_x"), or null.
const Json* find(const Json& object, std::initializer_list<const char*> path);
/// object["name"], or `otherwise`.
std::string name_of(const Json& object, const std::string& otherwise);

/// Where a node is in its parent. `shear` gets what its matrix has beyond translation, rotation and scale, relative to
/// its size.
JointTransform node_transform(const Json& node, double& shear);

Skeleton read_skeleton(const GltfDocument& document, const SceneNodes& scene, const ReadOptions& options,
                       std::vector<std::string>& notes);

/// Weights of the morph targets of a node's mesh when nothing moves them.
VecX rest_weights(const GltfDocument& document, int node);

/// A skin of the file.
struct FileSkin {
    std::vector<int> joints;           ///< of the skeleton
    std::vector<Affine3> inverse_bind; ///< as in the file: from the space of its meshes to the joint
    Affine3 to_rest; ///< A: from the space of its meshes to the frame of the skeleton's roots
};

/// Where the meshes of the file lie in the rest surface.
///
/// A skinned mesh lies where the root joint of its skin carries it:  X' = placement A X,  A = world_root IBM_root at rest.
/// In that pose a joint j of the skin is at  A IBM_j^-1,  and what hangs on it rigidly is there with it.
class RestPlaces {
public:
    RestPlaces(const GltfDocument& document, const SceneNodes& scene, const Skeleton& skeleton);

    const std::vector<FileSkin>& skins() const { return skins_; }
    /// From the space of a skin's meshes to the world.
    Affine3 of_skin(int skin) const;
    /// From the frame of a joint to the world.
    Affine3 of_joint(int joint) const;

private:
    void read_skins(const GltfDocument& document, const SceneNodes& scene);
    Affine3 skin_to_rest(const FileSkin& skin) const;
    void place_joints();

    const Skeleton& skeleton_;
    std::vector<Affine3> local_;  ///< of each joint in its parent at rest, invertible
    std::vector<Affine3> world_;  ///< of each joint at rest, without the placement
    std::vector<Affine3> placed_; ///< of each joint in the bind pose, without the placement
    std::vector<int> depth_;
    std::vector<FileSkin> skins_;
};

/// Whether a matrix can be inverted without losing all digits.
bool is_invertible(const Affine3& A);

/// The weights of morph targets that a sampler of an animation gives.
Track<VecX> read_weights_track(const GltfDocument& document, const Json& sampler, Index targets);
std::vector<Clip> read_clips(const GltfDocument& document, const SceneNodes& scene,
                             std::vector<std::string>& notes);

/// Colours of the vertices of primitives, from factors, vertex colours and textures.
class PrimitiveColors {
public:
    explicit PrimitiveColors(const GltfDocument& document);
    ~PrimitiveColors();

    /// 3 x vertices, sRGB in [0, 1].
    MatX of(const Json& primitive, Index vertex_count, std::vector<std::string>& notes);
    /// Whether any primitive so far had a colour of its own; else all were white for want of one.
    bool found() const { return found_; }

private:
    struct Texture;
    const Texture* texture(int index, std::vector<std::string>& notes);
    void paint_texture(const Json& info, const Json& attributes, MatX& linear,
                       std::vector<std::string>& notes);

    const GltfDocument& document_;
    std::vector<std::unique_ptr<Texture>> textures_; ///< those that were asked for
    bool found_ = false;
};

} // namespace lithe::gltf
