// Legacy VTK: three lines of text, a DATASET, and POINT_DATA and CELL_DATA; numbers as text or as big-endian binary.
#include <optional>

#include <fmt/format.h>

#include "lithe/geometry/io/byte_cursor.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/number_sink.hpp"
#include "lithe/geometry/io/vtk_cells.hpp"

namespace lithe::io {
namespace {

Scalar scalar_of(std::string_view name, const NumberSource& at)
{
    constexpr std::pair<std::string_view, Scalar> types[] = {{"char", Scalar::Int8},
                                                             {"unsigned_char", Scalar::UInt8},
                                                             {"short", Scalar::Int16},
                                                             {"unsigned_short", Scalar::UInt16},
                                                             {"int", Scalar::Int32},
                                                             {"unsigned_int", Scalar::UInt32},
                                                             {"long", Scalar::Int64},
                                                             {"unsigned_long", Scalar::UInt64},
                                                             {"float", Scalar::Float32},
                                                             {"double", Scalar::Float64},
                                                             {"vtkidtype", Scalar::Int32},
                                                             {"vtktypeint64", Scalar::Int64},
                                                             {"vtktypeuint64", Scalar::UInt64},
                                                             {"vtktypeint32", Scalar::Int32},
                                                             {"vtktypeuint8", Scalar::UInt8}};
    const std::string small = lower_case(name);
    for (const auto& [known, type] : types)
        if (small == known) return type;
    at.fail(fmt::format("{} is no type of numbers that is supported here", in_quotes(name)));
}

enum class Attributes { None, Points, Cells };

struct VtkReader {
    NumberSource& from;
    bool binary, new_cells; ///< new_cells: version 5 keeps offsets and corners apart
    MeshBuilder build{};
    VtkCells cells{};
    Attributes attributes = Attributes::None;
    std::int64_t tuple_count = 0;

    /// An integer that is text in binary files too, as all counts are.
    std::int64_t text_integer()
    {
        const std::string_view word = from.word();
        return TextScanner(word, from.place().file, {.line = from.place().line}).integer();
    }
    Scalar type_word() { return scalar_of(from.word(), from); }
    /// Binary numbers begin behind the end of the line.
    void begin_numbers()
    {
        if (binary) from.line();
    }

    void points()
    {
        const std::int64_t claimed = text_integer();
        const Scalar type = type_word();
        begin_numbers();
        const int count = from.claim(claimed, 3, type, "points");
        for (int v = 0; v < count; ++v) build.read_vertex(from, type);
    }

    /// CELLS, POLYGONS, ...: of `type` all, or of the types that CELL_TYPES gives later.
    void cell_list(std::optional<int> type)
    {
        const std::size_t before = cells.ends.size();
        const std::int64_t first = text_integer(), second = text_integer();
        if (new_cells)
            offset_cells(first, second);
        else
            counted_cells(first, second);
        if (type) cells.types.resize(cells.types.size() + cells.ends.size() - before, *type);
    }

    /// count, corners; count, corners; ...
    void counted_cells(std::int64_t count, std::int64_t numbers)
    {
        begin_numbers();
        from.claim(numbers, 1, Scalar::Int32, "numbers of cells");
        from.claim(count, 1, Scalar::Int32, "cells");
        for (std::int64_t c = 0; c < count; ++c) {
            const int corner_count = from.read_claim(1, Scalar::Int32, "corners of a cell");
            for (int k = 0; k < corner_count; ++k) cells.corners.push_back(build.read_corner(from));
            cells.ends.push_back(std::ssize(cells.corners));
        }
    }

    /// OFFSETS type ..., CONNECTIVITY type ...; one offset more than cells
    void offset_cells(std::int64_t offset_count, std::int64_t corner_count)
    {
        if (offset_count == 0) return;
        const std::int64_t before = std::ssize(cells.corners);
        from.expect("OFFSETS");
        Scalar type = type_word();
        begin_numbers();
        from.claim(offset_count, 1, type, "offsets of cells");
        for (std::int64_t c = 0; c < offset_count; ++c) {
            const std::int64_t offset = from.integer(type);
            if (offset < 0 || offset > corner_count)
                from.fail(fmt::format("the offset {} of a cell is out of range", offset));
            if (c > 0) cells.ends.push_back(before + offset);
        }
        from.expect("CONNECTIVITY");
        type = type_word();
        begin_numbers();
        from.claim(corner_count, 1, type, "corners of cells");
        for (std::int64_t k = 0; k < corner_count; ++k)
            cells.corners.push_back(build.read_corner(from, type));
    }

