// One document behind another: everything that a number refers to has a new number.
#include <algorithm>

#include "lithe/rig/gltf_container.hpp"
#include "lithe/rig/gltf_document.hpp"

namespace lithe {
namespace {

using Json = GltfDocument::Json;

/// How far the numbers of each list move.
class Shift {
public:
    explicit Shift(const GltfDocument& into) : into_(into) {}

    /// object[key] refers to an item of `list`.
    void reference(Json& object, const char* key, const char* list) const
    {
        if (const auto found = object.find(key); found != object.end() && found->is_number_integer())
            *found = found->get<std::size_t>() + into_.count(list);
    }
    void references(Json& object, const char* key, const char* list) const
    {
        if (const auto found = object.find(key); found != object.end()) all(*found, list);
    }
    /// All members of an array or object do.
    void all(Json& members, const char* list) const
    {
        for (Json& item : members) item = item.get<std::size_t>() + into_.count(list);
    }

private:
    const GltfDocument& into_;
};

void move_node(Json& node, const Shift& shift)
{
    shift.references(node, "children", "nodes");
    shift.reference(node, "mesh", "meshes");
    shift.reference(node, "skin", "skins");
    shift.reference(node, "camera", "cameras");
    node.erase("extensions"); // lights and instances refer to lists that we do not know
}

void move_mesh(Json& mesh, const Shift& shift)
{
    for (Json& primitive : mesh["primitives"]) {
        shift.references(primitive, "attributes", "accessors");
        shift.reference(primitive, "indices", "accessors");
        shift.reference(primitive, "material", "materials");
        if (const auto targets = primitive.find("targets"); targets != primitive.end())
            for (Json& target : *targets) shift.all(target, "accessors");
        primitive.erase("extensions"); // variants refer to a list of the file
    }
}

/// Textures are referred to by objects under keys that end in "Texture", wherever they stand.
void move_material(Json& value, const Shift& shift)
{
    if (!value.is_structured()) return;
    for (auto& [key, item] : value.items()) {
        if (value.is_object() && key.ends_with("Texture") && item.is_object())
            shift.reference(item, "index", "textures");
        move_material(item, shift);
    }
}

void move_texture(Json& texture, const Shift& shift)
{
    shift.reference(texture, "sampler", "samplers");
    shift.reference(texture, "source", "images");
    if (const auto extensions = texture.find("extensions"); extensions != texture.end())
        for (Json& extension : *extensions)
            if (extension.is_object()) shift.reference(extension, "source", "images");
}

void move_accessor(Json& accessor, const Shift& shift)
{
    shift.reference(accessor, "bufferView", "bufferViews");
    if (const auto sparse = accessor.find("sparse"); sparse != accessor.end())
        for (const char* part : {"indices", "values"})
            shift.reference((*sparse)[part], "bufferView", "bufferViews");
}

void move_view(Json& view, const Shift& shift)
{
    shift.reference(view, "buffer", "buffers");
    if (const auto extensions = view.find("extensions"); extensions != view.end())
        for (Json& extension : *extensions)
            if (extension.is_object()) shift.reference(extension, "buffer", "buffers");
}

void move_skin(Json& skin, const Shift& shift)
{
    shift.references(skin, "joints", "nodes");
    shift.reference(skin, "inverseBindMatrices", "accessors");
    shift.reference(skin, "skeleton", "nodes");
}

void move_animation(Json& animation, const Shift& shift)
{
    for (Json& sampler : animation["samplers"]) {
        shift.reference(sampler, "input", "accessors");
        shift.reference(sampler, "output", "accessors");
    }
    for (Json& channel : animation["channels"]) shift.reference(channel["target"], "node", "nodes");
}

void move_image(Json& image, const Shift& shift)
{
    shift.reference(image, "bufferView", "bufferViews");
}

void keep(Json&, const Shift&) {}

struct List {
    const char* name;
    void (*move)(Json&, const Shift&);
};
constexpr List lists[] = {{"accessors", move_accessor},
                          {"animations", move_animation},
                          {"bufferViews", move_view},
                          {"buffers", keep},
                          {"cameras", keep},
                          {"images", move_image},
                          {"materials", move_material},
                          {"meshes", move_mesh},
                          {"nodes", move_node},
                          {"samplers", keep},
                          {"skins", move_skin},
                          {"textures", move_texture}};

/// The default scene, made when there is none.
Json& default_scene(Json& json)
{
    Json& scenes = json["scenes"];
    if (scenes.empty()) {
        scenes = Json::array({Json::object()});
        json["scene"] = 0;
    }
    return scenes[json.value("scene", std::size_t{0})];
}

/// Names of extensions of both, once each.
void unite_names(const Json& from, const char* key, Json& into)
{
    const auto names = from.find(key);
    if (names == from.end()) return;
    Json& all = into[key];
    if (all.is_null()) all = Json::array();
    for (const Json& name : *names)
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}

} // namespace

void GltfDocument::append(GltfDocument other)
{
    other.take_in_images();
    const Shift shift(*this);
    Json moved = other.json_;
    shift.references(default_scene(moved), "nodes", "nodes");
    for (const List& list : lists)
        if (moved.contains(list.name))
            for (Json& item : moved[list.name]) list.move(item, shift);

    unpacked_.resize(count("bufferViews"));
    other.unpacked_.resize(other.count("bufferViews"));
    unpacked_.insert(unpacked_.end(), other.unpacked_.begin(), other.unpacked_.end());
    buffers_.insert(buffers_.end(), other.buffers_.begin(), other.buffers_.end());
    for (const List& list : lists)
        if (moved.contains(list.name))
            for (Json& item : moved[list.name]) edit_list(list.name).push_back(std::move(item));
    for (Json& node : default_scene(moved)["nodes"]) default_scene(json_)["nodes"].push_back(std::move(node));
    for (const char* key : {"extensionsUsed", "extensionsRequired"}) unite_names(other.json_, key, json_);
}

/// Images of other files come into the buffers, since another document has another folder.
void GltfDocument::take_in_images()
{
    for (std::size_t i = 0; i < count("images"); ++i) {
        if (!list("images")[i].contains("uri")) continue;
        const std::string bytes = image_bytes(static_cast<int>(i));
        const int view = add_data(bytes.data(), bytes.size(), 0);
        Json& image = edit_list("images")[i];
        image.erase("uri");
        image["mimeType"] = gltf::mime_type(bytes);
        image["bufferView"] = view;
    }
}

} // namespace lithe
