#include "lithe/geometry/io/text_scanner.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lithe::io {
namespace {

/// What from_chars found out of range: too small is zero, too large is infinite (and refused as such later).
double out_of_range(std::string_view word)
{
    const bool negative = word.starts_with('-');
    if (negative) word.remove_prefix(1);
    const bool tiny = word.find("e-") != word.npos || word.find("E-") != word.npos || word.starts_with('0') ||
                      word.starts_with('.');
    const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return negative ? -magnitude : magnitude;
}

} // namespace

TextScanner::TextScanner(std::string_view text, std::filesystem::path name, TextStyle style)
    : at_(text.data()), end_(text.data() + text.size()), line_(style.line), name_(std::move(name))
{
    const auto set = [&](char c, Kind kind) { kinds_[static_cast<unsigned char>(c)] = kind; };
    for (const char c : {' ', '\t', '\r', '\v', '\f'}) set(c, Kind::Blank);
    if (style.separator) set(style.separator, Kind::Blank);
    set(text.find('\n') == text.npos ? '\r' : '\n', Kind::NewLine);
    if (style.comment) set(style.comment, Kind::Comment);
}

/// The end of this line when a backslash that stands here joins the next line to it; else null.
const char* TextScanner::joined_newline() const
{
    if (*at_ != '\\') return nullptr;
    const char* next = at_ + 1;
    while (next < end_ && kind(*next) == Kind::Blank && *next == '\r') ++next;
    return next < end_ && kind(*next) == Kind::NewLine ? next : nullptr;
}

/// Moves to the next word of this line; false when there is none, and then stands at the line's end.
bool TextScanner::skip_blanks_in_line()
{
    for (; at_ < end_; ++at_) {
        switch (kind(*at_)) {
        case Kind::Blank:
            break;
        case Kind::NewLine:
            return false;
        case Kind::Comment:
            while (at_ < end_ && kind(*at_) != Kind::NewLine) ++at_;
            return false;
        case Kind::Letter:
            const char* newline = joined_newline();
            if (!newline) return true;
            at_ = newline;
            ++line_;
        }
    }
    return false;
}

bool TextScanner::at_end()
{
    while (!skip_blanks_in_line()) {
        if (at_ == end_) return true;
        ++at_;
        if (at_ < end_) ++line_;
    }
    return false;
}

std::string_view TextScanner::take_word()
{
    const char* begin = at_;
    while (at_ < end_ && kind(*at_) == Kind::Letter && !joined_newline()) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
}

std::string_view TextScanner::word()
{
    return at_end() ? std::string_view() : take_word();
}
std::string_view TextScanner::word_in_line()
{
    return skip_blanks_in_line() ? take_word() : std::string_view();
}

std::string_view TextScanner::peek()
{
    const std::string_view next = word();
    at_ -= next.size();
    return next;
}

std::string_view TextScanner::line()
{
    const char* begin = at_;
    while (at_ < end_ && kind(*at_) != Kind::NewLine) ++at_;
    std::string_view text(begin, static_cast<std::size_t>(at_ - begin));
    if (at_ < end_) {
        ++at_;
        ++line_;
    }
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

std::string_view TextScanner::needed_word(std::string_view what)
{
    const std::string_view found = word();
    if (found.empty()) fail(fmt::format("ends where {} should follow; the file is cut short", what));
    return found;
}

double TextScanner::to_real(std::string_view word) const
{
    std::string_view digits = word;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
        fail(fmt::format("found {} where a number should stand", in_quotes(word)));
    return error == std::errc::result_out_of_range ? out_of_range(digits) : value;
}

std::int64_t TextScanner::to_integer(std::string_view word) const
{
    std::string_view digits = word;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
        fail(fmt::format("the number {} is too large", in_quotes(word)));
    if (error != std::errc() || end != digits.data() + digits.size())
        fail(fmt::format("found {} where a whole number should stand", in_quotes(word)));
    return value;
}

double TextScanner::real(Scalar)
{
    return to_real(needed_word("a number"));
}

std::int64_t TextScanner::integer(Scalar type)
{
    const std::string_view found = needed_word("a whole number");
    if (!is_float(type)) return to_integer(found);
    return whole(to_real(found));
}

std::optional<double> TextScanner::real_in_line()
{
    const std::string_view found = word_in_line();
    return found.empty() ? std::nullopt : std::optional(to_real(found));
}

} // namespace lithe::io
