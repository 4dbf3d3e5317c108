#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/dynamics/lattice_body.hpp"
#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/prepare_lattice.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/select.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/reduce/bone_model.hpp"
#include "lithe/reduce/lattice_model_io.hpp"
#include "lithe/rig/gltf_character.hpp"

namespace lithe {
namespace {

LatticeStiffness stiffness_of(const SceneStiffness& s)
{
    using Where = LatticeStiffness::Where;
    if (s.bone) return {Where::Bone, *s.bone, s.young};
    if (s.mask) return {Where::Mask, s.mask->string(), s.young};
    const auto byte = [&](int k) { return std::lround(255.0 * (*s.color)[k]); };
    return {Where::Color, fmt::format("#{:02x}{:02x}{:02x}", byte(0), byte(1), byte(2)), s.young};
}

LatticePrepareOptions lattice_options(const SceneBody& body)
{
    const SceneLattice& lattice = *body.lattice;
    LatticePrepareOptions out{.vertices = lattice.size,
                              .lattice = lattice.file,
                              .levels = lattice.levels,
                              .proxy_vertices = lattice.proxy,
                              .young = body.material.young,
                              .poisson = body.material.poisson,
                              .density = body.material.density,
                              .damping = lattice.damping};
    for (const SceneStiffness& s : lattice.stiffness) out.stiffness.push_back(stiffness_of(s));
    return out;
}

// --- What it plays ------------------------------------------------------------------------------------------------

/// The character that a model keeps; nothing but its skeleton where it keeps none.
Character character_of(const LatticeModel& model, const std::filesystem::path& file)
{
    Character out;
    if (!model.character.glb.empty())
        out = gltf_character(
            std::make_shared<const GltfDocument>(GltfDocument::parse(model.character.glb, file)),
            model.character.read);
    else
        out.skeleton = model.skeleton;
    if (!std::ranges::equal(out.skeleton.joints, model.skeleton.joints, {}, &Joint::name, &Joint::name))
        throw InputError({file}, "character/glb: its joints are not those of the model; prepare it again");
    return out;
}

Clip clip_of(const Character& character, const SceneBody& body, std::vector<std::string>& notes)
{
    const SceneLattice playing = body.lattice.value_or(SceneLattice());
    return chosen_clip({.name = body.name,
                        .source = body.source,
                        .clip = playing.clip,
                        .motion = playing.motion,
                        .tracks = playing.tracks,
                        .place = playing.place.file.empty() ? body.place : playing.place},
                       character, notes);
}

/// A clip of a skeleton that stands elsewhere: its roots are moved and turned all the time.
///
///   P S x = S (S^-1 P S) x,   S the placement of the skeleton, P where it is put
Clip moved(Clip clip, const Skeleton& skeleton, const RigidPose& placement)
{
    Affine3 P = Affine3::Identity();
    P.linear() = placement.rotation.toRotationMatrix();
    P.translation() = placement.translation;
    const Affine3 A = skeleton.placement.inverse() * P * skeleton.placement;
    const Quat R(A.linear());
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        const Joint& joint = skeleton.joints[static_cast<std::size_t>(j)];
        if (joint.parent >= 0) continue;
        auto tracks = std::ranges::find(clip.joints, j, &JointTracks::joint);
        if (tracks == clip.joints.end())
            tracks = clip.joints.insert(std::ranges::lower_bound(clip.joints, j, {}, &JointTracks::joint),
                                        {.joint = j});
        if (!tracks->translation)
            tracks->translation = Track<Vec3>{.times = {0.0}, .values = {joint.rest.translation}};
        if (!tracks->rotation)
            tracks->rotation = Track<Quat>{.times = {0.0}, .values = {joint.rest.rotation}};
        const bool cubic = tracks->translation->interpolation == Interpolation::Cubic;
        for (std::size_t k = 0; k < tracks->translation->values.size(); ++k) {
            Vec3& value = tracks->translation->values[k];
            value = cubic && k % 3 != 1 ? Vec3(A.linear() * value) : A * value; // tangents have no place
        }
        for (Quat& value : tracks->rotation->values) value = R * value;
    }
    return clip;
}

/// Bones are rigid: a clip that stretches them belongs to another kind of character.
void require_rigid(const Clip& clip, const Skeleton& skeleton, const Place& place)
{
    constexpr double rounding = 1e-3;
    for (const JointTracks& tracks : clip.joints) {
        const Joint& joint = skeleton.joints[static_cast<std::size_t>(tracks.joint)];
        if (!tracks.scale) continue;
        for (const Vec3& scale : tracks.scale->values)
            if ((scale - joint.rest.scale).norm() > rounding * joint.rest.scale.norm())
                throw InputError(
                    place, fmt::format("clip '{}' scales joint '{}'; bones in a lattice keep their size: "
                                       "remove the scale from the clip",
                                       clip.name, joint.name));
    }
}

// --- Pins and loads -----------------------------------------------------------------------------------------------

/// A surface where selectors look for vertices.
TetMesh selectable(const TriangleMesh& rest, const RigidPose& placement)
{
    TetMesh out;
    out.vertices = (placement.rotation.toRotationMatrix() * rest.vertices).colwise() + placement.translation;
    return out;
}

/// The same motion for vertices that are at rest where the model has them, P^-1 from where they are:
///
///   R (P X - a) + a + t  =  R P_R X + (R (P_t - a) + a + t)
LedVertices from_rest(LedVertices led, const RigidPose& P)
{
    std::vector<RigidPose> poses = led.motion.values();
    for (RigidPose& pose : poses)
        pose = {.rotation = pose.rotation * P.rotation,
                .translation = pose.rotation * (P.translation - led.about) + led.about + pose.translation};
    led.motion = Keyframes<RigidPose>(led.motion.times(), std::move(poses));
    led.about = Vec3::Zero();
    return led;
}

std::vector<LedVertices> make_pins(const SceneBody& body, const TetMesh& surface)
{
    std::vector<LedVertices> out;
    for (const ScenePin& pin : body.pins) {
        LedVertices led{.vertices = at_place(pin.place, [&] { return select_vertices(pin.where, surface); }),
                        .motion = pin.motion};
        led.about = pin.about ? *pin.about : middle(led.vertices, surface);
        if (pin.release) led.release = *pin.release;
        out.push_back(from_rest(std::move(led), body.placement));
    }
    return out;
}

void make_model(const SceneBody& body, Progress& progress, std::vector<std::string>& notes, LoadedModel& out)
{
    std::vector<std::string> own;
    std::shared_ptr<const LatticeModel> model;
    if (body.model) {
        at_place(body.source.place, [&] {
            model = std::make_shared<const LatticeModel>(read_lattice_model(*body.model));
            out.character = std::make_shared<const Character>(character_of(*model, *body.model));
        });
    } else {
        out.character = std::make_shared<const Character>(load_character(body.source, progress, own));
        LatticeModel made = at_place(body.source.place, [&] {
            return prepare_lattice(*out.character, lattice_options(body), progress, own);
        });
        record_source(body.source, made.record);
        model = std::make_shared<const LatticeModel>(std::move(made));
    }
    out.lattice = std::make_shared<const LatticeSystem>(make_lattice_system(model));
    for (const std::string& note : own) notes.push_back(body.name + ": " + note);
    notes.push_back(
        fmt::format("{}: {} lattice vertices, {} regions, {} bones on edges and {} held by points", body.name,
                    model->lattice.vertices.size(), model->regions.size(), model->lattice.bones.size(),
                    model->held_bones.size()));
}

/// Only a character whose skin is that of the model, bound to its bones, can be written as it came.
std::shared_ptr<const Character> writable(const std::shared_ptr<const Character>& character,
                                          const LatticeModel& model)
{
    const bool same = character->surface.vertex_count() == model.shown.rest.vertex_count() &&
                      character->weights.vertex_count() == character->surface.vertex_count();
    return same ? character : nullptr;
}

} // namespace

