#include "command.hpp"
#include "posed_character.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "lithe/core/error.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/render/cut.hpp"
#include "lithe/render/layout.hpp"
#include "lithe/render/legend.hpp"
#include "lithe/render/render.hpp"
#include "lithe/render/video.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;
constexpr double degree = std::numbers::pi / 180.0;

/// As the user gave them; what is text here is parsed by the functions below.
struct Options {
    std::vector<std::string> inputs;
    std::string output;
    ReadOptions read;
    std::string size = "1280x720";
    int samples = RenderOptions{}.samples;
    std::optional<View> view;
    std::string camera, target; ///< "x,y,z"
    double fov = 30.0;          ///< [degrees]
    std::string background;     ///< "#rrggbb" or two of them
    bool no_ground = false;
    bool wireframe = false;
    std::string cut; ///< "x", "x=0.1" or "a,b,c,d"
    std::string color_by;
    std::string range; ///< "low,high"
    bool row = false, grid = false;
    double fps = 30.0;
    std::optional<std::string> clip; ///< of characters: name, number or file
    std::optional<double> time;      ///< in the clip [s]
    SkinningMethod skinning = SkinningMethod::Linear;
    bool bones = false; ///< draw skeletons instead of skins
};

/// Exactly `count` numbers with commas between them.
std::vector<double> parse_numbers(const std::string& option, const std::string& text, std::size_t count)
{
    std::vector<double> numbers;
    const char* at = text.c_str();
    for (char* end = nullptr; numbers.size() < count; at = end + 1) {
        numbers.push_back(std::strtod(at, &end));
        const char expected = numbers.size() < count ? ',' : '\0';
        if (end == at || *end != expected || !std::isfinite(numbers.back()))
            throw InputError(count == 1 ? fmt::format("{} {}: not a number", option, text)
                                        : fmt::format("{} {}: give {} numbers with commas between them",
                                                      option, text, count));
    }
    return numbers;
}

Vec3 parse_point(const std::string& option, const std::string& text)
{
    const std::vector<double> numbers = parse_numbers(option, text, 3);
    return {numbers[0], numbers[1], numbers[2]};
}

