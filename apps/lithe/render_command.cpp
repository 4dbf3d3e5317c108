#include "command.hpp"

#include <numbers>
#include <optional>

#include "lithe/core/error.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/render/render.hpp"

namespace lithe::cli {
namespace {

constexpr double degree = std::numbers::pi / 180.0;

/// As the user gave them; nothing here is checked yet.
struct Options {
    std::vector<std::string> files;
    std::string output;
    ReadOptions read;
    std::string size = "1280x720";
    int samples = RenderOptions{}.samples;
    View view = View::ThreeQuarter;
    std::vector<double> camera, target;
    double fov = 30.0; ///< [degrees]
    std::vector<std::string> background;
    bool no_ground = false;
    bool wireframe = false;
};

Vec3 vector3(const std::vector<double>& numbers)
{
    return {numbers[0], numbers[1], numbers[2]};
}

/// "1280x720"
void parse_size(const std::string& text, RenderOptions& options)
{
    int end = 0;
    if (std::sscanf(text.c_str(), "%dx%d%n", &options.width, &options.height, &end) != 2 ||
        end != static_cast<int>(text.size()))
        throw InputError(fmt::format("--size {}: give width and height in pixels, as 1280x720", text));
}

/// "#rrggbb", or "white" or "black"
Vec3 parse_color(const std::string& text)
{
    if (text == "white") return Vec3::Ones();
    if (text == "black") return Vec3::Zero();
    unsigned rgb = 0;
    int end = 0;
    if (text.size() != 7 || std::sscanf(text.c_str(), "#%6x%n", &rgb, &end) != 1 || end != 7)
        throw InputError(fmt::format("--background {}: give a colour as #rrggbb, white or black", text));
    return Vec3((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255) / 255.0;
}

RenderOptions render_options(const Options& options)
{
    RenderOptions render;
    parse_size(options.size, render);
    render.samples = options.samples;
    if (options.no_ground) render.ground = Ground::None;
    if (options.wireframe) render.wireframe = Wireframe{};
    if (!options.background.empty()) {
        render.background.top = parse_color(options.background.front());
        render.background.bottom = parse_color(options.background.back());
    }
    return render;
}

RenderScene read_scene(const Options& options)
{
    RenderScene scene;
    for (std::size_t i = 0; i < options.files.size(); ++i)
        scene.surfaces.push_back(
            make_surface(read_surface(options.files[i], options.read), {.color = palette_color(i)}));
    return scene;
}

Points all_points(const RenderScene& scene)
{
    Index count = 0;
    for (const RenderSurface& surface : scene.surfaces) count += surface.vertices.cols();
    Points points(3, count);
    Index begin = 0;
    for (const RenderSurface& surface : scene.surfaces) {
        points.middleCols(begin, surface.vertices.cols()) = surface.vertices;
        begin += surface.vertices.cols();
    }
    return points;
}

/// What the user did not say follows from the content.
Camera make_camera(const Options& options, const RenderOptions& render, const Points& content)
{
    const double aspect = static_cast<double>(render.width) / render.height;
    Camera camera =
        frame_content(content, {.view = options.view, .aspect = aspect, .fov = options.fov * degree});
    if (!options.target.empty()) camera.target = vector3(options.target);
    if (!options.camera.empty()) camera.position = vector3(options.camera);
    return camera;
}

void run_render(const Options& options, Session& session)
{
    const Stopwatch watch;
    const RenderOptions render_settings = render_options(options);
    const RenderScene scene = read_scene(options);
    const Camera camera = make_camera(options, render_settings, all_points(scene));
    write_png(options.output, render(scene, camera, render_settings, session.progress()));
    session.say("wrote {} ({:.1f} s)\n", options.output, watch.seconds());
}

} // namespace

void add_render_command(CLI::App& app, Session& session)
{
    static const std::map<std::string, View> views = {{"front", View::Front},
                                                      {"side", View::Side},
                                                      {"top", View::Top},
                                                      {"three-quarter", View::ThreeQuarter}};
    auto options = std::make_shared<Options>();
    CLI::App* command = add_command(app, session, "render", "draw meshes: a ray-traced picture",
                                    [options, &session] { run_render(*options, session); });
    command->add_option("files", options->files, "meshes, each in another colour")->required();
    command->add_option("-o,--output", options->output, "picture to write (.png)")->required();
    add_read_options(*command, options->read);
    command->add_option("--size", options->size, "width and height in pixels")->capture_default_str();
    command->add_option("--samples", options->samples, "light samples per pixel; more: finer and slower")
        ->capture_default_str()
        ->check(CLI::Range(1, 4096));
    command->add_option("--view", options->view, "from where")
        ->transform(CLI::CheckedTransformer(views, CLI::ignore_case))
        ->default_str("three-quarter")
        ->type_name("front|side|top|three-quarter");
    command->add_option("--camera", options->camera, "where the camera stands [m]")
        ->delimiter(',')
        ->expected(3)
        ->type_name("X,Y,Z");
    command->add_option("--target", options->target, "where it looks [m]")
        ->delimiter(',')
        ->expected(3)
        ->type_name("X,Y,Z");
    command->add_option("--fov", options->fov, "vertical angle of view [degrees]")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 170.0));
    command->add_option("--background", options->background, "colour behind all, or two for top and bottom")
        ->delimiter(',')
        ->expected(1, 2)
        ->type_name("#RRGGBB");
    command->add_flag("--no-ground", options->no_ground, "no checkered ground");
    command->add_flag("--wireframe", options->wireframe, "draw the edges of the triangles");
}

} // namespace lithe::cli
