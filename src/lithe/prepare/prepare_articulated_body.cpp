#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/suggest.hpp"
#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_bones.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe {
namespace {

BoneOptions bone_options(const SceneBody& body)
{
    const SceneBones& bones = *body.bones;
    BoneOptions out{.modes = bones.modes,
                    .overlap = bones.overlap,
                    .hold = bones.hold,
                    .rigid = bones.rigid,
                    .proxy_vertices = bones.proxy,
                    .young = body.material.young,
                    .poisson = body.material.poisson,
                    .density = body.material.density,
                    .damping = body.damping};
    if (body.tets) out.tets.count = *body.tets;
    if (body.cell) out.tets.cell = *body.cell;
    return out;
}

void make_model(const SceneBody& body, Progress& progress, std::vector<std::string>& notes, LoadedModel& out)
{
    std::vector<std::string> own;
    std::shared_ptr<const BoneModel> model;
    if (body.model) {
        model = at_place(body.source.place,
                         [&] { return std::make_shared<const BoneModel>(read_bone_model(*body.model)); });
    } else {
        out.character = std::make_shared<const Character>(load_character(body.source, progress, own));
        BoneModel made = at_place(body.source.place, [&] {
            return prepare_bones(*out.character, bone_options(body), progress, own);
        });
        record_source(body.source, made.record);
        model = std::make_shared<const BoneModel>(std::move(made));
    }
    for (const std::string& note : own) notes.push_back(body.name + ": " + note);
    notes.push_back(fmt::format("{}: {} bones with {} coordinates, joined at {} places", body.name,
                                model->bones.size(), model->freedoms(), model->joints.size()));
    out.articulated = at_place(body.source.place,
                               [&] { return std::make_shared<const ArticulatedModel>(std::move(model)); });
}

int require_bone(const BoneModel& model, const std::string& name, const Place& place)
{
    const int bone = model.find(name);
    if (bone >= 0) return bone;
    std::vector<std::string> names;
    for (const PreparedBone& known : model.bones) names.push_back(known.name);
    throw InputError(place, fmt::format("there is no bone '{}'{}", name, did_you_mean(name, names)));
}

LedBone led_bone(const SceneLedBone& led, const BoneModel& model)
{
    const int bone = require_bone(model, led.bone, led.place);
    const Vec3& middle = model.bones[static_cast<std::size_t>(bone)].tensors.centre;
    std::vector<RigidPose> poses = led.motion.values();
    for (RigidPose& pose : poses) pose.translation += middle - pose.rotation * middle;
    return {bone, Keyframes<RigidPose>(led.motion.times(), std::move(poses))};
}

/// The bone of the rig that a bone of the model was made from.
const Bone& require_rig_bone(const Character& rig, const std::string& name, const Place& place)
{
    const int joint = rig.skeleton.find(name);
    const auto bone = std::ranges::find(rig.bones, joint, &Bone::joint);
    if (joint < 0 || bone == rig.bones.end())
        throw InputError(place, fmt::format("the rig '{}' has no bone '{}', as the model has",
                                            rig.file.filename().string(), name));
    return *bone;
}

/// Bones that a clip of their rig leads.
std::vector<LedBone> played_bones(const SceneBody& body, const BoneModel& model, const Character& rig,
                                  std::vector<std::string>& notes)
{
    const ScenePlay& play = *body.play;
    const auto clip = std::make_shared<const Clip>(chosen_clip({.name = body.name,
                                                                .source = body.source,
                                                                .clip = play.clip,
                                                                .motion = play.motion,
                                                                .place = play.place},
                                                               rig, notes));
    std::vector<LedBone> out;
    for (const std::string& name : play.bones)
        out.push_back({.bone = require_bone(model, name, play.place),
                       .path = JointPath(rig.skeleton, clip, require_rig_bone(rig, name, play.place),
                                         play.playback, play.blend)});
    return out;
}

/// That of the body, or the one that its model was made from.
std::shared_ptr<const Character> rig_of(const SceneBody& body, const LoadedModel& known)
{
    if (known.character) return known.character;
    return at_place(body.play->place,
                    [&] { return std::make_shared<const Character>(read_character(*body.play->rig)); });
}

/// `shift` in periods.
BoneActuation actuation(const SceneMuscle& muscle, const ArticulatedModel& model, double shift)
{
    const int bone = require_bone(*model.prepared, muscle.bone, muscle.place);
    const FramedModel& framed = model.bones[static_cast<std::size_t>(bone)];
    if (framed.rank() == 0)
        throw InputError(muscle.place, fmt::format("bone '{}' is rigid: no muscle can bend it", muscle.bone));
    return {.bone = bone,
            .force =
                framed.rest_stiffness * bent_coordinates(*model.prepared, bone, muscle.axis, muscle.angle),
            .period = muscle.period,
            .phase = muscle.phase + shift};
}

/// Of the copies of a body, shares of a period that are far from each other.
double out_of_step(const Scene& scene, const SceneBody& body)
{
    constexpr double golden_ratio = 0.6180339887498949;
    if (!body.copy_of) return 0.0;
    const auto number = static_cast<double>(&body - &scene.bodies[*body.copy_of]);
    return std::fmod(number * golden_ratio, 1.0);
}

} // namespace

bool has_bones(const SceneBody& body)
{
    return body.bones ||
           (body.model && at_place(body.source.place, [&] { return model_kind(*body.model); }) == "bones");
}

std::unique_ptr<ArticulatedBody> prepare_articulated_body(const Scene& scene, const SceneBody& body,
                                                          ModelCache& models, Progress& progress,
                                                          std::vector<std::string>& notes)
{
    if (!is_dynamic(integrator_of(scene.time.method)))
        throw InputError(body.place, "characters of bones move in time: give [time] method = "
                                     "\"backward_euler\" or \"newmark\"");
    const SceneBody& first = body.copy_of ? scene.bodies[*body.copy_of] : body;
    LoadedModel& known = models[body.model ? body.model->string() : "the model of body " + first.name];
    if (!known.articulated) make_model(first, progress, notes, known);
    const ArticulatedModel& model = *known.articulated;
    ArticulatedOptions options{.name = body.name,
                               .color = body.color,
                               .placement = body.placement,
                               .velocity = body.velocity,
                               .angular_velocity = body.angular_velocity,
                               .law = {.friction = body.friction, .restitution = body.restitution},
                               .self_contact = body.self_contact};
    if (scene.time.method == Method::Newmark) options.motion.scheme = FramedScheme::Theta;
    for (const SceneLedBone& led : body.led) options.led.push_back(led_bone(led, *model.prepared));
    if (body.play)
        for (LedBone& led : played_bones(body, *model.prepared, *rig_of(body, known), notes))
            options.led.push_back(std::move(led));
    options.loads = make_surface_loads(body, model.prepared->collision.rest);
    for (const SceneMuscle& muscle : body.muscles)
        options.actuations.push_back(actuation(muscle, model, out_of_step(scene, body)));
    return at_place(body.place,
                    [&] { return std::make_unique<ArticulatedBody>(known.articulated, std::move(options)); });
}

} // namespace lithe
