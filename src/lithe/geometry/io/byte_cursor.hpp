#pragma once
#include <bit>

#include "lithe/geometry/io/number_source.hpp"

namespace lithe::io {

/// Walks over the bytes of a binary file, never past their end. Its places are byte offsets; when `origin` has a
/// line (bytes decoded out of a text file), that line.
class ByteCursor : public NumberSource {
public:
    ByteCursor(std::string_view bytes, Place origin, std::endian order = std::endian::little);

    double real(Scalar type = Scalar::Float64) override;
    std::int64_t integer(Scalar type = Scalar::Int32) override;
    std::string_view word() override;
    std::string_view line() override;
    bool at_end() override;
    Place place() const override;
    std::size_t bytes_left() const override { return bytes_.size() - at_; }
    std::size_t least_size(Scalar type) const override { return size_of(type); }

    /// The next `count` bytes.
    std::string_view bytes(std::size_t count);
    std::size_t offset() const { return at_; }
    void move_to(std::size_t offset);
    void set_order(std::endian order) { order_ = order; }

private:
    template <class T>
    T take();

    std::string_view bytes_;
    std::size_t at_ = 0;
    Place origin_;
    std::endian order_;
};

} // namespace lithe::io
