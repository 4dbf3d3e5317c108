// Medit's .mesh in text: sections of a keyword, a count and that many rows, in any order, counted from 1.
#include <fmt/format.h>

#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

void read_vertices(TextScanner& scan, MeshBuilder& build)
{
    const int count = scan.read_claim(4, Scalar::Float64, "vertices");
    for (int v = 0; v < count; ++v) {
        build.read_vertex(scan);
        (void)scan.word(); // the reference of a vertex
    }
}

void read_faces(TextScanner& scan, MeshBuilder& build, int corner_count)
{
    const int count = scan.read_claim(corner_count + 1, Scalar::Int32, "faces");
    std::vector<int> corners(static_cast<std::size_t>(corner_count));
    for (int f = 0; f < count; ++f) {
        for (int& corner : corners) corner = build.read_corner(scan);
        (void)scan.integer();
        build.add_face(corners, scan);
    }
}

void read_tets(TextScanner& scan, MeshBuilder& build)
{
    const int count = scan.read_claim(5, Scalar::Int32, "tetrahedra");
    for (int t = 0; t < count; ++t) {
        std::array<int, 4> corners;
        for (int& corner : corners) corner = build.read_corner(scan);
        build.add_tet(corners, MeshBuilder::region(scan.integer(), scan));
    }
}

bool is_number(std::string_view word)
{
    return word.find_first_not_of("+-.0123456789eE") == word.npos &&
           word.find_first_of("0123456789") != word.npos;
}

/// Any other section: numbers up to the next keyword, which is returned.
std::string_view skip_section(TextScanner& scan, MeshBuilder& build, std::string_view keyword)
{
    if (!(keyword[0] >= 'A' && keyword[0] <= 'Z') && !(keyword[0] >= 'a' && keyword[0] <= 'z'))
        scan.fail(fmt::format("found {} where a section such as Vertices should begin", in_quotes(keyword)));
    std::string_view next = scan.word();
    if (is_number(next)) build.skipped(fmt::format("section {}", in_quotes(keyword)));
    while (is_number(next)) next = scan.word();
    return next;
}

} // namespace

MeshFile parse_medit(std::string_view bytes, const Path& name)
{
    TextScanner scan(bytes, name);
    MeshBuilder build(1);
    scan.expect("MeshVersionFormatted");
    (void)scan.integer();
    std::string_view keyword = scan.word();
    while (!keyword.empty() && keyword != "End") {
        if (keyword == "Dimension") {
            if (const auto d = scan.integer(); d != 3)
                scan.fail(fmt::format("has {} dimensions; only 3 are supported", d));
        } else if (keyword == "Vertices") {
            read_vertices(scan, build);
        } else if (keyword == "Triangles") {
            read_faces(scan, build, 3);
        } else if (keyword == "Quadrilaterals") {
            read_faces(scan, build, 4);
        } else if (keyword == "Tetrahedra") {
            read_tets(scan, build);
        } else {
            keyword = skip_section(scan, build, keyword);
            continue;
        }
        keyword = scan.word();
    }
    return build.finish(scan);
}

std::string write_medit(const MeshFile& mesh, const WriteOptions&)
{
    std::string out = "MeshVersionFormatted 2\nDimension 3\n";
    NumberSink sink(out, Encoding::Text);
    const auto section = [&](std::string_view keyword, Index count, const auto& write_row) {
        if (count > 0) sink.text(fmt::format("{}\n{}\n", keyword, count));
        for (Index i = 0; i < count; ++i) {
            write_row(i);
            sink.end_row();
        }
    };
    section("Vertices", mesh.vertices.cols(), [&](Index v) {
        sink.reals(mesh.vertices.col(v));
        sink.integer(0);
    });
    section("Triangles", mesh.triangles.cols(), [&](Index t) {
        sink.integers(mesh.triangles.col(t), 1);
        sink.integer(0);
    });
    section("Tetrahedra", mesh.tets.cols(), [&](Index t) {
        sink.integers(mesh.tets.col(t), 1);
        sink.integer(mesh.regions.empty() ? 0 : mesh.regions[static_cast<std::size_t>(t)]);
    });
    return out + "End\n";
}

} // namespace lithe::io
