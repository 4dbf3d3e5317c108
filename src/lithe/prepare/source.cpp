#include "lithe/prepare/source.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lithe/core/hash.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/meshing/wrap.hpp"
#include "lithe/rig/character.hpp"

namespace lithe {
namespace {

/// Tets that were there already: what is shown is their boundary.
Volume from_tets(TetMesh tets)
{
    drop_unused_vertices(tets);
    std::vector<int> origin;
    TriangleMesh surface = boundary_surface(tets, origin);
    Embedding embedding = embed_vertices(origin, tets);
    return {std::move(tets), std::move(surface), std::move(embedding)};
}

/// The colours of the surface, carried to the nearest vertices of the tets.
void carry_color(const TriangleMesh& surface, TetMesh& tets)
{
    const VertexField* color = find_color(surface.fields);
    if (!color) return;
    const SurfaceQuery query(surface);
    VertexField carried{"color", MatX(3, tets.vertex_count())};
    for (Index v = 0; v < tets.vertex_count(); ++v) {
        const ClosestPoint near = query.closest_point(tets.vertices.col(v));
        carried.values.col(v).setZero();
        for (int c = 0; c < 3; ++c)
            carried.values.col(v) +=
                near.barycentric[c] * color->values.col(surface.triangles(c, near.triangle));
    }
    tets.fields.push_back(std::move(carried));
}

/// The skin of a character is wrapped first: it is rarely closed.
Volume from_surface(TriangleMesh surface, bool is_skin, const SceneBody& body, Progress& progress,
                    std::vector<std::string>& notes)
{
    TriangleMesh closed = surface;
    if (is_skin) {
        Wrap wrapped = wrap(surface, {}, progress);
        for (const std::string& note : wrapped.report.notes)
            notes.push_back(fmt::format("{}: {}", body.name, note));
        closed = std::move(wrapped.surface);
    }
    const TetrahedraliseResult filled =
        tetrahedralise(std::move(closed), {.cell = body.cell, .count = body.tets}, progress);
    notes.push_back(fmt::format("{}: {} tets, cells of {:.4g} m, {} triangles embedded", body.name,
                                filled.report.tets, filled.report.cell, surface.triangle_count()));
    for (const std::string& assumption : filled.report.assumptions)
        notes.push_back(fmt::format("{}: {}", body.name, assumption));
    drop_unused_vertices(surface);
    Volume out{filled.mesh, std::move(surface), {}};
    carry_color(out.surface, out.tets);
    out.embedding = embed(out.surface.vertices, out.tets);
    return out;
}

/// The cell of a regular grid, which has 6 tets in each.
std::optional<double> grid_cell(const SceneBody& body, const std::string& spec)
{
    if (body.cell) return body.cell;
    const std::optional<RigidShape> shape = find_rigid_shape(spec);
    const auto* box = shape ? std::get_if<BoxShape>(&*shape) : nullptr;
    if (!box) return std::nullopt;
    return std::cbrt(6.0 * box->size.prod() /
                     static_cast<double>(body.tets.value_or(TetrahedraliseOptions::default_count)));
}

Volume load(const SceneBody& body, Progress& progress, std::vector<std::string>& notes)
{
    if (const auto* spec = std::get_if<std::string>(&body.source.from)) {
        if (auto tets = make_shape_tets(*spec, grid_cell(body, *spec))) {
            notes.push_back(fmt::format("{}: {} tets in a regular grid", body.name, tets->tet_count()));
            return from_tets(std::move(*tets));
        }
        return from_surface(make_shape(*spec, {}, progress), false, body, progress, notes);
    }
    const auto& file = std::get<std::filesystem::path>(body.source.from);
    MeshFile mesh = read_mesh_or_character(file, body.source.read);
    for (const std::string& note : mesh.notes) notes.push_back(fmt::format("{}: {}", body.name, note));
    if (mesh.tets.cols() == 0)
        return from_surface(surface_of(std::move(mesh)), holds_character(file), body, progress, notes);
    if (body.tets || body.cell)
        throw InputError(fmt::format("'{}' has tets of its own; leave out 'tets' and 'cell'", file.string()));
    Volume out = from_tets(tets_of(std::move(mesh), InvertedTets::Refuse, file));
    notes.push_back(fmt::format("{}: {} tets of the file", body.name, out.tets.tet_count()));
    return out;
}

void place(const RigidPose& pose, Points& points)
{
    points = (pose.rotation.toRotationMatrix() * points).colwise() + pose.translation;
}

} // namespace

Volume load_volume(const SceneBody& body, Progress& progress, std::vector<std::string>& notes)
{
    Volume out = at_place(body.source.place, [&] { return load(body, progress, notes); });
    place(body.placement, out.tets.vertices);
    place(body.placement, out.surface.vertices);
    return out;
}

std::uint64_t source_hash(const SceneSource& source)
{
    if (const auto* file = std::get_if<std::filesystem::path>(&source.from))
        return hash_bytes(io::read_bytes(*file));
    return hash_bytes(std::get<std::string>(source.from));
}

MeshFile read_mesh_or_character(const std::filesystem::path& file, const ReadOptions& options)
{
    if (!holds_character(file)) return read_mesh_file(file, options);
    Character character = read_character(file, options);
    if (character.surface.triangle_count() == 0)
        throw InputError({.file = file}, "has a skeleton but no surface");
    return {.vertices = std::move(character.surface.vertices),
            .triangles = std::move(character.surface.triangles),
            .fields = std::move(character.surface.fields),
            .notes = std::move(character.notes)};
}

TriangleMesh load_surface(const SceneSource& source, std::optional<double> cell, Progress& progress)
{
    return at_place(source.place, [&] {
        if (const auto* spec = std::get_if<std::string>(&source.from))
            return make_shape(*spec, cell, progress);
        const auto& file = std::get<std::filesystem::path>(source.from);
        return surface_of(read_mesh_or_character(file, source.read));
    });
}

} // namespace lithe
