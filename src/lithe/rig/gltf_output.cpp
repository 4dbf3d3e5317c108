// From a document to files: all buffers become one, images of other places come into it.
#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_container.hpp"
#include "lithe/rig/gltf_meshopt.hpp"

namespace lithe {
namespace gltf {
namespace {

/// Buffers begin at multiples of this, so that what was aligned in them still is.
constexpr std::size_t alignment = 16;

void align(std::string& bytes)
{
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

/// A document whose bytes are in one place.
struct Packed {
    Json json;
    std::string bytes; ///< of buffer 0, unless it is empty
};

/// Puts the bytes of all buffers one after the other. Buffers without bytes (those that stand for compressed data) follow
/// the one that holds them all.
class Packer {
public:
    Packer(const GltfDocument& document, const std::vector<std::string>& buffers)
        : document_(document), buffers_(buffers), packed_{document.json(), {}}
    {
    }

    Packed run()
    {
        LITHE_ASSERT(buffers_.size() == document_.count("buffers"));
        append_buffers();
        move_views();
        take_in_images();
        write_buffer_list();
        return std::move(packed_);
    }

private:
    struct Place {
        int buffer;
        std::size_t begin;
    };

    void append_buffers()
    {
        const bool any =
            document_.count("images") > 0 ||
            std::any_of(buffers_.begin(), buffers_.end(), [](const auto& bytes) { return !bytes.empty(); });
        int next = any ? 1 : 0;
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            if (buffers_[i].empty()) {
                places_.push_back({next++, 0});
                placeholders_.push_back(document_.list("buffers")[i]);
                continue;
            }
            align(packed_.bytes);
            places_.push_back({0, packed_.bytes.size()});
            packed_.bytes += buffers_[i];
        }
    }

    void move(Json& view) const
    {
        const Place& place = places_[view["buffer"].get<std::size_t>()];
        view["buffer"] = place.buffer;
        const std::size_t begin = view.value("byteOffset", std::size_t{0}) + place.begin;
        if (begin != 0 || view.contains("byteOffset")) view["byteOffset"] = begin;
    }

    void move_views()
    {
        if (!packed_.json.contains("bufferViews")) return;
        for (Json& view : packed_.json["bufferViews"]) {
            const std::string name = meshopt_extension(Value(view, document_.file()));
            move(view);
            if (!name.empty()) move(view["extensions"][name]);
        }
    }

    void take_in_images()
    {
        for (std::size_t i = 0; i < document_.count("images"); ++i) {
            if (!document_.list("images")[i].contains("uri")) continue;
            const std::string bytes = document_.image_bytes(static_cast<int>(i));
            const std::string kind = mime_type(bytes);
            if (kind.empty())
                item(document_, "images", i)
                    .fail("is neither PNG nor JPEG, KTX2 or WebP; convert it to one of them");
            const std::size_t view = add_view(bytes);
            Json& image = packed_.json["images"][i];
            image.erase("uri");
            image["mimeType"] = kind;
            image["bufferView"] = view;
        }
    }

    std::size_t add_view(std::string_view bytes)
    {
        align(packed_.bytes);
        Json& views = packed_.json["bufferViews"];
        views.push_back({{"buffer", 0}, {"byteOffset", packed_.bytes.size()}, {"byteLength", bytes.size()}});
        packed_.bytes += bytes;
        return views.size() - 1;
    }

    /// What the file said about its first buffer is kept.
    void write_buffer_list()
    {
        Json list = Json::array();
        if (!packed_.bytes.empty()) {
            const auto first =
                std::find_if(buffers_.begin(), buffers_.end(), [](const auto& b) { return !b.empty(); });
            Json buffer = Json::object();
            if (first != buffers_.end())
                buffer = document_.list("buffers")[static_cast<std::size_t>(first - buffers_.begin())];
            buffer.erase("uri");
            if (const std::string name = meshopt_extension(Value(buffer, document_.file())); !name.empty())
                buffer["extensions"].erase(name); // its bytes are there: it is no fallback any more
            if (buffer.contains("extensions") && buffer["extensions"].empty()) buffer.erase("extensions");
            buffer["byteLength"] = packed_.bytes.size();
            list.push_back(std::move(buffer));
        }
        for (const Json& placeholder : placeholders_) list.push_back(placeholder);
        if (list.empty())
            packed_.json.erase("buffers");
        else
            packed_.json["buffers"] = std::move(list);
    }

    const GltfDocument& document_;
    const std::vector<std::string>& buffers_;
    Packed packed_;
    std::vector<Place> places_; ///< where each buffer went
    std::vector<Json> placeholders_;
};

std::string text_of(const Json& json, int indent)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void write_gltf(Packed packed, const std::filesystem::path& target)
{
    std::filesystem::path binary_file = target;
    binary_file.replace_extension(".bin");
    AtomicFile binary(binary_file), text(target);
    if (!packed.bytes.empty()) {
        packed.json["buffers"][0]["uri"] = uri_of(binary_file.filename().string());
        binary.write(packed.bytes);
    }
    text.write(text_of(packed.json, 2) + "\n");
    if (!packed.bytes.empty()) binary.commit();
    text.commit();
}

} // namespace
} // namespace gltf

std::string GltfDocument::to_glb() const
{
    const gltf::Packed packed = gltf::Packer(*this, buffers_).run();
    return gltf::join_container(gltf::text_of(packed.json, -1), packed.bytes, file_);
}

void GltfDocument::write(const std::filesystem::path& target) const
{
    if (target.extension() == ".gltf")
        gltf::write_gltf(gltf::Packer(*this, buffers_).run(), target);
    else if (target.extension() == ".glb")
        write_file(target, to_glb());
    else
        throw InputError({.file = target}, "a glTF file is written as .glb or .gltf; give it such a name");
}

} // namespace lithe
