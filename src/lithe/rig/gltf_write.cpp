#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/core/version.hpp"
#include "lithe/math/color.hpp"
#include "lithe/rig/gltf_animation.hpp"
#include "lithe/rig/gltf_character.hpp"

namespace lithe {
namespace {

using namespace gltf;

using FileJoints = Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic>;

/// Weights in single precision whose sum is one as nearly as they can be: the heaviest takes what rounding leaves.
Eigen::MatrixXf file_weights(const MatX& weights)
{
    Eigen::MatrixXf rounded = weights.cast<float>();
    for (Index v = 0; v < rounded.cols(); ++v) {
        const double rest = 1.0 - rounded.col(v).cast<double>().sum();
        rounded(0, v) = static_cast<float>(rounded(0, v) + rest);
    }
    return rounded;
}

/// Unit normals; a vertex without a surface around it gets one that points up.
Eigen::MatrixXf file_normals(const TriangleMesh& surface)
{
    Points normals = vertex_normals(surface);
    for (Index v = 0; v < normals.cols(); ++v)
        if (!(normals.col(v).norm() > 0.5)) normals.col(v) = Vec3::UnitY();
    return normals.cast<float>();
}

Eigen::MatrixXf file_colors(const MatX& srgb)
{
    Eigen::MatrixXf linear(3, srgb.cols());
    for (Index v = 0; v < srgb.cols(); ++v) linear.col(v) = linear_from_srgb(srgb.col(v)).cast<float>();
    return linear;
}

/// Makes a document from a character, piece by piece.
class CharacterWriter {
public:
    explicit CharacterWriter(const Character& character) : character_(character) {}

    GltfDocument write()
    {
        document_.edit()["asset"]["generator"] = "Lithe " LITHE_VERSION;
        document_.edit()["scene"] = 0;
        document_.edit()["scenes"] = Json::array({Json::object()});
        add_skeleton();
        if (character_.surface.triangle_count() > 0) add_surface();
        if (!shown_.empty()) document_.edit()["scenes"][0]["nodes"] = shown_;
        for (const Clip& clip : character_.clips) add_clip(clip);
        return std::move(document_);
    }

private:
    int add_node(Json node);
    void add_skeleton();
    void add_surface();
    void add_skin(Json& attributes, Json& node);
    void add_clip(const Clip& clip);

