// PLY: a text header that describes elements (vertex, face, ...) by their properties, then their rows as text or binary.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "lithe/geometry/io/byte_cursor.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

struct Property {
    std::string name;
    Scalar type;
    std::optional<Scalar> list; ///< the type of the length, when it is a list
};

struct Element {
    std::string name;
    std::int64_t count;
    std::vector<Property> properties;
};

struct Header {
    std::string format;
    std::vector<Element> elements;
};

Scalar scalar_of(std::string_view name, const NumberSource& at)
{
    constexpr std::pair<std::string_view, Scalar> types[] = {
        {"char", Scalar::Int8},      {"int8", Scalar::Int8},       {"uchar", Scalar::UInt8},
        {"uint8", Scalar::UInt8},    {"short", Scalar::Int16},     {"int16", Scalar::Int16},
        {"ushort", Scalar::UInt16},  {"uint16", Scalar::UInt16},   {"int", Scalar::Int32},
        {"int32", Scalar::Int32},    {"uint", Scalar::UInt32},     {"uint32", Scalar::UInt32},
        {"float", Scalar::Float32},  {"float32", Scalar::Float32}, {"double", Scalar::Float64},
        {"float64", Scalar::Float64}};
    for (const auto& [known, type] : types)
        if (name == known) return type;
    at.fail(fmt::format("{} is no type of a PLY property", in_quotes(name)));
}

Property parse_property(TextScanner& scan)
{
    std::string_view type = scan.word();
    std::optional<Scalar> list;
    if (type == "list") {
        list = scalar_of(scan.word(), scan);
        if (is_float(*list)) scan.fail("the length of a list cannot be a floating-point number");
        type = scan.word();
    }
    const Scalar scalar = scalar_of(type, scan);
    return {std::string(scan.word()), scalar, list};
}

Header parse_header(TextScanner& scan)
{
    Header header;
    scan.expect("ply");
    for (std::string_view key = scan.word(); key != "end_header"; key = scan.word()) {
        if (key == "format") {
            header.format = scan.word();
        } else if (key == "element") {
            const std::string_view name = scan.word();
            header.elements.push_back({std::string(name), scan.integer(), {}});
        } else if (key == "property") {
            if (header.elements.empty()) scan.fail("a property stands before the first element");
            header.elements.back().properties.push_back(parse_property(scan));
        } else if (key.empty()) {
            scan.fail("ends within its header; the file is cut short");
        } else if (key != "comment" && key != "obj_info") {
            scan.fail(
                fmt::format("found {} in the header, where element, property or end_header should stand",
                            in_quotes(key)));
        }
        scan.line();
    }
    scan.line();
    return header;
}

std::size_t least_row_size(const Element& element, const NumberSource& from)
{
    std::size_t size = 0;
    for (const Property& property : element.properties)
        size += from.least_size(property.list.value_or(property.type));
    return size;
}

int list_length(const Property& property, NumberSource& from)
{
    return from.claim(from.integer(property.list.value_or(property.type)), 1, property.type,
                      "items of a list");
}

void skip_property(const Property& property, NumberSource& from)
{
    from.skip(property.list ? list_length(property, from) : 1, property.type);
}

/// Where the value of a vertex property goes: 0-2 into the position, else into a component of a field, or nowhere.
struct Slot {
    int axis = -1, field = -1, component = -1;
    double scale = 1.0;
};

struct PlyField {
    std::string name;
    Index components;
    std::vector<double> values;
};

/// x y z are the position, red green blue the field "color"; name_0 name_1 ... one field; any other a field of its own.
std::vector<Slot> plan_slots(const std::vector<Property>& properties, std::vector<PlyField>& fields)
{
    constexpr std::string_view axes[] = {"x", "y", "z"}, colors[] = {"red", "green", "blue"};
    std::vector<Slot> slots(properties.size());
    const auto named = [&](std::size_t i, const std::string& name) {
        return i < properties.size() && !properties[i].list && properties[i].name == name;
    };
    for (std::size_t i = 0; i < properties.size(); ++i) {
        const Property& property = properties[i];
        if (property.list || slots[i].axis >= 0 || slots[i].field >= 0) continue;
        for (int k = 0; k < 3; ++k)
            if (property.name == axes[k]) slots[i].axis = k;
        if (slots[i].axis >= 0) continue;

        std::size_t width = 1;
        std::string name = property.name;
        const bool is_color =
            named(i, "red") && named(i + 1, std::string(colors[1])) && named(i + 2, std::string(colors[2]));
        if (is_color) {
            width = 3;
            name = "color";
        } else if (name.ends_with("_0")) {
            const std::string stem = name.substr(0, name.size() - 1);
            while (named(i + width, stem + std::to_string(width))) ++width;
            if (width > 1) name.resize(name.size() - 2);
        }
        for (std::size_t k = 0; k < width; ++k) {
            slots[i + k] = {.field = static_cast<int>(fields.size()), .component = static_cast<int>(k)};
            if (is_color && properties[i + k].type == Scalar::UInt8) slots[i + k].scale = 255.0;
            if (is_color && properties[i + k].type == Scalar::UInt16) slots[i + k].scale = 65535.0;
        }
        fields.push_back({name, static_cast<Index>(width), {}});
    }
    return slots;
}

