// Gmsh's .msh, versions 2.2 and 4.1, text and binary: $Sections of nodes with tags (any numbers) and of elements.
#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "lithe/geometry/io/byte_cursor.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

/// Number of nodes of each type of element, by Gmsh's number; 0 where there is none.
constexpr std::array<int, 32> node_counts = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                             8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
/// Corners of the types that we take, by the same number: triangles, quadrilaterals, tets; linear and higher.
int corner_count(std::int64_t type)
{
    switch (type) {
    case 2:
    case 9:
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
        return 3;
    case 3:
    case 10:
    case 16:
        return 4;
    case 4:
    case 11:
    case 29:
    case 30:
    case 31:
        return 4;
    default:
        return 0;
    }
}
bool is_tet(std::int64_t type)
{
    return type == 4 || type == 11 || (type >= 29 && type <= 31);
}

struct GmshReader {
    NumberSource& from;
    bool v4, binary;
    MeshBuilder build{};
    std::unordered_map<std::int64_t, int> vertex_of_tag{};
    std::map<std::int64_t, std::int64_t> physical_of_volume{};
    std::vector<std::int64_t> physical{}, entity{}; ///< of each tet
    std::vector<int> corners{};

    /// In version 4 the counts are size_t, which is 8 bytes in every binary file there is.
    std::int64_t count() { return from.integer(v4 ? Scalar::UInt64 : Scalar::Int32); }
    int claim(std::int64_t claimed, std::size_t binary_size, std::size_t text_size, std::string_view items)
    {
        return from.claim(claimed, binary ? binary_size : text_size, items);
    }

    void add_node(std::int64_t tag, int vertex)
    {
        if (!vertex_of_tag.try_emplace(tag, vertex).second)
            from.fail(fmt::format("node {} is there twice", tag));
    }

    void nodes_v2()
    {
        const int total = claim(word_count(), 28, 8, "nodes");
        for (int v = 0; v < total; ++v) {
            add_node(from.integer(), build.vertex_count());
            build.read_vertex(from);
        }
    }

    void nodes_v4()
    {
        const std::int64_t blocks = count();
        from.skip(3, Scalar::UInt64); // nodes in all, smallest and largest tag
        for (std::int64_t b = 0; b < blocks; ++b) {
            const std::int64_t dimension = from.integer();
            (void)from.integer();
            const bool parametric = from.integer() != 0;
            const int total = claim(count(), 32, 8, "nodes");
            const int first = build.vertex_count();
            for (int v = 0; v < total; ++v) add_node(from.integer(Scalar::UInt64), first + v);
            for (int v = 0; v < total; ++v) {
                build.read_vertex(from);
                if (parametric) from.skip(std::clamp<std::int64_t>(dimension, 0, 3), Scalar::Float64);
            }
        }
    }

    /// The points, curves and surfaces are passed over; of the volumes, their physical groups are kept.
    void entities()
    {
        std::array<std::int64_t, 4> totals;
        for (std::int64_t& total : totals) total = claim(count(), 12, 4, "entities");
        for (int dimension = 0; dimension < 4; ++dimension)
            for (std::int64_t i = 0; i < totals[dimension]; ++i) {
                const std::int64_t tag = from.integer();
                from.skip(dimension == 0 ? 3 : 6, Scalar::Float64);
                const int groups = claim(count(), 4, 2, "physical groups");
                for (int g = 0; g < groups; ++g) {
                    const std::int64_t group = from.integer();
                    if (dimension == 3 && g == 0) physical_of_volume[tag] = group;
                }
                if (dimension > 0) from.skip(claim(count(), 4, 2, "boundaries"), Scalar::Int32);
            }
    }

    int nodes_of(std::int64_t type)
    {
        const int nodes =
            type > 0 && type < std::ssize(node_counts) ? node_counts[static_cast<std::size_t>(type)] : 0;
        if (nodes == 0)
            from.fail(
                fmt::format("elements of type {} are not known; triangles and tetrahedra are needed", type));
        return nodes;
    }

