#include "lithe/prepare/prepare_body.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/geometry/make_shape.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/prepare/select.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe {
namespace {

constexpr double standard_gravity = 9.81; ///< [m/s^2]

double young_or_comfortable(const SceneMaterial& material, const Scene& scene, const SceneBody& body,
                            const TetMesh& mesh, std::vector<std::string>& notes)
{
    if (material.young) return *material.young;
    const double g = scene.gravity.norm() > 0.0 ? scene.gravity.norm() : standard_gravity;
    const double height = bounds(mesh.vertices).sizes()[1];
    const double young = comfortable_young(material.density, g, height);
    notes.push_back(fmt::format("{}: no modulus is given; chosen for its size and weight: young = {:.4g} Pa",
                                body.name, young));
    return young;
}

RegionParameters make_region(const SceneMaterial& material, int label, const Scene& scene,
                             const SceneBody& body, const TetMesh& mesh, std::vector<std::string>& notes)
{
    const double young = young_or_comfortable(material, scene, body, mesh, notes);
    return {.label = label,
            .material = {.kind = material.kind,
                         .elastic = {young, material.poisson},
                         .mooney_ratio = material.mooney_ratio,
                         .limit_stretch = material.limit_stretch},
            .density = material.density};
}

/// Labels the tets anew: k + 1 for those of region k (the first that claims them), 0 for the rest.
std::vector<RegionParameters> make_regions(const Scene& scene, const SceneBody& body, TetMesh& mesh,
                                           std::vector<std::string>& notes)
{
    std::vector<int> labels(static_cast<std::size_t>(mesh.tet_count()), 0);
    std::vector<RegionParameters> materials;
    for (std::size_t k = 0; k < body.regions.size(); ++k) {
        const SceneRegion& region = body.regions[k];
        const int label = static_cast<int>(k) + 1;
        const std::vector<int> tets = at_place(region.place, [&] { return select_tets(region.part, mesh); });
        for (const int t : tets)
            if (int& mine = labels[static_cast<std::size_t>(t)]; mine == 0) mine = label;
        materials.push_back(make_region(region.material, label, scene, body, mesh, notes));
    }
    materials.insert(materials.begin(), make_region(body.material, 0, scene, body, mesh, notes));
    mesh.regions = std::move(labels);
    return materials;
}

/// The same as the solver wants them; what is wrong with one is said at its place.
std::vector<RegionMaterial> make_materials(const SceneBody& body,
                                           const std::vector<RegionParameters>& regions)
{
    std::vector<RegionMaterial> out;
    for (const RegionParameters& region : regions) {
        const SceneMaterial& scene = region.label == 0
                                         ? body.material
                                         : body.regions[static_cast<std::size_t>(region.label - 1)].material;
        out.push_back(at_place(scene.place, [&] {
            return RegionMaterial{region.label, make_material(region.material), region.density};
        }));
    }
    return out;
}

std::vector<LedVertices> make_pins(const SceneBody& body, const TetMesh& mesh)
{
    std::vector<LedVertices> out;
    std::vector<unsigned char> held(static_cast<std::size_t>(mesh.vertex_count()), 0);
    for (const ScenePin& pin : body.pins) {
        LedVertices led{.vertices = at_place(pin.place, [&] { return select_vertices(pin.where, mesh); }),
                        .motion = pin.motion};
        for (const int v : led.vertices) held[static_cast<std::size_t>(v)] = 1;
        led.about = pin.about ? *pin.about : middle(led.vertices, mesh);
        if (pin.release) led.release = *pin.release;
        out.push_back(std::move(led));
    }
    if (!body.pins.empty() && std::count(held.begin(), held.end(), 0) == 0)
        throw InputError(body.pins.front().place, "every vertex of '" + body.name +
                                                      "' is pinned, so that nothing can move; pin fewer");
    return out;
}

/// v + w x (x - c) with c the centre of mass.
Points start_velocities(const SceneBody& body, const FemModel& fem)
{
    const Vec3 centre = fem.rest * fem.vertex_mass / fem.vertex_mass.sum();
    Points v(3, fem.vertex_count());
    for (Index i = 0; i < v.cols(); ++i)
        v.col(i) = body.velocity + body.angular_velocity.cross(Vec3(fem.rest.col(i) - centre));
    return v;
}

/// What is drawn for a plane: a square in it.
TriangleMesh make_square(double reach)
{
    TriangleMesh square;
    square.vertices.resize(3, 4);
    square.vertices << -reach, reach, reach, -reach, 0, 0, 0, 0, reach, reach, -reach, -reach;
    square.triangles.resize(3, 2);
    square.triangles << 0, 0, 1, 2, 2, 3;
    return square;
}

} // namespace

