#include "lithe/geometry/io/bytes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <zlib.h>

namespace lithe::io {

namespace fs = std::filesystem;

std::string read_bytes(const fs::path& path)
{
    const Place place{.file = path};
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) throw InputError(place, "does not exist; check the name");
    if (fs::is_directory(status)) throw InputError(place, "is a folder; give the name of a file in it");
    if (!fs::is_regular_file(status))
        throw InputError(place, "is not a regular file; copy its content to one");

    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) throw InputError(place, std::string("cannot be opened: ") + std::strerror(errno));
    std::string bytes(fs::file_size(path, error), '\0');
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
    if (std::ferror(file.get()))
        throw InputError(place, std::string("cannot be read: ") + std::strerror(errno));
    if (bytes.empty()) throw InputError(place, "is empty; a mesh was expected");
    return bytes;
}

bool is_gzip(std::string_view bytes)
{
    return bytes.starts_with("\x1f\x8b");
}

std::string unpack(std::string_view packed, const Place& place)
{
    z_stream stream{};
    constexpr int gzip_or_zlib = 15 + 32;
    LITHE_ASSERT(inflateInit2(&stream, gzip_or_zlib) == Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &inflateEnd);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    std::size_t fed = 0;

    std::string bytes;
    std::array<char, 1 << 16> chunk;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (stream.avail_in == 0) {
            stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size() - fed, 1u << 30));
            fed += stream.avail_in;
        }
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        status = inflate(&stream, Z_NO_FLUSH);
        if (status == Z_BUF_ERROR)
            throw InputError(place, "the compressed data ends early; the file is cut short");
        if (status != Z_OK && status != Z_STREAM_END)
            throw InputError(place, "the compressed data is damaged; get the file again");
        bytes.append(chunk.data(), chunk.size() - stream.avail_out);
        if (bytes.size() > largest_unpacked(packed.size()))
            throw InputError(
                place, fmt::format("{} compressed bytes unpack to more than {}; no mesh does that, the file "
                                   "is damaged or a trap",
                                   packed.size(), largest_unpacked(packed.size())));
    }
    return bytes;
}

std::string gzip(std::string_view bytes)
{
    z_stream stream{};
    constexpr int as_gzip = 15 + 16;
    LITHE_ASSERT(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, as_gzip, 8, Z_DEFAULT_STRATEGY) ==
                 Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &deflateEnd);
    std::string packed;
    std::array<char, 1 << 16> chunk;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        const std::size_t fed = std::min<std::size_t>(bytes.size(), 1u << 30);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream.avail_in = static_cast<uInt>(fed);
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        status = deflate(&stream, fed == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        LITHE_ASSERT(status != Z_STREAM_ERROR);
        bytes.remove_prefix(fed - stream.avail_in);
        packed.append(chunk.data(), chunk.size() - stream.avail_out);
    }
    return packed;
}

namespace {

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int, 256> base64_values = [] {
    std::array<int, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < base64_letters.size(); ++i)
        values[static_cast<unsigned char>(base64_letters[i])] = static_cast<int>(i);
    values['='] = 0; // padding; the bytes that it stands for are cut off
    return values;
}();

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

} // namespace

std::string base64(std::string_view bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? base64_letters[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::string take_base64(std::string_view& text, std::size_t count, const Place& place)
{
    if (count / 3 * 4 > text.size())
        throw InputError(place, "the base64 data ends early; the file is cut short");
    std::string bytes;
    bytes.reserve(count + 2);
    std::uint32_t group = 0;
    int letters = 0;
    std::size_t i = 0;
    for (; i < text.size() && bytes.size() < count; ++i) {
        if (is_blank(text[i])) continue;
        const int value = base64_values[static_cast<unsigned char>(text[i])];
        if (value < 0)
            throw InputError(place, fmt::format("the base64 data holds the letter code {}", int(text[i])));
        group = group << 6 | static_cast<std::uint32_t>(value);
        if (++letters < 4) continue;
        for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 255);
        letters = 0;
    }
    if (bytes.size() < count) throw InputError(place, "the base64 data ends early; the file is cut short");
    text.remove_prefix(i);
    bytes.resize(count);
    return bytes;
}

} // namespace lithe::io
