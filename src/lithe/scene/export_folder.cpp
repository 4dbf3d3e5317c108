#include "lithe/scene/export_folder.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace lithe::exporting {

namespace fs = std::filesystem;

std::string StagedFolder::write(const std::string& stem, int number, const std::string& ending,
                                std::string_view bytes)
{
    std::string name = fmt::format("{}_{:04}{}", stem, number, ending);
    folder_.write(name, bytes);
    series_.insert({stem, ending});
    last_ = std::max(last_, number);
    return name;
}

void StagedFolder::commit()
{
    folder_.commit();
    remove_later();
}

void StagedFolder::remove_later() const
{
    std::vector<Path> later;
    std::error_code ignored; // what cannot be listed or removed stays
    for (const fs::directory_entry& entry : fs::directory_iterator(target(), ignored)) {
        const std::string name = entry.path().filename().string();
        for (const auto& [stem, ending] : series_) {
            if (!name.starts_with(stem + "_") || !name.ends_with(ending)) continue;
            const char* end = name.data() + name.size() - ending.size();
            int number = 0;
            const auto read = std::from_chars(name.data() + stem.size() + 1, end, number);
            if (read.ec == std::errc() && read.ptr == end && number > last_) later.push_back(entry.path());
        }
    }
    for (const Path& file : later) fs::remove(file, ignored);
}

} // namespace lithe::exporting
