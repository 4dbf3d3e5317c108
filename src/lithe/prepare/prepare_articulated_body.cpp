#include <cmath>

#include <fmt/format.h>

#include "lithe/core/suggest.hpp"
#include "lithe/prepare/prepare_body.hpp"
#include "lithe/prepare/prepare_bones.hpp"
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

std::shared_ptr<const ArticulatedModel> made_model(const SceneBody& body, Progress& progress,
                                                   std::vector<std::string>& notes)
{
    return at_place(body.source.place, [&] {
        std::vector<std::string> own;
        auto model = std::make_shared<const BoneModel>(
            body.model ? read_bone_model(*body.model)
                       : prepare_bones(body.source, bone_options(body), progress, own));
        for (const std::string& note : own) notes.push_back(body.name + ": " + note);
        notes.push_back(fmt::format("{}: {} bones with {} coordinates, joined at {} places", body.name,
                                    model->bones.size(), model->freedoms(), model->joints.size()));
        return std::make_shared<const ArticulatedModel>(std::move(model));
    });
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
    if (!known.articulated) known.articulated = made_model(first, progress, notes);
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
    for (const SceneMuscle& muscle : body.muscles)
        options.actuations.push_back(actuation(muscle, model, out_of_step(scene, body)));
    return at_place(body.place,
                    [&] { return std::make_unique<ArticulatedBody>(known.articulated, std::move(options)); });
}

} // namespace lithe
