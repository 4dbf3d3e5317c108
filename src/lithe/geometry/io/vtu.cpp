// VTK's XML for unstructured grids. Each DataArray holds its numbers as text, as base64, or (appended) as base64 or raw
// bytes at an offset of one common block; binary data begins with its length, or with the sizes of its zlib blocks.
#include <memory>

#include <fmt/format.h>

#include "lithe/geometry/io/byte_cursor.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/number_sink.hpp"
#include "lithe/geometry/io/vtk_cells.hpp"
#include "lithe/geometry/io/xml.hpp"

namespace lithe::io {
namespace {

Scalar scalar_of(std::string_view name, const Place& place)
{
    constexpr std::string_view names[] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                          "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (name == names[i]) return static_cast<Scalar>(i);
    throw InputError(place, fmt::format("{} is no type of a DataArray that is supported", in_quotes(name)));
}

/// The numbers of a DataArray, decoded.
struct Array {
    std::string bytes;
    std::unique_ptr<NumberSource> from;
    Scalar type;
};

class VtuReader {
public:
    VtuReader(std::string_view bytes, const Path& name)
        : name_(name), root_(parse_xml(bytes, name, "AppendedData"))
    {
        if (root_.name != "VTKFile") fail(root_, "is no VTK file: the first element should be VTKFile");
        if (root_.attribute("type") != "UnstructuredGrid")
            fail(root_, fmt::format("holds {}; only UnstructuredGrid is supported here",
                                    in_quotes(root_.attribute("type"))));
        if (root_.attribute("byte_order") == "BigEndian") order_ = std::endian::big;
        header_type_ = scalar_of(root_.attribute("header_type", "UInt32"), place(root_));
        if (header_type_ != Scalar::UInt32 && header_type_ != Scalar::UInt64)
            fail(root_, "header_type must be UInt32 or UInt64");
        const std::string_view compressor = root_.attribute("compressor");
        compressed_ = !compressor.empty();
        if (compressed_ && compressor != "vtkZLibDataCompressor")
            fail(root_, fmt::format("is compressed with {}; only vtkZLibDataCompressor is supported",
                                    in_quotes(compressor)));
        if (const XmlElement* appended = root_.child("AppendedData")) {
            appended_base64_ = appended->attribute("encoding") == "base64";
            appended_ =
                appended->text.substr(std::min(appended->text.find('_'), appended->text.size() - 1) + 1);
        }
    }

    MeshFile read()
    {
        const XmlElement& grid = needed(root_, "UnstructuredGrid");
        for (const XmlElement& element : grid.children)
            if (element.name == "Piece") piece(element);
        return build_.finish(TextScanner({}, name_));
    }

private:
    Place place(const XmlElement& at) const { return {.file = name_, .line = at.line}; }
    [[noreturn]] void fail(const XmlElement& at, const std::string& what) const
    {
        throw InputError(place(at), what);
    }

    const XmlElement& needed(const XmlElement& in, std::string_view child) const
    {
        const XmlElement* found = in.child(child);
        if (!found) fail(in, fmt::format("{} has no {}", in.name, child));
        return *found;
    }
    const XmlElement& needed_array(const XmlElement& in, std::string_view array) const
    {
        for (const XmlElement& element : in.children)
            if (element.name == "DataArray" && element.attribute("Name") == array) return element;
        fail(in, fmt::format("{} has no DataArray called {}", in.name, array));
    }
    std::int64_t integer(const XmlElement& at, std::string_view key, std::string_view otherwise = "") const
    {
        const std::string_view value = at.attribute(key, otherwise);
        if (value.empty()) fail(at, fmt::format("{} has no {}", at.name, key));
        return TextScanner(value, name_, {.line = at.line}).integer();
    }

    /// `count` bytes off the front of `data`.
    static std::string take(std::string_view& data, std::size_t count, bool is_base64, const Place& place)
    {
        if (is_base64) return take_base64(data, count, place);
        if (count > data.size())
            throw InputError(place, "the appended data ends early; the file is cut short");
        std::string bytes(data.substr(0, count));
        data.remove_prefix(count);
        return bytes;
    }

    /// `count` numbers of the header that begins `data`; more of them follow in the same encoding, so `data` stays.
    std::vector<std::size_t> header(std::string_view data, std::size_t count, bool is_base64,
                                    const Place& place) const
    {
        const std::string bytes = take(data, count * size_of(header_type_), is_base64, place);
        ByteCursor cursor(bytes, place, order_);
        std::vector<std::size_t> numbers(count);
        for (std::size_t& number : numbers) number = static_cast<std::size_t>(cursor.integer(header_type_));
        return numbers;
    }

