#pragma once
#include "lithe/rig/gltf_value.hpp"

namespace lithe::gltf {

/// The name of the extension by which a buffer view is compressed (EXT_meshopt_compression, or KHR_meshopt_compression that
/// took over its layout), or "".
std::string meshopt_extension(const Value& view);

/// Is it a buffer that only stands for data that is there compressed?
bool is_fallback(const Value& buffer);

/// Checks what the extension says about a buffer view, and that so many bytes can come out of the packed ones.
void check_meshopt(const Value& view, const Value& extension);

/// The bytes of a view whose extension was checked.
std::string unpack_meshopt(const Value& extension, std::string_view packed);

} // namespace lithe::gltf
