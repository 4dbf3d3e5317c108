#pragma once
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/scene/exporter.hpp"
#include "support/animation.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe::test {

/// Each test in an empty folder, with an animation to write there.
class ExportTest : public testing::Test {
protected:
    void export_frames(const std::filesystem::path& target, int frames) const
    {
        const auto sink = make_exporter(target);
        animation.play(*sink, frames);
        sink->finish();
    }
    static std::string content(const std::filesystem::path& file)
    {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }
    /// All files and folders, relative, sorted.
    std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
            all.push_back(std::filesystem::relative(entry.path(), folder.path()).string());
        std::ranges::sort(all);
        return all;
    }

    TemporaryFolder folder;
    Animation animation{12};
};

} // namespace lithe::test
