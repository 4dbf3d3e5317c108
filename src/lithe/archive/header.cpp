#include "lithe/archive/header.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstring>

#include "lithe/core/error.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/core/version.hpp"

namespace lithe {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as they are in memory");

/// A first byte that no text has and a line end that careless copying would change, as PNG does it.
constexpr char magic[8] = {'\x89', 'L', 'i', 't', 'h', 'e', '\r', '\n'};

struct Header {
    char name[8] = {};
    std::uint32_t format = archive_format;
    std::uint32_t size = archive_header_size;
    std::uint64_t length = 0;  ///< of the rest [bytes]
    std::uint64_t content = 0; ///< hash of the rest
    std::uint64_t inputs = 0;
    char producer[64] = {};
    char zero[400] = {};
    std::uint64_t own_hash = 0; ///< of all of the header before it
};
static_assert(sizeof(Header) == archive_header_size);

std::uint64_t own_hash(const Header& header)
{
    return hash_bytes({reinterpret_cast<const char*>(&header), offsetof(Header, own_hash)});
}

std::string producer_of(const Header& header)
{
    std::string text(header.producer, strnlen(header.producer, sizeof header.producer));
    std::erase_if(text, [](unsigned char c) { return std::isprint(c) == 0; });
    return text;
}

/// The header of our own kind of file, whose bytes are as they were written. This much never changes with the format.
Header intact_header(std::string_view bytes, const std::filesystem::path& name)
{
    if (bytes.empty()) throw InputError({.file = name}, "is empty; it should be a .lithe file");
    const std::size_t known = std::min(bytes.size(), sizeof magic);
    if (bytes.substr(0, known) != std::string_view(magic, known))
        throw InputError({.file = name}, "is not a .lithe file; make one with lithe prepare");
    if (bytes.size() < archive_header_size)
        throw InputError({.file = name}, "is cut off within its header; copy it again or make it again");
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (own_hash(header) != header.own_hash)
        throw InputError({.file = name}, "has a damaged header; copy it again or make it again");
    return header;
}

template <class Word>
Word word_at(std::string_view bytes, std::size_t offset)
{
    Word word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

/// Whether HDF5 content begins as ours does: superblock of version 2, 8-byte addresses from behind our header, the end
/// where the file ends, no extensions. Spares the library much that it was not made to doubt.
bool begins_as_ours(std::string_view file)
{
    constexpr std::string_view expected = "\x89HDF\r\n\x1a\n\x02\x08\x08";
    constexpr std::size_t at = archive_header_size, superblock_size = 48;
    return file.size() >= at + superblock_size && file.substr(at, expected.size()) == expected &&
           word_at<std::uint64_t>(file, at + 12) == archive_header_size &&
           word_at<std::uint64_t>(file, at + 20) == ~std::uint64_t{0} &&
           archive_content_end(file) == file.size();
}

} // namespace

void write_archive_header(std::string& file, std::uint64_t inputs)
{
    LITHE_ASSERT(file.size() > archive_header_size);
    const std::string_view rest = std::string_view(file).substr(archive_header_size);
    Header header{.length = rest.size(), .content = hash_bytes(rest), .inputs = inputs};
    std::memcpy(header.name, magic, sizeof magic);
    static_assert(sizeof LITHE_VERSION <= sizeof header.producer);
    std::memcpy(header.producer, LITHE_VERSION, sizeof LITHE_VERSION);
    header.own_hash = own_hash(header);
    std::memcpy(file.data(), &header, sizeof header);
}

std::size_t archive_content_end(std::string_view file)
{
    return word_at<std::uint64_t>(file, archive_header_size + 28);
}

ArchiveInfo check_archive_header(std::string_view bytes, std::uint64_t file_size,
                                 const std::filesystem::path& name)
{
    const Header header = intact_header(bytes, name);
    const ArchiveInfo info{header.format, producer_of(header), header.inputs, header.content};
    if (info.format == 0 || info.format > archive_format || header.size != archive_header_size)
        throw InputError({.file = name}, "was written by Lithe " + info.producer + " in format " +
                                             std::to_string(info.format) + ", but this program reads up to " +
                                             std::to_string(archive_format) +
                                             "; use a newer Lithe or make the file again");
    const std::uint64_t length = file_size - archive_header_size;
    if (length != header.length)
        throw InputError(
            {.file = name},
            std::string(length < header.length ? "is cut off: it has " : "is too long: it has ") +
                std::to_string(length) + " bytes behind its header, but should have " +
                std::to_string(header.length) + "; copy it again or make it again");
    return info;
}

void check_archive_content(std::string_view file, const ArchiveInfo& info, const std::filesystem::path& name)
{
    if (hash_bytes(file.substr(archive_header_size)) != info.content)
        throw InputError({.file = name},
                         "is damaged (its bytes do not have their hash); copy it again or make it again");
    if (!begins_as_ours(file))
        throw InputError({.file = name}, "does not hold what Lithe writes; make it again");
}

} // namespace lithe
