#include "lithe/geometry/io/number_source.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace lithe::io {

std::size_t size_of(Scalar type)
{
    constexpr std::array<std::size_t, 10> sizes = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[static_cast<std::size_t>(type)];
}

int NumberSource::claim(std::int64_t count, std::size_t least_bytes, std::string_view items) const
{
    constexpr int most = std::numeric_limits<int>::max();
    if (count < 0) fail(fmt::format("claims {} {}; the count is damaged", count, items));
    if (count > most)
        fail(fmt::format("claims {} {}, more than the {} that Lithe can number", count, items, most));
    if (static_cast<std::size_t>(count) * least_bytes > bytes_left() + 1) // the last blank may be missing
        fail(fmt::format(
            "claims {} {}, but only {} bytes follow; the file is cut short or its header is damaged", count,
            items, bytes_left()));
    return static_cast<int>(count);
}

std::int64_t NumberSource::whole(double value) const
{
    if (!(std::abs(value) < 0x1.0p53) || value != std::trunc(value))
        fail(fmt::format("found {} where a whole number should stand", value));
    return static_cast<std::int64_t>(value);
}

void NumberSource::expect(std::string_view wanted)
{
    const std::string_view found = word();
    if (found == wanted) return;
    if (found.empty()) fail(fmt::format("ends where {} should follow; the file is cut short", wanted));
    fail(fmt::format("found {} where {} should stand", in_quotes(found), wanted));
}

void NumberSource::skip(std::int64_t count, Scalar type)
{
    for (std::int64_t i = 0; i < count; ++i) (void)real(type);
}

std::string in_quotes(std::string_view word)
{
    constexpr std::size_t longest = 40;
    std::string text = "'";
    for (const char c : word.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
    return text + (word.size() > longest ? "...'" : "'");
}

std::string lower_case(std::string_view word)
{
    std::string text(word);
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

} // namespace lithe::io
