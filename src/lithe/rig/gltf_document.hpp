#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "lithe/math/types.hpp"

namespace lithe {

/// A glTF 2.0 file as it is: its JSON, kept in order with all that we do not know, and its buffers. Reading it checks all that
/// we rely on, so that whoever holds a document may follow its indices without looking (see gltf_check.hpp for what is checked).
///
/// A fault is an InputError that names the file and the JSON pointer of the fault ("man.glb: /accessors/3/count: ...").
class GltfDocument {
public:
    using Json = nlohmann::ordered_json;

    GltfDocument() = default; ///< an empty one, to be filled

    /// .glb or .gltf; buffers in other files and in data: URIs are read.
    static GltfDocument read(const std::filesystem::path& file);
    /// The same from memory. `folder` is where relative URIs begin; empty: they are refused.
    static GltfDocument parse(std::string_view bytes, const std::filesystem::path& name,
                              const std::filesystem::path& folder = {});

    const std::filesystem::path& file() const { return file_; }
    const Json& json() const { return json_; }
    /// json()[list], or an empty array when the file has none.
    const Json& list(const char* name) const;
    std::size_t count(const char* name) const { return list(name).size(); }

    /// Numbers of an accessor: components x elements, normalised integers as in the specification, sparse values put
    /// in, compressed ones unpacked. Matrices column by column.
    MatX numbers(int accessor) const;
    /// Of an accessor of unsigned integers; its components one after the other when it has several.
    std::vector<std::uint32_t> indices(int accessor) const;
    /// The bytes of a buffer view, unpacked when it is compressed.
    std::string view_bytes(int view) const { return std::string(view_span(view)); }
    /// The same without a copy; valid as long as nothing is added.
    std::string_view view_span(int view) const;
    /// The bytes of an image: of its buffer view, its data: URI, or its file.
    std::string image_bytes(int image) const;
    /// Of all buffers together; what a count in the file is weighed against before anything of its size is made.
    std::size_t buffer_bytes() const;

    // ---- changing it; indices of what is there stay
    Json& edit() { return json_; }
    /// Made when there is none. The reference is good until another list is made: add_* may do that too.
    Json& edit_list(const char* name);
    /// Adds numbers as an accessor of floats (components x elements; 1, 2, 3, 4 or 16 components) with min and max; returns its
    /// index. `target`: 0, 34962 for vertices.
    int add_accessor(const Eigen::MatrixXf& columns, int target = 0);
    int add_indices(const std::vector<std::uint32_t>& indices);
    /// For JOINTS_n: four joints of a skin per vertex.
    int add_joints(const Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic>& joints);

    /// Colours, or others in [0, 1], of four components in steps of 1/65535.
    int add_colors(const Eigen::Matrix<double, 4, Eigen::Dynamic>& rgba);

    /// Puts all of another document behind what is here: its scene becomes part of this one's. Extensions of its nodes and
    /// primitives are left out, since they refer to lists that we do not know.
    void append(GltfDocument other);

    /// Writes a .glb (all buffers in one, images of other files taken in) or a .gltf with a .bin beside it, whole or not at
    /// all.
    void write(const std::filesystem::path& target) const;
    std::string to_glb() const;

private:
    void load_buffers(const std::string_view* binary_chunk);
    void unpack_views();
    void take_in_images();
    int add_data(const void* data, std::size_t size, int target);

    std::filesystem::path file_, folder_;
    Json json_ = {{"asset", {{"version", "2.0"}}}};
    std::vector<std::string> buffers_;  ///< empty: a place holder for what is only there compressed
    std::vector<std::string> unpacked_; ///< the content of compressed buffer views; empty for others
    int added_buffer_ = -1;             ///< where add_* put their data; -1: none yet
};

} // namespace lithe
