#include "lithe/core/atomic_folder.hpp"

#include <cerrno>
#include <cstdio>

#include <sys/stat.h>
#include <unistd.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"

namespace lithe {

namespace fs = std::filesystem;

AtomicFolder::AtomicFolder(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path())
{
    std::error_code ignored;
    const bool exists = fs::exists(target_, ignored);
    if (exists && !fs::is_directory(target_, ignored))
        throw InputError({.file = target_}, "is a file, not a folder; choose another name");
    const fs::path parent = exists                      ? target_
                            : target_.has_parent_path() ? target_.parent_path()
                                                        : fs::path(".");
    if (!fs::is_directory(parent, ignored))
        throw InputError({.file = target_}, "cannot be written: the folder " + parent.string() +
                                                " does not exist; make it first or choose another");
    const std::string stem = "." + target_.filename().string() + "." + std::to_string(getpid());
    for (int attempt = 0; attempt < 1000; ++attempt) {
        staging_ = parent / (stem + "-" + std::to_string(attempt) + ".part");
        if (mkdir(staging_.c_str(), 0777) == 0) return;
        if (errno != EEXIST) break;
    }
    detail::throw_not_written(target_, "cannot be written", errno);
}

AtomicFolder::~AtomicFolder()
{
    std::error_code ignored;
    fs::remove_all(staging_, ignored);
}

void AtomicFolder::write(const std::string& name, std::string_view bytes)
{
    std::FILE* file = std::fopen((staging_ / name).c_str(), "wb");
    if (!file) detail::throw_not_written(target_ / name, "cannot be opened for writing", errno);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int error = errno;
    if (std::fclose(file) != 0 || !written)
        detail::throw_not_written(target_ / name, "cannot be written", written ? errno : error);
    names_.push_back(name);
}

void AtomicFolder::commit()
{
    std::error_code ignored;
    if (!fs::exists(target_, ignored)) {
        if (std::rename(staging_.c_str(), target_.c_str()) != 0)
            detail::throw_not_written(target_, "cannot be written", errno);
        return;
    }
    for (const std::string& name :
         names_) // the one thing that can be in the way, seen before any file is moved
        if (fs::is_directory(target_ / name, ignored))
            detail::throw_not_written(target_ / name, "cannot be replaced", EISDIR);
    for (const std::string& name : names_)
        if (std::rename((staging_ / name).c_str(), (target_ / name).c_str()) != 0)
            detail::throw_not_written(target_ / name, "cannot be replaced", errno);
    fs::remove(staging_, ignored);
}

} // namespace lithe