    /// The nodes of one element; its tags are read already.
    void element(std::int64_t type, int nodes, std::int64_t physical_tag, std::int64_t entity_tag,
                 Scalar tag_type)
    {
        const int wanted = corner_count(type);
        corners.clear();
        for (int k = 0; k < nodes; ++k) {
            const std::int64_t tag = from.integer(tag_type);
            if (k >= wanted) continue;
            const auto node = vertex_of_tag.find(tag);
            if (node == vertex_of_tag.end()) from.fail(fmt::format("node {} does not exist", tag));
            corners.push_back(build.corner(node->second, from));
        }
        if (wanted == 0) return build.skipped(fmt::format("elements of Gmsh's type {}", type));
        if (nodes > wanted) build.linearised();
        if (!is_tet(type)) return build.add_face(corners, from);
        build.add_tet(std::span<const int, 4>(corners));
        physical.push_back(physical_tag);
        entity.push_back(entity_tag);
    }

    void tagged_element(std::int64_t type, int nodes, std::int64_t tags)
    {
        std::int64_t physical_tag = 0, entity_tag = 0;
        for (std::int64_t k = 0; k < tags; ++k) {
            const std::int64_t tag = from.integer();
            if (k == 0) physical_tag = tag;
            if (k == 1) entity_tag = tag;
        }
        element(type, nodes, physical_tag, entity_tag, Scalar::Int32);
    }

    void elements_v2()
    {
        const int total = claim(word_count(), 4, 6, "elements");
        for (int e = 0; e < total;) {
            if (!binary) (void)from.integer();
            const std::int64_t type = from.integer();
            const std::int64_t together =
                binary ? from.integer() : 1; // binary files join elements of one type
            const std::int64_t tags = from.integer();
            const int nodes = nodes_of(type);
            if (together < 1 || together > total - e)
                from.fail(fmt::format("claims {} elements in a block", together));
            if (tags < 0) from.fail(fmt::format("claims {} tags per element", tags));
            for (std::int64_t i = 0; i < together; ++i, ++e) {
                if (binary) (void)from.integer();
                tagged_element(type, nodes, tags);
            }
        }
    }

    void elements_v4()
    {
        const std::int64_t blocks = count();
        from.skip(3, Scalar::UInt64);
        for (std::int64_t b = 0; b < blocks; ++b) {
            (void)from.integer();
            const std::int64_t entity_tag = from.integer(), type = from.integer();
            const int nodes = nodes_of(type), total = claim(count(), 16, 4, "elements");
            const auto group = physical_of_volume.find(entity_tag);
            const std::int64_t physical_tag = group != physical_of_volume.end() ? group->second : 0;
            for (int e = 0; e < total; ++e) {
                (void)from.integer(Scalar::UInt64);
                element(type, nodes, physical_tag, entity_tag, Scalar::UInt64);
            }
        }
    }

    /// In version 2 the count of a section is text in binary files too.
    std::int64_t word_count()
    {
        const std::string_view word = from.word();
        const std::int64_t value =
            TextScanner(word, from.place().file, {.line = from.place().line}).integer();
        if (binary) from.line();
        return value;
    }

    /// Moves behind the $End of the section.
    void leave(std::string_view section)
    {
        const std::string end = fmt::format("$End{}", section.substr(1));
        while (true) {
            if (from.at_end()) from.fail(fmt::format("ends before {}; the file is cut short", end));
            if (from.word() == end) return;
        }
    }

    /// Labels are the physical groups where any are given, else the entities where there is more than one.
    void apply_regions()
    {
        const bool groups = std::any_of(physical.begin(), physical.end(), [](auto p) { return p != 0; });
        const bool parts =
            std::adjacent_find(entity.begin(), entity.end(), std::not_equal_to<>()) != entity.end();
        if (!groups && !parts) return;
        for (int t = 0; t < build.tet_count(); ++t)
            build.set_region(
                t, MeshBuilder::region((groups ? physical : entity)[static_cast<std::size_t>(t)], from));
    }