Integrator integrator_of(Method method)
{
    switch (method) {
    case Method::BackwardEuler:
        return Integrator::BackwardEuler;
    case Method::Newmark:
        return Integrator::Newmark;
    case Method::QuasiStatic:
        return Integrator::QuasiStatic;
    case Method::Static:
        return Integrator::Static;
    }
    return Integrator::BackwardEuler;
}

std::vector<TimedLoad> make_loads(const SceneBody& body, const TetMesh& mesh)
{
    std::vector<TimedLoad> out;
    for (const SceneLoad& load : body.loads) {
        at_place(load.place, [&] {
            TimedLoad timed{
                .load = load.load, .vertices = select_vertices(load.where, mesh), .factor = load.factor};
            if (!std::holds_alternative<ForceLoad>(load.load))
                timed.faces = select_faces(timed.vertices, mesh);
            out.push_back(std::move(timed));
        });
    }
    return out;
}

BodyParts prepare_parts(const Scene& scene, const SceneBody& body, Progress& progress,
                        std::vector<std::string>& notes)
{
    Volume volume = load_volume(body, progress, notes);
    BodyParts out;
    out.materials = make_regions(scene, body, volume.tets, notes);
    FullBodyModel& model = out.model;
    const std::vector<RegionMaterial> materials = make_materials(body, out.materials);
    at_place(body.place, [&] {
        model.fem = make_fem_model(volume.tets, materials, {.mass = body.mass, .damping = body.damping});
    });
    model.contact =
        make_contact_model(model.fem, {.stiffness = body.contact_stiffness.value_or(0.0),
                                       .friction = body.friction,
                                       .self = body.self_contact ? SelfContact::On : SelfContact::Off});
    model.pins = make_pins(body, volume.tets);
    model.loads = make_loads(body, volume.tets);
    model.embedding = std::move(volume.embedding);
    model.shown.name = body.name;
    model.shown.surface = std::move(volume.surface);
    model.shown.volume = std::move(volume.tets);
    if (body.color) {
        model.shown.color = *body.color;
        std::erase_if(model.shown.surface.fields, [](const VertexField& f) { return f.name == "color"; });
    }
    model.integrator = integrator_of(scene.time.method);
    model.newmark = {scene.time.newmark_beta, scene.time.newmark_gamma, scene.solver};
    out.velocities = start_velocities(body, model.fem);
    return out;
}

std::unique_ptr<FullBody> prepare_full_body(const Scene& scene, const SceneBody& body, Progress& progress,
                                            std::vector<std::string>& notes)
{
    BodyParts parts = prepare_parts(scene, body, progress, notes);
    return std::make_unique<FullBody>(std::move(parts.model), parts.velocities);
}

std::unique_ptr<ObstacleBody> prepare_obstacle(const SceneObstacle& obstacle, double reach,
                                               Progress& progress)
{
    std::optional<RigidShape> shape;
    const auto* spec = std::get_if<std::string>(&obstacle.source.from);
    if (spec) shape = at_place(obstacle.source.place, [&] { return find_rigid_shape(*spec); });
    const bool plane = shape && std::holds_alternative<PlaneShape>(*shape);
    TriangleMesh surface = plane ? make_square(reach) : load_surface(obstacle.source, {}, progress);
    if (!shape) {
        const double cell = obstacle.cell.value_or(0.0);
        shape = at_place(obstacle.source.place, [&] {
            return FieldShape{DistanceField(SurfaceQuery(surface), {.cell = cell}, progress)};
        });
    }
    Shown shown;
    shown.name = obstacle.name;
    if (!obstacle.hidden) shown.surface = std::move(surface);
    shown.backdrop = plane;
    shown.color = obstacle.color.value_or(Vec3(0.62, 0.64, 0.67));
    return std::make_unique<ObstacleBody>(
        ObstacleModel{std::move(*shape), std::move(shown), obstacle.path, obstacle.friction});
}

} // namespace lithe
