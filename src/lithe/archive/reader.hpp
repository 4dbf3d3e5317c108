#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "lithe/archive/data.hpp"
#include "lithe/archive/header.hpp"

namespace lithe {

/// Reads a .lithe file back. The whole file is read into memory and checked before anything is believed.
///
///     const ArchiveReader in("hand.lithe");
///     const Points X = in.read<Points>("surface/vertices", {3, any_size});
///     const MatX U = in.read<MatX>("body/basis", {3 * X.cols(), any_size});
///     const double density = in.read<double>("material/density");
///
/// What is missing, or not of the type and shape asked for, is an InputError that names the file and the path inside.
/// Several threads may read from one reader.
class ArchiveReader {
public:
    explicit ArchiveReader(const std::filesystem::path& file);

    /// From the bytes of a file; `name` is for messages.
    ArchiveReader(std::string_view bytes, const std::filesystem::path& name);

    ~ArchiveReader();
    ArchiveReader(ArchiveReader&&) noexcept;
    ArchiveReader& operator=(ArchiveReader&&) noexcept;

    const ArchiveInfo& info() const;

    /// All that is in the file, by path.
    const std::vector<ArchiveEntry>& entries() const;

    /// Whether there is a thing, or a group of things, of this path.
    bool has(std::string_view path) const;

    /// Names of what is directly in a group, sorted; of the whole file for "". None when there is no such group.
    std::vector<std::string> children(std::string_view group) const;

    /// Throws InputError, with the nearest path there is, when it is missing.
    const ArchiveEntry& entry(std::string_view path) const;

    template <ArchiveNumber T>
    T read(std::string_view path) const
    {
        T value{};
        read_numbers(expect(path, element_type<T>, {1, 1}), &value);
        return value;
    }

    /// A std::vector, or a matrix or vector of Eigen. Sizes that the type fixes need not be right in `shape`.
    template <class T>
    T read(std::string_view path, Shape shape) const
    {
        T values;
        if constexpr (requires { T::RowsAtCompileTime; }) {
            static_assert(!T::IsRowMajor || T::IsVectorAtCompileTime, "archives keep columns together");
            if (T::RowsAtCompileTime != Eigen::Dynamic) shape.rows = T::RowsAtCompileTime;
            if (T::ColsAtCompileTime != Eigen::Dynamic) shape.cols = T::ColsAtCompileTime;
            const ArchiveEntry& found = expect(path, element_type<typename T::Scalar>, shape);
            values.resize(found.shape.rows, found.shape.cols);
            read_numbers(found, values.data());
        } else {
            const ArchiveEntry& found = expect(path, element_type<typename T::value_type>, {shape.rows, 1});
            values.resize(static_cast<std::size_t>(found.shape.rows));
            read_numbers(found, values.data());
        }
        return values;
    }

    /// A matrix or vector whose type says its size.
    template <class T>
        requires(!ArchiveNumber<T> && T::SizeAtCompileTime > 0)
    T read(std::string_view path) const
    {
        return read<T>(path, {T::RowsAtCompileTime, T::ColsAtCompileTime});
    }

    std::string read_text(std::string_view path) const;
    std::vector<std::string> read_texts(std::string_view path, Index count = any_size) const;

private:
    struct File;
    const ArchiveEntry& expect(std::string_view path, ElementType type, const Shape& shape) const;
    void read_numbers(const ArchiveEntry& entry, void* values) const;
    std::unique_ptr<File> file_;
};

} // namespace lithe
