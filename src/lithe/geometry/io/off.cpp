// OFF of Geomview: [ST][C][N]OFF, the counts, vertices, polygons. Colours of vertices become the field "color".
#include <fmt/format.h>

#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

/// What a vertex carries besides its position, as the first word of the file says.
struct OffLayout {
    bool normal = false, color = false;
};

OffLayout parse_header(TextScanner& scan)
{
    const std::string_view word = scan.word();
    std::string_view flags = word;
    OffLayout layout;
    if (!flags.ends_with("OFF")) scan.fail(fmt::format("found {} where OFF should stand", in_quotes(word)));
    flags.remove_suffix(3);
    if (flags.starts_with("ST")) flags.remove_prefix(2);
    if (flags.starts_with('C')) {
        layout.color = true;
        flags.remove_prefix(1);
    }
    if (flags.starts_with('N')) {
        layout.normal = true;
        flags.remove_prefix(1);
    }
    if (!flags.empty())
        scan.fail(fmt::format("{} is not supported; save it as OFF or COFF", in_quotes(word)));
    return layout;
}

/// The colours of all vertices, as the file gives them: bytes when all of them are whole numbers.
struct OffColors {
    std::vector<double> values;
    bool bytes = true;

    void read(TextScanner& scan)
    {
        for (int k = 0; k < 3; ++k) {
            const std::string_view word = scan.word_in_line();
            if (word.empty()) scan.fail("a vertex of a COFF file needs a colour: red, green, blue");
            values.push_back(scan.to_real(word));
            bytes = bytes && word.find_first_not_of("0123456789") == word.npos;
        }
    }
    std::vector<double> normalised() &&
    {
        if (bytes)
            for (double& value : values) value /= 255.0;
        return std::move(values);
    }
};

void skip_rest(TextScanner& scan)
{
    while (!scan.word_in_line().empty()) {
    }
}

} // namespace

MeshFile parse_off(std::string_view bytes, const Path& name)
{
    TextScanner scan(bytes, name);
    const OffLayout layout = parse_header(scan);
    const std::string_view first = scan.word();
    if (first == "BINARY") scan.fail("is a binary OFF file, which is not supported; save it as text");
    const int vertex_count =
        scan.claim(first.empty() ? scan.integer() : scan.to_integer(first), 6, "vertices");
    const int face_count = scan.claim(scan.integer(), 4, "faces");
    (void)scan.integer(); // edges: nobody fills this in

    MeshBuilder build;
    OffColors colors;
    for (int v = 0; v < vertex_count; ++v) {
        build.read_vertex(scan);
        if (layout.normal) scan.skip(3, Scalar::Float64);
        if (!layout.color) continue;
        colors.read(scan);
        skip_rest(scan);
    }
    std::vector<int> corners;
    for (int f = 0; f < face_count; ++f) {
        corners.resize(static_cast<std::size_t>(scan.read_claim(1, Scalar::Int32, "corners of a face")));
        for (int& corner : corners) corner = build.read_corner(scan);
        build.add_face(corners, scan);
        skip_rest(scan); // the colour of the face
    }
    if (layout.color) build.add_field("color", 3, std::move(colors).normalised());
    return build.finish(scan);
}

std::string write_off(const MeshFile& mesh, const WriteOptions&)
{
    const VertexField* color = find_color(mesh.fields);
    std::string out =
        fmt::format("{}OFF\n{} {} 0\n", color ? "C" : "", mesh.vertices.cols(), mesh.triangles.cols());
    NumberSink sink(out, Encoding::Text);
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.reals(mesh.vertices.col(v));
        if (color) {
            for (int k = 0; k < 3; ++k) sink.integer(color_byte(color->values(k, v)));
            sink.integer(255);
        }
        sink.end_row();
    }
    for (Index t = 0; t < mesh.triangles.cols(); ++t) {
        sink.integer(3);
        sink.integers(mesh.triangles.col(t), 0);
        sink.end_row();
    }
    return out;
}

} // namespace lithe::io
