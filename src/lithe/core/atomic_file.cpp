#include "lithe/core/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
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
    const bool exists = fs::exists(target_, ignored);
    if (exists && !fs::is_regular_file(target_, ignored)) {
        destination_ = temporary_ =
            target_; // a device or a pipe cannot be renamed over; write straight into it
        file_ = std::fopen(temporary_.c_str(), "wb");
        if (!file_) fail("cannot be opened for writing");
        return;
    }
    if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be replaced");
    destination_ = exists ? fs::canonical(target_) : target_;
    open_beside(destination_.has_parent_path() ? destination_.parent_path() : fs::path("."));
}

/// Makes the temporary file under a name that nobody has, with the permissions of the file it will replace.
void AtomicFile::open_beside(const fs::path& folder)
{
    const std::string stem = "." + destination_.filename().string() + "." + std::to_string(getpid());
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 1000; ++attempt) {
        temporary_ = folder / (stem + "-" + std::to_string(attempt) + ".part");
        fd = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) fail("cannot be opened for writing");
    struct stat old = {};
    if (stat(destination_.c_str(), &old) == 0) fchmod(fd, old.st_mode & 07777);
    file_ = fdopen(fd, "wb");
    if (!file_) fail("cannot be opened for writing");
}

AtomicFile::~AtomicFile()
{
    if (!file_) return;
    std::fclose(file_);
    if (temporary_ != destination_) std::remove(temporary_.c_str());
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
        if (temporary_ != destination_) std::remove(temporary_.c_str());
        errno = error;
        fail("cannot be written");
    }
    if (temporary_ == destination_) return;
    if (std::rename(temporary_.c_str(), destination_.c_str()) != 0) {
        const int error = errno;
        std::remove(temporary_.c_str());
        errno = error;
        fail("cannot be replaced");
    }
}

void AtomicFile::fail(const char* doing) const
{
    detail::throw_not_written(target_, doing, errno);
}

void detail::throw_not_written(const fs::path& file, const char* doing, int error)
{
    const std::string fix = error == ENOSPC                     ? "; free some space or write elsewhere"
                            : error == EACCES || error == EROFS ? "; choose a place that you may write to"
                                                                : "";
    throw InputError({.file = file}, std::string(doing) + ": " + std::strerror(error) + fix);
}

void write_file(const fs::path& target, std::string_view bytes)
{
    AtomicFile file(target);
    file.write(bytes);
    file.commit();
}

} // namespace lithe
