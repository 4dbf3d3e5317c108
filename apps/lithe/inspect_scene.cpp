#include "inspect_scene.hpp"

#include <nlohmann/json.hpp>

#include "lithe/dynamics/reduced_body.hpp"
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

Json describe_body(const ReducedBody& body)
{
    const PreparedModel& model = *body.model().prepared;
    const Vec3 size = bounds(model.shown.rest.vertices).sizes();
    return {{"name", body.shown().name},
            {"coordinates", model.rank()},
            {"triangles", model.shown.rest.triangle_count()},
            {"size", {size[0], size[1], size[2]}},
            {"mass", model.tensors.mass},
            {"materials", model.materials.size()},
            {"pinned", model.pinned},
            {"loads", body.options().loads.size() + body.options().forces.size()}};
}

Json describe(const Scene& scene, const PreparedScene& prepared)
{
    Json bodies = Json::array(), obstacles = Json::array();
    for (const BodyId id : prepared.world.bodies()) {
        if (const auto* body = dynamic_cast<const FullBody*>(&prepared.world.body(id)))
            bodies.push_back(describe_body(*body));
        else if (const auto* reduced = dynamic_cast<const ReducedBody*>(&prepared.world.body(id)))
            bodies.push_back(describe_body(*reduced));
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

std::string body_text(const Json& body)
{
    const Json& size = body["size"];
    const bool reduced = body.contains("coordinates");
    const std::string what = reduced ? fmt::format("{} coordinates", body["coordinates"].get<Index>())
                                     : fmt::format("{} tets on {} vertices", body["tets"].get<Index>(),
                                                   body["vertices"].get<Index>());
    const std::string pins = reduced
                                 ? (body["pinned"].get<bool>() ? "pinned" : "held by its frame")
                                 : fmt::format("{} vertices pinned", body["pinned_vertices"].get<Index>());
    return fmt::format("{}: {}, {:.4g} x {:.4g} x {:.4g} m, {:.4g} kg, {} materials, {}, {} loads",
                       body["name"].get<std::string>(), what, size[0].get<double>(), size[1].get<double>(),
                       size[2].get<double>(), body["mass"].get<double>(), body["materials"].get<Index>(),
                       pins, body["loads"].get<Index>());
}

void print_text(const std::string& file, const Json& scene)
{
    const auto text = [](const Json& value) { return value.get<std::string>(); };
    fmt::print("{}: {}\n", file, text(scene["title"]));
    fmt::print("  {} frames of 1/{} s, {} steps each, {}\n", scene["frames"].get<int>(),
               scene["fps"].get<double>(), scene["substeps"].get<int>(), text(scene["method"]));
    for (const Json& body : scene["bodies"]) fmt::print("  body {}\n", body_text(body));
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
