#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lithe {

/// What the first 512 bytes of a .lithe file say; the table of them is in docs/model-files.md.
struct ArchiveInfo {
    std::uint32_t format = 0;  ///< version of the container
    std::string producer;      ///< version of Lithe that wrote it, as in "0.1.0"
    std::uint64_t inputs = 0;  ///< hash of what the content was made from, 0 when nobody said
    std::uint64_t content = 0; ///< hash of all bytes behind the header
};

constexpr std::size_t archive_header_size = 512;
constexpr std::uint32_t archive_format = 1; ///< the newest that we read, and what we write

/// Fills in the first 512 bytes of a whole file whose other bytes are there already.
void write_archive_header(std::string& file, std::uint64_t inputs);

/// Where the HDF5 content ends that is in the file behind its header [bytes from the beginning].
std::size_t archive_content_end(std::string_view file);

/// What the header says, once it is known to be ours, whole, and of a version that we can read; else throws InputError
/// with `name`. `header` are the first 512 bytes or what there is of them, `file_size` is of the whole file [bytes].
ArchiveInfo check_archive_header(std::string_view header, std::uint64_t file_size,
                                 const std::filesystem::path& name);

/// Throws InputError when the bytes behind the header are not those that the header was written for, or are not what
/// an archive begins with.
void check_archive_content(std::string_view file, const ArchiveInfo& info, const std::filesystem::path& name);

} // namespace lithe
