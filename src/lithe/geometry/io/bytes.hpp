#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "lithe/core/error.hpp"

namespace lithe::io {

/// The whole file. InputError when it is missing, a folder, empty, or cannot be read.
std::string read_bytes(const std::filesystem::path& path);

bool is_gzip(std::string_view bytes);
/// Unpacks gzip or zlib data. Meshes shrink to a tenth: what grows beyond `largest_unpacked` is refused as a trap.
std::string unpack(std::string_view packed, const Place& place);
std::string gzip(std::string_view bytes);
constexpr std::size_t largest_unpacked(std::size_t packed)
{
    return (16u << 20) + 100 * packed;
}

std::string base64(std::string_view bytes);
/// Takes the encoding of `count` bytes off the front of `text` (blanks in between are skipped) and decodes it.
std::string take_base64(std::string_view& text, std::size_t count, const Place& place);

} // namespace lithe::io
