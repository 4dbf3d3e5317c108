#include "lithe/rig/gltf_scene.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_check.hpp"

namespace lithe::gltf {
namespace {

/// Adds a root and all below it, in the order of the file.
void add_tree(const Json& nodes, int root, SceneNodes& scene)
{
    struct Visit {
        int node, parent;
    };
    std::vector<Visit> pending = {{root, -1}};
    while (!pending.empty()) {
        const Visit visit = pending.back();
        pending.pop_back();
        const int joint = static_cast<int>(scene.node.size());
        scene.joint[visit.node] = joint;
        scene.node.push_back(visit.node);
        scene.parent.push_back(visit.parent);
        const Json& node = nodes[visit.node];
        const auto children = node.find("children");
        if (children == node.end()) continue;
        for (auto child = children->rbegin(); child != children->rend(); ++child)
            pending.push_back({child->get<int>(), joint});
    }
}

std::vector<int> parents_of(const Json& nodes)
{
    std::vector<int> parents(nodes.size(), -1);
    for (std::size_t n = 0; n < nodes.size(); ++n)
        for (const Json& child : nodes[n].value("children", Json::array()))
            parents[child.get<int>()] = static_cast<int>(n);
    return parents;
}

/// The roots of the default scene; of the first when none is the default; of the whole file when it has no scenes.
std::vector<int> scene_roots(const GltfDocument& document, const std::vector<int>& parents)
{
    std::vector<int> roots;
    if (document.count("scenes") > 0) {
        const Json& scene = document.list("scenes")[int_at(document.json(), "scene", 0)];
        for (const Json& node : scene.value("nodes", Json::array())) roots.push_back(node.get<int>());
        return roots;
    }
    for (std::size_t n = 0; n < parents.size(); ++n)
        if (parents[n] < 0) roots.push_back(static_cast<int>(n));
    return roots;
}

/// Joints of skins that are in no scene still move the skin: their trees are taken as well.
void add_strays(const GltfDocument& document, const std::vector<int>& parents, SceneNodes& scene)
{
    for (const Json& skin : document.list("skins"))
        for (const Json& joint : skin["joints"]) {
            int top = joint.get<int>();
            if (scene.joint[top] >= 0) continue;
            while (parents[top] >= 0) top = parents[top];
            add_tree(document.list("nodes"), top, scene);
            ++scene.strays;
        }
}

Vec3 vec3_at(const Json& node, const char* key, const Vec3& otherwise)
{
    const auto it = node.find(key);
    if (it == node.end()) return otherwise;
    return {(*it)[0].get<double>(), (*it)[1].get<double>(), (*it)[2].get<double>()};
}

Quat quat_at(const Json& node, const char* key)
{
    const auto it = node.find(key);
    if (it == node.end()) return Quat::Identity();
    return Quat((*it)[3].get<double>(), (*it)[0].get<double>(), (*it)[1].get<double>(),
                (*it)[2].get<double>())
        .normalized();
}

Affine3 placement_of(const ReadOptions& options)
{
    Affine3 placement = Affine3::Identity();
    if (options.up == UpAxis::Z) placement.linear() << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    placement.linear() *= require_positive("scale", options.scale);
    return placement;
}

} // namespace

int int_at(const Json& object, const char* key, int otherwise)
{
    const auto it = object.find(key);
    return it == object.end() || !it->is_number_integer() ? otherwise : it->get<int>();
}

const Json* find(const Json& object, std::initializer_list<const char*> path)
{
    const Json* at = &object;
    for (const char* key : path) {
        if (!at->is_object()) return nullptr;
        const auto it = at->find(key);
        if (it == at->end()) return nullptr;
        at = &*it;
    }
    return at;
}

std::string name_of(const Json& object, const std::string& otherwise)
{
    const auto it = object.find("name");
    if (it == object.end() || !it->is_string() || it->get_ref<const std::string&>().empty()) return otherwise;
    return it->get<std::string>();
}

SceneNodes scene_nodes(const GltfDocument& document)
{
    const Json& nodes = document.list("nodes");
    const std::vector<int> parents = parents_of(nodes);
    SceneNodes scene;
    scene.joint.assign(nodes.size(), -1);
    for (const int root : scene_roots(document, parents)) add_tree(nodes, root, scene);
    add_strays(document, parents, scene);
    return scene;
}

JointTransform node_transform(const Json& node, double& shear)
{
    shear = 0.0;
    const auto matrix = node.find("matrix");
    if (matrix == node.end())
        return {vec3_at(node, "translation", Vec3::Zero()), quat_at(node, "rotation"),
                vec3_at(node, "scale", Vec3::Ones())};
    Affine3 A;
    for (int i = 0; i < 12; ++i) A.matrix()(i % 3, i / 3) = (*matrix)[i + i / 3].get<double>();
    const JointTransform parts = decomposed(A);
    const double size = A.linear().norm();
    if (size > 0.0) shear = (parts.matrix().linear() - A.linear()).norm() / size;
    return parts;
}

Skeleton read_skeleton(const GltfDocument& document, const SceneNodes& scene, const ReadOptions& options,
                       std::vector<std::string>& notes)
{
    constexpr double harmless_shear =
        1e-4; // relative: below what single precision leaves in a product of turns
    Skeleton skeleton{.joints = {}, .placement = placement_of(options)};
    for (std::size_t j = 0; j < scene.node.size(); ++j) {
        const Json& node = document.list("nodes")[scene.node[j]];
        double shear = 0.0;
        Joint joint{name_of(node, fmt::format("node {}", scene.node[j])), scene.parent[j],
                    node_transform(node, shear)};
        if (shear > harmless_shear)
            notes.push_back(
                fmt::format("the matrix of node '{}' is sheared; the nearest one without shear is "
                            "used, which differs by {:.2g} of its size",
                            joint.name, shear));
        skeleton.joints.push_back(std::move(joint));
    }
    if (scene.strays > 0)
        notes.push_back(fmt::format("{} trees of joints are in no scene; they are read all the same, for the "
                                    "skins that need them",
                                    scene.strays));
    return skeleton;
}

VecX rest_weights(const GltfDocument& document, int node)
{
    const Json& of_node = document.list("nodes")[node];
    const int mesh = of_node["mesh"].get<int>();
    VecX weights = VecX::Zero(static_cast<Index>(target_count(document, mesh)));
    const Json* given = find(of_node, {"weights"});
    if (!given) given = find(document.list("meshes")[mesh], {"weights"});
    if (!given) return weights;
    for (Index i = 0; i < weights.size(); ++i) weights[i] = (*given)[i].get<double>();
    return weights;
}

bool is_invertible(const Affine3& A)
{
    const Eigen::JacobiSVD<Mat3> svd(A.linear());
    const Vec3 sigma = svd.singularValues();
    return A.matrix().allFinite() && sigma[2] > 1e-9 * sigma[0];
}

RestPlaces::RestPlaces(const GltfDocument& document, const SceneNodes& scene, const Skeleton& skeleton)
    : skeleton_(skeleton)
{
    for (const Joint& joint : skeleton.joints) {
        // What is hidden by a scale of zero has its shape all the same.
        JointTransform rest = joint.rest;
        for (double& s : rest.scale)
            if (std::abs(s) < 1e-9) s = 1.0;
        const bool root = joint.parent < 0;
        local_.push_back(rest.matrix());
        world_.push_back(root ? local_.back() : Affine3(world_[joint.parent] * local_.back()));
        depth_.push_back(root ? 0 : depth_[joint.parent] + 1);
    }
    read_skins(document, scene);
    place_joints();
}

void RestPlaces::read_skins(const GltfDocument& document, const SceneNodes& scene)
{
    for (const Json& json : document.list("skins")) {
        FileSkin skin;
        for (const Json& node : json["joints"]) skin.joints.push_back(scene.joint[node.get<int>()]);
        skin.inverse_bind.assign(skin.joints.size(), Affine3::Identity());
        if (const int accessor = int_at(json, "inverseBindMatrices", -1); accessor >= 0) {
            const MatX numbers = document.numbers(accessor);
            LITHE_ASSERT(numbers.rows() == 16 && numbers.cols() >= static_cast<Index>(skin.joints.size()));
            for (std::size_t j = 0; j < skin.joints.size(); ++j) {
                const Mat4 matrix = numbers.col(static_cast<Index>(j)).reshaped(4, 4);
                skin.inverse_bind[j].matrix() = matrix.topRows<3>();
            }
        }
        skin.to_rest = skin_to_rest(skin);
        // Skins of one body differ by rounding only: they share one map, so that equal bones are equal to the last bit.
        for (const FileSkin& other : skins_)
            if (other.to_rest.matrix().isApprox(skin.to_rest.matrix(), 1e-5)) {
                skin.to_rest = other.to_rest;
                break;
            }
        skins_.push_back(std::move(skin));
    }
}

/// world IBM of the joint highest in the hierarchy, the first of these; of the next where that has no inverse. Any
/// invertible matrix is right for the posed surface.
Affine3 RestPlaces::skin_to_rest(const FileSkin& skin) const
{
    std::vector<std::size_t> order(skin.joints.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const int ja = skin.joints[a], jb = skin.joints[b];
        return std::pair(depth_[ja], ja) < std::pair(depth_[jb], jb);
    });
    for (const std::size_t i : order) {
        const Affine3 A = world_[skin.joints[i]] * skin.inverse_bind[i];
        if (is_invertible(A)) return A;
    }
    return Affine3::Identity();
}

