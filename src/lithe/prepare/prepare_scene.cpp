#include "lithe/prepare/prepare_scene.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "lithe/core/hash.hpp"
#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/reduce/lattice_model_io.hpp"

namespace lithe {
namespace {

using Bodies = std::vector<std::unique_ptr<Body>>;

/// Half the side of the square that stands for a plane: beyond all that moves.
double plane_reach(const Bodies& bodies, const Bodies& characters)
{
    Box3 box;
    for (const Bodies* some : {&bodies, &characters})
        for (const auto& body : *some) box.extend(body->swept_bounds());
    return box.isEmpty() ? 1.0
                         : 1.5 * (box.diagonal().norm() + Vec3(box.center()[0], 0.0, box.center()[2]).norm());
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b)
{
    return hash_bytes(fmt::format("{:016x}{:016x}", a, b));
}

/// How much of a body is inside of an obstacle at the start.
struct Overlap {
    Index inside = 0, vertices = 0;
    double depth = 0.0; ///< of the deepest vertex [m]
};

Overlap overlap(const Points& x, const Obstacle& obstacle)
{
    Overlap out{.vertices = x.cols()};
    for (Index v = 0; v < x.cols(); ++v) {
        const double d = signed_distance(obstacle, StepEnd::Start, x.col(v)).distance;
        if (d < 0.0) ++out.inside;
        out.depth = std::max(out.depth, -d);
    }
    return out;
}

/// Refuses an obstacle that holds all of a body, or nearly so: no force would ever bring it out in one piece.
void require_apart(const SceneBody& body, const Body& made, Body& solid, std::vector<std::string>& notes)
{
    Published now;
    made.publish(now);
    const Points x = surface_in_world(made.shown(), now);
    const Overlap found = overlap(x, *solid.obstacle(0.0, 1.0));
    const double size = bounds(x).diagonal().norm();
    if (found.inside == found.vertices || found.depth > 0.25 * size)
        throw InputError(
            body.place,
            fmt::format("'{}' is inside the obstacle '{}' at the start ({} of {} vertices, {:.3g} m deep); "
                        "move one of them",
                        body.name, solid.shown().name, found.inside, found.vertices, found.depth));
    if (found.inside > 0)
        notes.push_back(fmt::format("{} overlaps {} by {:.3g} m at the start and will be pushed out",
                                    body.name, solid.shown().name, found.depth));
}

std::unique_ptr<Body> prepare_body(const Scene& scene, const SceneBody& body, ModelCache& models,
                                   Progress& progress, PreparedScene& out)
{
    if ((body.disturbed || body.spin != SpinRule::Exact) && (has_bones(body) || has_lattice(body)))
        throw InputError(body.place, "disturbed and spin are for reduced bodies, not for characters");
    if (has_bones(body)) {
        auto character = prepare_articulated_body(scene, body, models, progress, out.notes);
        out.inputs = mixed(out.inputs, character->model().prepared->record.inputs);
        return character;
    }
    if (has_lattice(body)) {
        auto character = prepare_lattice_body(scene, body, models, progress, out.notes);
        out.inputs = mixed(out.inputs, character->system().model->record.inputs);
        return character;
    }
    if (!body.model && !body.reduction && !body.rigid)
        return prepare_full_body(scene, body, progress, out.notes);
    ReducedParts parts = prepare_reduced_body(scene, body, models, progress, out.notes);
    out.inputs = mixed(out.inputs, parts.model->record.inputs);
    out.volumes.push_back(std::move(parts.volume));
    return std::move(parts.body);
}

/// The groups of a scene as bits; those without a group are in the first.
void set_filters(const Scene& scene, World& world)
{
    std::map<std::string, std::uint64_t> bits;
    const auto bits_of = [&](const std::vector<std::string>& groups) {
        std::uint64_t out = 0;
        for (const std::string& group : groups)
            out |= bits.try_emplace(group, std::uint64_t{2} << bits.size()).first->second;
        return out;
    };
    const auto set = [&](const auto& things) {
        for (const auto& thing : things) {
            const SceneFilter& filter = thing.filter;
            if (filter.groups.empty() && filter.passes.empty()) continue;
            world.set_filter(*world.find(thing.name),
                             {.groups = filter.groups.empty() ? 1 : bits_of(filter.groups),
                              .meets = ~bits_of(filter.passes)});
        }
    };
    set(scene.bodies);
    set(scene.obstacles);
    set(scene.characters);
}

/// Bodies that start in each other. Many at once, as in a heap that was poured elsewhere, are one note.
void note_overlaps(World& world, std::vector<std::string>& notes)
{
    constexpr std::size_t most_named = 5;
    const std::vector<World::Overlap> found = world.overlaps();
    const auto name = [&](BodyId id) { return world.body(id).shown().name; };
    for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i)
        notes.push_back(
            fmt::format("'{}' and '{}' overlap by {:.2g} m at the start: they are moved apart gently",
                        name(found[i].a), name(found[i].b), found[i].depth));
    if (found.size() > most_named)
        notes.push_back(fmt::format("and so are {} other pairs of bodies", found.size() - most_named));
}

RunOptions run_options(const SceneTime& time)
{
    return {.fps = time.fps, .substeps = time.substeps, .last_frame = time.frames};
}

} // namespace

