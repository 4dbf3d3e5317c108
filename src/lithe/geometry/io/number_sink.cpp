#include "lithe/geometry/io/number_sink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace lithe::io {
namespace {

template <class T>
void append_bytes(std::string& out, T value, std::endian order)
{
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
    out.append(raw.data(), raw.size());
}

template <class T>
void append_text(std::string& out, T value)
{
    std::array<char, 40> digits;
    const auto end = fmt::format_to(digits.begin(), FMT_COMPILE("{}"), value);
    out.append(digits.begin(), end);
}

} // namespace

void NumberSink::real(double value, Scalar type)
{
    if (binary_) {
        if (type == Scalar::Float32) return append_bytes(out_, static_cast<float>(value), order_);
        return append_bytes(out_, value, order_);
    }
    if (std::exchange(row_begun_, true)) out_ += ' ';
    append_text(out_, value);
}

void NumberSink::integer(std::int64_t value, Scalar type)
{
    if (binary_) {
        switch (type) {
        case Scalar::Int8:
        case Scalar::UInt8:
            return append_bytes(out_, static_cast<std::uint8_t>(value), order_);
        case Scalar::Int64:
        case Scalar::UInt64:
            return append_bytes(out_, value, order_);
        default:
            return append_bytes(out_, static_cast<std::int32_t>(value), order_);
        }
    }
    if (std::exchange(row_begun_, true)) out_ += ' ';
    append_text(out_, value);
}

void NumberSink::end_row()
{
    if (!binary_) out_ += '\n';
    row_begun_ = false;
}

int color_byte(double value)
{
    const double scaled = std::round(255.0 * value);
    return scaled >= 0.0 ? static_cast<int>(std::min(scaled, 255.0)) : 0; // NaN is 0
}

std::string plain_name(std::string_view name)
{
    std::string plain;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        plain += letter || std::string_view("_.:+-").find(c) != std::string_view::npos ? c : '_';
    }
    return plain.empty() ? "field" : plain;
}

} // namespace lithe::io
