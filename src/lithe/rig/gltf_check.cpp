#include "lithe/rig/gltf_check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_meshopt.hpp"

namespace lithe::gltf {
namespace {

constexpr const char* lists[] = {"accessors", "animations", "buffers", "bufferViews", "cameras",
                                 "images",    "materials",  "meshes",  "nodes",       "samplers",
                                 "scenes",    "skins",      "textures"};

Value root_of(const GltfDocument& document)
{
    return {document.json(), document.file()};
}

// ---- the heading

struct Version {
    int major = 0, minor = 0;
    auto operator<=>(const Version&) const = default;
};

Version version_of(const Value& value)
{
    const std::string text = value.text();
    Version version;
    const char* end = text.data() + text.size();
    const auto [dot, fault] = std::from_chars(text.data(), end, version.major);
    const bool number = fault == std::errc() && dot != end && *dot == '.';
    if (!number || std::from_chars(dot + 1, end, version.minor).ptr != end || dot + 1 == end)
        value.fail(fmt::format("is {}, which is no version such as \"2.0\"", in_quotes(value.json())));
    return version;
}

void check_asset(const Value& asset)
{
    if (version_of(asset["version"]).major != 2)
        asset["version"].fail(
            fmt::format("is {}; only glTF 2 is read, convert the file", in_quotes(asset["version"].json())));
    if (asset.has("minVersion") && version_of(asset["minVersion"]) > Version{2, 0})
        asset["minVersion"].fail(
            fmt::format("is {}; glTF up to 2.0 is read, export the file for that version",
                        in_quotes(asset["minVersion"].json())));
}

/// Required extensions that we understand, or that say nothing about shapes and motions.
bool is_supported(const std::string& name)
{
    constexpr const char* supported[] = {"KHR_mesh_quantization", "EXT_meshopt_compression",
                                         "KHR_meshopt_compression", "KHR_texture_transform",
                                         "KHR_lights_punctual"};
    return name.starts_with("KHR_materials_") ||
           std::find(std::begin(supported), std::end(supported), name) != std::end(supported);
}

void check_extensions(const Value& root)
{
    if (root.has("extensionsUsed")) {
        const Value used = root["extensionsUsed"].array();
        for (std::size_t i = 0; i < used.size(); ++i) used[i].text();
    }
    if (!root.has("extensionsRequired")) return;
    const Value required = root["extensionsRequired"].array();
    for (std::size_t i = 0; i < required.size(); ++i) {
        const std::string name = required[i].text();
        if (name == "KHR_draco_mesh_compression")
            required[i].fail(
                "the meshes are compressed with KHR_draco_mesh_compression, which is not read; export "
                "without Draco compression, or let a glTF tool undo it");
        if (!is_supported(name))
            required[i].fail(fmt::format(
                "the file requires the extension {}, which is not read; export without it", in_quotes(name)));
    }
}

void check_names(const Value& item)
{
    item.object().text_or("name", "");
    if (item.has("extensions")) item["extensions"].object();
}

// ---- textures and materials

void check_textures(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("textures"); ++i) {
        const Value texture = item(document, "textures", i);
        if (texture.has("source")) texture["source"].index(document.count("images"), "images");
        if (texture.has("sampler")) texture["sampler"].index(document.count("samplers"), "samplers");
        if (!texture.has("extensions")) continue;
        const Value extensions = texture["extensions"];
        for (const auto& [name, extension] : extensions.json().items())
            if (extension.is_object() && extension.contains("source"))
                extensions[name]["source"].index(document.count("images"), "images");
    }
}

void check_images(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("images"); ++i) {
        const Value image = item(document, "images", i);
        image.text_or("mimeType", "");
        image.text_or("uri", "");
        if (image.has("uri") == image.has("bufferView"))
            image.fail("must have either a 'uri' or a 'bufferView'; export the file again");
        if (image.has("bufferView"))
            document.view_span(image["bufferView"].index(document.count("bufferViews"), "bufferViews"));
    }
}