    const Character& character_;
    GltfDocument document_;
    std::vector<int> node_of_joint_;
    std::vector<int> shown_; ///< the roots of the scene
};

int CharacterWriter::add_node(Json node)
{
    Json& nodes = document_.edit_list("nodes");
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
}

/// A node per joint; above them one for the placement, also where several roots need something in common.
void CharacterWriter::add_skeleton()
{
    const Skeleton& skeleton = character_.skeleton;
    int roots = 0;
    for (const Joint& joint : skeleton.joints) roots += joint.parent < 0;
    const bool is_placed = skeleton.placement.matrix() != Affine3::Identity().matrix();
    int top = -1;
    if (roots > 1 || (roots > 0 && is_placed)) {
        Json node = {{"name", "placement"}};
        set_transform(node, decomposed(skeleton.placement));
        top = add_node(std::move(node));
        shown_.push_back(top);
    }
    for (const Joint& joint : skeleton.joints) {
        Json node = Json::object();
        if (!joint.name.empty()) node["name"] = joint.name;
        set_transform(node, joint.rest);
        const int index = add_node(std::move(node));
        node_of_joint_.push_back(index);
        const int parent = joint.parent < 0 ? top : node_of_joint_[joint.parent];
        if (parent < 0)
            shown_.push_back(index);
        else
            document_.edit_list("nodes")[parent]["children"].push_back(index);
    }
}

/// The surface is in the world already: its node stands beside the skeleton, not in it.
void CharacterWriter::add_surface()
{
    const TriangleMesh& surface = character_.surface;
    Json attributes = {
        {"POSITION", document_.add_accessor(file_numbers(surface.vertices, "the surface"), vertex_data)},
        {"NORMAL", document_.add_accessor(file_normals(surface), vertex_data)}};
    if (const VertexField* color = find_color(surface.fields))
        attributes["COLOR_0"] = document_.add_accessor(file_colors(color->values), vertex_data);
    Json node = {{"name", "surface"}, {"mesh", 0}};
    if (character_.weights.vertex_count() > 0) add_skin(attributes, node);
    shown_.push_back(add_node(std::move(node)));

    std::vector<std::uint32_t> corners;
    for (const int corner : surface.triangles.reshaped())
        corners.push_back(static_cast<std::uint32_t>(corner));
    const int indices = document_.add_indices(corners);
    document_.edit_list("materials")
        .push_back({{"name", "surface"},
                    {"pbrMetallicRoughness", {{"metallicFactor", 0.0}, {"roughnessFactor", 0.8}}}});
    document_.edit_list("meshes").push_back(
        {{"name", "surface"},
         {"primitives", Json::array({{{"attributes", attributes}, {"indices", indices}, {"material", 0}}})}});
}

/// A skin lists a node once. A joint that carries a second bone gets a child that moves with it, for that bone.
void CharacterWriter::add_skin(Json& attributes, Json& node)
{
    std::vector<int> joints;
    MatX inverse_bind(16, static_cast<Index>(character_.bones.size()));
    for (const Bone& bone : character_.bones) {
        int index = node_of_joint_[bone.joint];
        if (std::find(joints.begin(), joints.end(), index) != joints.end()) {
            const int child = add_node({{"name", character_.skeleton.joints[bone.joint].name + " again"}});
            document_.edit_list("nodes")[index]["children"].push_back(child);
            index = child;
        }
        Mat4 matrix = Mat4::Identity();
        matrix.topRows<3>() = bone.inverse_bind.matrix();
        inverse_bind.col(static_cast<Index>(joints.size())) = matrix.reshaped();
        joints.push_back(index);
    }
    LITHE_ASSERT(!joints.empty() && joints.size() <= 65536);
    document_.edit_list("skins").push_back(
        {{"inverseBindMatrices", document_.add_accessor(file_numbers(inverse_bind, "the bones"))},
         {"joints", joints}});
    node["skin"] = 0;

    const SkinWeights& skin = character_.weights;
    const Eigen::MatrixXf weights = file_weights(skin.weights);
    for (Index set = 0; 4 * set < skin.slots(); ++set) {
        const Index rows = std::min<Index>(4, skin.slots() - 4 * set);
        FileJoints j = FileJoints::Zero(4, skin.vertex_count());
        Eigen::MatrixXf w = Eigen::MatrixXf::Zero(4, skin.vertex_count());
        j.topRows(rows) = skin.bones.middleRows(4 * set, rows).cast<std::uint16_t>();
        w.topRows(rows) = weights.middleRows(4 * set, rows);
        attributes["JOINTS_" + std::to_string(set)] = document_.add_joints(j);
        attributes["WEIGHTS_" + std::to_string(set)] = document_.add_accessor(w, vertex_data);
    }
}

/// Without weights of morph targets, which one mesh for all parts cannot have.
void CharacterWriter::add_clip(const Clip& clip)
{
    Json animation = animation_of(document_, {.name = clip.name, .joints = clip.joints}, node_of_joint_);
    if (animation["channels"].empty()) return;
    document_.edit_list("animations").push_back(std::move(animation));
}

bool is_above(const SceneNodes& scene, int ancestor, int joint)
{
    while (joint >= 0 && joint != ancestor) joint = scene.parent[joint];
    return joint >= 0;
}

/// The hint which node is the root of a skin must be above all its joints. Exporters get it wrong: then it goes.
void drop_wrong_skeletons(GltfDocument& document, const SceneNodes& scene)
{
    for (std::size_t i = 0; i < document.count("skins"); ++i) {
        Json& skin = document.edit_list("skins")[i];
        const int root = int_at(skin, "skeleton", -1);
        if (root < 0) continue;
        for (const Json& node : skin["joints"])
            if (!is_above(scene, scene.joint[root], scene.joint[node.get<int>()])) {
                skin.erase("skeleton");
                break;
            }
    }
}

} // namespace

void set_animations(GltfDocument& document, const Character& character, std::span<const Clip> clips)
{
    const SceneNodes scene = scene_nodes(document);
    LITHE_ASSERT(scene.node.size() == character.skeleton.joints.size());
    drop_wrong_skeletons(document, scene);
    document.edit().erase("animations");
    for (const Clip& clip : clips) {
        Json animation = animation_of(document, clip, scene.node);
        for (const Json& channel : animation["channels"]) {
            const int node = channel["target"]["node"].get<int>();
            make_animatable(document, node, character.skeleton.joints[scene.joint[node]].rest);
        }
        if (!animation["channels"].empty()) document.edit_list("animations").push_back(std::move(animation));
    }
}

GltfDocument make_gltf(const Character& character)
{
    return CharacterWriter(character).write();
}

} // namespace lithe
