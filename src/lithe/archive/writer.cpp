#include "lithe/archive/writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <set>

#include "lithe/archive/hdf5_session.hpp"
#include "lithe/archive/header.hpp"
#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

using hdf5::Handle;
using hdf5::Session;

constexpr hsize_t chunk_bytes = hsize_t{1} << 20;
constexpr std::size_t memory_increment = std::size_t{1} << 20; // by which the file in memory grows
constexpr unsigned deflate_level = 6;

/// All that can go wrong in memory, once arguments are checked, is that there is not enough of it.
void require(bool went_well)
{
    if (!went_well) throw std::bad_alloc();
}

Handle require(Handle handle)
{
    require(handle.valid());
    return handle;
}

[[noreturn]] void refuse(std::string_view path, const char* why)
{
    throw InputError("archive path '" + std::string(path.substr(0, path.find('\0'))) + "' " + why);
}

/// "a", "a/b" and "a/b/c" of "a/b/c".
std::vector<std::string> beginnings(std::string_view path)
{
    std::vector<std::string> all;
    for (std::size_t begin = 0, end = 0; end != path.npos; begin = end + 1) {
        end = path.find('/', begin);
        const std::string_view part = path.substr(begin, end == path.npos ? end : end - begin);
        if (part.empty() || part == "." || part == "..") refuse(path, "has a part without a name");
        all.emplace_back(path.substr(0, end));
    }
    return all;
}

/// Properties of an object without the time at which it was made: same content, same bytes.
Handle timeless(hid_t property_class)
{
    Handle properties = require(Handle(H5Pcreate(property_class), H5Pclose));
    require(H5Pset_obj_track_times(properties, false) >= 0);
    return properties;
}

/// HDF5 counts its fastest dimension last, so a matrix that keeps columns together has its columns first.
std::array<hsize_t, 2> dimensions_of(const Shape& shape)
{
    return {static_cast<hsize_t>(shape.cols), static_cast<hsize_t>(shape.rows)};
}

Handle make_space(int dimensions, const Shape& shape)
{
    const std::array<hsize_t, 2> size = dimensions_of(shape);
    if (dimensions == 0) return require(Handle(H5Screate(H5S_SCALAR), H5Sclose));
    return require(Handle(H5Screate_simple(dimensions, size.data() + 2 - dimensions, nullptr), H5Sclose));
}

/// Chunks of about a megabyte: whole columns where they are shorter than that.
void set_chunks(hid_t properties, int dimensions, const Shape& shape, std::size_t element_bytes)
{
    std::array<hsize_t, 2> chunk = dimensions_of(shape);
    chunk[1] = std::min(chunk[1], chunk_bytes / element_bytes);
    chunk[0] = std::clamp<hsize_t>(chunk_bytes / (chunk[1] * element_bytes), 1, chunk[0]);
    require(H5Pset_chunk(properties, dimensions, chunk.data() + 2 - dimensions) >= 0);
    require(H5Pset_shuffle(properties) >= 0);
    require(H5Pset_deflate(properties, deflate_level) >= 0);
}

