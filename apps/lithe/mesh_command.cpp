#include "command.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/tet_quality.hpp"
#include "lithe/meshing/cgal/delaunay.hpp"
#include "lithe/meshing/remesh.hpp"
#include "lithe/meshing/repair.hpp"
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/meshing/wrap.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe::cli {
namespace {

using nlohmann::json;

enum class Mesher { Stuffing, Delaunay, Regular };

/// As the user gave them.
struct MeshOptions {
    std::string input, make, output, skeleton;
    ReadOptions read;
    WriteOptions write;
    std::string weld, fill_holes; ///< flags that may carry a number: empty when not given
    bool orient = false, wrap = false;
    std::optional<Index> simplify; ///< triangles
    int subdivide = 0;             ///< levels
    SubdivisionRule subdivision = SubdivisionRule::Loop;
    bool tets = false, flip_tets = false, as_json = false;
    std::optional<double> cell; ///< [m]
    std::optional<Index> count; ///< tets
    Mesher mesher = Mesher::Stuffing;
    double feature_angle = DelaunayOptions{}.feature_angle; ///< [degrees]

    bool edits_surface() const
    {
        return wrap || !weld.empty() || orient || !fill_holes.empty() || simplify || subdivide > 0 || tets;
    }
};

/// What the command did, for people and as JSON.
struct MeshJob {
    std::vector<std::string> notes;
    json figures = json::object();
};

void note(MeshJob& job, const std::vector<std::string>& notes)
{
    job.notes.insert(job.notes.end(), notes.begin(), notes.end());
}

/// The number behind a flag, as in --weld=1e-6.
double flag_number(const char* flag, const std::string& text)
{
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number >= 0.0) ||
        !std::isfinite(number))
        throw InputError(fmt::format("{}={}: give a number of 0 or more, or the flag alone", flag, text));
    return number;
}

void edit_surface(TriangleMesh& mesh, const MeshOptions& options, MeshJob& job, Session& session)
{
    if (options.wrap) {
        Wrap wrapped = wrap(mesh, {}, session.progress());
        note(job, wrapped.report.notes);
        mesh = std::move(wrapped.surface);
    }
    if (!options.weld.empty()) {
        note(job, weld(mesh, options.weld == "exact" ? 0.0 : flag_number("--weld", options.weld)).notes);
        drop_unused_vertices(mesh);
    }
    if (options.orient) note(job, orient(mesh).notes);
    if (!options.fill_holes.empty())
        note(job, fill_holes(mesh, static_cast<Index>(
                                       std::min(1e9, flag_number("--fill-holes", options.fill_holes))))
                      .notes);
    if (options.simplify) {
        SimplifyResult simple = simplify(mesh, *options.simplify);
        note(job, simple.notes);
        mesh = std::move(simple.mesh);
    }
    if (options.subdivide > 0) mesh = subdivide(mesh, options.subdivide, options.subdivision);
}

json to_json(const Vec3& v)
{
    return {v[0], v[1], v[2]};
}

json to_json(const TetrahedraliseReport& report)
{
    json thin = json::array();
    for (const ThinPart& part : report.thin_parts)
        thin.push_back({{"centre", to_json(part.centre)},
                        {"thickness", part.thickness},
                        {"share", part.share},
                        {"count", part.count}});
    json figures = {{"mesher", "stuffing"},
                    {"cell", report.cell},
                    {"level_offset", report.level_offset},
                    {"parts", report.parts},
                    {"surface_to_tets", report.surface_to_tets},
                    {"tets_to_surface", report.tets_to_surface},
                    {"thin_parts", thin},
                    {"assumptions", report.assumptions}};
    figures["volume_ratio"] = report.volume_ratio ? json(*report.volume_ratio) : json();
    return figures;
}

void print_report(const TetrahedraliseReport& report, const Session& session)
{
    session.say("cell            {:.4g} m, surface moved outward by {:.3f} cells to keep the volume\n",
                report.cell, report.level_offset);
    if (report.volume_ratio) session.say("volume ratio    {:.4f}\n", *report.volume_ratio);
    session.say("distances       {:.2f} cells from the surface to the tets, {:.2f} back\n",
                report.surface_to_tets, report.tets_to_surface);
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(most, report.thin_parts.size()); ++i) {
        const ThinPart& part = report.thin_parts[i];
        session.say("thin part       {:.3g} m at ({:.3g}, {:.3g}, {:.3g}), {:.1f} % of the surface: --count "
                    "{} holds it\n",
                    part.thickness, part.centre[0], part.centre[1], part.centre[2], 100.0 * part.share,
                    part.count);
    }
    if (report.thin_parts.size() > most)
        session.say("thin parts      {} more\n", report.thin_parts.size() - most);
    for (const std::string& text : report.assumptions) session.say("assumed         {}\n", text);
}

