// STL, text and binary. It knows no vertices, only corners: those with equal coordinates become one vertex.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "lithe/geometry/io/byte_cursor.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"
#include "lithe/geometry/io/number_sink.hpp"

namespace lithe::io {
namespace {

constexpr std::size_t header_size = 80, record_size = 50;

class Welder {
public:
    explicit Welder(MeshBuilder& build) : build_(build) {}

    int vertex(const Vec3& x, const NumberSource& at)
    {
        const auto [entry, is_new] =
            index_of_.try_emplace(Key{x[0] + 0.0, x[1] + 0.0, x[2] + 0.0}, build_.vertex_count());
        if (is_new) build_.add_vertex(x, at);
        return build_.corner(entry->second, at);
    }

private:
    using Key = std::array<double, 3>; // + 0.0 turns -0 into 0, so that equal keys have equal bits
    struct Hash {
        std::size_t operator()(const Key& key) const
        {
            std::uint64_t h = 0;
            for (const double value : key)
                h = (h ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u, h ^= h >> 32;
            return h;
        }
    };
    MeshBuilder& build_;
    std::unordered_map<Key, int, Hash> index_of_;
};

/// Many binary files begin with "solid" as text files do. What decides is whether the size fits the count, or whether
/// there are bytes that no text has.
bool is_binary(std::string_view bytes)
{
    const std::size_t first = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
    if (lower_case(bytes.substr(first, 5)) != "solid") return true;
    if (bytes.substr(0, 1024).find('\0') != bytes.npos) return true;
    if (bytes.size() < header_size + 4) return false;
    std::uint32_t count;
    std::memcpy(&count, bytes.data() + header_size, 4);
    return bytes.size() == header_size + 4 + record_size * count;
}

void parse_binary(ByteCursor& cursor, MeshBuilder& build)
{
    cursor.bytes(header_size);
    const int count = cursor.claim(cursor.integer(Scalar::UInt32), record_size, "triangles");
    Welder weld(build);
    for (int t = 0; t < count; ++t) {
        cursor.bytes(12); // the normal
        std::array<int, 3> corners;
        for (int& corner : corners) {
            Vec3 x;
            for (double& value : x) value = cursor.real(Scalar::Float32);
            corner = weld.vertex(x, cursor);
        }
        build.add_face(corners, cursor);
        cursor.bytes(2); // attributes
    }
    if (cursor.bytes_left() > 0)
        build.skipped("bytes after the last triangle", static_cast<int>(cursor.bytes_left()));
}

void parse_text(TextScanner& scan, MeshBuilder& build)
{
    Welder weld(build);
    std::vector<int> corners;
    while (!scan.at_end()) {
        const std::string key = lower_case(scan.word());
        if (key == "solid" || key == "endsolid") {
            scan.line();
        } else if (key == "vertex") {
            Vec3 x;
            for (double& value : x) value = scan.real();
            corners.push_back(weld.vertex(x, scan));
        } else if (key == "endloop") {
            build.add_face(corners, scan);
            corners.clear();
        } else if (key == "facet") {
            scan.word(); // normal
            scan.skip(3, Scalar::Float32);
        } else if (key != "outer" && key != "loop" && key != "endfacet") {
            scan.fail(fmt::format("found {} where facet, vertex or endsolid should stand", in_quotes(key)));
        }
    }
    if (!corners.empty()) scan.fail("ends within a facet; the file is cut short");
}

Vec3 normal_of(const MeshFile& mesh, Index t)
{
    const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
    const Vec3 n =
        (mesh.vertices.col(mesh.triangles(1, t)) - a).cross(mesh.vertices.col(mesh.triangles(2, t)) - a);
    const double length = n.norm();
    return std::isfinite(length) && length > 0.0 ? Vec3(n / length) : Vec3::Zero();
}

std::string write_text(const MeshFile& mesh)
{
    std::string out = "solid lithe\n";
    NumberSink sink(out, Encoding::Text);
    for (Index t = 0; t < mesh.triangles.cols(); ++t) {
        sink.text("facet normal ");
        sink.reals(normal_of(mesh, t));
        sink.text("\nouter loop");
        for (const int v : mesh.triangles.col(t)) {
            sink.end_row();
            sink.text("vertex ");
            sink.reals(mesh.vertices.col(v));
        }
        sink.end_row();
        sink.text("endloop\nendfacet\n");
    }
    return out + "endsolid lithe\n";
}

} // namespace

MeshFile parse_stl(std::string_view bytes, const Path& name)
{
    MeshBuilder build;
    if (is_binary(bytes)) {
        ByteCursor cursor(bytes, {.file = name});
        parse_binary(cursor, build);
        return build.finish(cursor);
    }
    TextScanner scan(bytes, name, {.comment = '\0'});
    parse_text(scan, build);
    return build.finish(scan);
}

std::string write_stl(const MeshFile& mesh, const WriteOptions& options)
{
    if (options.encoding == Encoding::Text) return write_text(mesh);
    if (mesh.vertices.size() > 0 &&
        mesh.vertices.cwiseAbs().maxCoeff() > double(std::numeric_limits<float>::max()))
        throw InputError(
            "binary .stl holds single precision only, and a coordinate is too large for it; scale the mesh");
    std::string out = "binary STL written by Lithe";
    out.resize(header_size, ' ');
    NumberSink sink(out, Encoding::Binary);
    sink.integer(mesh.triangles.cols(), Scalar::UInt32);
    for (Index t = 0; t < mesh.triangles.cols(); ++t) {
        sink.reals(normal_of(mesh, t), Scalar::Float32);
        for (const int v : mesh.triangles.col(t)) sink.reals(mesh.vertices.col(v), Scalar::Float32);
        sink.text(std::string_view("\0\0", 2));
    }
    return out;
}

} // namespace lithe::io
