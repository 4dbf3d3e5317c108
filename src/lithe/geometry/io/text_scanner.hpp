#pragma once
#include <optional>

#include "lithe/geometry/io/number_source.hpp"

namespace lithe::io {

/// What counts as blank or comment in a text format.
struct TextStyle {
    char comment = '#';    ///< from here to the end of the line nothing counts; 0 for none
    char separator = '\0'; ///< taken for a blank, as the comma in lists; 0 for none
    std::int64_t line = 1; ///< number of the first line
};

/// Words and numbers of a text file with the line they stand on. Lines end with LF, CR LF or CR; a backslash at the
/// end of a line joins the next one to it. Nothing depends on the locale.
class TextScanner : public NumberSource {
public:
    TextScanner(std::string_view text, std::filesystem::path name, TextStyle style = {});

    double real(Scalar type = Scalar::Float64) override;
    std::int64_t integer(Scalar type = Scalar::Int32) override;
    std::string_view word() override;
    std::string_view line() override;
    bool at_end() override;
    Place place() const override { return {.file = name_, .line = line_}; }
    std::size_t bytes_left() const override { return static_cast<std::size_t>(end_ - at_); }
    std::size_t least_size(Scalar) const override { return 2; } ///< a digit and a blank

    /// What `word` would give, without moving past it.
    std::string_view peek();
    /// The next word of this line; empty when there is none.
    std::string_view word_in_line();
    /// The next number of this line; none when the line is over.
    std::optional<double> real_in_line();

    double to_real(std::string_view word) const;
    std::int64_t to_integer(std::string_view word) const;

private:
    enum class Kind : unsigned char { Letter, Blank, NewLine, Comment };
    Kind kind(char c) const { return kinds_[static_cast<unsigned char>(c)]; }
    const char* joined_newline() const;
    bool skip_blanks_in_line();
    std::string_view take_word();
    std::string_view needed_word(std::string_view what);

    const char* at_;
    const char* end_;
    std::int64_t line_;
    std::filesystem::path name_;
    std::array<Kind, 256> kinds_{};
};

} // namespace lithe::io
