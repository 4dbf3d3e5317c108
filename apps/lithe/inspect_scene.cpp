#include "inspect_scene.hpp"

#include <nlohmann/json.hpp>

#include "lithe/fem/full_body.hpp"
#include "lithe/prepare/prepare_scene.hpp"

namespace lithe::cli {
namespace {

using Json = nlohmann::ordered_json;

Json describe_body(const FullBody& body)
{
    const FullBodyModel& model = body.model();
    std::size_t pinned = 0;
    for (const LedVertices& led : model.pins) pinned += led.vertices.size();
    const Vec3 size = bounds(model.fem.rest).sizes();
    return {{"name", model.shown.name},
            {"tets", model.shown.volume.tet_count()},
            {"vertices", model.fem.vertex_count()},
            {"triangles", model.shown.surface.triangle_count()},
            {"size", {size[0], size[1], size[2]}},
            {"mass", model.fem.vertex_mass.sum()},
            {"materials", model.fem.elements.regions.size()},
            {"pinned_vertices", pinned},
            {"loads", model.loads.size()}};
}

Json describe(const Scene& scene, const PreparedScene& prepared)
{
    Json bodies = Json::array(), obstacles = Json::array();
    for (const BodyId id : prepared.world.bodies()) {
        if (const auto* body = dynamic_cast<const FullBody*>(&prepared.world.body(id)))
            bodies.push_back(describe_body(*body));
        else
            obstacles.push_back(prepared.world.body(id).shown().name);
    }
    return {{"title", scene.title},
            {"method", method_name(scene.time.method)},
            {"frames", scene.time.frames},
            {"fps", scene.time.fps},
            {"substeps", scene.time.substeps},
            {"bodies", bodies},
            {"obstacles", obstacles},
            {"notes", prepared.notes}};
}

void print_text(const std::string& file, const Json& scene)
{
    const auto text = [](const Json& value) { return value.get<std::string>(); };
    fmt::print("{}: {}\n", file, text(scene["title"]));
    fmt::print("  {} frames of 1/{} s, {} steps each, {}\n", scene["frames"].get<int>(),
               scene["fps"].get<double>(), scene["substeps"].get<int>(), text(scene["method"]));
    for (const Json& body : scene["bodies"])
        fmt::print("  body {}: {} tets on {} vertices, {:.4g} x {:.4g} x {:.4g} m, {:.4g} kg, {} materials, "
                   "{} vertices "
                   "pinned, {} loads\n",
                   text(body["name"]), body["tets"].get<Index>(), body["vertices"].get<Index>(),
                   body["size"][0].get<double>(), body["size"][1].get<double>(),
                   body["size"][2].get<double>(), body["mass"].get<double>(), body["materials"].get<int>(),
                   body["pinned_vertices"].get<int>(), body["loads"].get<int>());
    for (const Json& obstacle : scene["obstacles"]) fmt::print("  obstacle {}\n", text(obstacle));
    for (const Json& note : scene["notes"]) fmt::print("  note: {}\n", text(note));
    fmt::print("No faults found.\n");
}

} // namespace

void inspect_scene(const std::string& file, ReportStyle style, Session& session)
{
    const Scene scene = read_scene(file);
    const PreparedScene prepared = prepare_scene(scene, session.progress());
    const Json found = describe(scene, prepared);
    if (style == ReportStyle::Json)
        fmt::print("{}\n", found.dump(2, ' ', false, Json::error_handler_t::replace));
    else
        print_text(file, found);
}

} // namespace lithe::cli
