#include "lithe/rig/gltf_container.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"

namespace lithe::gltf {
namespace {

static_assert(std::endian::native == std::endian::little, "glTF is little-endian, and we copy its numbers");

constexpr std::uint32_t magic = 0x46546C67, json_chunk = 0x4E4F534A, binary_chunk = 0x004E4942;
constexpr std::size_t header_size = 12, chunk_header_size = 8;
constexpr int deepest = 256; ///< of JSON; beyond it our recursions would need too much stack

std::uint32_t word_at(std::string_view bytes, std::size_t at)
{
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
}

void append_word(std::string& bytes, std::size_t value)
{
    const auto word = static_cast<std::uint32_t>(value);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

std::size_t round_up_4(std::size_t size)
{
    return (size + 3) / 4 * 4;
}

void append_chunk(std::string& bytes, std::uint32_t kind, std::string_view content, char padding)
{
    const std::size_t size = round_up_4(content.size());
    append_word(bytes, size);
    append_word(bytes, kind);
    bytes += content;
    bytes.append(size - content.size(), padding);
}

/// The place of a byte of a text.
Place place_of(std::string_view text, std::size_t byte, const std::filesystem::path& file)
{
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_begin = before.rfind('\n') + 1; // npos + 1 is 0
    return {.file = file, .line = line, .column = static_cast<std::int64_t>(before.size() - line_begin) + 1};
}

/// Fails at the first bracket that opens too deep, before a parser follows it.
void check_depth(std::string_view text, const std::filesystem::path& file)
{
    int depth = 0;
    bool in_text = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') in_text = !in_text;
        if (in_text && c == '\\') ++i;
        if (in_text) continue;
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (depth > deepest)
            throw InputError(
                place_of(text, i, file),
                fmt::format("the JSON is nested deeper than {}; no glTF file is, it is damaged", deepest));
    }
}

std::string percent_decoded(const Value& uri)
{
    const std::string text = uri.text();
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        unsigned value = 0;
        const char* digits = text.data() + i + 1;
        if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
            uri.fail("a '%' is not followed by two hexadecimal digits; write '%25' for the sign itself");
        decoded += static_cast<char>(value);
        i += 2;
    }
    return decoded;
}

/// The file that a relative URI means.
std::filesystem::path local_path(const Value& uri, const std::filesystem::path& folder)
{
    const std::string name = percent_decoded(uri);
    if (folder.empty())
        uri.fail(fmt::format(
            "asks for the file {}, but a document in memory has no folder; give a .glb with all in it",
            in_quotes(name)));
    if (name.empty() || name.find('\0') != name.npos) uri.fail("names no file; export the file again");
    if (name.find(':') != name.npos)
        uri.fail(fmt::format(
            "{} is an address, not a file; download it, and name it by its place beside this file",
            in_quotes(name)));
    const std::filesystem::path path(name);
    const bool leaves = path.is_absolute() || name.find('\\') != name.npos ||
                        std::find(path.begin(), path.end(), "..") != path.end();
    if (leaves)
        uri.fail(fmt::format(
            "{} leaves the folder of this file; put the file beside it, and name it without '..', "
            "'\\' or a leading '/'",
            in_quotes(name)));
    return folder / path;
}

std::string data_uri_bytes(const Value& uri, std::string_view text)
{
    const std::size_t comma = text.find(',');
    constexpr std::string_view base64_mark = ";base64";
    if (comma == text.npos || !text.substr(0, comma).ends_with(base64_mark))
        uri.fail("is a data: URI without ';base64,'; only base64 is read");
    std::string_view digits = text.substr(comma + 1);
    if (digits.size() % 4 != 0) uri.fail("its base64 is cut short: the length is not a multiple of 4");
    const std::size_t padding = digits.ends_with("==") ? 2 : digits.ends_with("=") ? 1 : 0;
    if (digits.find('=') < digits.size() - padding) uri.fail("its base64 has a '=' before the end");
    return io::take_base64(digits, digits.size() / 4 * 3 - padding, {.file = uri.place()});
}

} // namespace

