#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lithe/core/error.hpp"

namespace lithe::io {

/// How a number lies in a binary file. Text files ignore it.
enum class Scalar { Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64 };

std::size_t size_of(Scalar type);
constexpr bool is_float(Scalar type)
{
    return type == Scalar::Float32 || type == Scalar::Float64;
}

/// Numbers and words out of a file, one after the other, whether they are text (TextScanner) or bytes (ByteCursor):
/// a reader written against this reads both variants of its format. Running off the end is an InputError.
class NumberSource {
public:
    virtual ~NumberSource() = default;

    virtual double real(Scalar type = Scalar::Float64) = 0;
    virtual std::int64_t integer(Scalar type = Scalar::Int32) = 0;
    /// The next word up to a blank, on this line or a later one; empty at the end of the file.
    virtual std::string_view word() = 0;
    /// What is left of this line, and moves to the next.
    virtual std::string_view line() = 0;
    /// Whether only blanks are left.
    virtual bool at_end() = 0;

    virtual Place place() const = 0;
    virtual std::size_t bytes_left() const = 0;
    /// The fewest bytes that a number of this type takes in the file.
    virtual std::size_t least_size(Scalar type) const = 0;

    [[noreturn]] void fail(const std::string& what) const { throw InputError(place(), what); }

    /// Returns the file's claim of `count` items when it can be true: they fit our indices, and into the bytes that
    /// are left at `least_bytes` each. So nobody reserves memory for a number that a damaged header made up.
    int claim(std::int64_t count, std::size_t least_bytes, std::string_view items) const;
    /// The same for items of `numbers` numbers of one type.
    int claim(std::int64_t count, int numbers, Scalar type, std::string_view items) const
    {
        return claim(count, static_cast<std::size_t>(numbers) * least_size(type), items);
    }
    /// Reads the count that stands here and checks it likewise.
    int read_claim(int numbers, Scalar type, std::string_view items)
    {
        return claim(integer(), numbers, type, items);
    }

    /// `value` as an integer; anything else than a whole number that fits is an error here.
    std::int64_t whole(double value) const;
    /// The next word must be this one.
    void expect(std::string_view wanted);
    /// Reads past `count` numbers.
    void skip(std::int64_t count, Scalar type);
};

/// A word of a file for a message: cut to a length that fits a line, with what does not print replaced.
std::string in_quotes(std::string_view word);

/// The same letters with A-Z made small; for keywords and endings, whatever the locale.
std::string lower_case(std::string_view word);

} // namespace lithe::io