/// "#rrggbb", "white" or "black"
Vec3 parse_color(const std::string& text)
{
    if (text == "white") return Vec3::Ones();
    if (text == "black") return Vec3::Zero();
    unsigned rgb = 0;
    int end = 0;
    if (text.size() != 7 || std::sscanf(text.c_str(), "#%6x%n", &rgb, &end) != 1 || end != 7)
        throw InputError(fmt::format(
            "--background {}: give a colour as #rrggbb, white or black, or two with a comma", text));
    return Vec3((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255) / 255.0;
}

/// "x" cuts through the middle of `box`, "x=0.1" at that place, "a,b,c,d" takes away a x + b y + c z > d.
CutPlane parse_cut(const std::string& text, const Box3& box)
{
    const std::size_t axis = std::string_view("xyz").find(text.empty() ? '?' : text[0]);
    if (axis == std::string_view::npos) {
        const std::vector<double> n = parse_numbers("--cut", text, 4);
        const Vec3 normal(n[0], n[1], n[2]);
        if (normal.norm() == 0.0)
            throw InputError(fmt::format("--cut {}: the plane needs a direction", text));
        return {normal, n[3]};
    }
    const int i = static_cast<int>(axis);
    if (text.size() == 1) return {Vec3::Unit(i), box.center()[i]};
    if (text[1] != '=') throw InputError(fmt::format("--cut {}: give x, y or z, x=OFFSET, or a,b,c,d", text));
    return {Vec3::Unit(i), parse_numbers("--cut", text.substr(2), 1)[0]};
}

RenderOptions render_options(const Options& options)
{
    RenderOptions render;
    std::tie(render.width, render.height) = parse_size(options.size);
    render.samples = options.samples;
    if (options.no_ground) render.ground = Ground::None;
    if (options.wireframe) render.wireframe = Wireframe{};
    if (!options.background.empty()) {
        const std::size_t comma = options.background.find(',');
        render.background.top = parse_color(options.background.substr(0, comma));
        render.background.bottom = comma == std::string::npos
                                       ? render.background.top
                                       : parse_color(options.background.substr(comma + 1));
    }
    return render;
}

/// One thing in the picture: a file, a folder with one file per frame, or a character that plays a clip.
struct Body {
    std::vector<fs::path> frames;
    std::optional<PosedCharacter> character = {};
    const fs::path& frame(std::size_t i) const { return frames[std::min(i, frames.size() - 1)]; }
};

bool is_mesh(const fs::path& path)
{
    try {
        format_of(path);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

Body make_body(const fs::path& input, const Options& options, Session& session)
{
    if (holds_character(input))
        return {{input},
                PosedCharacter(input,
                               {.read = options.read,
                                .clip = options.clip,
                                .skinning = options.skinning,
                                .bones = options.bones},
                               session)};
    if (!fs::is_directory(input)) return {{input}};
    Body body;
    for (const fs::directory_entry& entry : fs::directory_iterator(input))
        if (entry.is_regular_file() && is_mesh(entry.path()) && entry.path().extension() != ".ele")
            body.frames.push_back(entry.path());
    if (body.frames.empty()) throw InputError({input}, "no mesh files in this folder to make frames from");
    std::sort(body.frames.begin(), body.frames.end());
    return body;
}

/// Reads the frames of all bodies; shorter animations hold their last frame.
class Reel {
public:
    Reel(const Options& options, Session& session) : options_(options)
    {
        for (const std::string& input : options.inputs) {
            bodies_.push_back(make_body(input, options, session));
            frame_count_ = std::max(frame_count_, count_frames(bodies_.back()));
        }
        const auto plays = [](const Body& body) { return body.character.has_value(); };
        if ((options.clip || options.time || options.bones) && std::ranges::none_of(bodies_, plays))
            throw InputError(
                "--clip, --time and --bones are for characters (.glb .gltf .bvh .shape .skel.txt)");
    }
    std::size_t frame_count() const { return frame_count_; }
    const std::vector<Body>& bodies() const { return bodies_; }

    /// One mesh per body. The last frame read is kept, so that a still is read once.
    const std::vector<MeshFile>& frame(std::size_t i)
    {
        if (current_ == i) return meshes_;
        meshes_.clear();
        for (const Body& body : bodies_)
            meshes_.push_back(body.character ? body.character->at(time_of(*body.character, i))
                                             : read_mesh_file(body.frame(i), options_.read));
        current_ = i;
        return meshes_;
    }

private:
    bool is_video() const { return fs::path(options_.output).extension() == ".mp4"; }
    /// A video plays a clip from its first to its last key.
    std::size_t count_frames(const Body& body) const
    {
        if (!body.character || !is_video()) return body.frames.size();
        return 1 + static_cast<std::size_t>(std::min(1e6, body.character->clip().duration() * options_.fps));
    }
    double time_of(const PosedCharacter& character, std::size_t frame) const
    {
        if (!is_video()) return options_.time.value_or(character.clip().begin());
        return character.clip().begin() + static_cast<double>(frame) / options_.fps;
    }

    Options options_;
    std::vector<Body> bodies_;
    std::size_t frame_count_ = 0;
    std::size_t current_ = std::numeric_limits<std::size_t>::max();
    std::vector<MeshFile> meshes_;
};

/// What must be known of all frames before the first is drawn.
struct Survey {
    std::vector<Box3> boxes;    ///< per body, over all frames
    std::vector<Points> points; ///< per body, those that the camera must see
    double low = std::numeric_limits<double>::infinity(), high = -low; ///< of the field to colour by
};

Points corners(const Box3& box)
{
    Points points(3, 8);
    for (int i = 0; i < 8; ++i) points.col(i) = box.corner(static_cast<Box3::CornerType>(i));
    return points;
}

void append(Points& points, const Points& more)
{
    points.conservativeResize(3, points.cols() + more.cols());
    points.rightCols(more.cols()) = more;
}

void survey_range(const MeshFile& mesh, const fs::path& path, const std::string& field, Survey& survey)
{
    try {
        for (const double value : field_magnitude(find_field(mesh.fields, field))) {
            if (!std::isfinite(value)) continue;
            survey.low = std::min(survey.low, value);
            survey.high = std::max(survey.high, value);
        }
    } catch (const InputError& error) {
        throw InputError({path}, error.what());
    }
}

Survey survey(Reel& reel, const Options& options, Progress& progress)
{
    Survey all;
    const std::vector<Body>& bodies = reel.bodies();
    all.boxes.resize(bodies.size());
    all.points.resize(bodies.size(), Points(3, 0));
    progress.begin("read", static_cast<std::int64_t>(reel.frame_count()));
    for (std::size_t frame = 0; frame < reel.frame_count(); ++frame) {
        const std::vector<MeshFile>& meshes = reel.frame(frame);
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            const TriangleMesh surface = surface_of(meshes[b]);
            if (surface.triangle_count() == 0)
                throw InputError({bodies[b].frame(frame)}, "nothing to draw in it");
            const Box3 box = bounds(surface.vertices);
            all.boxes[b].extend(box);
            append(all.points[b], reel.frame_count() == 1 ? surface.vertices : corners(box));
            if (!options.color_by.empty())
                survey_range(meshes[b], bodies[b].frame(frame), options.color_by, all);
        }
        progress.advance();
    }
    progress.end();
    return all;
}

void place(RenderSurface& surface, const Placement& placement)
{
    surface.vertices = (placement.scale * surface.vertices).colwise() + placement.shift;
}

/// Everything that is the same in all frames.
struct Shot {
    RenderOptions render;
    Camera camera;
    std::vector<Placement> placements;
    std::vector<std::optional<CutPlane>> cuts; ///< per body
    std::optional<ColorBy> color_by;
};

Camera make_camera(const Options& options, const RenderOptions& render, const Points& content)
{
    const double aspect = static_cast<double>(render.width) / render.height;
    const View usual = options.row || options.grid ? View::Gallery : View::ThreeQuarter;
    Camera camera = frame_content(
        content, {.view = options.view.value_or(usual), .aspect = aspect, .fov = options.fov * degree});
    if (!options.target.empty())
        camera.target = parse_point("--target", options.target);
    else if (!options.camera.empty())
        camera.target = bounds(content).center();
    if (!options.camera.empty()) camera.position = parse_point("--camera", options.camera);
    return camera;
}

Shot make_shot(const Options& options, const Survey& survey)
{
    Shot shot;
    shot.render = render_options(options);
    shot.placements = arrange(survey.boxes, options.grid  ? Arrangement::Grid
                                            : options.row ? Arrangement::Row
                                                          : Arrangement::AsIs);
    Points content(3, 0);
    for (std::size_t b = 0; b < survey.boxes.size(); ++b) {
        const Placement& at = shot.placements[b];
        append(content, (at.scale * survey.points[b]).colwise() + at.shift);
        shot.cuts.push_back({});
        if (!options.cut.empty()) shot.cuts[b] = parse_cut(options.cut, survey.boxes[b]);
    }
    shot.render.content = bounds(content);
    shot.camera = make_camera(options, shot.render, content);
    if (!options.color_by.empty()) {
        shot.color_by = ColorBy{options.color_by, survey.low, survey.high};
        if (!options.range.empty()) {
            const std::vector<double> range = parse_numbers("--range", options.range, 2);
            shot.color_by = ColorBy{options.color_by, range[0], range[1]};
        }
    }
    return shot;
}

std::vector<RenderSurface> body_surfaces(const MeshFile& mesh, const Shot& shot, std::size_t body)
{
    const SurfaceOptions look = {.color = palette_color(body), .color_by = shot.color_by};
    const std::optional<CutPlane>& cut = shot.cuts[body];
    if (!cut) return {make_surface(surface_of(mesh), look)};
    if (mesh.tets.cols() > 0) return cut_tets(tets_of(mesh, InvertedTets::Keep, {}), *cut, look);
    return {make_surface(cut_surface(surface_of(mesh), *cut), look)};
}

Image draw_frame(Reel& reel, std::size_t frame, const Shot& shot, Progress& progress)
{
    RenderScene scene;
    const std::vector<MeshFile>& meshes = reel.frame(frame);
    for (std::size_t b = 0; b < meshes.size(); ++b)
        for (RenderSurface& surface : body_surfaces(meshes[b], shot, b)) {
            place(surface, shot.placements[b]);
            scene.surfaces.push_back(std::move(surface));
        }
    if (std::ranges::all_of(scene.surfaces, [](const RenderSurface& s) { return s.triangles.cols() == 0; }))
        throw InputError("--cut: the plane takes everything away; move it, or turn its direction round");
    Image image = render(scene, shot.camera, shot.render, progress);
    if (shot.color_by) draw_legend(image, *shot.color_by);
    return image;
}

void draw_video(const Options& options, Reel& reel, Session& session)
{
    const RenderOptions size = render_options(options);
    VideoWriter video(options.output,
                      {size.width, size.height, options.fps}); // first: is ffmpeg there at all?
    const Shot shot = make_shot(options, survey(reel, options, session.progress()));
    Progress& progress = session.progress();
    Progress quiet([&](const ProgressEvent&) { progress.check(); }, {});
    progress.begin("frames", static_cast<std::int64_t>(reel.frame_count()));
    for (std::size_t frame = 0; frame < reel.frame_count(); ++frame) {
        video.add(draw_frame(reel, frame, shot, quiet));
        progress.advance();
    }
    progress.end();
    video.finish();
}

void run_render(const Options& options, Session& session)
{
    const Stopwatch watch;
    Reel reel(options, session);
    const std::string ending = fs::path(options.output).extension().string();
    if (ending == ".mp4") {
        if (reel.frame_count() == 1)
            throw InputError({options.output},
                             "a video needs a folder of frames; for one picture write a .png");
        draw_video(options, reel, session);
    } else if (ending == ".png") {
        if (reel.frame_count() > 1)
            throw InputError({options.output},
                             "a folder of frames makes a video; write an .mp4, or give one file");
        const Shot shot = make_shot(options, survey(reel, options, session.progress()));
        write_png(options.output, draw_frame(reel, 0, shot, session.progress()));
    } else {
        throw InputError({options.output}, "unknown ending; pictures are .png, videos .mp4");
    }
    session.say("wrote {} ({:.1f} s)\n", options.output, watch.seconds());
}

void add_camera_options(CLI::App& command, Options& options)
{
    static const std::map<std::string, View> views = {{"front", View::Front},
                                                      {"side", View::Side},
                                                      {"top", View::Top},
                                                      {"three-quarter", View::ThreeQuarter},
                                                      {"gallery", View::Gallery}};
    command
        .add_option("--view", options.view, "from where (default: three-quarter; of rows and grids: gallery)")
        ->transform(CLI::CheckedTransformer(views, CLI::ignore_case).description(""))
        ->type_name("front|side|top|three-quarter|gallery");
    command.add_option("--camera", options.camera, "where the camera stands [m]")->type_name("X,Y,Z");
    command.add_option("--target", options.target, "where it looks [m]")->type_name("X,Y,Z");
    command.add_option("--fov", options.fov, "vertical angle of view [degrees]")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 170.0));
}

