#pragma once
#include <cmath>

#include <fmt/format.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "lithe/core/error.hpp"
#include "lithe/reduce/prepared_model.hpp"

/// What the files of all kinds of models have in common (docs/model-files.md). Parts lie under a prefix `at`: "" for the whole file,
/// "bone/3/" for one of several.
namespace lithe::model_io {

inline constexpr DataOptions packed{.packing = Packing::Deflate};

void write_head(ArchiveWriter& out, std::string_view kind, std::int32_t version, const std::string& name);
void write_mesh(ArchiveWriter& out, const std::string& group, const TriangleMesh& mesh);
/// Float rows, three per vertex, as the columns of an r x 3 s matrix.
void write_rows(ArchiveWriter& out, const std::string& path, const SurfaceBasis& rows);
void write_materials(ArchiveWriter& out, const std::vector<RegionParameters>& materials);
void write_reduced(ArchiveWriter& out, const std::string& at, const ReducedModel& reduced);
void write_tensors(ArchiveWriter& out, const std::string& at, const FrameTensors& tensors);
void write_volume(ArchiveWriter& out, const std::string& at, const PreparedVolume& volume);
/// All but the hash of the inputs, which the header of the file has.
void write_record(ArchiveWriter& out, const ReductionRecord& record);

/// Reads with checks of the content: what the container cannot know.
class ModelReader {
public:
    explicit ModelReader(const std::filesystem::path& file) : in_(file), file_(file) {}

    /// Throws InputError for a file of another kind or version.
    void require(std::string_view kind, std::int32_t version) const;
    std::string kind() const;
    const ArchiveReader& archive() const { return in_; }

    [[noreturn]] void fail(std::string_view path, const std::string& what) const
    {
        throw InputError({.file = file_.string()}, fmt::format("'{}' {}", path, what));
    }

    /// Numbers that must all be finite.
    template <class T>
    T numbers(std::string_view path, const Shape& shape) const
    {
        T values = in_.read<T>(path, shape);
        if (!values.allFinite()) fail(path, "has numbers that are not finite; prepare the model again");
        return values;
    }
    double number(std::string_view path) const;

    /// Indices that must all be in [0, limit).
    template <class T>
    T indices(const std::string& path, const Shape& shape, Index limit) const
    {
        T values = in_.read<T>(path, shape);
        for (Index i = 0; i < static_cast<Index>(values.size()); ++i)
            if (values.data()[i] < 0 || values.data()[i] >= limit)
                fail(path, fmt::format("refers to {}, but there are {} only", values.data()[i], limit));
        return values;
    }

    std::vector<Index> counts(std::string_view path) const;

private:
    ArchiveReader in_;
    std::filesystem::path file_;
};

TriangleMesh read_mesh(const ModelReader& in, const std::string& group);
SurfaceBasis read_rows(const ModelReader& in, const std::string& path, Index vertices, Index rank);
std::vector<RegionParameters> read_materials(const ModelReader& in);
/// May be of rank 0.
ReducedModel read_reduced(const ModelReader& in, const std::string& at,
                          const std::vector<RegionParameters>& materials);
/// Of a basis with the mass M.
FrameTensors read_tensors(const ModelReader& in, const std::string& at, const MatX& M);
PreparedVolume read_volume(const ModelReader& in, const std::string& at);
ReductionRecord read_record(const ModelReader& in);

} // namespace lithe::model_io
