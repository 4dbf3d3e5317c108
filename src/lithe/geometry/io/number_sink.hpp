#pragma once
#include <bit>
#include <string>
#include <string_view>

#include "lithe/geometry/io/number_source.hpp"
#include "lithe/geometry/mesh_io.hpp"

namespace lithe::io {

/// The other end of NumberSource: appends rows of numbers to the bytes of a file, as text (the shortest digits that
/// give back every bit) or as binary.
class NumberSink {
public:
    NumberSink(std::string& out, Encoding encoding, std::endian order = std::endian::little)
        : out_(out), binary_(encoding == Encoding::Binary), order_(order)
    {
    }

    void real(double value, Scalar type = Scalar::Float64);
    void integer(std::int64_t value, Scalar type = Scalar::Int32);
    /// Ends a row of text; nothing in binary.
    void end_row();

    /// A row of coordinates or values.
    template <class Column>
    void reals(const Column& column, Scalar type = Scalar::Float64)
    {
        for (Index k = 0; k < column.size(); ++k) real(column[k], type);
    }
    /// A row of indices, counted from `first`.
    template <class Column>
    void integers(const Column& column, std::int64_t first, Scalar type = Scalar::Int32)
    {
        for (Index k = 0; k < column.size(); ++k) integer(column[k] + first, type);
    }
    void text(std::string_view words) { out_ += words; }
    bool binary() const { return binary_; }

private:
    std::string& out_;
    bool binary_;
    std::endian order_;
    bool row_begun_ = false;
};

/// One component in [0, 1] as a byte.
int color_byte(double value);
/// The name as one word of letters, digits and _.:+- that every format takes.
std::string plain_name(std::string_view name);

} // namespace lithe::io
