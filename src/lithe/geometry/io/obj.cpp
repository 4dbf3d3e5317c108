// Wavefront OBJ: vertices and faces of it; texture coordinates, normals, groups and materials do not concern us.
#include <fmt/format.h>

#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

struct ObjReader {
    TextScanner scan;
    MeshBuilder build{1};
    std::vector<double> colors;
    std::vector<int> corners;

    /// v x y z [w], or v x y z r g b
    void vertex()
    {
        Vec3 x;
        for (double& value : x) {
            const auto number = scan.real_in_line();
            if (!number) scan.fail("a vertex needs three numbers");
            value = *number;
        }
        build.add_vertex(x, scan);
        std::vector<double> more;
        while (const auto number = scan.real_in_line()) more.push_back(*number);
        if (more.size() >= 3) colors.insert(colors.end(), more.begin(), more.begin() + 3);
    }

    /// f a b c ..., where each corner is v, v/vt, v//vn or v/vt/vn; -1 is the last vertex so far
    void face()
    {
        corners.clear();
        for (std::string_view word = scan.word_in_line(); !word.empty(); word = scan.word_in_line()) {
            const std::int64_t index = scan.to_integer(word.substr(0, word.find('/')));
            const std::int64_t last = build.vertex_count();
            if (index == 0 || index < -last)
                scan.fail(fmt::format(
                    "vertex {} does not exist; {} are defined so far, counted from 1, or back from -1", index,
                    last));
            corners.push_back(build.corner(index < 0 ? last + 1 + index : index, scan));
        }
        build.add_face(corners, scan);
    }
};

bool is_ignored(std::string_view key)
{
    for (const std::string_view known : {"vn", "vt", "g", "o", "s", "mtllib", "usemtl"})
        if (key == known) return true;
    return false;
}

} // namespace

MeshFile parse_obj(std::string_view bytes, const Path& name)
{
    ObjReader reader{.scan = TextScanner(bytes, name), .colors = {}, .corners = {}};
    TextScanner& scan = reader.scan;
    while (!scan.at_end()) {
        const std::string_view key = scan.word();
        if (key == "v")
            reader.vertex();
        else if (key == "f")
            reader.face();
        else if (!is_ignored(key))
            reader.build.skipped("lines that are neither vertices nor faces");
        while (!scan.word_in_line().empty()) {
        }
    }
    if (!reader.colors.empty()) reader.build.add_field("color", 3, std::move(reader.colors));
    return reader.build.finish(scan);
}

std::string write_obj(const MeshFile& mesh, const WriteOptions&)
{
    std::string out;
    NumberSink sink(out, Encoding::Text);
    const VertexField* color = find_color(mesh.fields);
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.text("v ");
        sink.reals(mesh.vertices.col(v));
        if (color) sink.reals(color->values.col(v));
        sink.end_row();
    }
    for (Index t = 0; t < mesh.triangles.cols(); ++t) {
        sink.text("f ");
        sink.integers(mesh.triangles.col(t), 1);
        sink.end_row();
    }
    return out;
}

} // namespace lithe::io
