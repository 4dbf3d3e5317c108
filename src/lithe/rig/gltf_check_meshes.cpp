// Primitives and skins.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_check.hpp"

namespace lithe::gltf {
namespace {

// ---- the types that the specification and KHR_mesh_quantization allow

struct Format {
    Component component;
    bool normalized = false;
};
using Formats = std::vector<Format>;

struct Rule {
    std::string semantic; ///< without its number
    std::vector<std::string> types;
    Formats formats;
    Formats quantized = {}; ///< the further ones of KHR_mesh_quantization
};

const Format floats = {Component::Float}, bytes = {Component::Byte},
             unsigned_bytes = {Component::UnsignedByte}, shorts = {Component::Short},
             unsigned_shorts = {Component::UnsignedShort};
const Format norm_bytes = {Component::Byte, true}, norm_unsigned_bytes = {Component::UnsignedByte, true},
             norm_shorts = {Component::Short, true}, norm_unsigned_shorts = {Component::UnsignedShort, true};

const std::vector<Rule>& vertex_rules()
{
    static const std::vector<Rule> rules = {
        {"POSITION",
         {"VEC3"},
         {floats},
         {bytes, norm_bytes, unsigned_bytes, norm_unsigned_bytes, shorts, norm_shorts, unsigned_shorts,
          norm_unsigned_shorts}},
        {"NORMAL", {"VEC3"}, {floats}, {norm_bytes, norm_shorts}},
        {"TANGENT", {"VEC4"}, {floats}, {norm_bytes, norm_shorts}},
        {"TEXCOORD",
         {"VEC2"},
         {floats, norm_unsigned_bytes, norm_unsigned_shorts},
         {bytes, norm_bytes, unsigned_bytes, shorts, norm_shorts, unsigned_shorts}},
        {"COLOR", {"VEC3", "VEC4"}, {floats, norm_unsigned_bytes, norm_unsigned_shorts}},
        {"JOINTS", {"VEC4"}, {unsigned_bytes, unsigned_shorts}},
        {"WEIGHTS", {"VEC4"}, {floats, norm_unsigned_bytes, norm_unsigned_shorts}},
    };
    return rules;
}

const std::vector<Rule>& target_rules()
{
    static const std::vector<Rule> rules = {
        {"POSITION", {"VEC3"}, {floats}, {bytes, norm_bytes, shorts, norm_shorts}},
        {"NORMAL", {"VEC3"}, {floats}, {norm_bytes, norm_shorts}},
        {"TANGENT", {"VEC3"}, {floats}, {norm_bytes, norm_shorts}},
    };
    return rules;
}

bool contains(const Formats& formats, const Accessor& accessor)
{
    return std::any_of(formats.begin(), formats.end(), [&](const Format& format) {
        return format.component == accessor.component && format.normalized == accessor.normalized;
    });
}

/// "TEXCOORD" of "TEXCOORD_0".
std::string without_number(const std::string& name)
{
    std::size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
    return end > 0 && end < name.size() && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

// ---- primitives

class PrimitiveCheck {
public:
    PrimitiveCheck(const GltfDocument& document, Value primitive)
        : document_(document), primitive_(std::move(primitive)),
          quantized_(uses_extension(document, "KHR_mesh_quantization"))
    {
    }

    void run()
    {
        const Value attributes = primitive_["attributes"].object();
        if (!attributes.has("POSITION"))
            attributes.fail("has no POSITION; export the mesh with the positions of its vertices");
        check_draco(attributes);
        vertex_count_ = accessor_at(attributes["POSITION"]).count;
        check_attributes(attributes, vertex_rules());
        check_joint_sets(attributes);
        check_indices();
        if (primitive_.has("targets")) {
            const Value targets = primitive_["targets"].array();
            for (std::size_t i = 0; i < targets.size(); ++i)
                check_attributes(targets[i].object(), target_rules());
        }
        if (primitive_.has("material"))
            primitive_["material"].index(document_.count("materials"), "materials");
    }

private:
    int accessor_index(const Value& value) const
    {
        return value.index(document_.count("accessors"), "accessors");
    }
    Accessor accessor_at(const Value& value) const { return accessor_of(document_, accessor_index(value)); }

    /// Compressed by Draco, the accessors of a primitive have bytes only if the exporter left a copy for readers like us.
    void check_draco(const Value& attributes) const
    {
        if (!primitive_.has("extensions") || !primitive_["extensions"].has("KHR_draco_mesh_compression"))
            return;
        const Value position =
            item(document_, "accessors", static_cast<std::size_t>(accessor_index(attributes["POSITION"])));
        if (!position.has("bufferView"))
            primitive_["extensions"]["KHR_draco_mesh_compression"].fail(
                "the mesh is only there compressed with Draco, which is not read; export without Draco "
                "compression, or "
                "let a glTF tool undo it");
    }

    void check_attributes(const Value& attributes, const std::vector<Rule>& rules) const
    {
        for (const auto& [name, unused] : attributes.json().items()) {
            const Value value = attributes[name];
            const Accessor accessor = accessor_at(value);
            if (accessor.count != vertex_count_)
                value.fail(fmt::format("has {} elements, but POSITION has {}; export the file again",
                                       accessor.count, vertex_count_));
            const std::string semantic = without_number(name);
            for (const Rule& rule : rules)
                if (rule.semantic == semantic) check_type(value, accessor, rule);
        }
    }

    void check_type(const Value& value, const Accessor& accessor, const Rule& rule) const
    {
        if (std::find(rule.types.begin(), rule.types.end(), accessor.type) == rule.types.end())
            value.fail(fmt::format("is {}, but {} must be {}", accessor.type, rule.semantic,
                                   fmt::join(rule.types, " or ")));
        if (contains(rule.formats, accessor) || (quantized_ && contains(rule.quantized, accessor))) return;
        value.fail(fmt::format("has components of type {}{}, which {} must not have{}",
                               static_cast<int>(accessor.component),
                               accessor.normalized ? " (normalised)" : "", rule.semantic,
                               contains(rule.quantized, accessor)
                                   ? " without the extension KHR_mesh_quantization; name it in extensionsUsed"
                                   : "; export the file again"));
    }

    /// JOINTS_0, JOINTS_1, ... come with WEIGHTS_0, WEIGHTS_1, ...
    void check_joint_sets(const Value& attributes) const
    {
        for (const auto& [name, unused] : attributes.json().items()) {
            const std::string semantic = without_number(name);
            if (semantic != "JOINTS" && semantic != "WEIGHTS") continue;
            const std::string partner =
                (semantic == "JOINTS" ? "WEIGHTS" : "JOINTS") + name.substr(semantic.size());
            if (!attributes.has(partner)) attributes[name].fail(fmt::format("has no {} beside it", partner));
            if (semantic == "WEIGHTS" && document_.numbers(accessor_index(attributes[name])).minCoeff() < 0.0)
                attributes[name].fail("has negative weights; mend them where the file was made");
        }
    }

    void check_indices() const
    {
        std::size_t corners = vertex_count_;
        if (primitive_.has("indices")) {
            const Value value = primitive_["indices"];
            const int accessor = accessor_index(value);
            if (accessor_of(document_, accessor).type != "SCALAR") value.fail("must be of type SCALAR");
            const std::vector<std::uint32_t> indices = document_.indices(accessor);
            corners = indices.size();
            const auto beyond = std::find_if(indices.begin(), indices.end(),
                                             [&](std::uint32_t index) { return index >= vertex_count_; });
            if (beyond != indices.end())
                value.fail(fmt::format("number {} is {}, but there are {} vertices; export the file again",
                                       beyond - indices.begin(), *beyond, vertex_count_));
        }
        constexpr std::size_t triangles = 4;
        if (primitive_.integer_or("mode", triangles, 0, 6) == triangles && corners % 3 != 0)
            primitive_.fail(
                fmt::format("its {} corners are not whole triangles; export the file again", corners));
    }

    const GltfDocument& document_;
    Value primitive_;
    bool quantized_;
    std::size_t vertex_count_ = 0;
};

std::size_t targets_of(const Json& primitive)
{
    return primitive.contains("targets") ? primitive["targets"].size() : 0;
}

// ---- skins

/// The largest joint that a vertex of the mesh follows, -1 when it has none.
std::int64_t largest_joint(const GltfDocument& document, const Json& mesh)
{
    std::int64_t largest = -1;
    for (const Json& primitive : mesh["primitives"])
        for (const auto& [name, accessor] : primitive["attributes"].items()) {
            if (without_number(name) != "JOINTS") continue;
            const std::vector<std::uint32_t> joints = document.indices(accessor.get<int>());
            largest = std::max<std::int64_t>(largest, *std::max_element(joints.begin(), joints.end()));
        }
    return largest;
}

void check_joints(const Value& skin, std::size_t node_count)
{
    const Value joints = skin["joints"].array(1);
    std::vector<char> listed(node_count, 0);
    for (std::size_t i = 0; i < joints.size(); ++i)
        if (listed[static_cast<std::size_t>(joints[i].index(node_count, "nodes"))]++)
            joints[i].fail(fmt::format("node {} is listed twice", in_quotes(joints[i].json())));
    if (skin.has("skeleton")) skin["skeleton"].index(node_count, "nodes");
}

void check_bind_matrices(const GltfDocument& document, const Value& skin)
{
    if (!skin.has("inverseBindMatrices")) return;
    const Value value = skin["inverseBindMatrices"];
    const Accessor accessor = accessor_of(document, value.index(document.count("accessors"), "accessors"));
    if (accessor.type != "MAT4" || accessor.component != Component::Float)
        value.fail("must be of type MAT4 with floats; export the file again");
    if (accessor.count < skin["joints"].size())
        value.fail(fmt::format("has {} matrices for {} joints; export the file again", accessor.count,
                               skin["joints"].size()));
}

void check_skinned_nodes(const GltfDocument& document)
{
    std::vector<std::int64_t> largest;
    for (const Json& mesh : document.list("meshes")) largest.push_back(largest_joint(document, mesh));
    for (std::size_t i = 0; i < document.count("nodes"); ++i) {
        const Value node = item(document, "nodes", i);
        if (!node.has("mesh") || !node.has("skin")) continue;
        const auto mesh = node["mesh"].json().get<std::size_t>(),
                   skin = node["skin"].json().get<std::size_t>();
        const auto joint_count = static_cast<std::int64_t>(document.list("skins")[skin]["joints"].size());
        if (largest[mesh] >= joint_count)
            node["skin"].fail(
                fmt::format("skin {} has {} joints, but a vertex of mesh {} follows joint {}; export the "
                            "file again",
                            skin, joint_count, mesh, largest[mesh]));
    }
}

} // namespace

std::size_t target_count(const GltfDocument& document, int mesh)
{
    return targets_of(document.list("meshes")[static_cast<std::size_t>(mesh)]["primitives"][0]);
}

void check_meshes(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("meshes"); ++i) {
        const Value mesh = item(document, "meshes", i), primitives = mesh["primitives"].array(1);
        for (std::size_t p = 0; p < primitives.size(); ++p) {
            PrimitiveCheck(document, primitives[p].object()).run();
            if (targets_of(primitives[p].json()) != targets_of(primitives[0].json()))
                primitives[p].fail(fmt::format("has {} morph targets, but the first primitive has {}",
                                               targets_of(primitives[p].json()),
                                               targets_of(primitives[0].json())));
        }
        if (mesh.has("weights")) mesh["weights"].numbers(targets_of(primitives[0].json()));
    }
}

void check_skins(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("skins"); ++i) {
        const Value skin = item(document, "skins", i);
        check_joints(skin, document.count("nodes"));
        check_bind_matrices(document, skin);
    }
    check_skinned_nodes(document);
}

} // namespace lithe::gltf