void write_unit(hid_t dataset, std::string_view unit)
{
    if (unit.empty()) return;
    const Handle type = hdf5::text_type(unit.size());
    const Handle space = require(Handle(H5Screate(H5S_SCALAR), H5Sclose));
    const Handle attribute =
        require(Handle(H5Acreate2(dataset, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose));
    require(H5Awrite(attribute, type, unit.data()) >= 0);
}

/// Lets the library build its file in a string of ours, which stays when the library closes the file.
H5FD_file_image_callbacks_t image_in(std::string& bytes)
{
    using Op = H5FD_file_image_op_t;
    const auto resize = [](void*, size_t size, Op, void* image) -> void* {
        try {
            auto& text = *static_cast<std::string*>(image);
            text.resize(size, '\0');
            return text.data();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    };
    return {.image_malloc = nullptr,
            .image_memcpy = nullptr,
            .image_realloc = resize,
            .image_free = [](void*, Op, void*) -> herr_t { return 0; },
            .udata_copy = [](void* image) { return image; },
            .udata_free = [](void*) -> herr_t { return 0; },
            .udata = &bytes};
}

/// A new file in `bytes`, never on a disk, that leaves room for our header.
Handle make_file(std::string& bytes)
{
    const Handle creation = timeless(H5P_FILE_CREATE);
    const Handle access = require(Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose));
    H5FD_file_image_callbacks_t image = image_in(bytes);
    require(H5Pset_userblock(creation, archive_header_size) >= 0);
    require(H5Pset_fapl_core(access, memory_increment, 0) >= 0);
    require(H5Pset_file_image_callbacks(access, &image) >= 0);
    require(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >=
            0); // same bytes from every library
    return require(
        Handle(H5Fcreate(hdf5::memory_name(&bytes).c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose));
}

} // namespace

struct ArchiveWriter::File {
    std::string bytes; ///< the file as far as the library has built it
    Handle handle;     ///< not valid once the bytes are complete
    std::set<std::string, std::less<>> groups, data;

    ~File()
    {
        const Session session;
        handle = Handle();
    }

    /// Makes the groups that the path needs and notes it as taken.
    void make_room(std::string_view path)
    {
        LITHE_ASSERT(handle.valid()); // nothing can be added once it is saved
        std::vector<std::string> parts = beginnings(path);
        const std::string whole = parts.back();
        parts.pop_back();
        if (path.find('\0') != path.npos) refuse(path, "has a zero byte");
        if (data.contains(whole) || groups.contains(whole)) refuse(path, "is written twice");
        for (const std::string& group : parts)
            if (data.contains(group)) refuse(path, "is inside something that is not a group");
        const Handle properties = timeless(H5P_GROUP_CREATE);
        for (const std::string& group : parts)
            if (groups.insert(group).second)
                require(Handle(H5Gcreate2(handle, group.c_str(), hdf5::utf8_names(), properties, H5P_DEFAULT),
                               H5Gclose));
        data.insert(whole);
    }

    Handle write(std::string_view path, hid_t type, hid_t space, hid_t properties, const void* values)
    {
        H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
        const Handle links = hdf5::utf8_names();
        Handle dataset = require(
            Handle(H5Dcreate2(handle, std::string(path).c_str(), type, space, links, properties, H5P_DEFAULT),
                   H5Dclose));
        if (H5Sget_simple_extent_npoints(space) > 0)
            require(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        return dataset;
    }

    void write_texts(std::string_view path, int dimensions, const std::vector<std::string>& texts);
};

ArchiveWriter::ArchiveWriter() : file_(std::make_unique<File>())
{
    const Session session;
    file_->handle = make_file(file_->bytes);
}

ArchiveWriter::~ArchiveWriter() = default;
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;

void ArchiveWriter::write_array(std::string_view path, const detail::ArrayView& array,
                                const DataOptions& options)
{
    const Session session;
    file_->make_room(path);
    const hid_t type = hdf5::number_type(array.type);
    const Handle space = make_space(array.dimensions, array.shape);
    const Handle properties = timeless(H5P_DATASET_CREATE);
    const bool has_chunks = array.dimensions > 0 && array.shape.rows > 0 && array.shape.cols > 0;
    if (options.packing == Packing::Deflate && has_chunks)
        set_chunks(properties, array.dimensions, array.shape, H5Tget_size(type));
    write_unit(file_->write(path, type, space, properties, array.data), options.unit);
}

void ArchiveWriter::File::write_texts(std::string_view path, int dimensions,
                                      const std::vector<std::string>& texts)
{
    std::size_t width = 1;
    for (const std::string& text : texts) {
        if (text.find('\0') != text.npos) refuse(path, "is given a text with a zero byte");
        width = std::max(width, text.size());
    }
    std::string padded(width * texts.size(), '\0');
    for (std::size_t i = 0; i < texts.size(); ++i)
        std::memcpy(padded.data() + i * width, texts[i].data(), texts[i].size());
    const Session session;
    make_room(path);
    const Handle space = make_space(dimensions, {static_cast<Index>(texts.size()), 1});
    write(path, hdf5::text_type(width), space, timeless(H5P_DATASET_CREATE), padded.data());
}

void ArchiveWriter::write_text(std::string_view path, std::string_view text)
{
    file_->write_texts(path, 0, {std::string(text)});
}

void ArchiveWriter::write_texts(std::string_view path, const std::vector<std::string>& texts)
{
    file_->write_texts(path, 1, texts);
}

const std::string& ArchiveWriter::bytes(std::uint64_t inputs)
{
    if (file_->handle.valid()) {
        const Session session;
        const hid_t file = file_->handle.release();
        require(H5Fclose(file) >= 0);
        file_->bytes.resize(archive_content_end(file_->bytes)); // the library reserves more than it uses
    }
    write_archive_header(file_->bytes, inputs);
    return file_->bytes;
}

void ArchiveWriter::save(const std::filesystem::path& file, std::uint64_t inputs)
{
    write_file(file, bytes(inputs));
}

} // namespace lithe
