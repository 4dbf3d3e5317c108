#include "lithe/geometry/mesh_io.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/formats.hpp"
#include "lithe/geometry/io/mesh_builder.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

/// What a format is called, can hold, and is read and written by.
struct FormatEntry {
    MeshFormat format;
    std::string_view ending;
    bool triangles, tets;
    Encoding usual;
    bool has_both_encodings;
    MeshFile (*parse)(std::string_view, const fs::path&);
    std::string (*write)(const MeshFile&, const WriteOptions&);
};

MeshFile parse_vega_alone(std::string_view bytes, const fs::path& name)
{
    return io::parse_vega(bytes, name, io::Includes::Refuse);
}

constexpr auto Text = Encoding::Text;
constexpr auto Binary = Encoding::Binary;
constexpr FormatEntry formats[] = {
    {MeshFormat::Obj, ".obj", true, false, Text, false, io::parse_obj, io::write_obj},
    {MeshFormat::Ply, ".ply", true, false, Binary, true, io::parse_ply, io::write_ply},
    {MeshFormat::Off, ".off", true, false, Text, false, io::parse_off, io::write_off},
    {MeshFormat::Stl, ".stl", true, false, Binary, true, io::parse_stl, io::write_stl},
    {MeshFormat::Medit, ".mesh", true, true, Text, false, io::parse_medit, io::write_medit},
    {MeshFormat::Gmsh, ".msh", true, true, Text, true, io::parse_gmsh, io::write_gmsh},
    {MeshFormat::Vtk, ".vtk", true, true, Binary, true, io::parse_vtk, io::write_vtk},
    {MeshFormat::Vtu, ".vtu", true, true, Binary, true, io::parse_vtu, io::write_vtu},
    {MeshFormat::Tetgen, ".node", false, true, Text, false, io::parse_tetgen, io::write_tetgen},
    {MeshFormat::Tetgen, ".ele", false, true, Text, false, io::parse_tetgen, io::write_tetgen},
    {MeshFormat::Vega, ".veg", false, true, Text, false, parse_vega_alone, io::write_vega},
};

const FormatEntry& entry_of(MeshFormat format)
{
    return *std::find_if(std::begin(formats), std::end(formats),
                         [&](const auto& entry) { return entry.format == format; });
}

[[noreturn]] void fail_unknown_ending(const fs::path& path, const std::string& ending)
{
    std::vector<std::string> known;
    for (const FormatEntry& entry : formats) known.emplace_back(entry.ending);
    const std::string what =
        ending.empty() ? "has no ending" : fmt::format("has the unknown ending {}", io::in_quotes(ending));
    throw InputError({.file = path}, fmt::format("{}; known are {} (and each with .gz){}", what,
                                                 fmt::join(known, " "), did_you_mean(ending, known)));
}

bool is_packed(const fs::path& path)
{
    return io::lower_case(path.extension().string()) == ".gz";
}

fs::path with_ending(fs::path path, const char* ending)
{
    return path.replace_extension(ending);
}

/// Both files of TetGen, whichever of them was named.
MeshFile read_tetgen(const fs::path& path)
{
    const fs::path nodes = with_ending(path, ".node"), elements = with_ending(path, ".ele");
    for (const fs::path& file : {nodes, elements})
        if (!fs::exists(file) && fs::exists(file == nodes ? elements : nodes))
            throw InputError({.file = file}, "does not exist; TetGen's .node and .ele belong together");
    const std::string node_bytes = io::read_bytes(nodes), element_bytes = io::read_bytes(elements);
    io::TextScanner node_scan(node_bytes, nodes), element_scan(element_bytes, elements);
    return io::parse_tetgen(node_scan, element_scan);
}

/// Applies the scale and turns z up into y up.
void place_upright(Points& vertices, const ReadOptions& options, const fs::path& path)
{
    const double scale = require_positive("scale", options.scale);
    if (scale != 1.0) vertices *= scale;
    if (options.up == UpAxis::Z) {
        const Eigen::RowVectorXd y = vertices.row(1);
        vertices.row(1) = vertices.row(2);
        vertices.row(2) = -y;
    }
    if (!io::is_usable(vertices))
        throw InputError(
            {.file = path},
            fmt::format("has coordinates beyond {:g} after scaling by {}; choose a smaller scale",
                        largest_coordinate, scale));
}

