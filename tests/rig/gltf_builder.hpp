#pragma once
#include <memory>

#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/skinning.hpp"

// Small glTF documents with known answers.

namespace lithe::test {

using Json = GltfDocument::Json;

/// The document as a file would give it back: written, read, checked.
inline std::shared_ptr<const GltfDocument> reread(const GltfDocument& document)
{
    return std::make_shared<const GltfDocument>(GltfDocument::parse(document.to_glb(), "test.glb"));
}

inline Character character_of(const GltfDocument& document, const ReadOptions& options = {})
{
    return gltf_character(reread(document), options);
}

inline int add(GltfDocument& document, const char* list, Json item)
{
    Json& items = document.edit_list(list);
    items.push_back(std::move(item));
    return static_cast<int>(items.size()) - 1;
}

inline int add_points(GltfDocument& document, const Points& points)
{
    return document.add_accessor(points.cast<float>(), 34962);
}

/// A mesh of one primitive; returns its index.
inline int add_mesh(GltfDocument& document, const Points& vertices, const std::vector<std::uint32_t>& corners,
                    Json more_attributes = Json::object())
{
    Json attributes = {{"POSITION", add_points(document, vertices)}};
    attributes.update(more_attributes);
    return add(document, "meshes",
               {{"primitives",
                 Json::array({{{"attributes", attributes}, {"indices", document.add_indices(corners)}}})}});
}

inline int add_matrices(GltfDocument& document, const std::vector<Affine3>& matrices)
{
    Eigen::MatrixXf numbers(16, static_cast<Index>(matrices.size()));
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        Mat4 matrix = Mat4::Identity();
        matrix.topRows<3>() = matrices[i].matrix();
        numbers.col(static_cast<Index>(i)) = matrix.reshaped().cast<float>();
    }
    return document.add_accessor(numbers);
}

/// A strip of 2 x 5 vertices along x from 0 to 2, a joint at each end of its first half: "root" (node 1) at the origin,
/// "elbow" (node 2) at x = 1. Left of x = 1 vertices follow the root, right of it the elbow, at it both. Above both is
/// "armature" (node 0), which scales by `armature_scale`, and node 3 carries the mesh.
struct StripOptions {
    double armature_scale = 1.0;
};

inline Points strip_vertices()
{
    Points X(3, 10);
    for (int i = 0; i < 5; ++i) {
        X.col(2 * i) = Vec3(0.5 * i, 0.0, 0.0);
        X.col(2 * i + 1) = Vec3(0.5 * i, 0.25, 0.0);
    }
    return X;
}

inline std::vector<std::uint32_t> strip_corners()
{
    std::vector<std::uint32_t> corners;
    for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t a = 2 * i;
        corners.insert(corners.end(), {a, a + 2, a + 1, a + 1, a + 2, a + 3});
    }
    return corners;
}

inline Json strip_weights(GltfDocument& document)
{
    Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> joints(4, 10);
    Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(4, 10);
    for (int v = 0; v < 10; ++v) {
        const float elbow = v / 2 < 2 ? 0.0f : v / 2 > 2 ? 1.0f : 0.5f;
        joints.col(v) << 0, 1, 0, 0;
        weights.col(v) << 1.0f - elbow, elbow, 0.0f, 0.0f;
    }
    return {{"JOINTS_0", document.add_joints(joints)}, {"WEIGHTS_0", document.add_accessor(weights, 34962)}};
}

inline GltfDocument strip_document(const StripOptions& options = {})
{
    const double s = options.armature_scale;
    GltfDocument document;
    document.edit()["scene"] = 0;
    add(document, "scenes", {{"nodes", {0, 3}}});
    add(document, "nodes", {{"name", "armature"}, {"scale", {s, s, s}}, {"children", {1}}});
    add(document, "nodes", {{"name", "root"}, {"children", {2}}});
    add(document, "nodes", {{"name", "elbow"}, {"translation", {1.0 / s, 0.0, 0.0}}});
    add(document, "nodes", {{"name", "skin"}, {"mesh", 0}, {"skin", 0}});
    const Json weights = strip_weights(document);
    add_mesh(document, strip_vertices(), strip_corners(), weights);
    Affine3 root = Affine3::Identity(), elbow = Affine3::Identity();
    root.linear() /= s;
    elbow.linear() /= s;
    elbow.translation() = Vec3(-1.0 / s, 0.0, 0.0);
    add(document, "skins",
        {{"joints", {1, 2}}, {"inverseBindMatrices", add_matrices(document, {root, elbow})}});
    return document;
}

/// Adds an animation of one channel; returns its index.
inline int add_animation(GltfDocument& document, int node, const char* path, const std::vector<float>& times,
                         const Eigen::MatrixXf& values, const char* interpolation = "LINEAR")
{
    const int input =
        document.add_accessor(Eigen::Map<const Eigen::RowVectorXf>(times.data(), std::ssize(times)));
    const int output = document.add_accessor(values);
    return add(document, "animations",
               {{"samplers",
                 Json::array({{{"input", input}, {"output", output}, {"interpolation", interpolation}}})},
                {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", node}, {"path", path}}}}})}});
}

/// The elbow of the strip turns by a right angle about z in one second.
inline int add_bend(GltfDocument& document)
{
    const auto half = static_cast<float>(std::sqrt(0.5));
    Eigen::MatrixXf turns(4, 2);
    turns << 0, 0, 0, 0, 0, half, 1, half;
    return add_animation(document, 2, "rotation", {0.0f, 1.0f}, turns);
}

inline Points posed(const Character& character, const Pose& pose)
{
    Points x;
    skin(SkinningMethod::Linear, character.weights,
         bone_transforms(character.bones, world_transforms(character.skeleton, pose)),
         character.surface.vertices, x);
    return x;
}

inline Points posed_at(const Character& character, const Clip& clip, double t)
{
    return posed(character, pose_at(character.skeleton, clip, t));
}

/// Where glTF says that a vertex of the strip is when the elbow is turned by an angle about z.
inline Points bent_strip(double angle)
{
    const Eigen::AngleAxisd turn(angle, Vec3::UnitZ());
    const Points X = strip_vertices();
    Points x = X;
    for (Index v = 0; v < X.cols(); ++v) {
        const Vec3 turned = Vec3::UnitX() + turn * (X.col(v) - Vec3::UnitX());
        const double elbow = v / 2 < 2 ? 0.0 : v / 2 > 2 ? 1.0 : 0.5;
        x.col(v) = (1.0 - elbow) * X.col(v) + elbow * turned;
    }
    return x;
}

} // namespace lithe::test