/// Whatever is called a texture in a material or in an extension of it has an index into the textures.
void check_texture_indices(const Value& object, std::size_t texture_count)
{
    for (const auto& [key, value] : object.json().items()) {
        if (key == "extras" || !value.is_object()) continue;
        const Value inner = object[key];
        if (key.ends_with("Texture")) {
            inner["index"].index(texture_count, "textures");
            inner.integer_or("texCoord", 0, 0, 65535);
        }
        check_texture_indices(inner, texture_count);
    }
}

void check_materials(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("materials"); ++i) {
        const Value material = item(document, "materials", i);
        for (const char* key :
             {"pbrMetallicRoughness", "normalTexture", "occlusionTexture", "emissiveTexture"})
            if (material.has(key)) material[key].object();
        check_texture_indices(material, document.count("textures"));
        material.boolean_or("doubleSided", false);
        if (material.has("alphaMode")) material["alphaMode"].one_of({"OPAQUE", "MASK", "BLEND"});
        if (material.has("alphaCutoff")) material["alphaCutoff"].number();
        if (material.has("emissiveFactor")) material["emissiveFactor"].numbers(3);
        if (!material.has("pbrMetallicRoughness")) continue;
        const Value surface = material["pbrMetallicRoughness"];
        if (surface.has("baseColorFactor")) surface["baseColorFactor"].numbers(4);
        for (const char* key : {"metallicFactor", "roughnessFactor"})
            if (surface.has(key)) surface[key].number();
        for (const char* key : {"baseColorTexture", "metallicRoughnessTexture"})
            if (surface.has(key)) surface[key].object();
    }
}

void check_samplers(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("samplers"); ++i)
        for (const char* key : {"magFilter", "minFilter", "wrapS", "wrapT"})
            item(document, "samplers", i).integer_or(key, 0, 0, 65535);
}

void check_cameras(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("cameras"); ++i) {
        const Value camera = item(document, "cameras", i);
        const std::string type = camera["type"].one_of({"perspective", "orthographic"});
        if (!camera.has(type)) camera.fail(fmt::format("has no '{}'; export the file again", type));
        camera[type].object();
    }
}

// ---- nodes and scenes

void check_placement(const Value& node)
{
    const bool parts = node.has("translation") || node.has("rotation") || node.has("scale");
    if (node.has("matrix")) {
        node["matrix"].numbers(16);
        if (parts) node["matrix"].fail("stands beside translation, rotation or scale; keep one of the two");
    }
    if (node.has("translation")) node["translation"].numbers(3);
    if (node.has("scale")) node["scale"].numbers(3);
    if (node.has("rotation")) {
        const std::vector<double> q = node["rotation"].numbers(4);
        const double norm = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
        if (!(norm > 1e-6 && norm < 1e6))
            node["rotation"].fail("is no unit quaternion; export the file again");
    }
}

void check_node(const GltfDocument& document, const Value& node)
{
    check_placement(node);
    if (node.has("camera")) node["camera"].index(document.count("cameras"), "cameras");
    if (node.has("skin")) node["skin"].index(document.count("skins"), "skins");
    if (node.has("mesh")) node["mesh"].index(document.count("meshes"), "meshes");
    if (node.has("weights")) {
        if (!node.has("mesh")) node["weights"].fail("are of no use: the node has no mesh; remove them");
        node["weights"].numbers(target_count(document, node["mesh"].json().get<int>()));
    }
}

/// The parent of every node, -1 for roots; fails when a node has two.
std::vector<int> parents_of(const GltfDocument& document)
{
    const std::size_t count = document.count("nodes");
    std::vector<int> parents(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
        const Value node = item(document, "nodes", i);
        if (!node.has("children")) continue;
        const Value children = node["children"].array();
        for (std::size_t c = 0; c < children.size(); ++c) {
            int& parent = parents[static_cast<std::size_t>(children[c].index(count, "nodes"))];
            if (parent >= 0)
                children[c].fail(fmt::format("node {} is a child of node {} already; a node has one parent",
                                             in_quotes(children[c].json()), parent));
            parent = static_cast<int>(i);
        }
    }
    return parents;
}