double comfortable_young(double density, double gravity, double height)
{
    return density * gravity * height / 0.03;
}

PreparedScene prepare_scene(const Scene& scene, Progress& progress)
{
    PreparedScene out{.world = World({.gravity = scene.gravity,
                                      .contact = {.impulses = scene.impulses},
                                      .sleep = {.enabled = scene.sleep}}),
                      .run = run_options(scene.time),
                      .volumes = {},
                      .notes = {}};
    Bodies bodies;
    ModelCache models;
    for (const SceneBody& body : scene.bodies)
        bodies.push_back(prepare_body(scene, body, models, progress, out));
    Bodies solids;
    for (const SceneCharacter& character : scene.characters)
        solids.push_back(prepare_character(character, progress, out.notes));
    const double reach = plane_reach(bodies, solids);
    for (const SceneObstacle& obstacle : scene.obstacles)
        solids.push_back(prepare_obstacle(obstacle, reach, progress));
    for (auto& solid : solids) {
        for (std::size_t b = 0; b < bodies.size(); ++b)
            require_apart(scene.bodies[b], *bodies[b], *solid, out.notes);
        out.world.add(std::move(solid));
    }
    for (auto& body : bodies) out.world.add(std::move(body));
    set_filters(scene, out.world);
    for (const ScenePair& pair : scene.pairs)
        at_place(pair.place, [&] {
            out.world.set_pair(*out.world.find(pair.a), *out.world.find(pair.b),
                               {pair.friction, pair.restitution, pair.collide});
        });
    for (const SceneJoint& joint : scene.joints)
        at_place(joint.place, [&] {
            (void)out.world.add_joint(*out.world.find(joint.a), *out.world.find(joint.b), joint.joint);
        });
    note_overlaps(out.world, out.notes);
    out.inputs = mixed(out.inputs, scene.text_hash ^ out.world.state_hash());
    return out;
}

namespace {

SceneObstacle ground_at(double height)
{
    SceneObstacle ground;
    ground.name = "ground";
    ground.source = {.from = std::string("plane"), .read = {}, .place = {}};
    ground.path = RigidPose{.translation = Vec3(0.0, height, 0.0)};
    return ground;
}

/// The character where its file puts it, on a ground, and a soft ball that falls on its back.
Scene character_scene(const std::filesystem::path& file, const ReadOptions& read)
{
    const Character character = read_character(file, read);
    const Box3 box = bounds(character.surface.vertices);
    Scene scene;
    scene.title = file.stem().string() + " plays its clip, and a soft ball falls on it";
    scene.characters.push_back(
        {.name = file.stem().string(), .source = {.from = file, .read = read, .place = {}}});
    if (box.isEmpty()) return scene; // nothing to play with: prepare_scene says so
    const double radius = 0.12 * box.sizes().maxCoeff();
    SceneBody ball;
    ball.name = "ball";
    ball.source = {.from = fmt::format("sphere:radius={:.6g}", radius), .read = {}, .place = {}};
    ball.tets = 2000;
    ball.placement.translation = Vec3(box.center()[0], box.max()[1] + 1.5 * radius, box.center()[2]);
    scene.bodies.push_back(std::move(ball));
    scene.obstacles.push_back(ground_at(box.min()[1]));
    return scene;
}

TriangleMesh model_surface(const std::filesystem::path& file)
{
    const std::string kind = model_kind(file);
    if (kind == "bones") return read_bone_model(file).shown.rest;
    if (kind == "lattice") return read_lattice_model(file).shown.rest;
    return read_model(file).shown.rest;
}

} // namespace

Scene default_scene(const std::filesystem::path& file, const ReadOptions& read)
{
    if (holds_character(file)) return character_scene(file, read);
    const bool is_model = file.extension() == ".lithe";
    const Box3 box = bounds(is_model ? model_surface(file).vertices : read_surface(file, read).vertices);
    Scene scene;
    scene.title = file.stem().string() + (is_model ? " under its weight" : " falls on the ground");
    SceneBody body;
    body.name = file.stem().string();
    if (is_model)
        body.model = file;
    else
        body.source = {.from = file, .read = read, .place = {}};
    body.placement.translation =
        Vec3(-box.center()[0], 0.2 * box.sizes().maxCoeff() - box.min()[1], -box.center()[2]);
    scene.bodies.push_back(std::move(body));
    scene.obstacles.push_back(ground_at(0.0));
    return scene;
}

} // namespace lithe
