#include "pictures.hpp"
#include "simulate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/meshing/tetrahedralise.hpp"
#include "lithe/render/cut.hpp"
#include "lithe/render/layout.hpp"
#include "lithe/render/render.hpp"
#include "lithe/render/report.hpp"
#include "lithe/render/video.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#ifdef LITHE_VIEWER
#include "lithe/server/web_server.hpp"
#endif

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
    std::string name;
    std::string folder = "out/demo";
    std::string size = "1600x900";
    std::optional<int> frames;
};

fs::path make_folder(const fs::path& folder)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw InputError({.file = folder}, "the folder cannot be made: " + error.message());
    return folder;
}

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
    const double aspect = static_cast<double>(render_options.width) / render_options.height;
    return render(scene, frame_content(content_of(scene), {.view = View::Gallery, .aspect = aspect}),
                  render_options, session.progress());
}

/// Models, meshes and renders the built-in characters.
void run_gallery(const DemoOptions& options, Session& session)
{
    const Stopwatch watch;
    const fs::path folder = make_folder(options.folder);
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

/// The start, the end, and two moments between.
std::vector<int> telling_frames(const RunOptions& run)
{
    std::vector<int> numbers;
    for (int k = 0; k < 4; ++k)
        numbers.push_back(run.first_frame + k * (run.last_frame - run.first_frame) / 3);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

/// Every how many frames the film has a picture: of long runs it has fewer in a second.
int film_stride(const RunOptions& run)
{
    constexpr double most_per_second = 30.0;
    constexpr int most = 150;
    const int count = run.last_frame - run.first_frame + 1;
    return std::max({1, static_cast<int>(std::lround(run.fps / most_per_second)), (count + most - 1) / most});
}

std::vector<int> film_frames(const RunOptions& run)
{
    std::vector<int> numbers;
    for (int frame = run.first_frame; frame <= run.last_frame; frame += film_stride(run))
        numbers.push_back(frame);
    return numbers;
}

/// At the speed of life, small and coarse: some minutes for the largest scenes. False when there is no ffmpeg to make it.
bool write_film(const fs::path& path, const FrameKeeper& film, FrameView view, double fps, Session& session)
{
    const auto third = [](int pixels) { return std::max(2, pixels / 6 * 2); }; // even, as H.264 wants it
    view.options.width = third(2 * view.options.width);
    view.options.height = third(2 * view.options.height);
    view.options.samples = 4;
    Progress& progress = session.progress();
    std::optional<VideoWriter> video;
    try {
        video.emplace(path, VideoOptions{view.options.width, view.options.height, fps});
    } catch (const InputError& error) {
        session.say("no film: {}\n", error.what());
        return false;
    }
    Progress quiet([&](const ProgressEvent&) { progress.check(); }, {});
    progress.begin("film", static_cast<std::int64_t>(film.frames().size()));
    for (const Frame& frame : film.frames()) {
        video->add(draw_frame(film.bodies(), frame, view, quiet));
        progress.advance();
    }
    progress.end();
    video->finish();
    return true;
}

Plot make_plot(const RunMetrics& metrics, std::string title, PlotAxis y)
{
    Plot plot{.title = std::move(title), .x = {"time", "s"}, .y = std::move(y), .x_values = {}, .series = {}};
    for (const StepMetrics& step : metrics.steps) plot.x_values.push_back(step.t);
    return plot;
}

template <class F>
void add_series(const RunMetrics& metrics, Plot& plot, std::string name, const F& value)
{
    PlotSeries series{std::move(name), {}};
    for (const StepMetrics& step : metrics.steps) series.values.push_back(value(step));
    plot.series.push_back(std::move(series));
}

/// Of each body where there are few, else of all together.
Plot angular_plot(const RunMetrics& metrics)
{
    Plot plot = make_plot(metrics, "Angular momentum", {"|L| about the origin", "kg m^2/s"});
    if (metrics.bodies.empty())
        add_series(metrics, plot, "all",
                   [](const StepMetrics& s) { return s.mechanics.angular_momentum.norm(); });
    for (std::size_t b = 0; b < metrics.bodies.size(); ++b)
        add_series(metrics, plot, metrics.bodies[b],
                   [b](const StepMetrics& s) { return s.angular_momenta[b].norm(); });
    return plot;
}

std::vector<Plot> make_plots(const RunMetrics& metrics)
{
    Plot energy = make_plot(metrics, "Energy", {"energy", "J"});
    add_series(metrics, energy, "kinetic", [](const StepMetrics& s) { return s.mechanics.kinetic; });
    add_series(metrics, energy, "elastic", [](const StepMetrics& s) { return s.mechanics.elastic; });
    add_series(metrics, energy, "potential", [](const StepMetrics& s) { return s.mechanics.potential; });
    Plot momentum = make_plot(metrics, "Linear momentum", {"|P|", "kg m/s"});
    add_series(metrics, momentum, "|P|",
               [](const StepMetrics& s) { return s.mechanics.linear_momentum.norm(); });
    Plot contacts = make_plot(metrics, "Contacts", {"points that touch"});
    add_series(metrics, contacts, "contacts", [](const StepMetrics& s) { return s.report.contacts; });
    Plot newton = make_plot(metrics, "Newton iterations", {"iterations per step"});
    add_series(metrics, newton, "iterations", [](const StepMetrics& s) { return s.report.iterations; });
    Plot time = make_plot(metrics, "Time per step", {"time", "ms"});
    for (std::size_t k = 0; k < metrics.stages.size(); ++k)
        add_series(metrics, time, metrics.stages[k],
                   [k](const StepMetrics& s) { return 1e3 * s.stage_seconds[k]; });
    return {energy, momentum, angular_plot(metrics), contacts, newton, time};
}

Report make_report(const Scene& scene, const PreparedScene& prepared, const SimulateResult& result,
                   std::span<const Frame> frames, const std::vector<Image>& pictures)
{
    const RunMetrics& metrics = result.metrics;
    const RunSummary sum = summarise(metrics);
    Report report{.title = scene.title, .summary = {}};
    report.facts = {{"frames", fmt::format("{}", metrics.frames)},
                    {"simulated", fmt::format("{:.3g} s", prepared.world.time())},
                    {"computed in", fmt::format("{:.3g} s", metrics.seconds)},
                    {"steps", fmt::format("{}", metrics.steps.size())},
                    {"deepest penetration", fmt::format("{:.3g} m", sum.max_penetration)},
                    {"state", hash_text(metrics.state_hash)}};
    if (sum.max_joint_gap > 0.0)
        report.facts.push_back({"widest gap of a joint", fmt::format("{:.2g} m", sum.max_joint_gap)});
    for (const std::string& note : prepared.notes) report.facts.push_back({"note", note});
    for (std::size_t k = 0; k < pictures.size(); ++k)
        report.pictures.push_back(
            {fmt::format("frame {}, {:.3g} s", frames[k].number, frames[k].t), encode_png(pictures[k])});
    report.plots = make_plots(metrics);
    return report;
}

/// Simulates a built-in scene and leaves everything about it in a folder.
void run_scene(const BuiltinScene& builtin, const DemoOptions& options, Session& session)
{
    const Scene scene = parse_scene(builtin.text, fmt::format("{}.toml", builtin.name));
    const auto [width, height] = parse_size(options.size);
    const fs::path folder = make_folder(fs::path(options.folder) / builtin.name);
    session.say("{}: {}\n", builtin.name, scene.title);
    PreparedScene prepared = prepare_scene(scene, session.progress());
    if (options.frames) prepared.run.last_frame = *options.frames;
    FrameKeeper keeper(telling_frames(prepared.run)), film(film_frames(prepared.run));
    FrameSink* watchers[] = {&keeper, &film};
    const std::string stem = (folder / builtin.name).string();
    const SimulateOutputs outputs{.files = {(folder / "frames").string() + "/", stem + ".glb"},
                                  .metrics = (folder / "metrics.json").string()};
    const SimulateResult result = simulate(prepared, outputs, session, watchers);

    const FrameView view =
        view_of(keeper.bodies(), keeper.frames(), {.width = width / 2, .height = height / 2});
    std::vector<Image> pictures;
    for (const Frame& frame : keeper.frames())
        pictures.push_back(draw_frame(keeper.bodies(), frame, view, session.progress()));
    write_png(folder / "picture.png", contact_sheet(pictures, 2));
    write_file(folder / "report.html",
               to_html(make_report(scene, prepared, result, keeper.frames(), pictures)));
    const bool has_film =
        write_film(folder / "film.mp4", film, view, prepared.run.fps / film_stride(prepared.run), session);
    session.say(
        "{} frames in {:.1f} s; {}/ has picture.png, {}report.html, metrics.json, {}.glb and frames/\n",
        result.metrics.frames, result.metrics.seconds, folder.string(), has_film ? "film.mp4, " : "",
        builtin.name);
#ifdef LITHE_VIEWER
    session.say("to touch it: lithe view {0} --port {1}, and open http://{2}:{1}/\n", builtin.name,
                ServerOptions{}.port, ServerOptions{}.host);
#endif
    require_finished(result.report);
}

void list_demos()
{
    fmt::print("{:<12} the built-in characters: modelled, filled with tetrahedra, rendered\n", "gallery");
    for (const BuiltinScene& scene : builtin_scenes())
        fmt::print("{:<12} {}\n", scene.name,
                   parse_scene(scene.text, std::string(scene.name) + ".toml").title);
    fmt::print("\nrun one with: lithe demo NAME [-o FOLDER]\n");
}

void run_demo(const DemoOptions& options, Session& session)
{
    if (options.name.empty()) return list_demos();
    if (options.name == "gallery") return run_gallery(options, session);
    std::vector<std::string> names = {"gallery"};
    for (const BuiltinScene& scene : builtin_scenes()) {
        if (scene.name == options.name) return run_scene(scene, options, session);
        names.emplace_back(scene.name);
    }
    throw InputError(fmt::format("there is no demo '{}'{}; the demos are: {}", options.name,
                                 did_you_mean(options.name, names), fmt::join(names, ", ")));
}

} // namespace

void add_demo_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<DemoOptions>();
    CLI::App* command = add_command(app, session, "demo", "list the built-in demos, or run one",
                                    [options, &session] { run_demo(*options, session); });
    command->add_option("name", options->name, "which demo to run");
    command->add_option("-o,--output", options->folder, "folder for what it makes")->capture_default_str();
    command->add_option("--frames", options->frames, "how many frames of a scene (default: the scene's)")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--size", options->size, "of the pictures, in pixels")->capture_default_str();
}

} // namespace lithe::cli
