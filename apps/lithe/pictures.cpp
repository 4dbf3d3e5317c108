#include "pictures.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"

namespace lithe::cli {
namespace {

/// A plane that is drawn by the renderer as its ground.
bool is_ground(const Shown& body, const Published& now)
{
    return body.backdrop && (now.frame.rotation * Vec3::UnitY())[1] > 1.0 - 1e-9;
}

RenderScene make_scene(const std::vector<Shown>& bodies, const Frame& frame)
{
    RenderScene scene;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        if (is_ground(bodies[b], frame.bodies[b]) || bodies[b].surface.triangle_count() == 0) continue;
        TriangleMesh mesh = bodies[b].surface;
        mesh.vertices = surface_in_world(bodies[b], frame.bodies[b]);
        scene.surfaces.push_back(make_surface(mesh, {.color = bodies[b].color}));
    }
    return scene;
}

/// The height of the ground, when there is one.
std::optional<double> ground_height(const std::vector<Shown>& bodies, const Frame& frame)
{
    for (std::size_t b = 0; b < bodies.size(); ++b)
        if (is_ground(bodies[b], frame.bodies[b])) return frame.bodies[b].frame.translation[1];
    return std::nullopt;
}

bool has_tilted_plane(const std::vector<Shown>& bodies, const Frame& frame)
{
    for (std::size_t b = 0; b < bodies.size(); ++b)
        if (bodies[b].backdrop && !is_ground(bodies[b], frame.bodies[b])) return true;
    return false;
}

void append(const Points& more, Points& points)
{
    Points both(3, points.cols() + more.cols());
    both << points, more;
    points = std::move(both);
}

} // namespace

void FrameKeeper::frame(const Frame& frame)
{
    if (std::find(numbers_.begin(), numbers_.end(), frame.number) != numbers_.end()) frames_.push_back(frame);
}

Points content_of(const RenderScene& scene)
{
    Points points(3, 0);
    for (const RenderSurface& surface : scene.surfaces) append(surface.vertices, points);
    return points;
}

FrameView view_of(const std::vector<Shown>& bodies, std::span<const Frame> frames,
                  const RenderOptions& options)
{
    LITHE_ASSERT(!frames.empty());
    Points points(3, 0);
    for (const Frame& frame : frames) append(content_of(make_scene(bodies, frame)), points);
    Box3 content = bounds(points);
    if (const auto height = ground_height(bodies, frames.front()))
        content.extend(Vec3(content.center()[0], *height, content.center()[2]));
    FrameView view{.camera = {}, .options = options};
    view.options.content = content;
    if (has_tilted_plane(bodies, frames.front())) view.options.ground = Ground::None;
    const double aspect = static_cast<double>(options.width) / options.height;
    view.camera = frame_content(points, {.aspect = aspect});
    return view;
}

Image draw_frame(const std::vector<Shown>& bodies, const Frame& frame, const FrameView& view,
                 Progress& progress)
{
    return render(make_scene(bodies, frame), view.camera, view.options, progress);
}

Image contact_sheet(std::span<const Image> pictures, int columns)
{
    LITHE_ASSERT(!pictures.empty() && columns > 0);
    const int width = pictures.front().width, height = pictures.front().height;
    const int rows = (static_cast<int>(pictures.size()) + columns - 1) / columns;
    Image sheet = make_image(width * std::min(columns, static_cast<int>(pictures.size())), height * rows);
    for (int k = 0; k < static_cast<int>(pictures.size()); ++k) {
        const Image& picture = pictures[static_cast<std::size_t>(k)];
        for (int y = 0; y < height; ++y)
            std::copy_n(picture.pixel(0, y), 3 * width,
                        sheet.pixel(width * (k % columns), height * (k / columns) + y));
    }
    return sheet;
}

} // namespace lithe::cli