    void cell_types()
    {
        const std::int64_t claimed = text_integer();
        begin_numbers();
        const int count = from.claim(claimed, 1, Scalar::Int32, "types of cells");
        for (int c = 0; c < count; ++c) cells.types.push_back(from.integer());
    }

    void begin_attributes(Attributes kind)
    {
        attributes = kind;
        tuple_count = text_integer();
        const std::int64_t expected =
            kind == Attributes::Points ? build.vertex_count() : std::ssize(cells.ends);
        if (tuple_count != expected)
            from.fail(fmt::format("gives data for {} {}, but there are {}", tuple_count,
                                  kind == Attributes::Points ? "points" : "cells", expected));
    }

    /// The numbers of one array; kept when they belong to the vertices, or number the regions.
    void array(const std::string& name, std::int64_t components, std::int64_t count, Scalar type)
    {
        begin_numbers();
        if (components < 1 || components > 1000) from.fail(fmt::format("claims {} components", components));
        from.claim(count, static_cast<int>(components), type, "tuples of data");
        if (attributes == Attributes::Points && count == build.vertex_count()) {
            build.add_field(name, components, read_tuples(from, count, components, type));
        } else if (attributes == Attributes::Cells && components == 1 && count == std::ssize(cells.ends) &&
                   names_regions(name)) {
            cells.regions.clear();
            for (std::int64_t c = 0; c < count; ++c) cells.regions.push_back(from.whole(from.real(type)));
        } else {
            from.skip(count * components, type);
            build.skipped("arrays of data that do not belong to vertices");
        }
    }

    /// SCALARS name type [components], then LOOKUP_TABLE name
    void scalars()
    {
        const std::string name(from.word());
        const Scalar type = type_word();
        const std::string_view rest = from.line();
        const bool given = rest.find_first_of("123456789") != rest.npos;
        const std::int64_t components = given ? TextScanner(rest, from.place().file).integer() : 1;
        from.expect("LOOKUP_TABLE");
        (void)from.word();
        array(name, components, tuple_count, type);
    }

    /// FIELD name count, then arrays: name components tuples type
    void field_data()
    {
        (void)from.word();
        const std::int64_t count = text_integer();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::string name(from.word());
            const std::int64_t components = text_integer(), tuples = text_integer();
            array(name, components, tuples, type_word());
        }
    }

    /// VECTORS and the like: name type
    void named_array(std::int64_t components)
    {
        const std::string name(from.word());
        array(name, components, tuple_count, type_word());
    }
    /// TEXTURE_COORDINATES and COLOR_SCALARS: name components [type]
    void sized_array(std::optional<Scalar> type)
    {
        const std::string name(from.word());
        const std::int64_t components = text_integer();
        array(name, components, tuple_count, type ? *type : type_word());
    }
    Scalar color_type() const { return binary ? Scalar::UInt8 : Scalar::Float32; }

    void lookup_table()
    {
        (void)from.word();
        const std::int64_t count = text_integer();
        begin_numbers();
        from.skip(4 * std::int64_t{from.claim(count, 4, color_type(), "colours of a table")}, color_type());
    }

    /// Up to an empty line.
    void metadata()
    {
        from.line();
        while (from.bytes_left() > 0 && !from.line().empty()) {
        }
    }

    void section(const std::string& keyword)
    {
        if (keyword == "POINTS") return points();
        if (keyword == "CELLS") return cell_list({});
        if (keyword == "CELL_TYPES") return cell_types();
        if (keyword == "VERTICES") return cell_list(2);
        if (keyword == "LINES") return cell_list(4);
        if (keyword == "POLYGONS") return cell_list(7);
        if (keyword == "TRIANGLE_STRIPS") return cell_list(6);
        if (keyword == "POINT_DATA") return begin_attributes(Attributes::Points);
        if (keyword == "CELL_DATA") return begin_attributes(Attributes::Cells);
        if (keyword == "SCALARS") return scalars();
        if (keyword == "VECTORS" || keyword == "NORMALS") return named_array(3);
        if (keyword == "TENSORS") return named_array(9);
        if (keyword == "TEXTURE_COORDINATES") return sized_array({});
        if (keyword == "COLOR_SCALARS") return sized_array(color_type());
        if (keyword == "LOOKUP_TABLE") return lookup_table();
        if (keyword == "FIELD") return field_data();
        if (keyword == "METADATA") return metadata();
        from.fail(fmt::format("found {} where a section such as POINTS or POINT_DATA should begin",
                              in_quotes(keyword)));
    }