    std::string decode(std::string_view data, bool is_base64, const Place& place) const
    {
        const std::size_t unit = size_of(header_type_);
        if (!compressed_) {
            const std::size_t length = header(data, 1, is_base64, place)[0];
            if (length > data.size())
                throw InputError(place,
                                 fmt::format("claims {} bytes of data, but the file is smaller", length));
            return take(data, unit + length, is_base64, place).substr(unit);
        }
        const std::size_t blocks = header(data, 1, is_base64, place)[0];
        if (blocks > data.size())
            throw InputError(place, fmt::format("claims {} blocks of data, but the file is smaller", blocks));
        if (blocks == 0) return {};
        const std::vector<std::size_t> sizes = header(data, 3 + blocks, is_base64, place);
        (void)take(data, unit * sizes.size(), is_base64, place);
        return unpack_blocks(data, std::span(sizes).subspan(3), is_base64, place);
    }

    static std::string unpack_blocks(std::string_view data, std::span<const std::size_t> sizes,
                                     bool is_base64, const Place& place)
    {
        std::size_t total = 0;
        for (const std::size_t size : sizes) {
            if (size > data.size() || (total += size) > data.size())
                throw InputError(place,
                                 "the blocks claim more bytes than the file has; it is cut short or damaged");
        }
        const std::string packed = take(data, total, is_base64, place);
        std::string bytes;
        std::size_t at = 0;
        for (const std::size_t size : sizes) {
            bytes += unpack(std::string_view(packed).substr(at, size), place);
            if (bytes.size() > largest_unpacked(total))
                throw InputError(place, "the data unpacks to more than any mesh would");
            at += size;
        }
        return bytes;
    }

    Array open(const XmlElement& element) const
    {
        const Place here = place(element);
        Array array{{}, {}, scalar_of(element.attribute("type"), here)};
        const std::string_view format = element.attribute("format", "ascii");
        if (format == "ascii") {
            array.from = std::make_unique<TextScanner>(element.text, name_,
                                                       TextStyle{.comment = '\0', .line = element.line});
            return array;
        }
        if (format == "binary") {
            array.bytes = decode(element.text, true, here);
        } else if (format == "appended") {
            const std::int64_t offset = integer(element, "offset");
            if (offset < 0 || offset > std::ssize(appended_))
                fail(element, fmt::format("the offset {} lies outside the appended data", offset));
            array.bytes = decode(appended_.substr(static_cast<std::size_t>(offset)), appended_base64_, here);
        } else {
            fail(element, fmt::format("the format {} of a DataArray is not known", in_quotes(format)));
        }
        array.from = std::make_unique<ByteCursor>(array.bytes, here, order_);
        return array;
    }

    void piece(const XmlElement& element)
    {
        const std::int64_t point_count = integer(element, "NumberOfPoints"),
                           cell_count = integer(element, "NumberOfCells");
        if (point_count == 0 && cell_count == 0) return;
        build_.count_from(-std::int64_t{build_.vertex_count()}); // pieces number their own points from 0
        points(needed(needed(element, "Points"), "DataArray"), point_count);
        cells(element, cell_count);
        if (const XmlElement* data = element.child("PointData")) point_data(*data, point_count);
    }

    void points(const XmlElement& element, std::int64_t claimed)
    {
        if (integer(element, "NumberOfComponents", "3") != 3) fail(element, "points need 3 components");
        const Array array = open(element);
        const int count = array.from->claim(claimed, 3, array.type, "points");
        for (int v = 0; v < count; ++v) build_.read_vertex(*array.from, array.type);
    }

    std::vector<std::int64_t> integers(const XmlElement& element, std::int64_t claimed,
                                       std::string_view items) const
    {
        const Array array = open(element);
        std::vector<std::int64_t> values(
            static_cast<std::size_t>(array.from->claim(claimed, 1, array.type, items)));
        for (std::int64_t& value : values) value = array.from->integer(array.type);
        return values;
    }

    void cells(const XmlElement& piece, std::int64_t count)
    {
        const XmlElement& element = needed(piece, "Cells");
        VtkCells cells;
        cells.ends = integers(needed_array(element, "offsets"), count, "offsets of cells");
        cells.types = integers(needed_array(element, "types"), count, "types of cells");
        const XmlElement& connectivity = needed_array(element, "connectivity");
        const Array corners = open(connectivity);
        const int corner_count = corners.from->claim(cells.ends.empty() ? 0 : cells.ends.back(), 1,
                                                     corners.type, "corners of cells");
        for (int k = 0; k < corner_count; ++k)
            cells.corners.push_back(build_.read_corner(*corners.from, corners.type));
        if (const XmlElement* data = piece.child("CellData"))
            for (const XmlElement& array : data->children)
                if (array.name == "DataArray" && names_regions(array.attribute("Name")) &&
                    integer(array, "NumberOfComponents", "1") == 1)
                    cells.regions = integers(array, count, "regions of cells");
        cells.build(build_, *corners.from);
    }

