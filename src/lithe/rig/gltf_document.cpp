#include "lithe/rig/gltf_document.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_check.hpp"
#include "lithe/rig/gltf_container.hpp"
#include "lithe/rig/gltf_meshopt.hpp"
#include "lithe/rig/gltf_value.hpp"

namespace lithe {

using gltf::Value;

GltfDocument GltfDocument::read(const std::filesystem::path& file)
{
    const std::filesystem::path folder = file.parent_path();
    return parse(io::read_bytes(file), file, folder.empty() ? "." : folder);
}

GltfDocument GltfDocument::parse(std::string_view bytes, const std::filesystem::path& name,
                                 const std::filesystem::path& folder)
{
    const gltf::Container parts = gltf::split_container(bytes, name);
    GltfDocument document;
    document.file_ = name;
    document.folder_ = folder;
    document.json_ = gltf::parse_json(parts.json, name);
    gltf::check_heading(document);
    document.load_buffers(parts.binary ? &*parts.binary : nullptr);
    gltf::check_views(document);
    document.unpack_views();
    gltf::check_content(document);
    return document;
}

const GltfDocument::Json& GltfDocument::list(const char* name) const
{
    static const Json none = Json::array();
    const auto found = json_.find(name);
    return found == json_.end() ? none : *found;
}

GltfDocument::Json& GltfDocument::edit_list(const char* name)
{
    Json& items = json_[name];
    if (!items.is_array()) items = Json::array();
    return items;
}

/// A buffer is in another file, in the text itself, in the BIN chunk (the first one without a URI), or nowhere when all its
/// views are compressed.
void GltfDocument::load_buffers(const std::string_view* binary_chunk)
{
    for (std::size_t i = 0; i < count("buffers"); ++i) {
        const Value buffer = gltf::item(*this, "buffers", i);
        const std::size_t size = buffer["byteLength"].integer(1, gltf::largest_integer);
        std::string bytes;
        if (buffer.has("uri"))
            bytes = gltf::read_uri(buffer["uri"], folder_);
        else if (i == 0 && binary_chunk)
            bytes = *binary_chunk;
        else if (!gltf::is_fallback(buffer))
            buffer.fail("has no 'uri', and the file has no BIN chunk for it; export it again");
        if (bytes.size() < size && (buffer.has("uri") || (i == 0 && binary_chunk)))
            buffer["byteLength"].fail(fmt::format(
                "is {}, but its data has {} bytes; the file is cut short, get it again", size, bytes.size()));
        bytes.resize(std::min(bytes.size(), size)); // the rest is padding
        buffers_.push_back(std::move(bytes));
    }
}

std::size_t GltfDocument::buffer_bytes() const
{
    return std::accumulate(buffers_.begin(), buffers_.end(), std::size_t{0},
                           [](std::size_t sum, const std::string& bytes) { return sum + bytes.size(); });
}

void GltfDocument::unpack_views()
{
    unpacked_.resize(count("bufferViews"));
    for (std::size_t i = 0; i < unpacked_.size(); ++i) {
        const Value view = gltf::item(*this, "bufferViews", i);
        const std::string name = gltf::meshopt_extension(view);
        if (name.empty()) {
            view_span(static_cast<int>(i)); // fails where there are no bytes
            continue;
        }
        const Value packed = view["extensions"][name];
        const gltf::Range range = gltf::range_of(packed, *this);
        const std::string& buffer = buffers_[static_cast<std::size_t>(range.buffer)];
        if (buffer.empty())
            packed["buffer"].fail("has no data; compressed data cannot lie in a fallback buffer");
        unpacked_[i] = gltf::unpack_meshopt(packed, std::string_view(buffer).substr(range.begin, range.size));
    }
}

std::string_view GltfDocument::view_span(int view) const
{
    LITHE_ASSERT(view >= 0 && static_cast<std::size_t>(view) < count("bufferViews"));
    const auto i = static_cast<std::size_t>(view);
    if (i < unpacked_.size() && !unpacked_[i].empty()) return unpacked_[i];
    const Value value = gltf::item(*this, "bufferViews", i);
    const gltf::Range range = gltf::range_of(value, *this);
    const std::string& buffer = buffers_[static_cast<std::size_t>(range.buffer)];
    if (buffer.empty())
        value["buffer"].fail("has no data, and this view is not compressed; export the file again");
    return std::string_view(buffer).substr(range.begin, range.size);
}

std::string GltfDocument::image_bytes(int image) const
{
    LITHE_ASSERT(image >= 0 && static_cast<std::size_t>(image) < count("images"));
    const Value value = gltf::item(*this, "images", static_cast<std::size_t>(image));
    if (value.has("uri")) return gltf::read_uri(value["uri"], folder_);
    return view_bytes(value["bufferView"].index(count("bufferViews"), "bufferViews"));
}

/// A new buffer view with these bytes, in a buffer of what was added.
int GltfDocument::add_data(const void* data, std::size_t size, int target)
{
    if (added_buffer_ < 0) {
        added_buffer_ = static_cast<int>(buffers_.size());
        buffers_.emplace_back();
        edit_list("buffers").push_back({{"byteLength", 0}});
    }
    std::string& bytes = buffers_[static_cast<std::size_t>(added_buffer_)];
    bytes.resize((bytes.size() + 3) / 4 * 4); // all our components begin at multiples of their size
    Json& views = edit_list("bufferViews");
    views.push_back({{"buffer", added_buffer_}, {"byteOffset", bytes.size()}, {"byteLength", size}});
    if (target != 0) views.back()["target"] = target;
    bytes.append(static_cast<const char*>(data), size);
    edit_list("buffers")[static_cast<std::size_t>(added_buffer_)]["byteLength"] = bytes.size();
    return static_cast<int>(views.size()) - 1;
}

namespace {

constexpr int vertex_target = 34962, index_target = 34963;
constexpr int unsigned_short = 5123, unsigned_int = 5125, floating = 5126;

const char* type_of(Index components)
{
    switch (components) {
    case 1:
        return "SCALAR";
    case 2:
        return "VEC2";
    case 3:
        return "VEC3";
    case 4:
        return "VEC4";
    default:
        LITHE_ASSERT(components == 16);
        return "MAT4";
    }
}

int push_accessor(GltfDocument::Json& accessors, int view, int component, Index count, const char* type)
{
    LITHE_ASSERT(count > 0);
    accessors.push_back(
        {{"bufferView", view}, {"componentType", component}, {"count", count}, {"type", type}});
    return static_cast<int>(accessors.size()) - 1;
}

template <class Vector>
GltfDocument::Json numbers_of(const Vector& values)
{
    GltfDocument::Json numbers = GltfDocument::Json::array();
    for (Index i = 0; i < values.size(); ++i) numbers.push_back(values[i]);
    return numbers;
}

} // namespace

int GltfDocument::add_accessor(const Eigen::MatrixXf& columns, int target)
{
    LITHE_ASSERT(columns.allFinite());
    const int view =
        add_data(columns.data(), sizeof(float) * static_cast<std::size_t>(columns.size()), target);
    Json& accessors = edit_list("accessors");
    const int accessor = push_accessor(accessors, view, floating, columns.cols(), type_of(columns.rows()));
    accessors.back()["min"] = numbers_of(Eigen::VectorXf(columns.rowwise().minCoeff()));
    accessors.back()["max"] = numbers_of(Eigen::VectorXf(columns.rowwise().maxCoeff()));
    return accessor;
}

/// In two bytes each where they fit; the largest number of two bytes has another meaning.
int GltfDocument::add_indices(const std::vector<std::uint32_t>& indices)
{
    LITHE_ASSERT(!indices.empty());
    const bool fit = *std::max_element(indices.begin(), indices.end()) < 65535;
    int view = -1;
    if (fit) {
        const std::vector<std::uint16_t> narrow(indices.begin(), indices.end());
        view = add_data(narrow.data(), 2 * narrow.size(), index_target);
    } else {
        view = add_data(indices.data(), 4 * indices.size(), index_target);
    }
    return push_accessor(edit_list("accessors"), view, fit ? unsigned_short : unsigned_int,
                         static_cast<Index>(indices.size()), "SCALAR");
}

int GltfDocument::add_joints(const Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic>& joints)
{
    const int view = add_data(joints.data(), 2 * static_cast<std::size_t>(joints.size()), vertex_target);
    return push_accessor(edit_list("accessors"), view, unsigned_short, joints.cols(), "VEC4");
}

int GltfDocument::add_colors(const Eigen::Matrix<double, 4, Eigen::Dynamic>& rgba)
{
    const Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> steps =
        (rgba.array() * 65535.0).round().cast<std::uint16_t>();
    const int view = add_data(steps.data(), 2 * static_cast<std::size_t>(steps.size()), vertex_target);
    const int accessor = push_accessor(edit_list("accessors"), view, unsigned_short, steps.cols(), "VEC4");
    edit_list("accessors").back()["normalized"] = true;
    return accessor;
}

} // namespace lithe
