#pragma once
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lithe {

/// Where in a file something is wrong. Text files count lines from 1; binary files count bytes from 0.
struct Place {
    std::filesystem::path file;
    std::int64_t line = 0;   ///< 0: not known
    std::int64_t byte = -1;  ///< -1: not known
    std::int64_t column = 0; ///< from 1; 0: not known
};

/// "file:12", "file:12:3", "file at byte 80", "file" or "" as far as the place is known.
std::string to_string(const Place& place);

/// Thrown when somebody hands us data that we cannot work with. Always on, in every build.
/// The message is one line: the place, what is wrong, and what to do about it.
class InputError : public std::runtime_error {
public:
    explicit InputError(const std::string& what) : std::runtime_error(what) {}
    InputError(const Place& place, const std::string& what)
        : std::runtime_error(to_string(place) + ": " + what)
    {
    }
};

/// Thrown out of long work after the user asked to stop. Nothing half-written is left behind.
class Interrupted : public std::runtime_error {
public:
    Interrupted() : std::runtime_error("interrupted") {}
};

/// Returns `value` when lo < value < hi (NaN fails), else throws InputError naming it.
/// Returning the value keeps the check and the use on one line, so they cannot drift apart.
double require_between(std::string_view name, double value, double lo, double hi);

/// Returns `value` when it is finite and above zero, else throws InputError naming it.
double require_positive(std::string_view name, double value);

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}

} // namespace lithe

/// An invariant of ours, cheap enough to check at module doors in every build. Aborts with file and line.
#define LITHE_ASSERT(condition)                                                                              \
    ((condition) ? void(0) : ::lithe::detail::assertion_failed(#condition, __FILE__, __LINE__))

/// The same inside hot loops: debug builds only.
#ifdef NDEBUG
#define LITHE_ASSERT_HEAVY(condition) void(0)
#else
#define LITHE_ASSERT_HEAVY(condition) LITHE_ASSERT(condition)
#endif