void RestPlaces::place_joints()
{
    std::vector<const Affine3*> inverse_bind(world_.size(), nullptr);
    std::vector<const FileSkin*> skin_of(world_.size(), nullptr);
    for (const FileSkin& skin : skins_)
        for (std::size_t i = 0; i < skin.joints.size(); ++i)
            if (!skin_of[skin.joints[i]] && is_invertible(skin.inverse_bind[i])) {
                skin_of[skin.joints[i]] = &skin;
                inverse_bind[skin.joints[i]] = &skin.inverse_bind[i];
            }
    for (std::size_t j = 0; j < world_.size(); ++j) {
        const int parent = skeleton_.joints[j].parent;
        if (skin_of[j])
            placed_.push_back(skin_of[j]->to_rest * inverse_bind[j]->inverse());
        else
            placed_.push_back(parent < 0 ? local_[j] : Affine3(placed_[parent] * local_[j]));
    }
}

Affine3 RestPlaces::of_skin(int skin) const
{
    return skeleton_.placement * skins_[skin].to_rest;
}

Affine3 RestPlaces::of_joint(int joint) const
{
    return skeleton_.placement * placed_[joint];
}

} // namespace lithe::gltf

namespace lithe {

std::vector<int> joint_of_node(const GltfDocument& document)
{
    return gltf::scene_nodes(document).joint;
}

} // namespace lithe
