#pragma once
#include <optional>

#include "lithe/rig/gltf_value.hpp"

namespace lithe::gltf {

/// The parts of a .glb, or the text of a .gltf.
struct Container {
    std::string_view json;
    std::optional<std::string_view> binary; ///< the BIN chunk
};

/// Chunks that we do not know are passed over. Fails when the file is cut short.
Container split_container(std::string_view bytes, const std::filesystem::path& file);

/// A .glb of a JSON text and, unless it is empty, a BIN chunk. InputError when it grows beyond 4 GB, naming `file`.
std::string join_container(std::string_view json, std::string_view binary, const std::filesystem::path& file);

/// Fails with line and column when the text is no JSON, or nested deeper than any glTF file is.
Json parse_json(std::string_view text, const std::filesystem::path& file);

/// The bytes of a data: URI, or of a file beside or below `folder`. URIs that leave the folder are refused.
std::string read_uri(const Value& uri, const std::filesystem::path& folder);

/// A file name as a URI: everything but letters, digits, '.', '-' and '_' is percent-encoded.
std::string uri_of(std::string_view file_name);

/// What kind of image the bytes are: "image/png" and so on, or "".
std::string mime_type(std::string_view bytes);

} // namespace lithe::gltf
