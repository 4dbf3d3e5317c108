#pragma once
#include <string>

#include "lithe/rig/gltf_container.hpp"
#include "lithe/rig/gltf_document.hpp"

namespace lithe::test {

/// A square of two triangles on two joints that bend it, with a morph target: something of all that a document holds.
/// Accessors: 0 positions, 1 joints, 2 weights, 3 indices, 4 bind matrices, 5 times, 6 rotations, 7 morph target, 8 its weights.
inline GltfDocument bending_square()
{
    using Json = GltfDocument::Json;
    GltfDocument document;
    constexpr int vertices = 34962;
    Eigen::MatrixXf positions(3, 4), weights(4, 4), rotations(4, 2), times(1, 2), bind(16, 2), amounts(1, 2);
    positions << 0, 1, 1, 0, 0, 0, 0.1f, 0.7f, 0, 0, 0, 0;
    weights << 1, 0.25f, 0, 1, 0, 0.75f, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0;
    rotations << 0, 0, 0, 0, 0, 0.6f, 1, 0.8f;
    times << 0, 0.5f;
    bind.colwise() = Eigen::Matrix4f::Identity().reshaped();
    amounts << 0, 1;
    Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> joints(4, 4);
    joints << 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;

    document.add_accessor(positions, vertices);
    document.add_joints(joints);
    document.add_accessor(weights, vertices);
    document.add_indices({0, 1, 2, 0, 2, 3});
    document.add_accessor(bind);
    document.add_accessor(times);
    document.add_accessor(rotations);
    document.add_accessor(Eigen::MatrixXf::Constant(3, 4, 0.5f), vertices);
    document.add_accessor(amounts);

    document.edit().update(Json::parse(R"({
      "scene": 0,
      "scenes": [{"nodes": [0, 2]}],
      "nodes": [{"name": "hip", "children": [1], "extras": {"kept": [1, 2.5, "x"]}},
                {"name": "knee", "translation": [1, 0, 0], "rotation": [0, 0, 0, 1]},
                {"name": "skin", "mesh": 0, "skin": 0, "weights": [0]}],
      "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "indices": 3,
                                  "material": 0, "targets": [{"POSITION": 7}]}], "weights": [0]}],
      "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0.25, 1]}}],
      "skins": [{"joints": [0, 1], "inverseBindMatrices": 4, "skeleton": 0}],
      "animations": [{"name": "bend", "samplers": [{"input": 5, "output": 6}, {"input": 5, "output": 8}],
                      "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                                   {"sampler": 1, "target": {"node": 2, "path": "weights"}}]}],
      "unknown": {"to": "us"}
    })"));
    return document;
}

/// The JSON of a .glb changed by `change`, its bytes left alone.
std::string with_changed_json(const std::string& glb, const auto& change)
{
    const gltf::Container parts = gltf::split_container(glb, "sample.glb");
    GltfDocument::Json json = GltfDocument::Json::parse(parts.json);
    change(json);
    return gltf::join_container(json.dump(), parts.binary.value_or(""), "sample.glb");
}

} // namespace lithe::test