    void point_data(const XmlElement& data, std::int64_t point_count)
    {
        for (const XmlElement& element : data.children) {
            if (element.name != "DataArray" || element.attribute("type") == "String") continue;
            const std::int64_t components = integer(element, "NumberOfComponents", "1");
            if (components < 1 || components > 1000)
                fail(element, fmt::format("claims {} components", components));
            const Array array = open(element);
            array.from->claim(point_count, static_cast<int>(components), array.type, "tuples of data");
            build_.add_field(element.attribute("Name", "field"), components,
                             read_tuples(*array.from, point_count, components, array.type));
        }
    }

    Path name_;
    XmlElement root_;
    std::endian order_ = std::endian::little;
    Scalar header_type_ = Scalar::UInt32;
    bool compressed_ = false, appended_base64_ = false;
    std::string_view appended_;
    MeshBuilder build_;
};

/// Writes one DataArray after the other.
class VtuWriter {
public:
    VtuWriter(std::string& out, Encoding encoding) : out_(out), encoding_(encoding) {}

    template <class WriteRows>
    void array(std::string_view type, std::string_view name, Index components, const WriteRows& write_rows)
    {
        const bool text = encoding_ == Encoding::Text;
        out_ += fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"{}\">\n",
                            type, name, components, text ? "ascii" : "binary");
        std::string numbers;
        NumberSink sink(numbers, encoding_);
        write_rows(sink);
        if (!text) {
            std::string length;
            NumberSink(length, Encoding::Binary).integer(std::ssize(numbers), Scalar::UInt64);
            numbers = base64(length + numbers) + "\n";
        }
        out_ += numbers + "</DataArray>\n";
    }

    void reals(std::string_view name, const auto& columns)
    {
        array("Float64", name, columns.rows(), [&](NumberSink& sink) {
            for (Index v = 0; v < columns.cols(); ++v) {
                sink.reals(columns.col(v));
                sink.end_row();
            }
        });
    }

private:
    std::string& out_;
    Encoding encoding_;
};

void write_cells(const MeshFile& mesh, VtuWriter& writer)
{
    const Index triangles = mesh.triangles.cols(), tets = mesh.tets.cols();
    writer.array("Int64", "connectivity", 1, [&](NumberSink& sink) {
        const auto rows = [&](const auto& corners) {
            for (Index c = 0; c < corners.cols(); ++c) {
                sink.integers(corners.col(c), 0, Scalar::Int64);
                sink.end_row();
            }
        };
        rows(mesh.triangles);
        rows(mesh.tets);
    });
    const auto per_cell = [&](std::string_view type, std::string_view name, Scalar scalar,
                              const auto& value) {
        writer.array(type, name, 1, [&](NumberSink& sink) {
            for (Index c = 0; c < triangles + tets; ++c) {
                sink.integer(value(c), scalar);
                sink.end_row();
            }
        });
    };
    per_cell("Int64", "offsets", Scalar::Int64,
             [&](Index c) { return c < triangles ? 3 * (c + 1) : 3 * triangles + 4 * (c + 1 - triangles); });
    per_cell("UInt8", "types", Scalar::UInt8,
             [&](Index c) { return c < triangles ? vtk_triangle : vtk_tet; });
}

void write_regions(const MeshFile& mesh, VtuWriter& writer)
{
    writer.array("Int32", "region", 1, [&](NumberSink& sink) {
        for (Index c = 0; c < mesh.triangles.cols(); ++c) sink.integer(0);
        for (const int region : mesh.regions) sink.integer(region);
        sink.end_row();
    });
}

} // namespace

MeshFile parse_vtu(std::string_view bytes, const Path& name)
{
    return VtuReader(bytes, name).read();
}

std::string write_vtu(const MeshFile& mesh, const WriteOptions& options)
{
    std::string out =
        fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                    "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                    "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n",
                    mesh.vertices.cols(), mesh.triangles.cols() + mesh.tets.cols());
    VtuWriter writer(out, options.encoding);
    writer.reals("Points", mesh.vertices);
    out += "</Points>\n<Cells>\n";
    write_cells(mesh, writer);
    out += "</Cells>\n<PointData>\n";
    for (const VertexField& field : mesh.fields) writer.reals(plain_name(field.name), field.values);
    out += "</PointData>\n<CellData>\n";
    if (!mesh.regions.empty()) write_regions(mesh, writer);
    return out + "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
}

} // namespace lithe::io