/// Refuses inverted and flat tets, or turns the inverted ones round.
void treat_inverted(TetMesh& mesh, InvertedTets wish, const fs::path& path)
{
    if (wish == InvertedTets::Keep) return;
    Index inverted = 0, flat = 0, first_inverted = -1, first_flat = -1;
    for (Index t = mesh.tet_count() - 1; t >= 0; --t) {
        const auto x = [&](int k) { return Vec3(mesh.vertices.col(mesh.tets(k, t))); };
        const double V = tet_volume(x(0), x(1), x(2), x(3));
        if (V > 0.0) continue;
        (V < 0.0 ? inverted : flat) += 1;
        (V < 0.0 ? first_inverted : first_flat) = t;
        if (V < 0.0 && wish == InvertedTets::Flip) std::swap(mesh.tets(2, t), mesh.tets(3, t));
    }
    if (inverted > 0 && wish == InvertedTets::Refuse)
        throw InputError(
            {.file = path},
            fmt::format("{} of {} tetrahedra are inverted (the first is number {}, counted from 1); turn "
                        "them round with: lithe mesh {} --flip-tets -o OUT",
                        inverted, mesh.tet_count(), first_inverted + 1, path.string()));
    if (flat > 0)
        throw InputError(
            {.file = path},
            fmt::format("{} of {} tetrahedra have no volume (the first is number {}, counted from 1); mesh "
                        "the surface anew with: lithe mesh {} --tets -o OUT",
                        flat, mesh.tet_count(), first_flat + 1, path.string()));
}

/// What every writer relies on. `name` begins the messages.
void check_writable(const FormatEntry& entry, const MeshFile& mesh, const std::string& name)
{
    const auto fail = [&](const std::string& what) {
        throw InputError(fmt::format("{}: {}; nothing was written", name, what));
    };
    const auto in_range = [&](const auto& corners) {
        return corners.size() == 0 || (corners.minCoeff() >= 0 && corners.maxCoeff() < mesh.vertices.cols());
    };
    LITHE_ASSERT(in_range(mesh.triangles) && in_range(mesh.tets));
    LITHE_ASSERT(mesh.regions.empty() || std::ssize(mesh.regions) == mesh.tets.cols());
    for (const VertexField& field : mesh.fields) LITHE_ASSERT(field.values.cols() == mesh.vertices.cols());
    if (mesh.triangles.cols() == 0 && mesh.tets.cols() == 0)
        fail("the mesh has neither triangles nor tetrahedra");
    if (mesh.tets.cols() > 0 && !entry.tets)
        fail(fmt::format("{} files cannot hold tetrahedra; choose .mesh, .msh, .vtk, .vtu, .node or .veg, or "
                         "write the surface",
                         entry.ending));
    if (mesh.triangles.cols() > 0 && !entry.triangles)
        fail(fmt::format(
            "{} files cannot hold triangles; choose .obj, .ply, .off, .stl, .mesh, .msh, .vtk or .vtu",
            entry.ending));
    for (Index v = 0; v < mesh.vertices.cols(); ++v)
        if (!io::is_usable(mesh.vertices.col(v)))
            fail(fmt::format("vertex {} is not finite or beyond {:g}", v, largest_coordinate));
}

WriteOptions decided(WriteOptions options, const FormatEntry& entry, const std::string& name)
{
    if (options.encoding == Encoding::Usual) options.encoding = entry.usual;
    if (options.encoding != entry.usual && !entry.has_both_encodings)
        throw InputError(fmt::format("{}: {} files are text only; nothing was written", name, entry.ending));
    return options;
}

} // namespace

MeshFormat format_of(const fs::path& path)
{
    const bool packed = is_packed(path);
    const std::string ending = io::lower_case((packed ? path.stem() : path.filename()).extension().string());
    for (const FormatEntry& entry : formats)
        if (ending == entry.ending) {
            if (packed && entry.format == MeshFormat::Tetgen)
                throw InputError({.file = path}, "is a packed TetGen file; unpack it and its partner first");
            return entry.format;
        }
    fail_unknown_ending(path, ending);
}

