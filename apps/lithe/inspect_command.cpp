#include "command.hpp"
#include "inspect_character.hpp"
#include "inspect_model.hpp"
#include "inspect_scene.hpp"

#include <memory>

#include <nlohmann/json.hpp>

#include "lithe/geometry/mesh_check.hpp"
#include "lithe/rig/character.hpp"

namespace lithe::cli {
namespace {

using nlohmann::ordered_json;

/// What a file holds and what we found out about it.
struct Inspection {
    std::string file;
    MeshFile mesh;        ///< as read
    TetMesh volume;       ///< empty for a file of triangles
    TriangleMesh surface; ///< the file's triangles; for a file with tets, their boundary
    Index file_triangles = 0;
    TetReport tets;
    SurfaceReport triangles;
    std::vector<Fault> faults;

    bool has_tets() const { return volume.tet_count() > 0; }
};

Inspection inspect(const std::string& file, const ReadOptions& options)
{
    Inspection found;
    found.file = file;
    found.mesh = read_mesh_file(file, options);
    const MeshFile& mesh = found.mesh;
    found.file_triangles = mesh.triangles.cols();
    if (mesh.tets.cols() == 0) {
        found.surface = {mesh.vertices, mesh.triangles};
        found.triangles = check_surface(found.surface);
        found.faults = found.triangles.faults;
        return found;
    }
    found.volume = {mesh.vertices, mesh.tets, mesh.regions};
    found.surface = boundary_surface(found.volume);
    found.tets = check_tets(found.volume);
    found.triangles = check_surface(found.surface);
    found.faults = found.tets.faults;
    for (const Fault& fault : found.triangles.faults) // the rest has been said about the tets
        if (fault.name == "self_intersections") found.faults.push_back(fault);
    return found;
}

// --- for programs ---

ordered_json point(const Vec3& p)
{
    return ordered_json::array({p[0], p[1], p[2]});
}

void add_surface(const SurfaceReport& r, ordered_json& json)
{
    json["area"] = r.area;
    json["watertight"] = r.watertight;
    json["manifold"] = r.manifold;
    json["consistently_oriented"] = r.consistently_oriented;
    json["outward"] = r.outward;
    json["genus"] = r.genus;
    json["components"] = r.components;
    json["closed_components"] = r.closed_components;
    json["cavities"] = r.cavities;
    json["euler_characteristic"] = r.euler_characteristic;
    json["edges"] = r.edges;
    json["non_manifold_edges"] = r.non_manifold_edges;
    json["non_manifold_vertices"] = r.non_manifold_vertices;
    json["inconsistent_edges"] = r.inconsistent_edges;
    json["non_orientable"] = r.non_orientable;
    json["boundary"] = {{"edges", r.boundary_edges},
                        {"loops", r.boundary_loops},
                        {"longest_loop_edges", r.longest_loop_edges},
                        {"longest_loop_length", r.longest_loop_length}};
    json["duplicate_triangles"] = r.duplicate_triangles;
    json["degenerate_triangles"] = r.degenerate_triangles;
    json["smallest_angle"] = r.smallest_angle;
    json["self_intersections"] = {{"pairs", r.self_intersections},
                                  {"sharing_vertex", r.self_intersections_sharing_vertex}};
    json["folded_edges"] = r.folded_edges;
}

void add_tets(const TetReport& r, ordered_json& json)
{
    const TetQuality& q = r.quality;
    json["inverted_tets"] = q.inverted;
    json["flat_tets"] = q.flat;
    json["smallest_tet_volume"] = q.smallest_volume;
    json["quality"] = {
        {"worst", q.worst_mean_ratio}, {"mean", q.average_mean_ratio}, {"worst_tet", q.worst_tet}};
    json["dihedral_angles"] = {{"smallest", q.smallest_dihedral}, {"largest", q.largest_dihedral}};
    json["regions"] = r.regions;
    json["tet_components"] = r.components;
    json["duplicate_tets"] = r.duplicate_tets;
    json["overfull_faces"] = r.overfull_faces;
}

ordered_json to_json(const Inspection& found)
{
    const Box3 box = bounds(found.mesh.vertices);
    ordered_json json;
    json["file"] = found.file;
    json["kind"] = found.has_tets() ? "tets" : "surface";
    json["vertices"] = found.mesh.vertices.cols();
    json["triangles"] = found.file_triangles;
    json["tets"] = found.volume.tet_count();
    json["bounds"] =
        box.isEmpty() ? ordered_json() : ordered_json{{"min", point(box.min())}, {"max", point(box.max())}};
    json["volume"] = found.has_tets() ? found.tets.volume : found.triangles.volume;
    json["boundary_triangles"] = found.surface.triangle_count();
    add_surface(found.triangles, json);
    json["unreferenced_vertices"] =
        found.has_tets() ? found.tets.unreferenced_vertices : found.triangles.unreferenced_vertices;
    json["duplicate_vertices"] =
        found.has_tets() ? found.tets.duplicate_vertices : found.triangles.duplicate_vertices;
    if (found.has_tets()) add_tets(found.tets, json);
    json["fields"] = ordered_json::array();
    for (const VertexField& field : found.mesh.fields)
        json["fields"].push_back({{"name", field.name}, {"components", field.values.rows()}});
    json["notes"] = found.mesh.notes;
    json["faults"] = ordered_json::array();
    for (const Fault& fault : found.faults)
        json["faults"].push_back(
            {{"name", fault.name}, {"count", fault.count}, {"what", fault.what}, {"advice", fault.advice}});
    return json;
}

// --- for people ---

template <class... Args>
void row(const char* name, fmt::format_string<Args...> format, Args&&... args)
{
    fmt::print("  {:<20}{}\n", name, fmt::format(format, std::forward<Args>(args)...));
}

const char* yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

const char* orientation(const SurfaceReport& r)
{
    if (r.non_orientable > 0) return "impossible: one-sided";
    if (!r.consistently_oriented) return "mixed";
    if (r.outward) return "outward";
    return r.inward_components > 0 ? "inward" : "consistent";
}

void print_surface(const SurfaceReport& r)
{
    row("area", "{:.6g} m^2", r.area);
    row("watertight", "{}", yes_or_no(r.watertight));
    if (!r.watertight) row("holes", "{}, {} edges", r.boundary_loops, r.boundary_edges);
    row("manifold", "{}", yes_or_no(r.manifold));
    row("orientation", "{}", orientation(r));
    if (r.closed_components == r.components)
        row("parts", "{}, genus {}", r.components, r.genus);
    else
        row("parts", "{}, {} of them closed", r.components, r.closed_components);
    if (r.cavities > 0) row("cavities", "{}", r.cavities);
    if (r.self_intersections > 0)
        row("self-intersections", "{} pairs, {} of them share a vertex", r.self_intersections,
            r.self_intersections_sharing_vertex);
    else
        row("self-intersections", "none");
    row("smallest angle", "{:.3g} degrees", r.smallest_angle);
}

void print_tets(const TetReport& r)
{
    const TetQuality& q = r.quality;
    row("inverted", "{}", q.inverted == 0 ? "none" : std::to_string(q.inverted));
    row("quality", "worst {:.3f}, mean {:.3f} (mean ratio, 1 is regular)", q.worst_mean_ratio,
        q.average_mean_ratio);
    row("dihedral angles", "{:.1f} to {:.1f} degrees", q.smallest_dihedral, q.largest_dihedral);
    if (r.regions > 1) row("regions", "{}", r.regions);
    if (r.components > 1) row("parts", "{}", r.components);
}

void print_report(const Inspection& found)
{
    if (found.has_tets())
        fmt::print("{}: {} tets on {} vertices\n", found.file, found.volume.tet_count(),
                   found.mesh.vertices.cols());
    else
        fmt::print("{}: {} triangles on {} vertices\n", found.file, found.file_triangles,
                   found.mesh.vertices.cols());
    const Box3 box = bounds(found.mesh.vertices);
    if (!box.isEmpty()) {
        const Vec3 s = box.sizes(), &a = box.min(), &b = box.max();
        row("size", "{:.4g} x {:.4g} x {:.4g} m", s[0], s[1], s[2]);
        row("bounds", "({:.4g}, {:.4g}, {:.4g}) to ({:.4g}, {:.4g}, {:.4g})", a[0], a[1], a[2], b[0], b[1],
            b[2]);
    }
    if (found.has_tets()) {
        row("volume", "{:.6g} m^3", found.tets.volume);
        print_tets(found.tets);
        fmt::print(" boundary: {} triangles on {} vertices\n", found.surface.triangle_count(),
                   found.surface.vertex_count());
    } else if (found.triangles.watertight) {
        row("volume", "{:.6g} m^3", found.triangles.volume);
    }
    if (found.triangles.triangles > 0) print_surface(found.triangles);
    for (const VertexField& field : found.mesh.fields)
        row("field", "{} ({} per vertex)", field.name, field.values.rows());
    for (const std::string& note : found.mesh.notes) row("note", "{}", note);
    fmt::print("{}\n", found.faults.empty() ? "No faults found." : "Faults:");
    for (const Fault& fault : found.faults) fmt::print("  - {}\n    {}\n", fault.what, fault.advice);
}

} // namespace

void add_inspect_command(CLI::App& app, Session& session)
{
    struct Options {
        std::string file;
        ReadOptions read;
        bool as_json = false;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = add_command(
        app, session, "inspect",
        "tell what is in a mesh, character, model or scene, and what is wrong with it", [options, &session] {
            if (std::filesystem::path(options->file).extension() == ".toml")
                return inspect_scene(options->file, options->as_json ? ReportStyle::Json : ReportStyle::Text,
                                     session);
            if (std::filesystem::path(options->file).extension() == ".lithe")
                return inspect_model(options->file, options->as_json ? ReportStyle::Json : ReportStyle::Text);
            if (holds_character(options->file))
                return inspect_character(options->file, options->read,
                                         options->as_json ? ReportStyle::Json : ReportStyle::Text, session);
            const Inspection found = inspect(options->file, options->read);
            if (options->as_json)
                fmt::print("{}\n",
                           to_json(found).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
            else
                print_report(found);
        });
    command->add_option("file", options->file, "mesh, character, model (.lithe) or scene (.toml) to inspect")
        ->required();
    command->add_flag("--json", options->as_json, "print one JSON object with every figure");
    add_read_options(*command, options->read);
}

} // namespace lithe::cli