    MeshFile read()
    {
        while (!from.at_end()) {
            const std::string section(from.word());
            if (!section.starts_with('$'))
                from.fail(fmt::format("found {} where a $Section should begin", in_quotes(section)));
            if (binary) from.line();
            if (section == "$Nodes") v4 ? nodes_v4() : nodes_v2();
            if (section == "$Entities" && v4) entities();
            if (section == "$Elements") v4 ? elements_v4() : elements_v2();
            leave(section);
        }
        apply_regions();
        return build.finish(from);
    }
};

} // namespace

MeshFile parse_gmsh(std::string_view bytes, const Path& name)
{
    TextScanner scan(bytes, name, {.comment = '\0'});
    scan.expect("$MeshFormat");
    const std::string_view version = scan.word();
    const bool v4 = version == "4.1";
    if (!v4 && version != "2" && version != "2.0" && version != "2.1" && version != "2.2")
        scan.fail(fmt::format("is of Gmsh's version {}; save it as version 2.2 or 4.1", in_quotes(version)));
    const bool binary = scan.integer() == 1;
    (void)scan.integer(); // the size of a double: 8
    scan.line();
    if (!binary) {
        scan.expect("$EndMeshFormat");
        return GmshReader{.from = scan, .v4 = v4, .binary = false}.read();
    }
    ByteCursor cursor(bytes, {.file = name});
    cursor.move_to(bytes.size() - scan.bytes_left());
    if (cursor.integer() != 1) cursor.set_order(std::endian::big);
    cursor.expect("$EndMeshFormat");
    return GmshReader{.from = cursor, .v4 = v4, .binary = true}.read();
}

namespace {

int region_of(const MeshFile& mesh, Index t)
{
    return mesh.regions.empty() ? 0 : mesh.regions[static_cast<std::size_t>(t)];
}

void write_v2(const MeshFile& mesh, NumberSink& sink)
{
    const std::string_view line_end = sink.binary() ? "\n" : "";
    sink.text(fmt::format("$Nodes\n{}\n", mesh.vertices.cols()));
    for (Index v = 0; v < mesh.vertices.cols(); ++v) {
        sink.integer(v + 1);
        sink.reals(mesh.vertices.col(v));
        sink.end_row();
    }
    sink.text(
        fmt::format("{}$EndNodes\n$Elements\n{}\n", line_end, mesh.triangles.cols() + mesh.tets.cols()));
    Index number = 0;
    const auto elements = [&](int type, const auto& corners, const auto& physical) {
        const auto header = [&](Index count) { // binary files give it once, for all elements of the type
            sink.integer(type);
            if (sink.binary()) sink.integer(count);
            sink.integer(2);
        };
        if (sink.binary() && corners.cols() > 0) header(corners.cols());
        for (Index e = 0; e < corners.cols(); ++e) {
            sink.integer(++number);
            if (!sink.binary()) header(1);
            sink.integer(physical(e));
            sink.integer(1);
            sink.integers(corners.col(e), 1);
            sink.end_row();
        }
    };
    elements(2, mesh.triangles, [](Index) { return 0; });
    elements(4, mesh.tets, [&](Index t) { return region_of(mesh, t); });
    sink.text(fmt::format("{}$EndElements\n", line_end));
}

struct Gmsh4Writer {
    const MeshFile& mesh;
    NumberSink& sink;
    std::map<int, int> tag_of_region = {};
    std::vector<Index> block_ends = {}; ///< runs of tets of one region, in the order of the tets

    void find_blocks()
    {
        for (Index t = 0; t < mesh.tets.cols(); ++t) {
            tag_of_region[region_of(mesh, t)] = 0;
            if (t + 1 == mesh.tets.cols() || region_of(mesh, t) != region_of(mesh, t + 1))
                block_ends.push_back(t + 1);
        }
        int tag = 0;
        for (auto& entry : tag_of_region) entry.second = ++tag;
    }