void read_vertices(const Element& element, NumberSource& from, MeshBuilder& build)
{
    std::vector<PlyField> fields;
    const std::vector<Slot> slots = plan_slots(element.properties, fields);
    int axes = 0;
    for (const Slot& slot : slots) axes |= slot.axis >= 0 ? 1 << slot.axis : 0;
    if (axes != 7) from.fail("the vertices lack one of the properties x, y and z");
    for (std::int64_t v = 0; v < element.count; ++v) {
        Vec3 x;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const Property& property = element.properties[i];
            if (property.list) {
                skip_property(property, from);
                continue;
            }
            const double value = from.real(property.type);
            if (slots[i].axis >= 0)
                x[slots[i].axis] = value;
            else
                fields[static_cast<std::size_t>(slots[i].field)].values.push_back(value / slots[i].scale);
        }
        build.add_vertex(x, from);
    }
    for (PlyField& field : fields) build.add_field(field.name, field.components, std::move(field.values));
}

void read_faces(const Element& element, NumberSource& from, MeshBuilder& build)
{
    std::vector<int> corners;
    for (std::int64_t f = 0; f < element.count; ++f)
        for (const Property& property : element.properties) {
            if (!property.list || (property.name != "vertex_indices" && property.name != "vertex_index")) {
                skip_property(property, from);
                continue;
            }
            corners.resize(static_cast<std::size_t>(list_length(property, from)));
            for (int& corner : corners) corner = build.read_corner(from, property.type);
            build.add_face(corners, from);
        }
}

void read_element(const Element& element, NumberSource& from, MeshBuilder& build)
{
    if (element.properties.empty()) return;
    const int count = from.claim(element.count, least_row_size(element, from), element.name);
    if (element.name == "vertex") return read_vertices(element, from, build);
    if (element.name == "face") return read_faces(element, from, build);
    build.skipped(fmt::format("elements {}", in_quotes(element.name)), count);
    for (int i = 0; i < count; ++i)
        for (const Property& property : element.properties) skip_property(property, from);
}

std::unique_ptr<NumberSource> body_source(const Header& header, const TextScanner& scan,
                                          std::string_view bytes, const Path& name)
{
    const std::string_view body = bytes.substr(bytes.size() - scan.bytes_left());
    const Place origin{.file = name, .byte = static_cast<std::int64_t>(bytes.size() - body.size())};
    if (header.format == "ascii")
        return std::make_unique<TextScanner>(body, name,
                                             TextStyle{.comment = '\0', .line = scan.place().line});
    if (header.format == "binary_little_endian") return std::make_unique<ByteCursor>(body, origin);
    if (header.format == "binary_big_endian")
        return std::make_unique<ByteCursor>(body, origin, std::endian::big);
    throw InputError(Place{.file = name},
                     fmt::format("the PLY format {} is not known; ascii, binary_little_endian and "
                                 "binary_big_endian are",
                                 in_quotes(header.format)));
}

/// Fields of other formats may be called what means something else here.
std::string property_name(std::string_view field)
{
    const std::string name = plain_name(field);
    for (const std::string_view taken : {"x", "y", "z", "red", "green", "blue"})
        if (name == taken) return name + "_";
    return name;
}

std::string header_text(const MeshFile& mesh, Encoding encoding)
{
    std::string out =
        fmt::format("ply\nformat {} 1.0\ncomment written by Lithe\nelement vertex {}\n",
                    encoding == Encoding::Text ? "ascii" : "binary_little_endian", mesh.vertices.cols());
    out += "property double x\nproperty double y\nproperty double z\n";
    for (const VertexField& field : mesh.fields) {
        if (&field == find_color(mesh.fields)) {
            out += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
            continue;
        }
        const std::string name = property_name(field.name);
        for (Index k = 0; k < field.values.rows(); ++k)
            out += field.values.rows() == 1 ? fmt::format("property double {}\n", name)
                                            : fmt::format("property double {}_{}\n", name, k);
    }
    return out + fmt::format("element face {}\nproperty list uchar int vertex_indices\nend_header\n",
                             mesh.triangles.cols());
}

} // namespace

MeshFile parse_ply(std::string_view bytes, const Path& name)
{
    TextScanner scan(bytes, name, {.comment = '\0'});
    const Header header = parse_header(scan);
    const auto from = body_source(header, scan, bytes, name);
    MeshBuilder build;
    for (const Element& element : header.elements) read_element(element, *from, build);
    return build.finish(*from);
}

std::string write_ply(const MeshFile& mesh, const WriteOptions& options)
{
    std::string out = header_text(mesh, options.encoding);
    const VertexField* color = find_color(mesh.fields);
    NumberSink sink(out, options.encoding);
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.reals(mesh.vertices.col(v));
        for (const VertexField& field : mesh.fields) {
            if (&field != color)
                sink.reals(field.values.col(v));
            else
                for (int k = 0; k < 3; ++k) sink.integer(color_byte(field.values(k, v)), Scalar::UInt8);
        }
        sink.end_row();
    }
    for (Index t = 0; t < mesh.triangles.cols(); ++t) {
        sink.integer(3, Scalar::UInt8);
        sink.integers(mesh.triangles.col(t), 0);
        sink.end_row();
    }
    return out;
}

} // namespace lithe::io
