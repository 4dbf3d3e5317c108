#include "lithe/server/page_files.hpp"

#include <iterator>

#include "lithe/server/page_files.inc"

namespace lithe {

std::span<const PageFile> page_files()
{
    return {embedded_files, std::size(embedded_files)};
}

const PageFile* page_file(std::string_view path)
{
    for (const PageFile& file : embedded_files)
        if (file.path == path) return &file;
    return nullptr;
}

} // namespace lithe
