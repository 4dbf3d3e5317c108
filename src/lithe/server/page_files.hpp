#pragma once
#include <span>
#include <string_view>

namespace lithe {

/// A file of the page, compiled into the program.
struct PageFile {
    std::string_view path; ///< as the browser asks for it, from "/"
    std::string_view type; ///< MIME
    std::string_view content;
};

std::span<const PageFile> page_files();
/// Null when there is none of that path: no other file can be asked for.
const PageFile* page_file(std::string_view path);

} // namespace lithe
