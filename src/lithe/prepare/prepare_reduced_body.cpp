#include <fmt/format.h>

#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe {
namespace {

struct Loaded : LoadedModel {
    RigidPose placement; ///< of the model in the world

    const PreparedModel& prepared() const { return *model->prepared; }
};

LoadedModel shared(ModelFile content)
{
    return {std::make_shared<const ReducedBodyModel>(
                std::make_shared<const PreparedModel>(std::move(content.model))),
            std::make_shared<const PreparedVolume>(std::move(content.volume))};
}

Loaded load_model(const Scene& scene, const SceneBody& body, ModelCache& models, Progress& progress,
                  std::vector<std::string>& notes)
{
    if (body.model) {
        LoadedModel& known = models[*body.model];
        if (!known.model)
            known = at_place(body.source.place, [&] { return shared(read_model_file(*body.model)); });
        return {known, body.placement};
    }
    Reduction made = prepare_model(scene, body, progress); // placed before it was reduced
    notes.insert(notes.end(), made.notes.begin(), made.notes.end());
    return {shared({std::move(made.model), std::move(made.volume)}), {}};
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
    VecX out = VecX::Zero(loaded.prepared().rank());
    for (const int v : vertices)
        out += loaded.volume->U.middleRows<3>(3 * static_cast<Index>(v)).transpose() * share;
    return out;
}

/// Where each node of the tets is in the surface that touches; -1 inside.
std::vector<int> touching_vertices(const PreparedVolume& volume)
{
    std::vector<int> origin;
    (void)boundary_surface(volume.mesh, origin);
    std::vector<int> out(static_cast<std::size_t>(volume.mesh.vertex_count()), -1);
    for (std::size_t i = 0; i < origin.size(); ++i)
        out[static_cast<std::size_t>(origin[i])] = static_cast<int>(i);
    return out;
}

/// Forces on nodes become reduced ones; what acts on faces goes to the surface that touches.
void set_loads(std::vector<TimedLoad> loads, const Loaded& loaded, ReducedBodyOptions& options)
{
    if (loads.empty()) return;
    const std::vector<int> surface_vertex = touching_vertices(*loaded.volume);
    for (TimedLoad& load : loads) {
        if (const auto* force = std::get_if<ForceLoad>(&load.load)) {
            options.forces.push_back({reduced_force(loaded, *force, load.vertices), load.factor});
            continue;
        }
        load.vertices.clear();
        load.faces = load.faces.unaryExpr([&](int v) { return surface_vertex[static_cast<std::size_t>(v)]; });
        options.loads.push_back(std::move(load));
    }
}

/// The q-velocity nearest to v + w x (x - c):  U^T M of it.
VecX start_velocity(const SceneBody& body, const Loaded& loaded)
{
    const MassIntegrals& integrals = loaded.prepared().integrals;
    const Quat to_frame = loaded.placement.rotation.conjugate();
    const Vec3 w = to_frame * body.angular_velocity;
    const Vec3 v = to_frame * body.velocity - w.cross(integrals.centre);
    const VecX momentum = integrals.linear.transpose() * v + integrals.angular.transpose() * w;
    return loaded.prepared().reduced.M.llt().solve(momentum);
}

} // namespace

ReducedParts prepare_reduced_body(const Scene& scene, const SceneBody& body, ModelCache& models,
                                  Progress& progress, std::vector<std::string>& notes)
{
    const Loaded loaded = load_model(scene, body, models, progress, notes);
    notes.push_back(fmt::format("{}: {} coordinates instead of {}", body.name, loaded.prepared().rank(),
                                3 * loaded.volume->mesh.vertex_count()));
    if (!loaded.prepared().pinned)
        notes.push_back(fmt::format(
            "{}: has no pins; it deforms, but stays where it is placed (in full space it would move)",
            body.name));
    ReducedBodyOptions options{.name = body.name,
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
    BodyVolume volume{.body = body.name, .volume = loaded.volume, .loads = make_loads(body, placed(loaded))};
    set_loads(volume.loads, loaded, options);
    return at_place(body.place, [&] {
        return ReducedParts{std::make_unique<ReducedBody>(loaded.model, std::move(options)),
                            std::move(volume)};
    });
}

} // namespace lithe