/// Every node has at most one parent: nodes on no cycle are those that can be reached from the roots.
void check_forest(const GltfDocument& document, const std::vector<int>& parents)
{
    std::vector<std::size_t> reached;
    for (std::size_t i = 0; i < parents.size(); ++i)
        if (parents[i] < 0) reached.push_back(i);
    std::vector<char> seen(parents.size(), 0);
    for (std::size_t next = 0; next < reached.size(); ++next) {
        seen[reached[next]] = 1;
        const Json& node = document.list("nodes")[reached[next]];
        if (!node.contains("children")) continue;
        for (const Json& child : node["children"]) reached.push_back(child.get<std::size_t>());
    }
    const auto lost = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), 0) - seen.begin());
    if (lost < seen.size()) item(document, "nodes", lost).fail("is below itself: the nodes form a cycle");
}

void check_scenes(const GltfDocument& document, const std::vector<int>& parents)
{
    for (std::size_t i = 0; i < document.count("scenes"); ++i) {
        const Value scene = item(document, "scenes", i);
        if (!scene.has("nodes")) continue;
        const Value nodes = scene["nodes"].array();
        std::vector<char> listed(parents.size(), 0);
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const auto node = static_cast<std::size_t>(nodes[n].index(parents.size(), "nodes"));
            if (parents[node] >= 0)
                nodes[n].fail(fmt::format("node {} has a parent; a scene lists roots only", node));
            if (listed[node]++) nodes[n].fail(fmt::format("node {} is listed twice", node));
        }
    }
    const Value root = root_of(document);
    if (root.has("scene")) root["scene"].index(document.count("scenes"), "scenes");
}

// ---- accessors

void check_limits(const Value& accessor, std::size_t components)
{
    for (const char* key : {"min", "max"})
        if (accessor.has(key)) accessor[key].numbers(components);
}

void check_finite(const Value& value, const Accessor& accessor)
{
    if (accessor.component != Component::Float) return;
    const std::string packed = packed_components(accessor);
    for (std::size_t i = 0; i < packed.size() / sizeof(float); ++i) {
        float number = 0;
        std::memcpy(&number, packed.data() + i * sizeof number, sizeof number);
        if (!std::isfinite(number))
            value.fail(fmt::format("element {} has a component that is {}; mend it where the file was made",
                                   i / accessor.components(), number));
    }
}

void check_accessors(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("accessors"); ++i) {
        const Value value = item(document, "accessors", i);
        const Accessor accessor = accessor_of(document, static_cast<int>(i));
        check_limits(value, accessor.components());
        check_finite(value, accessor);
    }
}

} // namespace

bool uses_extension(const GltfDocument& document, const std::string& name)
{
    for (const char* list : {"extensionsUsed", "extensionsRequired"}) {
        const Json& names = document.list(list);
        if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return false;
}

void check_heading(const GltfDocument& document)
{
    const Value root = root_of(document).object();
    check_asset(root["asset"].object());
    check_extensions(root);
    for (const char* list : lists) {
        if (!root.has(list)) continue;
        const Value items = root[list].array();
        for (std::size_t i = 0; i < items.size(); ++i) check_names(items[i]);
    }
}

void check_views(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("bufferViews"); ++i) {
        const Value view = item(document, "bufferViews", i);
        range_of(view, document);
        const std::size_t stride = view.integer_or("byteStride", 4, 4, 252);
        if (stride % 4 != 0) view["byteStride"].fail(fmt::format("is {}, which is no multiple of 4", stride));
        view.integer_or("target", 0, 0, 65535);
        const std::string packing = meshopt_extension(view);
        if (packing.empty()) continue;
        const Value extension = view["extensions"][packing].object();
        range_of(extension, document);
        check_meshopt(view, extension);
    }
}

void check_content(const GltfDocument& document)
{
    check_accessors(document);
    check_images(document);
    check_samplers(document);
    check_textures(document);
    check_cameras(document);
    check_materials(document);
    check_meshes(document);
    const std::vector<int> parents = parents_of(document);
    check_forest(document, parents);
    for (std::size_t i = 0; i < document.count("nodes"); ++i)
        check_node(document, item(document, "nodes", i));
    check_scenes(document, parents);
    check_skins(document);
    check_animations(document);
}

} // namespace lithe::gltf
