#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/random.hpp"
#include "lithe/prepare/collision_proxy.hpp"
#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe {
namespace {

struct Loaded : LoadedModel {
    RigidPose placement; ///< of the model in the world
};

std::shared_ptr<FramedBodyModel> framed_model(const std::shared_ptr<const PreparedModel>& model)
{
    CollisionProxy proxy = make_collision_proxy(model->touching().rest);
    return std::make_shared<FramedBodyModel>(
        model, CollisionPart{std::move(proxy.origin), std::move(proxy.surface.triangles)});
}

LoadedModel shared(ModelFile content, const RigidPose& base, bool moves_freely)
{
    LoadedModel out{.prepared = std::make_shared<const PreparedModel>(std::move(content.model)),
                    .volume = std::make_shared<const PreparedVolume>(std::move(content.volume)),
                    .base = base};
    std::shared_ptr<const BodyTets> tets;
    if (out.prepared->rank() > 0) tets = std::make_shared<const BodyTets>(*out.prepared, out.volume);
    if (moves_freely && !out.prepared->pinned) {
        const std::shared_ptr<FramedBodyModel> framed = framed_model(out.prepared);
        framed->tets = tets;
        out.framed = framed;
    } else {
        const auto held = std::make_shared<ReducedBodyModel>(out.prepared);
        held->tets = tets;
        out.held = held;
    }
    return out;
}

ModelFile rigid_content(const BodyParts& parts)
{
    ModelFile out{.model = rigid_model(parts), .volume = {}};
    out.volume.mesh = parts.model.shown.volume;
    out.volume.embedding = parts.model.embedding;
    out.volume.U.resize(3 * parts.model.fem.vertex_count(), 0);
    return out;
}

LoadedModel made_model(const Scene& scene, const SceneBody& body, Progress& progress,
                       std::vector<std::string>& notes)
{
    const bool moves_freely = body.rigid || is_dynamic(integrator_of(scene.time.method));
    if (body.model)
        return at_place(body.source.place, [&] {
            if (body.self_contact || !body.led.empty() || body.play || !body.muscles.empty())
                throw InputError(
                    "self_contact, led, play and muscle are for models with bones, which this is not");
            return shared(read_model_file(*body.model), {}, moves_freely);
        });
    if (body.rigid)
        return shared(rigid_content(prepare_parts(scene, body, progress, notes)), body.placement,
                      moves_freely);
    Reduction made = prepare_model(scene, body, progress);
    notes.insert(notes.end(), made.notes.begin(), made.notes.end());
    return shared({std::move(made.model), std::move(made.volume)}, body.placement, moves_freely);
}

Loaded load_model(const Scene& scene, const SceneBody& body, ModelCache& models, Progress& progress,
                  std::vector<std::string>& notes)
{
    const SceneBody& first = body.copy_of ? scene.bodies[*body.copy_of] : body;
    LoadedModel& known = models[body.model ? body.model->string() : "the model of body " + first.name];
    if (!known.prepared) known = made_model(scene, first, progress, notes);
    Loaded out{known, {}};
    out.placement.rotation = (body.placement.rotation * known.base.rotation.conjugate()).normalized();
    out.placement.translation = body.placement.translation - out.placement.rotation * known.base.translation;
    return out;
}

/// The nodes where they are in the world at the start.
TetMesh placed(const Loaded& loaded)
{
    TetMesh mesh = loaded.volume->mesh;
    mesh.vertices = in_world(loaded.placement, mesh.vertices);
    return mesh;
}

/// U^T of a force that some nodes share.
VecX reduced_force(const Loaded& loaded, const ForceLoad& load, const std::vector<int>& vertices)
{
    const Vec3 share =
        loaded.placement.rotation.conjugate() * load.force / static_cast<double>(vertices.size());
    VecX out = VecX::Zero(loaded.prepared->rank());
    for (const int v : vertices)
        out += loaded.volume->U.middleRows<3>(3 * static_cast<Index>(v)).transpose() * share;
    return out;
}

/// Where each node of the tets is in the surface that touches; -1 inside.
std::vector<int> touching_vertices(const TetMesh& mesh)
{
    std::vector<int> origin;
    (void)boundary_surface(mesh, origin);
    std::vector<int> out(static_cast<std::size_t>(mesh.vertex_count()), -1);
    for (std::size_t i = 0; i < origin.size(); ++i)
        out[static_cast<std::size_t>(origin[i])] = static_cast<int>(i);
    return out;
}

/// Of a load, what acts on the surface that touches. A force is shared by those of its nodes that are there.
TimedLoad on_surface(TimedLoad load, const std::vector<int>& surface_vertex)
{
    const auto at = [&](int v) { return surface_vertex[static_cast<std::size_t>(v)]; };
    load.faces = load.faces.unaryExpr(at);
    std::ranges::transform(load.vertices, load.vertices.begin(), at);
    std::erase(load.vertices, -1);
    if (std::holds_alternative<ForceLoad>(load.load) && load.vertices.empty())
        throw InputError(
            "a force acts on the surface of a body that moves freely, but none of its vertices is there");
    return load;
}

/// Forces on nodes become reduced ones; what acts on faces goes to the surface that touches.
void set_loads(const std::vector<TimedLoad>& loads, const Loaded& loaded, ReducedBodyOptions& options)
{
    if (loads.empty()) return;
    const std::vector<int> surface_vertex = touching_vertices(loaded.volume->mesh);
    for (const TimedLoad& load : loads) {
        if (const auto* force = std::get_if<ForceLoad>(&load.load))
            options.forces.push_back({reduced_force(loaded, *force, load.vertices), load.factor});
        else
            options.loads.push_back(on_surface(load, surface_vertex));
    }
}

/// The q-velocity nearest to v + w x (x - c):  U^T M of it.
VecX start_velocity(const SceneBody& body, const Loaded& loaded)
{
    const FrameTensors& tensors = loaded.prepared->tensors;
    const Quat to_frame = loaded.placement.rotation.conjugate();
    const Vec3 w = to_frame * body.angular_velocity;
    const Vec3 v = to_frame * body.velocity - w.cross(tensors.centre);
    const VecX momentum = tensors.linear.transpose() * v + tensors.angular().transpose() * w;
    return loaded.prepared->reduced.M.llt().solve(momentum);
}

ReducedBodyOptions held_options(const Scene& scene, const SceneBody& body, const Loaded& loaded)
{
    return {.name = body.name,
            .color = body.color,
            .placement = loaded.placement,
            .integrator = integrator_of(scene.time.method),
            .newmark = {.beta = scene.time.newmark_beta,
                        .gamma = scene.time.newmark_gamma,
                        .newton = {.max_iterations = scene.solver.max_iterations,
                                   .decrement = scene.solver.decrement}},
            .friction = body.friction,
            .contact_stiffness = body.contact_stiffness,
            .velocity = start_velocity(body, loaded)};
}

/// Coordinates at random that move no vertex of the surface by more than the amount.
VecX random_shape(const PreparedModel& model, const SceneDisturbance& disturbed)
{
    Random random(disturbed.seed);
    VecX q(model.rank());
    for (double& x : q) x = random.uniform(-1.0, 1.0);
    double farthest = 0.0;
    for (int v = 0; v < model.touching().rest.vertex_count(); ++v)
        farthest = std::max(farthest, displacement(model.touching(), v, q).norm());
    return farthest > 0.0 ? VecX(disturbed.amount / farthest * q) : q;
}

/// Newmark's method, which does not damp, becomes the scheme that does not.
FramedBodyOptions free_options(const Scene& scene, const SceneBody& body, const Loaded& loaded)
{
    FramedBodyOptions out{.name = body.name,
                          .color = body.color,
                          .placement = loaded.placement,
                          .velocity = body.velocity,
                          .angular_velocity = body.angular_velocity,
                          .motion = {.spin = body.spin},
                          .law = {.friction = body.friction, .restitution = body.restitution}};
    if (scene.time.method == Method::Newmark) out.motion.scheme = FramedScheme::Theta;
    if (body.disturbed) out.q = random_shape(*loaded.prepared, *body.disturbed);
    return out;
}

} // namespace

