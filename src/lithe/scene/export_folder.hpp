#pragma once
#include <set>

#include "lithe/scene/export_formats.hpp"

namespace lithe::exporting {

/// A folder of numbered files that appears whole or not at all: gathered in a hidden folder, and moved by `commit`. An
/// existing folder keeps all else that is in it.
class StagedFolder {
public:
    /// Throws InputError naming `target` when it is no folder, or cannot be made or written to.
    explicit StagedFolder(const Path& target);
    ~StagedFolder();
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;

    /// Writes the file STEM_NUMBER.ENDING and returns its name.
    std::string write(const std::string& stem, int number, const std::string& ending, std::string_view bytes);
    /// Files of an earlier run with the same stem and ending, but a later number than those written now, are removed:
    /// they would be taken for the end of this animation.
    void commit();

    const Path& target() const { return target_; }

private:
    [[noreturn]] void fail(const Path& file, const char* doing, int error) const;
    void remove_later() const;

    struct Series {
        std::string stem, ending;
        auto operator<=>(const Series&) const = default;
    };
    Path target_, staging_;
    std::set<Series> series_;
    std::vector<std::string> names_;
    int last_ = 0;
};

} // namespace lithe::exporting
