#include "lithe/core/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "lithe/core/error.hpp"

namespace lithe {

namespace fs = std::filesystem;

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target))
{
    std::error_code ignored;
    if (fs::is_directory(target_, ignored))
        throw InputError({.file = target_}, "is a folder; give the name of a file to write");
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, ignored))
        throw InputError({.file = target_}, "cannot be written: the folder " + folder.string() +
                                                " does not exist; make it first or choose another");
    if (fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored)) {
        temporary_ = target_; // a device or a pipe cannot be renamed over; write straight into it
    } else {
        temporary_ = folder / ("." + target_.filename().string() + "." + std::to_string(getpid()) + ".part");
    }
    file_ = std::fopen(temporary_.c_str(), "wb");
    if (!file_) fail("cannot be opened for writing");
}

AtomicFile::~AtomicFile()
{
    if (!file_) return;
    std::fclose(file_);
    if (temporary_ != target_) std::remove(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot be written");
}

void AtomicFile::write(std::span<const std::byte> bytes)
{
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::commit()
{
    if (std::fflush(file_) != 0) fail("cannot be written");
    std::FILE* file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0) {
        const int error = errno;
        if (temporary_ != target_) std::remove(temporary_.c_str());
        errno = error;
        fail("cannot be written");
    }
    if (temporary_ == target_) return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int error = errno;
        std::remove(temporary_.c_str());
        errno = error;
        fail("cannot be replaced");
    }
}

void AtomicFile::fail(const char* doing) const
{
    const int error = errno;
    const std::string fix = error == ENOSPC  ? "; free some space or write elsewhere"
                            : error == EACCES || error == EROFS ? "; choose a folder that you may write to"
                                                                : "";
    throw InputError({.file = target_}, std::string(doing) + ": " + std::strerror(error) + fix);
}

void write_file(const fs::path& target, std::string_view bytes)
{
    AtomicFile file(target);
    file.write(bytes);
    file.commit();
}

} // namespace lithe
