#pragma once
#include <cstdlib>
#include <filesystem>

namespace lithe::test {

/// A file of the optional data set; empty when the set is not here (the test then skips).
inline std::filesystem::path data_file(const std::filesystem::path& name)
{
    const char* folder = std::getenv("LITHE_DATA"); // CTest sets it
    if (!folder) return {};
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    return std::filesystem::exists(path) ? path : std::filesystem::path();
}

} // namespace lithe::test

/// Declares `variable` as the path of a data file, or skips the test with a message.
#define LITHE_DATA_OR_SKIP(variable, name)                                                                   \
    const std::filesystem::path variable = ::lithe::test::data_file(name);                                   \
    if (variable.empty()) GTEST_SKIP() << "no data file " << (name) << "; set LITHE_DATA to run this test"