Container split_container(std::string_view bytes, const std::filesystem::path& file)
{
    const Place place{.file = file};
    if (bytes.size() < sizeof magic || word_at(bytes, 0) != magic) return {bytes, {}};
    if (bytes.size() < header_size)
        throw InputError(place, "is cut short within its header; get the file again");
    if (const std::uint32_t version = word_at(bytes, 4); version != 2)
        throw InputError(place,
                         fmt::format("is a .glb of version {}; only version 2 is read, convert it", version));
    const std::size_t length = word_at(bytes, 8);
    if (length > bytes.size() || length < header_size + chunk_header_size)
        throw InputError(place,
                         fmt::format("its header says {} bytes, but the file has {}; get the file again",
                                     length, bytes.size()));
    bytes = bytes.substr(0, length);

    Container parts;
    for (std::size_t at = header_size; at + chunk_header_size <= bytes.size();) {
        const std::size_t size = word_at(bytes, at);
        const std::uint32_t kind = word_at(bytes, at + 4);
        const Place here{.file = file, .byte = static_cast<std::int64_t>(at)};
        at += chunk_header_size;
        if (size > bytes.size() - at)
            throw InputError(
                here, fmt::format("a chunk of {} bytes begins, but only {} bytes follow; get the file again",
                                  size, bytes.size() - at));
        if (parts.json.empty() && kind != json_chunk)
            throw InputError(here, "the first chunk must be JSON; the file is damaged, get it again");
        if (parts.json.empty())
            parts.json = bytes.substr(at, size);
        else if (kind == binary_chunk && !parts.binary)
            parts.binary = bytes.substr(at, size);
        at += size;
    }
    return parts;
}

std::string join_container(std::string_view json, std::string_view binary, const std::filesystem::path& file)
{
    const std::size_t binary_size = binary.empty() ? 0 : chunk_header_size + round_up_4(binary.size());
    const std::size_t size = header_size + chunk_header_size + round_up_4(json.size()) + binary_size;
    if (size > std::numeric_limits<std::uint32_t>::max())
        throw InputError({.file = file},
                         fmt::format("{} bytes are more than a .glb can hold (4 GB); write a .gltf", size));
    std::string bytes;
    bytes.reserve(size);
    append_word(bytes, magic);
    append_word(bytes, 2);
    append_word(bytes, size);
    append_chunk(bytes, json_chunk, json, ' ');
    if (!binary.empty()) append_chunk(bytes, binary_chunk, binary, '\0');
    return bytes;
}

Json parse_json(std::string_view text, const std::filesystem::path& file)
{
    check_depth(text, file);
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(place_of(text, error.byte > 0 ? error.byte - 1 : 0, file),
                         "here the JSON breaks off or goes wrong; is it a glTF file? If so, get it again");
    } catch (const Json::exception&) {
        throw InputError({.file = file},
                         "its JSON has a number beyond the range of numbers; export it again");
    }
}

std::string read_uri(const Value& uri, const std::filesystem::path& folder)
{
    const std::string text = uri.text();
    if (text.starts_with("data:")) return data_uri_bytes(uri, text);
    const std::filesystem::path file = local_path(uri, folder);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
        uri.fail(
            fmt::format("{} is not there; put it beside this file", in_quotes(file.filename().string())));
    return io::read_bytes(file);
}

std::string uri_of(std::string_view file_name)
{
    std::string uri;
    for (const char c : file_name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || c == '.' || c == '-' || c == '_')
            uri += c;
        else
            uri += fmt::format("%{:02X}", byte);
    }
    return uri;
}

std::string mime_type(std::string_view bytes)
{
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
    if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
    if (bytes.starts_with("\xabKTX 20\xbb\r\n\x1a\n")) return "image/ktx2";
    if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
    return "";
}

} // namespace lithe::gltf
