#include "lithe/scene/export_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lithe/core/error.hpp"

namespace lithe::exporting {

namespace fs = std::filesystem;

StagedFolder::StagedFolder(const Path& target)
    : target_(target.has_filename() ? target : target.parent_path())
{
    std::error_code ignored;
    const bool exists = fs::exists(target_, ignored);
    if (exists && !fs::is_directory(target_, ignored))
        throw InputError({.file = target_}, "is a file, not a folder; choose another name");
    const Path parent = exists ? target_ : target_.has_parent_path() ? target_.parent_path() : Path(".");
    if (!fs::is_directory(parent, ignored))
        throw InputError({.file = target_}, "cannot be written: the folder " + parent.string() +
                                                " does not exist; make it first or choose another");
    const std::string stem = fmt::format(".{}.{}", target_.filename().string(), getpid());
    for (int attempt = 0; attempt < 1000; ++attempt) {
        staging_ = parent / fmt::format("{}-{}.part", stem, attempt);
        if (mkdir(staging_.c_str(), 0777) == 0) return;
        if (errno != EEXIST) break;
    }
    fail(target_, "cannot be written", errno);
}

StagedFolder::~StagedFolder()
{
    std::error_code ignored;
    fs::remove_all(staging_, ignored);
}

std::string StagedFolder::write(const std::string& stem, int number, const std::string& ending,
                                std::string_view bytes)
{
    const std::string name = fmt::format("{}_{:04}{}", stem, number, ending);
    std::FILE* file = std::fopen((staging_ / name).c_str(), "wb");
    if (!file) fail(target_ / name, "cannot be opened for writing", errno);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int error = errno;
    if (std::fclose(file) != 0 || !written)
        fail(target_ / name, "cannot be written", written ? errno : error);
    series_.insert({stem, ending});
    names_.push_back(name);
    last_ = std::max(last_, number);
    return name;
}

void StagedFolder::commit()
{
    std::error_code ignored;
    if (!fs::exists(target_, ignored)) {
        if (std::rename(staging_.c_str(), target_.c_str()) != 0) fail(target_, "cannot be written", errno);
        return;
    }
    for (const std::string& name : names_)
        if (std::rename((staging_ / name).c_str(), (target_ / name).c_str()) != 0)
            fail(target_ / name, "cannot be replaced", errno);
    fs::remove(staging_, ignored);
    remove_later();
}

void StagedFolder::remove_later() const
{
    std::vector<Path> later;
    std::error_code ignored; // what cannot be listed or removed stays
    for (const fs::directory_entry& entry : fs::directory_iterator(target_, ignored)) {
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

void StagedFolder::fail(const Path& file, const char* doing, int error) const
{
    const std::string fix = error == ENOSPC                     ? "; free some space or write elsewhere"
                            : error == EACCES || error == EROFS ? "; choose a place that you may write to"
                                                                : "";
    throw InputError({.file = file}, std::string(doing) + ": " + std::strerror(error) + fix);
}

} // namespace lithe::exporting