ReducedParts prepare_reduced_body(const Scene& scene, const SceneBody& body, ModelCache& models,
                                  Progress& progress, std::vector<std::string>& notes)
{
    const Loaded loaded = load_model(scene, body, models, progress, notes);
    if (!body.rigid && !body.copy_of)
        notes.push_back(fmt::format("{}: {} coordinates instead of {}", body.name, loaded.prepared->rank(),
                                    3 * loaded.volume->mesh.vertex_count()));
    if (loaded.held && !loaded.prepared->pinned)
        notes.push_back(fmt::format("{}: has no pins; in a scene of equilibria it deforms where it is placed",
                                    body.name));
    BodyVolume volume{.body = body.name, .volume = loaded.volume, .loads = make_loads(body, placed(loaded))};
    return at_place(body.place, [&]() -> ReducedParts {
        if (loaded.held) {
            if (body.disturbed || body.spin != SpinRule::Exact)
                throw InputError("disturbed and spin are for reduced bodies that move freely");
            ReducedBodyOptions options = held_options(scene, body, loaded);
            set_loads(volume.loads, loaded, options);
            return {std::make_unique<ReducedBody>(loaded.held, std::move(options)), loaded.prepared,
                    std::move(volume)};
        }
        FramedBodyOptions options = free_options(scene, body, loaded);
        const std::vector<int> surface_vertex = touching_vertices(loaded.volume->mesh);
        for (const TimedLoad& load : volume.loads) options.loads.push_back(on_surface(load, surface_vertex));
        return {std::make_unique<FramedBody>(loaded.framed, std::move(options)), loaded.prepared,
                std::move(volume)};
    });
}

} // namespace lithe