void add_look_options(CLI::App& command, Options& options)
{
    command.add_option("--background", options.background, "colour behind all, or two: top,bottom")
        ->type_name("#RRGGBB");
    command.add_flag("--no-ground", options.no_ground, "no checkered ground");
    command.add_flag("--wireframe", options.wireframe, "draw the edges of the triangles");
    command
        .add_option("--cut", options.cut,
                    "open the meshes: x, y or z (through the middle), x=OFFSET, or a plane")
        ->type_name("x|y|z[=OFFSET]|A,B,C,D");
    CLI::Option* color_by =
        command
            .add_option("--color-by", options.color_by, "colour by a vertex field (of vectors, their length)")
            ->type_name("FIELD");
    command.add_option("--range", options.range, "values at the ends of the colour map (default: all)")
        ->type_name("LOW,HIGH")
        ->needs(color_by);
    CLI::Option* row = command.add_flag("--row", options.row, "place the files side by side");
    command.add_flag("--grid", options.grid, "place them in rows and columns, scaled to one size")
        ->excludes(row);
}

void add_character_options(CLI::App& command, Options& options)
{
    command.add_option("--clip", options.clip,
                       "of characters: a clip by name or number, or a file with one (default: the first)");
    command.add_option("--time", options.time, "when in the clip [s] (default: its start; a video plays it)")
        ->check(CLI::Number);
    command.add_option("--skinning", options.skinning, "linear or dual_quaternion")
        ->transform(one_of(skinning_methods));
    command.add_flag("--bones", options.bones, "draw the skeletons of characters instead of their skins");
}

} // namespace

void add_render_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<Options>();
    CLI::App* command = add_command(app, session, "render", "draw meshes: a ray-traced picture or video",
                                    [options, &session] { run_render(*options, session); });
    command
        ->add_option("files", options->inputs,
                     "meshes and characters, each in another colour, or folders of frames")
        ->required();
    command->add_option("-o,--output", options->output, "picture (.png) or video (.mp4) to write")
        ->required();
    add_read_options(*command, options->read);
    command->add_option("--size", options->size, "width and height in pixels")->capture_default_str();
    command->add_option("--samples", options->samples, "light samples per pixel; more: finer and slower")
        ->capture_default_str()
        ->check(CLI::Range(1, 4096));
    command->add_option("--fps", options->fps, "frames per second of a video")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 240.0));
    add_camera_options(*command, *options);
    add_look_options(*command, *options);
    add_character_options(*command, *options);
}

} // namespace lithe::cli