    void row(std::initializer_list<std::int64_t> values, Scalar type)
    {
        for (const std::int64_t value : values) sink.integer(value, type);
    }
    void box()
    {
        const Box3 around = bounds(mesh.vertices);
        sink.reals(around.min());
        sink.reals(around.max());
    }
    void end(std::string_view section)
    {
        sink.text(fmt::format("{}$End{}\n", sink.binary() ? "\n" : "", section));
    }

    /// One surface that holds all triangles, one volume per region.
    void entities()
    {
        const bool surface = mesh.triangles.cols() > 0;
        sink.text("$Entities\n");
        row({0, 0, surface, std::ssize(tag_of_region)}, Scalar::UInt64);
        sink.end_row();
        const auto entity = [&](int tag, int physical) {
            sink.integer(tag);
            box();
            sink.integer(physical != 0, Scalar::UInt64);
            if (physical != 0) sink.integer(physical);
            sink.integer(0, Scalar::UInt64);
            sink.end_row();
        };
        if (surface) entity(1, 0);
        for (const auto& [region, tag] : tag_of_region) entity(tag, region);
        end("Entities");
    }

    void nodes()
    {
        const Index n = mesh.vertices.cols();
        sink.text("$Nodes\n");
        row({1, n, 1, n}, Scalar::UInt64);
        sink.end_row();
        row({mesh.tets.cols() > 0 ? 3 : 2, 1, 0}, Scalar::Int32);
        sink.integer(n, Scalar::UInt64);
        sink.end_row();
        for (Index v = 0; v < n; ++v) {
            sink.integer(v + 1, Scalar::UInt64);
            sink.end_row();
        }
        for (Index v = 0; v < n; ++v) {
            sink.reals(mesh.vertices.col(v));
            sink.end_row();
        }
        end("Nodes");
    }

    void elements()
    {
        const Index total = mesh.triangles.cols() + mesh.tets.cols();
        Index number = 0;
        const auto begin_block = [&](int dimension, int tag, int type, Index count) {
            row({dimension, tag, type}, Scalar::Int32);
            sink.integer(count, Scalar::UInt64);
            sink.end_row();
        };
        const auto element = [&](const auto& corners) {
            sink.integer(++number, Scalar::UInt64);
            sink.integers(corners, 1, Scalar::UInt64);
            sink.end_row();
        };
        sink.text("$Elements\n");
        row({std::ssize(block_ends) + (mesh.triangles.cols() > 0), total, 1, total}, Scalar::UInt64);
        sink.end_row();
        if (mesh.triangles.cols() > 0) begin_block(2, 1, 2, mesh.triangles.cols());
        for (Index t = 0; t < mesh.triangles.cols(); ++t) element(mesh.triangles.col(t));
        Index t = 0;
        for (const Index block_end : block_ends) {
            begin_block(3, tag_of_region.at(region_of(mesh, t)), 4, block_end - t);
            for (; t < block_end; ++t) element(mesh.tets.col(t));
        }
        end("Elements");
    }
};

} // namespace

std::string write_gmsh(const MeshFile& mesh, const WriteOptions& options)
{
    const bool binary = options.encoding == Encoding::Binary, v4 = options.gmsh == GmshVersion::V4;
    std::string out = fmt::format("$MeshFormat\n{} {} 8\n", v4 ? "4.1" : "2.2", binary ? 1 : 0);
    NumberSink sink(out, options.encoding);
    if (binary) {
        sink.integer(1); // shows the byte order
        sink.text("\n");
    }
    sink.text("$EndMeshFormat\n");
    if (v4) {
        Gmsh4Writer writer{mesh, sink};
        writer.find_blocks();
        writer.entities();
        writer.nodes();
        writer.elements();
    } else {
        write_v2(mesh, sink);
    }
    return out;
}

} // namespace lithe::io