std::vector<TimedLoad> make_surface_loads(const SceneBody& body, const TriangleMesh& rest)
{
    const TetMesh surface = selectable(rest, body.placement);
    std::vector<TimedLoad> out;
    for (const SceneLoad& load : body.loads) {
        TimedLoad timed{.load = load.load,
                        .vertices =
                            at_place(load.place, [&] { return select_vertices(load.where, surface); }),
                        .factor = load.factor};
        std::vector<int> faces;
        for (int t = 0; t < rest.triangle_count(); ++t)
            if (std::ranges::all_of(rest.triangles.col(t),
                                    [&](int v) { return std::ranges::binary_search(timed.vertices, v); }))
                faces.push_back(t);
        if (!std::holds_alternative<ForceLoad>(load.load)) timed.faces = rest.triangles(Eigen::all, faces);
        out.push_back(std::move(timed));
    }
    return out;
}

bool has_lattice(const SceneBody& body)
{
    return body.lattice ||
           (body.model && at_place(body.source.place, [&] { return model_kind(*body.model); }) == "lattice");
}

std::unique_ptr<LatticeBody> prepare_lattice_body(const Scene& scene, const SceneBody& body,
                                                  ModelCache& models, Progress& progress,
                                                  std::vector<std::string>& notes)
{
    if (!is_dynamic(integrator_of(scene.time.method)))
        throw InputError(body.place,
                         "characters in a lattice move in time: give [time] method = \"backward_euler\"");
    const SceneBody& first = body.copy_of ? scene.bodies[*body.copy_of] : body;
    LoadedModel& known = models[body.model ? body.model->string() : "the model of body " + first.name];
    if (!known.lattice) make_model(first, progress, notes, known);
    const LatticeModel& model = *known.lattice->model;
    const TetMesh surface = selectable(model.collision.rest, body.placement);
    Clip clip = clip_of(*known.character, body, notes);
    require_rigid(clip, model.skeleton, body.place);
    LatticeBodyOptions options{.name = body.name,
                               .color = body.color,
                               .clip = moved(std::move(clip), model.skeleton, body.placement),
                               .character = writable(known.character, model),
                               .playback = body.lattice ? body.lattice->playback : Playback(),
                               .law = {.friction = body.friction, .restitution = body.restitution},
                               .loads = make_surface_loads(body, model.collision.rest),
                               .pins = make_pins(body, surface),
                               .scheme = body.lattice ? body.lattice->scheme : LatticeScheme::Blended};
    return at_place(body.place,
                    [&] { return std::make_unique<LatticeBody>(known.lattice, std::move(options)); });
}

} // namespace lithe
