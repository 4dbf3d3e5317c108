#include "lithe/archive/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lithe/archive/hdf5_session.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;
using hdf5::Session;

// Beyond these a file is not one of ours, however correct its hash.
constexpr int deepest_group = 16;
constexpr std::size_t most_entries = 10'000;
constexpr std::size_t longest_name = 1024;
constexpr std::size_t longest_unit = 256;
constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 20; // as the writer makes them [bytes]
constexpr std::uint64_t best_deflate_ratio = 1032;              // that zlib can reach

/// The bytes of a file, not filled with zeros first.
struct Bytes {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
    std::string_view view() const { return {data.get(), size}; }
};

Bytes make_bytes(std::size_t size)
{
    return {std::make_unique_for_overwrite<char[]>(size), size};
}

/// An open file on a disk.
class InputFile {
public:
    explicit InputFile(const fs::path& name) : name_(name), fd_(open(name.c_str(), O_RDONLY | O_CLOEXEC))
    {
        struct stat status = {};
        if (fd_ < 0 || fstat(fd_, &status) != 0)
            throw InputError({.file = name}, std::string("cannot be opened: ") + std::strerror(errno));
        if (!S_ISREG(status.st_mode)) throw InputError({.file = name}, "is not a file that can hold a model");
        size_ = static_cast<std::size_t>(status.st_size);
    }
    ~InputFile()
    {
        if (fd_ >= 0) close(fd_);
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    std::size_t size() const { return size_; }

    void read(char* to, std::size_t offset, std::size_t size) const
    {
        while (size > 0) {
            const ssize_t count = pread(fd_, to, size, static_cast<off_t>(offset));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0)
                throw InputError({.file = name_},
                                 std::string("cannot be read: ") +
                                     (count < 0 ? std::strerror(errno) : "it became shorter"));
            to += count;
            offset += static_cast<std::size_t>(count);
            size -= static_cast<std::size_t>(count);
        }
    }

private:
    const fs::path& name_;
    int fd_;
    std::size_t size_ = 0;
};

/// The library would copy the image of a file three times on the way to opening it; here every "new" buffer is the
/// one that we own. Files are opened for reading only, so nothing writes to it or asks for more.
H5FD_file_image_callbacks_t shared_image(char* bytes)
{
    using Op = H5FD_file_image_op_t;
    return {.image_malloc = [](size_t, Op, void* image) { return image; },
            .image_memcpy = [](void* to, const void*, size_t, Op, void*) { return to; },
            .image_realloc = [](void*, size_t, Op, void*) -> void* { return nullptr; },
            .image_free = [](void*, Op, void*) -> herr_t { return 0; },
            .udata_copy = [](void* image) { return image; },
            .udata_free = [](void*) -> herr_t { return 0; },
            .udata = bytes};
}

/// Opens the bytes, which must outlive the handle, as a file that is not on a disk.
Handle open_image(const Bytes& bytes)
{
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5FD_file_image_callbacks_t callbacks = shared_image(bytes.data.get());
    if (H5Pset_fapl_core(access, 1, 0) < 0 || H5Pset_file_image_callbacks(access, &callbacks) < 0 ||
        H5Pset_file_image(access, bytes.data.get(), bytes.size) < 0)
        return {};
    return {H5Fopen(hdf5::memory_name(bytes.data.get()).c_str(), H5F_ACC_RDONLY, access), H5Fclose};
}

/// Finds everything in a file, and checks all of it that decides how much memory is taken or which code of the library
/// runs: only hard links, only our types, no filters but ours, no data in other files.
class Indexer {
public:
    Indexer(hid_t file, std::uint64_t file_size, const fs::path& name)
        : file_(file), file_size_(file_size), name_(name)
    {
    }

    std::vector<ArchiveEntry> index()
    {
        visit("", 0);
        std::sort(entries_.begin(), entries_.end(),
                  [](const auto& a, const auto& b) { return a.path < b.path; });
        return std::move(entries_);
    }

private:
    [[noreturn]] void refuse(const std::string& path, const char* why) const
    {
        throw InputError({.file = name_}, (path.empty() ? "/" : path) + " " + why + "; make the file again");
    }
    void require(bool holds, const std::string& path, const char* why) const
    {
        if (!holds) refuse(path, why);
    }
    void visit(const std::string& group, int depth);
    std::string link_name(hid_t group, const std::string& path, hsize_t number) const;
    ArchiveEntry describe(const std::string& path) const;
    void find_type(hid_t dataset, ArchiveEntry& entry) const;
    void find_shape(hid_t dataset, ArchiveEntry& entry) const;
    void find_unit(hid_t dataset, ArchiveEntry& entry) const;
    void check_layout(hid_t dataset, ArchiveEntry& entry) const;
    void find_bytes(hid_t dataset, hid_t properties, ArchiveEntry& entry) const;
    void check_chunks(hid_t properties, const ArchiveEntry& entry) const;

