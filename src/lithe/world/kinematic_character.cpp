#include "lithe/world/kinematic_character.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

const KinematicCharacterModel& checked(const KinematicCharacterModel& model)
{
    const auto fail = [&](const std::string& what) {
        throw InputError("character '" + model.name + "': " + what);
    };
    LITHE_ASSERT(model.character != nullptr);
    const Character& character = *model.character;
    if (character.surface.triangle_count() == 0) fail("it has no surface");
    if (character.weights.vertex_count() != character.surface.vertex_count())
        fail("its surface has no skin weights");
    LITHE_ASSERT(model.closed_weights.vertex_count() == model.closed.vertex_count());
    if (!(model.friction >= 0.0) || !std::isfinite(model.friction))
        fail("friction must be at least 0 and finite");
    if (!std::isfinite(model.playback.start) || !std::isfinite(model.playback.speed))
        fail("start and speed of the clip must be finite");
    return model;
}

Shown shown_of(const KinematicCharacterModel& model)
{
    Shown out;
    out.name = model.name;
    out.surface = model.character->surface;
    out.character = model.character;
    out.color = model.color;
    return out;
}

} // namespace

KinematicCharacter::KinematicCharacter(KinematicCharacterModel model)
    : model_(std::move(model)), shown_(shown_of(checked(model_))), touched_(model_.closed)
{
}

std::vector<Affine3> KinematicCharacter::joints_at(double t) const
{
    const Skeleton& skeleton = model_.character->skeleton;
    return world_transforms(skeleton,
                            pose_at(skeleton, model_.clip, model_.playback.clip_time(model_.clip, t)));
}

Points KinematicCharacter::surface_at(double t) const
{
    const Character& character = *model_.character;
    Points x;
    skin(model_.skinning, character.weights, bone_transforms(character.bones, joints_at(t)),
         morphed_surface(character, &model_.clip, model_.playback.clip_time(model_.clip, t)), x);
    return x;
}

Points KinematicCharacter::closed_at(double t) const
{
    Points x;
    skin(model_.skinning, model_.closed_weights, bone_transforms(model_.character->bones, joints_at(t)),
         model_.closed.vertices, x);
    return x;
}

Vec3 KinematicCharacter::place(const BodyPoint& point, const Points& surface) const
{
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < shown_.surface.triangle_count());
    Vec3 x = Vec3::Zero();
    for (int c = 0; c < 3; ++c)
        x += point.weights[c] * surface.col(shown_.surface.triangles(c, point.triangle));
    return x;
}

PointMotion KinematicCharacter::motion(const BodyPoint& point) const
{
    const Vec3 now = place(point, surface_at(t_));
    return {now, (now - place(point, surface_at(t_ - h_))) / h_};
}

Vec3 KinematicCharacter::predicted(const BodyPoint& point)
{
    return place(point, surface_at(t_predicted_));
}

BodyPoint KinematicCharacter::attach(const Vec3&)
{
    throw InputError(fmt::format("'{}' plays a clip; joints hold bodies and obstacles only", model_.name));
}

Box3 KinematicCharacter::swept_bounds() const
{
    return bounds(surface_at(t_)).merged(bounds(surface_at(t_predicted_)));
}

std::optional<Obstacle> KinematicCharacter::obstacle(double t, double h)
{
    if (placed_until_ == t)
        touched_.advance();
    else
        touched_.place(StepEnd::Start, closed_at(t));
    touched_.place(StepEnd::End, closed_at(t + h));
    placed_until_ = t + h;
    return Obstacle{.surface = &touched_, .pose_0 = {}, .pose_1 = {}, .friction = model_.friction};
}

void KinematicCharacter::publish(Published& out) const
{
    out.positions = surface_at(t_);
    out.joints = joints_at(t_);
    out.weights = morph_weights(*model_.character, &model_.clip, model_.playback.clip_time(model_.clip, t_));
}

} // namespace lithe
