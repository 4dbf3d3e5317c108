#pragma once
#include <set>

#include "lithe/core/atomic_folder.hpp"
#include "lithe/scene/export_formats.hpp"

namespace lithe::exporting {

/// A folder of numbered files that appears whole or not at all, as AtomicFolder does.
class StagedFolder {
public:
    explicit StagedFolder(const Path& target) : folder_(target) {}

    /// Writes the file STEM_NUMBER.ENDING and returns its name.
    std::string write(const std::string& stem, int number, const std::string& ending, std::string_view bytes);
    /// Files of an earlier run with the same stem and ending, but a later number than those written now, are removed:
    /// they would be taken for the end of this animation.
    void commit();

    const Path& target() const { return folder_.target(); }

private:
    void remove_later() const;

    struct Series {
        std::string stem, ending;
        auto operator<=>(const Series&) const = default;
    };
    AtomicFolder folder_;
    std::set<Series> series_;
    int last_ = 0;
};

} // namespace lithe::exporting