TetMesh make_tets(TriangleMesh surface, const MeshOptions& options, MeshJob& job, Session& session)
{
    const Stopwatch watch;
    TetMesh tets;
    if (options.mesher == Mesher::Delaunay) {
        const std::optional<Index> count =
            options.cell || options.count ? options.count : TetrahedraliseOptions::default_count;
        tets = delaunay_tets(surface,
                             {.cell = options.cell, .count = count, .feature_angle = options.feature_angle},
                             session.progress());
        job.figures = {{"mesher", "delaunay"}, {"volume_ratio", volume(tets) / volume(surface)}};
    } else {
        TetrahedraliseResult result = tetrahedralise(
            std::move(surface), {.cell = options.cell, .count = options.count}, session.progress());
        tets = std::move(result.mesh);
        job.figures = to_json(result.report);
        if (!options.as_json) print_report(result.report, session);
    }
    job.figures["smallest_dihedral_angle"] = smallest_dihedral_angle(tets);
    job.figures["seconds"] = watch.seconds();
    if (!options.as_json)
        session.say("smallest angle  {:.1f} degrees between faces of a tet\n",
                    job.figures["smallest_dihedral_angle"].get<double>());
    return tets;
}

MeshFile file_of(TriangleMesh mesh)
{
    return {std::move(mesh.vertices), std::move(mesh.triangles), {}, {}, std::move(mesh.fields)};
}

MeshFile file_of(TetMesh mesh)
{
    return {
        std::move(mesh.vertices), {}, std::move(mesh.tets), std::move(mesh.regions), std::move(mesh.fields)};
}

/// Made or read, before any edit.
MeshFile make_input(const MeshOptions& options, Session& session)
{
    if (options.make.empty()) return read_mesh_or_character(options.input, options.read);
    return file_of(make_shape(options.make, options.tets ? std::nullopt : options.cell, session.progress()));
}

MeshFile make_regular_tets(const MeshOptions& options)
{
    std::optional<TetMesh> tets = make_shape_tets(options.make, options.cell);
    if (!tets || options.count)
        throw InputError("--mesher regular fills a box or beam of --make with cells of --cell metres");
    return file_of(std::move(*tets));
}

/// Tets go through as they are unless something is to be done to their surface.
MeshFile make_output(const MeshOptions& options, MeshJob& job, Session& session)
{
    const MeshFormat format = format_of(options.output);
    if (options.tets && options.mesher == Mesher::Regular) return make_regular_tets(options);
    MeshFile file = make_input(options, session);
    note(job, file.notes);
    if (file.tets.cols() > 0 && !options.edits_surface() && can_hold_tets(format)) {
        file.tets = tets_of(file, options.read.inverted, options.input).tets;
        if (!can_hold_triangles(format)) file.triangles.resize(3, 0);
        return file;
    }
    TriangleMesh surface = surface_of(std::move(file));
    edit_surface(surface, options, job, session);
    if (!options.tets) return file_of(std::move(surface));
    try {
        return file_of(make_tets(std::move(surface), options, job, session));
    } catch (const InputError& error) { // a mesher does not know where its surface came from
        throw InputError({.file = options.make.empty() ? options.input : options.make}, error.what());
    }
}

void write_skeleton(const MeshOptions& options)
{
    const std::optional<ShapeModel> model = find_shape_model(options.make);
    if (!model)
        throw InputError(
            fmt::format("--skeleton: the shape '{}' has none; only characters do", options.make));
    write_file(options.skeleton, skeleton_text(*model));
}

void check_usage(const MeshOptions& options)
{
    if (options.input.empty() == options.make.empty())
        throw InputError("give either a mesh to read or --make SHAPE (see --make list)");
    if (options.output.empty()) throw InputError("give the file to write with -o FILE");
    if (options.cell && options.count) throw InputError("give --cell or --count, not both");
    if (!options.tets && (options.count || (options.cell && options.make.empty())))
        throw InputError("--cell and --count are sizes of tetrahedra: add --tets");
    if (!options.skeleton.empty() && options.make.empty())
        throw InputError("--skeleton goes with --make: only modelled shapes have one");
    if (options.tets && !can_hold_tets(format_of(options.output)))
        throw InputError(
            {.file = options.output},
            "cannot hold tetrahedra; write .mesh, .msh, .vtk, .vtu, .node or .veg, or leave out --tets");
}