    hid_t file_;
    std::uint64_t file_size_;
    const fs::path& name_;
    std::vector<ArchiveEntry> entries_;
    std::size_t links_ = 0;
};

std::string Indexer::link_name(hid_t group, const std::string& path, hsize_t number) const
{
    char name[longest_name + 1] = {};
    const ssize_t size =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, number, name, sizeof name, H5P_DEFAULT);
    require(size > 0 && static_cast<std::size_t>(size) <= longest_name, path, "has a damaged list of names");
    H5L_info_t link;
    require(H5Lget_info(group, name, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD, path,
            "has links, which Lithe does not write");
    return name;
}

void Indexer::visit(const std::string& path, int depth)
{
    require(depth < deepest_group, path, "is nested too deeply");
    const Handle group(H5Gopen2(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t info;
    require(group.valid() && H5Gget_info(group, &info) >= 0, path, "is a damaged group");
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        require(++links_ <= most_entries, path, "holds more than an archive may");
        const std::string name = link_name(group, path, i);
        const std::string child = path.empty() ? name : path + "/" + name;
        H5O_info_t object;
        require(H5Oget_info_by_name(group, name.c_str(), &object, H5P_DEFAULT) >= 0, child, "is damaged");
        if (object.type == H5O_TYPE_GROUP)
            visit(child, depth + 1);
        else if (object.type == H5O_TYPE_DATASET)
            entries_.push_back(describe(child));
        else
            refuse(child, "is neither a group nor data");
    }
}

ArchiveEntry Indexer::describe(const std::string& path) const
{
    ArchiveEntry entry;
    entry.path = path;
    const Handle dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
    require(dataset.valid(), path, "is damaged");
    find_type(dataset, entry);
    find_shape(dataset, entry);
    check_layout(dataset, entry);
    find_unit(dataset, entry);
    return entry;
}

/// The width of texts of our kind, 0 for any other type.
std::size_t text_width(hid_t type)
{
    const bool ours = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                      H5Tget_strpad(type) == H5T_STR_NULLPAD;
    return ours ? H5Tget_size(type) : 0;
}

void Indexer::find_type(hid_t dataset, ArchiveEntry& entry) const
{
    const Handle type(H5Dget_type(dataset), H5Tclose);
    for (const ElementType candidate :
         {ElementType::Double, ElementType::Float, ElementType::Int32, ElementType::Int64})
        if (H5Tequal(type, hdf5::number_type(candidate)) > 0) {
            entry.type = candidate;
            return;
        }
    entry.type = ElementType::Text;
    entry.text_width = text_width(type);
    require(entry.text_width > 0, entry.path, "is of a type that Lithe does not write");
}

void Indexer::find_shape(hid_t dataset, ArchiveEntry& entry) const
{
    const Handle space(H5Dget_space(dataset), H5Sclose);
    const H5S_class_t kind = H5Sget_simple_extent_type(space);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    require((kind == H5S_SCALAR || kind == H5S_SIMPLE) && dimensions >= 0 && dimensions <= 2, entry.path,
            "is neither a number nor a vector nor a matrix");
    std::array<hsize_t, 2> size = {1, 1};
    H5Sget_simple_extent_dims(space, size.data() + 2 - dimensions, nullptr);
    constexpr hsize_t most = hsize_t{1} << 31;
    require(size[0] <= most && size[1] <= most, entry.path, "has an impossible size");
    entry.shape = {static_cast<Index>(size[1]), static_cast<Index>(size[0])};
}

/// Whether so many items of this size are at most `limit` bytes.
bool fits(const ArchiveEntry& entry, std::uint64_t limit)
{
    const auto rows = static_cast<std::uint64_t>(entry.shape.rows);
    const auto cols = static_cast<std::uint64_t>(entry.shape.cols);
    return rows == 0 || cols == 0 || entry.element_bytes() <= limit / rows / cols;
}

void Indexer::check_layout(hid_t dataset, ArchiveEntry& entry) const
{
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    require(H5Pget_external_count(properties) == 0, entry.path, "lies in another file");
    entry.stored_bytes = H5Dget_storage_size(dataset);
    require(entry.stored_bytes <= file_size_, entry.path, "is larger than its file");
    const H5D_layout_t layout = H5Pget_layout(properties);
    require(layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED, entry.path,
            "is stored in a way that Lithe does not write");
    if (layout == H5D_CHUNKED)
        check_chunks(properties, entry);
    else
        find_bytes(dataset, properties, entry);
}

void Indexer::find_bytes(hid_t dataset, hid_t properties, ArchiveEntry& entry) const
{
    require(fits(entry, entry.stored_bytes) && H5Pget_nfilters(properties) == 0, entry.path,
            "is larger than its bytes in the file");
    if (entry.shape.rows == 0 || entry.shape.cols == 0) return;
    entry.offset = H5Dget_offset(dataset);
    require(entry.offset >= archive_header_size && entry.offset <= file_size_ - entry.stored_bytes,
            entry.path, "does not lie in the file");
}

void Indexer::check_chunks(hid_t properties, const ArchiveEntry& entry) const
{
    std::array<hsize_t, 2> chunk = {1, 1};
    const int dimensions = H5Pget_chunk(properties, 2, chunk.data());
    require(dimensions >= 1 && dimensions <= 2 && chunk[0] <= largest_chunk && chunk[1] <= largest_chunk &&
                chunk[0] * chunk[1] <= largest_chunk / entry.element_bytes(),
            entry.path, "has chunks of an impossible size");
    const int filters = H5Pget_nfilters(properties);
    require(filters == 2, entry.path, "has filters that Lithe does not use");
    for (unsigned i = 0; i < 2; ++i) {
        unsigned flags = 0;
        size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(properties, i, &flags, &values, nullptr, 0, nullptr, nullptr);
        require(filter == (i == 0 ? H5Z_FILTER_SHUFFLE : H5Z_FILTER_DEFLATE), entry.path,
                "has filters that Lithe does not use");
    }
    require(fits(entry, entry.stored_bytes * best_deflate_ratio), entry.path,
            "is larger than its bytes in the file can hold");
}

void Indexer::find_unit(hid_t dataset, ArchiveEntry& entry) const
{
    if (H5Aexists(dataset, "unit") <= 0) return;
    const Handle attribute(H5Aopen(dataset, "unit", H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    const Handle space(H5Aget_space(attribute), H5Sclose);
    const std::size_t width = text_width(type);
    require(width > 0 && width <= longest_unit && H5Sget_simple_extent_type(space) == H5S_SCALAR, entry.path,
            "has a damaged unit");
    char unit[longest_unit + 1] = {};
    require(H5Aread(attribute, type, unit) >= 0, entry.path, "has a damaged unit");
    entry.unit = unit;
}

std::string describe(ElementType type)
{
    return type == ElementType::Text ? "text" : to_string(type) + " numbers";
}

} // namespace

struct ArchiveReader::File {
    fs::path name;
    ArchiveInfo info;
    Bytes bytes;
    Handle handle;
    std::vector<ArchiveEntry> entries; ///< by path

    File(fs::path file, ArchiveInfo header, Bytes content)
        : name(std::move(file)), info(std::move(header)), bytes(std::move(content))
    {
        check_archive_content(bytes.view(), info, name);
        const Session session;
        Handle opened = open_image(bytes);
        if (!opened.valid())
            throw InputError({.file = name},
                             "does not hold what Lithe writes, though its hash is right; make it again");
        entries = Indexer(opened, bytes.size, name).index();
        handle = std::move(opened);
    }
    ~File()
    {
        const Session session;
        handle = Handle();
    }

    static std::unique_ptr<File> load(const fs::path& name);
    void read(const ArchiveEntry& entry, void* values) const;
};

std::unique_ptr<ArchiveReader::File> ArchiveReader::File::load(const fs::path& name)
{
    const InputFile file(name);
    std::string header(std::min(file.size(), archive_header_size), '\0');
    file.read(header.data(), 0, header.size());
    ArchiveInfo info = check_archive_header(header, file.size(), name);
    Bytes bytes = make_bytes(file.size());
    std::memcpy(bytes.data.get(), header.data(), header.size());
    file.read(bytes.data.get() + header.size(), header.size(), bytes.size - header.size());
    return std::make_unique<File>(name, std::move(info), std::move(bytes));
}

ArchiveReader::ArchiveReader(const fs::path& file) : file_(File::load(file)) {}

ArchiveReader::ArchiveReader(std::string_view content, const fs::path& name)
{
    ArchiveInfo info = check_archive_header(content.substr(0, archive_header_size), content.size(), name);
    Bytes bytes = make_bytes(content.size());
    std::memcpy(bytes.data.get(), content.data(), content.size());
    file_ = std::make_unique<File>(name, std::move(info), std::move(bytes));
}

ArchiveReader::~ArchiveReader() = default;
ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;
ArchiveReader& ArchiveReader::operator=(ArchiveReader&&) noexcept = default;

const ArchiveInfo& ArchiveReader::info() const
{
    return file_->info;
}

const std::vector<ArchiveEntry>& ArchiveReader::entries() const
{
    return file_->entries;
}

bool ArchiveReader::has(std::string_view path) const
{
    const std::string group = std::string(path) + "/";
    return std::any_of(entries().begin(), entries().end(),
                       [&](const ArchiveEntry& e) { return e.path == path || e.path.starts_with(group); });
}

std::vector<std::string> ArchiveReader::children(std::string_view group) const
{
    const std::string beginning = group.empty() ? "" : std::string(group) + "/";
    std::vector<std::string> names;
    for (const ArchiveEntry& entry : entries()) {
        if (!entry.path.starts_with(beginning)) continue;
        const std::string rest = entry.path.substr(beginning.size());
        names.push_back(rest.substr(0, rest.find('/')));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

const ArchiveEntry& ArchiveReader::entry(std::string_view path) const
{
    const auto found = std::lower_bound(entries().begin(), entries().end(), path,
                                        [](const ArchiveEntry& e, std::string_view p) { return e.path < p; });
    if (found != entries().end() && found->path == path) return *found;
    std::vector<std::string> paths;
    for (const ArchiveEntry& entry : entries()) paths.push_back(entry.path);
    throw InputError({.file = file_->name}, "has no " + std::string(path) + did_you_mean(path, paths));
}

const ArchiveEntry& ArchiveReader::expect(std::string_view path, ElementType type, const Shape& shape) const
{
    const ArchiveEntry& found = entry(path);
    if (found.type != type)
        throw InputError({.file = file_->name},
                         found.path + " holds " + describe(found.type) + ", but " + describe(type) +
                             (type == ElementType::Text ? " is needed" : " are needed"));
    const auto agree = [](Index is, Index needed) { return needed == any_size || is == needed; };
    if (!agree(found.shape.rows, shape.rows) || !agree(found.shape.cols, shape.cols))
        throw InputError({.file = file_->name}, found.path + " has " + to_string(found.shape) +
                                                    (type == ElementType::Text ? " texts" : " numbers") +
                                                    ", but " + to_string(shape) + " are needed");
    return found;
}

void ArchiveReader::File::read(const ArchiveEntry& entry, void* values) const
{
    if (entry.shape.rows == 0 || entry.shape.cols == 0) return;
    if (entry.offset > 0) { // whole and as in memory, which the index knows: no need of the library
        const auto count = static_cast<std::size_t>(entry.shape.rows * entry.shape.cols);
        std::memcpy(values, bytes.data.get() + entry.offset, entry.element_bytes() * count);
        return;
    }
    const Session session;
    const Handle dataset(H5Dopen2(handle, entry.path.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(dataset), H5Tclose); // the index knows that it is also ours in memory
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        throw InputError({.file = name}, entry.path + " cannot be read; make the file again");
}

void ArchiveReader::read_numbers(const ArchiveEntry& entry, void* values) const
{
    file_->read(entry, values);
}

std::string ArchiveReader::read_text(std::string_view path) const
{
    expect(path, ElementType::Text, {1, 1});
    return read_texts(path, 1).front();
}

std::vector<std::string> ArchiveReader::read_texts(std::string_view path, Index count) const
{
    const ArchiveEntry& found = expect(path, ElementType::Text, {count, 1});
    const std::size_t size = static_cast<std::size_t>(found.shape.rows), width = found.text_width;
    std::string padded(size * width, '\0');
    file_->read(found, padded.data());
    std::vector<std::string> texts(size);
    for (std::size_t i = 0; i < size; ++i)
        texts[i].assign(padded.data() + i * width, strnlen(padded.data() + i * width, width));
    return texts;
}

} // namespace lithe