bool can_hold_tets(MeshFormat format)
{
    return entry_of(format).tets;
}

bool can_hold_triangles(MeshFormat format)
{
    return entry_of(format).triangles;
}

MeshFile parse_mesh(MeshFormat format, std::string_view bytes, const fs::path& name)
{
    if (io::is_gzip(bytes)) return parse_mesh(format, io::unpack(bytes, {.file = name}), name);
    if (bytes.empty()) throw InputError({.file = name}, "is empty; a mesh was expected");
    return entry_of(format).parse(bytes, name);
}

std::string serialize_mesh(MeshFormat format, const MeshFile& mesh, const WriteOptions& options)
{
    const FormatEntry& entry = entry_of(format);
    check_writable(entry, mesh, std::string(entry.ending));
    return entry.write(mesh, decided(options, entry, std::string(entry.ending)));
}

MeshFile read_mesh_file(const fs::path& path, const ReadOptions& options)
{
    const MeshFormat format = format_of(path);
    MeshFile mesh;
    if (format == MeshFormat::Tetgen) {
        mesh = read_tetgen(path);
    } else {
        std::string bytes = io::read_bytes(path);
        if (io::is_gzip(bytes)) bytes = io::unpack(bytes, {.file = path});
        mesh = format == MeshFormat::Vega ? io::parse_vega(bytes, path, io::Includes::Follow)
                                          : parse_mesh(format, bytes, path);
    }
    place_upright(mesh.vertices, options, path);
    return mesh;
}

TriangleMesh surface_of(MeshFile file)
{
    if (file.triangles.cols() == 0)
        return boundary_surface({std::move(file.vertices), std::move(file.tets), {}, std::move(file.fields)});
    TriangleMesh surface{std::move(file.vertices), std::move(file.triangles), std::move(file.fields)};
    if (file.tets.cols() > 0) drop_unused_vertices(surface);
    return surface;
}

TetMesh tets_of(MeshFile file, InvertedTets inverted, const fs::path& path)
{
    if (file.tets.cols() == 0)
        throw InputError(
            {.file = path},
            fmt::format("has {} triangles but no tetrahedra; make them with: lithe mesh {} --tets -o OUT",
                        file.triangles.cols(), path.string()));
    TetMesh mesh{std::move(file.vertices), std::move(file.tets), std::move(file.regions),
                 std::move(file.fields)};
    treat_inverted(mesh, inverted, path);
    return mesh;
}

TriangleMesh read_surface(const fs::path& path, const ReadOptions& options)
{
    return surface_of(read_mesh_file(path, options));
}

TetMesh read_tet_mesh(const fs::path& path, const ReadOptions& options)
{
    return tets_of(read_mesh_file(path, options), options.inverted, path);
}

void write_mesh_file(const fs::path& path, const MeshFile& mesh, const WriteOptions& options)
{
    const FormatEntry& entry = entry_of(format_of(path));
    const WriteOptions how = decided(options, entry, path.string());
    check_writable(entry, mesh, path.string());
    if (entry.format != MeshFormat::Tetgen) {
        AtomicFile file(path);
        const std::string bytes = entry.write(mesh, how);
        file.write(is_packed(path) ? io::gzip(bytes) : bytes);
        return file.commit();
    }
    AtomicFile nodes(with_ending(path, ".node")), elements(with_ending(path, ".ele"));
    nodes.write(io::write_tetgen_nodes(mesh));
    elements.write(io::write_tetgen_elements(mesh));
    nodes.commit();
    elements.commit();
}

void write_surface(const fs::path& path, const TriangleMesh& mesh, const WriteOptions& options)
{
    write_mesh_file(path, {.vertices = mesh.vertices, .triangles = mesh.triangles, .fields = mesh.fields},
                    options);
}

void write_tet_mesh(const fs::path& path, const TetMesh& mesh, const WriteOptions& options)
{
    write_mesh_file(
        path, {.vertices = mesh.vertices, .tets = mesh.tets, .regions = mesh.regions, .fields = mesh.fields},
        options);
}

} // namespace lithe
