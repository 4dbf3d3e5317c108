#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "lithe/math/types.hpp"

namespace lithe {

/// What an archive can hold many of.
enum class ElementType { Double, Float, Int32, Int64, Text };

template <class T>
concept ArchiveNumber = std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, std::int32_t> ||
                        std::same_as<T, std::int64_t>;

template <ArchiveNumber T>
constexpr ElementType element_type = std::same_as<T, double>         ? ElementType::Double
                                     : std::same_as<T, float>        ? ElementType::Float
                                     : std::same_as<T, std::int32_t> ? ElementType::Int32
                                                                     : ElementType::Int64;

constexpr Index any_size = -1;

/// Rows and columns of what is stored. Vectors have one column, scalars and single texts one of both.
struct Shape {
    Index rows = any_size;
    Index cols = 1;
    friend bool operator==(const Shape&, const Shape&) = default;
};

/// "3 x 20", and "3 x any" where any size will do.
std::string to_string(const Shape& shape);
std::string to_string(ElementType type);

/// How numbers lie in the file.
enum class Packing {
    None,   ///< as in memory: fastest to read
    Deflate ///< by zlib in chunks of a megabyte: small for indices, of little use for measured numbers
};

struct DataOptions {
    std::string_view unit = ""; ///< "kg", "Pa", "m"; "" where there is none
    Packing packing = Packing::None;
};

/// One thing in an archive.
struct ArchiveEntry {
    std::string path; ///< "body/basis"
    ElementType type = ElementType::Double;
    Shape shape;
    std::string unit;               ///< "" where there is none
    std::size_t text_width = 0;     ///< of the longest text [bytes]; 0 for numbers
    std::uint64_t stored_bytes = 0; ///< in the file
    std::uint64_t offset = 0;       ///< in the file [bytes]; 0 when packed or empty

    std::size_t element_bytes() const;
};

namespace detail {

/// Numbers in memory, column by column.
struct ArrayView {
    ElementType type;
    int dimensions; ///< 0 for a scalar, 1 for a vector, 2 for a matrix
    Shape shape;
    const void* data;
};

/// The matrix that keeps columns together (row vectors know no other order) and can be written as it lies in memory.
template <class Derived>
using PlainColumns =
    Eigen::Matrix<typename Derived::Scalar, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime,
                  Derived::RowsAtCompileTime == 1 && Derived::ColsAtCompileTime != 1 ? Eigen::RowMajor
                                                                                     : Eigen::ColMajor>;

} // namespace detail
} // namespace lithe
