#pragma once
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>

namespace lithe {

/// A file that appears whole or not at all: written beside its target under a temporary name, and renamed by
/// `commit`. Destroyed without `commit`, it leaves no trace and the old file, if there was one, untouched.
/// A link stays a link (the file that it points to is replaced), and a replaced file keeps its permissions.
/// Every failure (folder missing, not writable, disk full) is an InputError that names the target.
class AtomicFile {
public:
    explicit AtomicFile(std::filesystem::path target);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes);
    void write(std::span<const std::byte> bytes);
    void commit();

    const std::filesystem::path& target() const { return target_; }

private:
    [[noreturn]] void fail(const char* doing) const;
    void open_beside(const std::filesystem::path& folder);
    std::filesystem::path target_;
    std::filesystem::path destination_; ///< the target with links resolved
    std::filesystem::path temporary_;   ///< is `destination_` for a device or a pipe
    std::FILE* file_ = nullptr;
};

/// Writes a whole file at once, as AtomicFile does.
void write_file(const std::filesystem::path& target, std::string_view bytes);

namespace detail {
/// The InputError of a file that the system (errno) does not let us write, with what to do about it.
[[noreturn]] void throw_not_written(const std::filesystem::path& file, const char* doing, int error);
} // namespace detail

} // namespace lithe
