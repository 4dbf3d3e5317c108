#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lithe {

/// Files of one folder that appear together or not at all: gathered in a hidden folder, and moved by `commit`. An existing
/// folder keeps all else that is in it. Destroyed without `commit`, it leaves no trace.
/// Every failure (no folder, not writable, disk full) is an InputError that names the target or the file in it.
class AtomicFolder {
public:
    explicit AtomicFolder(const std::filesystem::path& target);
    ~AtomicFolder();
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;

    void write(const std::string& name, std::string_view bytes);
    void commit();

    const std::filesystem::path& target() const { return target_; }

private:
    std::filesystem::path target_, staging_;
    std::vector<std::string> names_;
};

} // namespace lithe