void run_mesh(MeshOptions options, Session& session)
{
    if (options.make == "list") {
        fmt::print("{}", list_shapes());
        return;
    }
    check_usage(options);
    if (options.flip_tets) options.read.inverted = InvertedTets::Flip;
    session.quiet = session.quiet || options.as_json;
    MeshJob job;
    const MeshFile out = make_output(options, job, session);
    if (!options.skeleton.empty()) write_skeleton(options);
    write_mesh_file(options.output, out, options.write);

    for (const std::string& text : job.notes) session.say("note            {}\n", text);
    session.say("wrote           {}: {} vertices, {} triangles, {} tets\n", options.output,
                out.vertices.cols(), out.triangles.cols(), out.tets.cols());
    if (!options.as_json) return;
    job.figures.update({{"output", options.output},
                        {"vertices", out.vertices.cols()},
                        {"triangles", out.triangles.cols()},
                        {"tets", out.tets.cols()},
                        {"notes", job.notes}});
    fmt::print("{}\n", job.figures.dump(2, ' ', false, json::error_handler_t::replace));
}

void add_repair_options(CLI::App& command, MeshOptions& options)
{
    command.add_flag("--weld{exact}", options.weld,
                     "merge vertices closer than TOL metres (--weld alone: equal ones)");
    command.add_flag("--wrap", options.wrap,
                     "one closed surface around all of it: shells united, openings closed");
    command.add_flag("--orient", options.orient, "make the triangles agree, and face outward");
    command.add_flag("--fill-holes{100}", options.fill_holes,
                     "close holes of up to N edges (--fill-holes alone: 100)");
    command.add_option("--simplify", options.simplify, "triangles to keep")->check(CLI::PositiveNumber);
    command.add_option("--subdivide", options.subdivide, "times that each triangle is cut into four")
        ->check(CLI::Range(1, 8));
    static const std::map<std::string, SubdivisionRule> rules = {{"loop", SubdivisionRule::Loop},
                                                                 {"midpoint", SubdivisionRule::Midpoint}};
    command.add_option("--subdivision", options.subdivision, "smooth, or on the triangles as they are")
        ->transform(CLI::CheckedTransformer(rules, CLI::ignore_case))
        ->default_str("loop")
        ->type_name("loop|midpoint");
    command.add_flag("--flip-tets", options.flip_tets, "turn inverted tetrahedra round");
}

void add_tet_options(CLI::App& command, MeshOptions& options)
{
    command.add_flag("--tets", options.tets, "fill the surface with tetrahedra");
    command.add_option("--cell", options.cell, "size of the tetrahedra, or of the triangles of --make [m]")
        ->check(CLI::PositiveNumber);
    command.add_option("--count", options.count, "number of tetrahedra, met within 20 % (default: 8000)")
        ->check(CLI::PositiveNumber);
    static const std::map<std::string, Mesher> meshers = {
        {"stuffing", Mesher::Stuffing}, {"delaunay", Mesher::Delaunay}, {"regular", Mesher::Regular}};
    command
        .add_option(
            "--mesher", options.mesher,
            "stuffing takes any surface; delaunay needs a clean closed one; regular a box or beam of --make")
        ->transform(CLI::CheckedTransformer(meshers, CLI::ignore_case))
        ->default_str("stuffing")
        ->type_name("stuffing|delaunay|regular");
    command
        .add_option(
            "--feature-angle", options.feature_angle,
            "delaunay keeps edges that turn by more [degrees]; 180 keeps none, and gives better tets on "
            "rough surfaces")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 180.0));
}

} // namespace

void add_mesh_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<MeshOptions>();
    CLI::App* command =
        add_command(app, session, "mesh", "convert, repair, simplify and tetrahedralise meshes, or make one",
                    [options, &session] { run_mesh(*options, session); });
    command->add_option("input", options->input, "mesh or character to read");
    command->add_option("--make", options->make, "make a shape instead of reading one; 'list' names them")
        ->type_name("SHAPE");
    command->add_option("-o,--output", options->output, "mesh to write; its ending says the format");
    command
        ->add_option("--skeleton", options->skeleton, "also write the skeleton of a made character as text")
        ->type_name("FILE");
    add_read_options(*command, options->read);
    add_repair_options(*command, *options);
    add_tet_options(*command, *options);
    static const std::map<std::string, Encoding> encodings = {{"text", Encoding::Text},
                                                              {"binary", Encoding::Binary}};
    command->add_option("--encoding", options->write.encoding, "of formats that have both")
        ->transform(CLI::CheckedTransformer(encodings, CLI::ignore_case))
        ->type_name("text|binary");
    static const std::map<std::string, GmshVersion> versions = {{"2", GmshVersion::V2},
                                                                {"4", GmshVersion::V4}};
    command->add_option("--msh-version", options->write.gmsh, "of .msh files: 2.2 or 4.1")
        ->transform(CLI::CheckedTransformer(versions))
        ->default_str("2")
        ->type_name("2|4");
    command->add_flag("--json", options->as_json, "print the report as one JSON object");
}

} // namespace lithe::cli
