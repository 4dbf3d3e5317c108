// TetGen's .node and .ele: a header row, then a row per node or tet that begins with its number, counted from 0 or 1.
#include <fmt/format.h>

#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

/// count dimension attributes markers
void read_nodes(TextScanner& scan, MeshBuilder& build)
{
    const std::int64_t claimed = scan.integer(), dimension = scan.integer();
    const std::int64_t attributes = scan.integer(), markers = scan.integer();
    if (dimension != 3) scan.fail(fmt::format("has {} dimensions; only 3 are supported", dimension));
    if (attributes < 0 || attributes > 1000 || markers < 0 || markers > 1)
        scan.fail("the header should read: nodes, 3, number of attributes, 0 or 1 for markers");
    const int count = scan.claim(claimed, static_cast<std::size_t>(2 * (4 + attributes + markers)), "nodes");

    std::vector<std::vector<double>> values(static_cast<std::size_t>(attributes));
    for (int v = 0; v < count; ++v) {
        const std::int64_t number = scan.integer();
        if (v == 0) build.count_from_0_or_1(number, scan);
        build.read_vertex(scan);
        for (auto& attribute : values) attribute.push_back(scan.real());
        scan.skip(markers, Scalar::Int32);
    }
    for (std::size_t k = 0; k < values.size(); ++k)
        build.add_field(fmt::format("attribute_{}", k + 1), 1, std::move(values[k]));
}

/// count nodes-per-tet attributes
void read_elements(TextScanner& scan, MeshBuilder& build)
{
    const std::int64_t claimed = scan.integer(), corner_count = scan.integer(), attributes = scan.integer();
    if (corner_count == 3)
        scan.fail("holds triangles (3 nodes per element), as Triangle writes them; tetrahedra of 4 nodes are "
                  "needed");
    if (corner_count != 4 && corner_count != 10)
        scan.fail(fmt::format("has {} nodes per element; 4 (or 10 for quadratic tets) are supported",
                              corner_count));
    if (attributes < 0 || attributes > 1000)
        scan.fail(fmt::format("claims {} attributes per tet", attributes));
    const int count =
        scan.claim(claimed, static_cast<std::size_t>(2 * (1 + corner_count + attributes)), "tetrahedra");
    for (int t = 0; t < count; ++t) {
        (void)scan.integer();
        std::array<int, 4> corners;
        for (int& corner : corners) corner = build.read_corner(scan);
        for (std::int64_t k = 4; k < corner_count; ++k) (void)build.read_corner(scan);
        const std::int64_t label = attributes > 0 ? scan.integer(Scalar::Float64) : 0;
        scan.skip(attributes - 1, Scalar::Float64);
        build.add_tet(corners, MeshBuilder::region(label, scan));
    }
    if (corner_count == 10) build.linearised();
}

} // namespace

MeshFile parse_tetgen(TextScanner& nodes, TextScanner& elements)
{
    MeshBuilder build;
    read_nodes(nodes, build);
    read_elements(elements, build);
    return build.finish(elements);
}

MeshFile parse_tetgen(std::string_view bytes, const Path& name)
{
    TextScanner scan(bytes, name);
    return parse_tetgen(scan, scan);
}

std::string write_tetgen_nodes(const MeshFile& mesh)
{
    Index attributes = 0;
    for (const VertexField& field : mesh.fields) attributes += field.values.rows();
    std::string out = fmt::format("{} 3 {} 0\n", mesh.vertices.cols(), attributes);
    NumberSink sink(out, Encoding::Text);
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.integer(v + 1);
        sink.reals(mesh.vertices.col(v));
        for (const VertexField& field : mesh.fields) sink.reals(field.values.col(v));
        sink.end_row();
    }
    return out;
}

std::string write_tetgen_elements(const MeshFile& mesh)
{
    std::string out = fmt::format("{} 4 {}\n", mesh.tets.cols(), mesh.regions.empty() ? 0 : 1);
    NumberSink sink(out, Encoding::Text);
    for (Index t = 0; t < mesh.tets.cols(); ++t) {
        sink.integer(t + 1);
        sink.integers(mesh.tets.col(t), 1);
        if (!mesh.regions.empty()) sink.integer(mesh.regions[static_cast<std::size_t>(t)]);
        sink.end_row();
    }
    return out;
}

std::string write_tetgen(const MeshFile& mesh, const WriteOptions&)
{
    return write_tetgen_nodes(mesh) + write_tetgen_elements(mesh);
}

} // namespace lithe::io
