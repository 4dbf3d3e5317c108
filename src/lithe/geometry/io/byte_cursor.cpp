#include "lithe/geometry/io/byte_cursor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lithe::io {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

} // namespace

ByteCursor::ByteCursor(std::string_view bytes, Place origin, std::endian order)
    : bytes_(bytes), origin_(std::move(origin)), order_(order)
{
    if (origin_.line == 0 && origin_.byte < 0) origin_.byte = 0;
}

Place ByteCursor::place() const
{
    if (origin_.line > 0) return origin_;
    return {.file = origin_.file, .byte = origin_.byte + static_cast<std::int64_t>(at_)};
}

std::string_view ByteCursor::bytes(std::size_t count)
{
    if (count > bytes_left())
        fail(fmt::format("ends early: {} more bytes should follow, {} do; the file is cut short", count,
                         bytes_left()));
    at_ += count;
    return bytes_.substr(at_ - count, count);
}

void ByteCursor::move_to(std::size_t offset)
{
    LITHE_ASSERT(offset <= bytes_.size());
    at_ = offset;
}

template <class T>
T ByteCursor::take()
{
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes(sizeof(T)).data(), sizeof(T));
    if (order_ != std::endian::native) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
}

double ByteCursor::real(Scalar type)
{
    switch (type) {
    case Scalar::Float64:
        return take<double>();
    case Scalar::Float32:
        return static_cast<double>(take<float>());
    case Scalar::UInt64:
        return static_cast<double>(take<std::uint64_t>());
    default:
        return static_cast<double>(integer(type));
    }
}

std::int64_t ByteCursor::integer(Scalar type)
{
    switch (type) {
    case Scalar::Int8:
        return take<std::int8_t>();
    case Scalar::UInt8:
        return take<std::uint8_t>();
    case Scalar::Int16:
        return take<std::int16_t>();
    case Scalar::UInt16:
        return take<std::uint16_t>();
    case Scalar::Int32:
        return take<std::int32_t>();
    case Scalar::UInt32:
        return take<std::uint32_t>();
    case Scalar::Int64:
        return take<std::int64_t>();
    case Scalar::UInt64: {
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
        return static_cast<std::int64_t>(
            std::min(take<std::uint64_t>(), most)); // refused later, whatever it counts
    }
    case Scalar::Float32:
    case Scalar::Float64:
        return whole(real(type));
    }
    return 0;
}

bool ByteCursor::at_end()
{
    at_ = std::min(bytes_.find_first_not_of(blanks, at_), bytes_.size());
    return at_ == bytes_.size();
}

std::string_view ByteCursor::word()
{
    if (at_end()) return {};
    const std::size_t end = std::min(bytes_.find_first_of(blanks, at_), bytes_.size());
    return bytes(end - at_);
}

std::string_view ByteCursor::line()
{
    const std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
    std::string_view text = bytes(end - at_);
    if (at_ < bytes_.size()) ++at_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

} // namespace lithe::io
