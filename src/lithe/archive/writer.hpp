#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "lithe/archive/data.hpp"

namespace lithe {

/// Collects numbers and texts under paths such as "body/basis" and saves them as one .lithe file.
///
///     ArchiveWriter out;
///     out.write("body/basis", U);
///     out.write("body/mass", M, {.unit = "kg"});
///     out.write("body/tets", tets, {.packing = Packing::Deflate});
///     out.write_text("body/name", "hand");
///     out.save("hand.lithe", hash_of_inputs);
///
/// The same content written in the same order gives the same bytes. Everything is in memory until it is saved.
/// Throws InputError for a path that is not possible or is written twice. Parts of a path are not empty, "." or "..".
class ArchiveWriter {
public:
    ArchiveWriter();
    ~ArchiveWriter();
    ArchiveWriter(ArchiveWriter&&) noexcept;
    ArchiveWriter& operator=(ArchiveWriter&&) noexcept;

    template <ArchiveNumber T>
    void write(std::string_view path, T value, const DataOptions& options = {})
    {
        write_array(path, {element_type<T>, 0, {1, 1}, &value}, options);
    }

    template <ArchiveNumber T>
    void write(std::string_view path, const std::vector<T>& values, const DataOptions& options = {})
    {
        write_array(path, {element_type<T>, 1, {static_cast<Index>(values.size()), 1}, values.data()},
                    options);
    }

    /// Any matrix, vector or expression of Eigen.
    template <class Derived>
    void write(std::string_view path, const Eigen::MatrixBase<Derived>& values,
               const DataOptions& options = {})
    {
        using Plain = detail::PlainColumns<Derived>;
        const Eigen::Ref<const Plain, 0, Eigen::Stride<0, 0>> plain(
            values.derived()); // copies what is not contiguous
        constexpr int dimensions = Derived::ColsAtCompileTime == 1 ? 1 : 2;
        write_array(
            path,
            {element_type<typename Derived::Scalar>, dimensions, {plain.rows(), plain.cols()}, plain.data()},
            options);
    }

    /// UTF-8 without zero bytes.
    void write_text(std::string_view path, std::string_view text);
    void write_texts(std::string_view path, const std::vector<std::string>& texts);

    /// Writes the file whole or not at all (core/atomic_file). `inputs` is the hash of what the content was made from.
    /// Nothing can be added after that.
    void save(const std::filesystem::path& file, std::uint64_t inputs = 0);

    /// The bytes that `save` writes.
    const std::string& bytes(std::uint64_t inputs = 0);

private:
    struct File;
    void write_array(std::string_view path, const detail::ArrayView& array, const DataOptions& options);
    std::unique_ptr<File> file_;
};

} // namespace lithe