    MeshFile read()
    {
        from.expect("DATASET");
        const std::string_view kind = from.word();
        if (kind != "POLYDATA" && kind != "UNSTRUCTURED_GRID")
            from.fail(
                fmt::format("holds {}; only POLYDATA and UNSTRUCTURED_GRID are meshes", in_quotes(kind)));
        while (!from.at_end()) section(std::string(from.word()));
        cells.build(build, from);
        return build.finish(from);
    }
};

} // namespace

MeshFile parse_vtk(std::string_view bytes, const Path& name)
{
    constexpr std::string_view magic = "# vtk DataFile Version ";
    ByteCursor cursor(bytes, {.file = name}, std::endian::big);
    const std::string_view first = cursor.line();
    if (!first.starts_with(magic))
        throw InputError({.file = name, .line = 1}, "does not begin with '# vtk DataFile Version'");
    const bool new_cells = first.substr(magic.size()).starts_with('5');
    cursor.line(); // the title
    const std::string encoding = lower_case(cursor.word());
    if (encoding == "binary") return VtkReader{.from = cursor, .binary = true, .new_cells = new_cells}.read();
    if (encoding != "ascii")
        throw InputError({.file = name, .line = 3},
                         fmt::format("found {} where ASCII or BINARY should stand", in_quotes(encoding)));
    TextScanner scan(bytes.substr(cursor.offset()), name, {.comment = '\0', .line = 3});
    return VtkReader{.from = scan, .binary = false, .new_cells = new_cells}.read();
}

namespace {

void write_cells(const MeshFile& mesh, NumberSink& sink)
{
    const Index triangles = mesh.triangles.cols(), tets = mesh.tets.cols();
    const auto rows = [&](const auto& corners) {
        for (Index c = 0; c < corners.cols(); ++c) {
            sink.integer(corners.rows());
            sink.integers(corners.col(c), 0);
            sink.end_row();
        }
    };
    sink.text(fmt::format("{} {} {}\n", tets > 0 ? "CELLS" : "POLYGONS", triangles + tets,
                          4 * triangles + 5 * tets));
    rows(mesh.triangles);
    rows(mesh.tets);
    sink.text("\n");
    if (tets == 0) return;
    sink.text(fmt::format("CELL_TYPES {}\n", triangles + tets));
    for (Index c = 0; c < triangles + tets; ++c) {
        sink.integer(c < triangles ? vtk_triangle : vtk_tet);
        sink.end_row();
    }
    sink.text("\n");
}

void write_regions(const MeshFile& mesh, NumberSink& sink)
{
    if (mesh.regions.empty()) return;
    sink.text(fmt::format("CELL_DATA {}\nSCALARS region int 1\nLOOKUP_TABLE default\n",
                          mesh.triangles.cols() + mesh.tets.cols()));
    for (Index t = 0; t < mesh.triangles.cols() + mesh.tets.cols(); ++t) {
        sink.integer(t < mesh.triangles.cols()
                         ? 0
                         : mesh.regions[static_cast<std::size_t>(t - mesh.triangles.cols())]);
        sink.end_row();
    }
    sink.text("\n");
}

} // namespace

std::string write_vtk(const MeshFile& mesh, const WriteOptions& options)
{
    std::string out =
        fmt::format("# vtk DataFile Version 3.0\nwritten by Lithe\n{}\nDATASET {}\nPOINTS {} double\n",
                    options.encoding == Encoding::Text ? "ASCII" : "BINARY",
                    mesh.tets.cols() > 0 ? "UNSTRUCTURED_GRID" : "POLYDATA", mesh.vertices.cols());
    NumberSink sink(out, options.encoding, std::endian::big);
    const auto rows = [&](const auto& columns) {
        for (Index v = 0; v < columns.cols(); ++v) {
            sink.reals(columns.col(v));
            sink.end_row();
        }
        sink.text("\n");
    };
    rows(mesh.vertices);
    write_cells(mesh, sink);
    write_regions(mesh, sink);
    if (mesh.fields.empty()) return out;
    sink.text(fmt::format("POINT_DATA {}\nFIELD FieldData {}\n", mesh.vertices.cols(), mesh.fields.size()));
    for (const VertexField& field : mesh.fields) {
        sink.text(fmt::format("{} {} {} double\n", plain_name(field.name), field.values.rows(),
                              mesh.vertices.cols()));
        rows(field.values);
    }
    return out;
}

} // namespace lithe::io
