#include "command.hpp"

#include <filesystem>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/render/cut.hpp"
#include "lithe/render/layout.hpp"
#include "lithe/render/render.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
    std::string name;
    std::string folder = "out/demo";
    std::string size = "1600x900";
};

/// A built-in character, as a surface and as tets.
struct Character {
    std::string name;
    TriangleMesh surface;
    TetMesh tets;
};

Character make_character(const BuiltinShape& shape, Session& session)
{
    Character character{std::string(shape.name), make_shape(shape.name, {}, session.progress()), {}};
    TetrahedraliseResult result = tetrahedralise(character.surface, {.count = 20000}, session.progress());
    session.say("{:<8} {:>6} triangles -> {:>6} tets, smallest angle {:.1f} degrees, volume ratio {:.4f}\n",
                character.name, character.surface.triangle_count(), result.report.tets,
                result.report.smallest_dihedral, result.report.volume_ratio.value_or(0.0));
    character.tets = std::move(result.mesh);
    return character;
}

/// All characters side by side; `surfaces_of` says how one is drawn.
template <class F>
Image draw_gallery(const std::vector<Character>& characters, const DemoOptions& options, const F& surfaces_of,
                   Session& session)
{
    std::vector<Box3> boxes;
    for (const Character& character : characters) boxes.push_back(bounds(character.surface.vertices));
    const std::vector<Placement> places = arrange(boxes, Arrangement::Grid);

    RenderScene scene;
    for (std::size_t i = 0; i < characters.size(); ++i)
        for (RenderSurface& surface : surfaces_of(characters[i], boxes[i])) {
            surface.vertices = (places[i].scale * surface.vertices).colwise() + places[i].shift;
            scene.surfaces.push_back(std::move(surface));
        }
    RenderOptions render_options;
    std::tie(render_options.width, render_options.height) = parse_size(options.size);
    Points content(3, 0);
    for (const RenderSurface& surface : scene.surfaces) {
        content.conservativeResize(3, content.cols() + surface.vertices.cols());
        content.rightCols(surface.vertices.cols()) = surface.vertices;
    }
    const double aspect = static_cast<double>(render_options.width) / render_options.height;
    return render(scene, frame_content(content, {.view = View::Gallery, .aspect = aspect}), render_options,
                  session.progress());
}

/// Models, meshes and renders the built-in characters.
void run_gallery(const DemoOptions& options, Session& session)
{
    const Stopwatch watch;
    const fs::path folder = options.folder;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw InputError({.file = folder}, "the folder cannot be made: " + error.message());

    std::vector<Character> characters;
    for (const BuiltinShape& shape : builtin_shapes()) {
        characters.push_back(make_character(shape, session));
        write_surface(folder / (characters.back().name + ".ply"), characters.back().surface);
        write_tet_mesh(folder / (characters.back().name + ".mesh"), characters.back().tets);
    }
    const auto outside = [](const Character& c, const Box3&) {
        return std::vector<RenderSurface>{make_surface(c.surface, {})};
    };
    const auto inside = [](const Character& c, const Box3& box) {
        return cut_tets(c.tets, {.normal = Vec3::UnitZ(), .offset = box.center()[2]}, {});
    };
    write_png(folder / "gallery.png", draw_gallery(characters, options, outside, session));
    write_png(folder / "inside.png", draw_gallery(characters, options, inside, session));
    session.say(
        "wrote {0}/gallery.png and {0}/inside.png, with the surfaces (.ply) and tets (.mesh), in {1:.1f} s\n",
        options.folder, watch.seconds());
}

void run_demo(const DemoOptions& options, Session& session)
{
    if (options.name.empty()) {
        fmt::print("gallery   the built-in characters: modelled, filled with tetrahedra, rendered\n"
                   "\nrun one with: lithe demo gallery [-o FOLDER]\n");
        return;
    }
    if (options.name != "gallery")
        throw InputError(fmt::format("there is no demo '{}'{}; the demos are: gallery", options.name,
                                     did_you_mean(options.name, {"gallery"})));
    run_gallery(options, session);
}

} // namespace

void add_demo_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<DemoOptions>();
    CLI::App* command = add_command(app, session, "demo", "list the built-in demos, or run one",
                                    [options, &session] { run_demo(*options, session); });
    command->add_option("name", options->name, "which demo to run");
    command->add_option("-o,--output", options->folder, "folder for what it makes")->capture_default_str();
    command->add_option("--size", options->size, "of the pictures, in pixels")->capture_default_str();
}

} // namespace lithe::cli
