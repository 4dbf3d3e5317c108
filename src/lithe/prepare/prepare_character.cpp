#include "lithe/prepare/prepare_character.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/suggest.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/rig/rig_files.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

void append(std::vector<std::string>& notes, const std::string& name, const std::vector<std::string>& more)
{
    for (const std::string& note : more) notes.push_back(name.empty() ? note : name + ": " + note);
}

int require_joint(const Skeleton& skeleton, const SceneTrack& track)
{
    const int joint = skeleton.find(track.joint);
    if (joint >= 0) return joint;
    std::vector<std::string> names;
    for (const Joint& j : skeleton.joints) names.push_back(j.name);
    throw InputError(track.place, fmt::format("the skeleton has no joint '{}'{}", track.joint,
                                              did_you_mean(track.joint, names)));
}

/// A joint's motion on top of its rest.
JointTracks track_of(const SceneTrack& track, int joint, const JointTransform& rest)
{
    Track<Vec3> translation{.times = track.motion.times(), .values = {}};
    Track<Quat> rotation{.times = track.motion.times(), .values = {}};
    for (const RigidPose& pose : track.motion.values()) {
        translation.values.push_back(rest.translation + pose.translation);
        rotation.values.push_back(rest.rotation * pose.rotation);
    }
    return {.joint = joint, .translation = std::move(translation), .rotation = std::move(rotation)};
}

Clip clip_of(const std::vector<SceneTrack>& tracks, const Skeleton& skeleton)
{
    Clip clip{.name = "tracks"};
    for (const SceneTrack& track : tracks) {
        const int joint = require_joint(skeleton, track);
        if (std::ranges::any_of(clip.joints, [&](const JointTracks& j) { return j.joint == joint; }))
            throw InputError(track.place, fmt::format("joint '{}' has a track already", track.joint));
        clip.joints.push_back(track_of(track, joint, skeleton.joints[static_cast<std::size_t>(joint)].rest));
    }
    std::ranges::sort(clip.joints, {}, &JointTracks::joint);
    return clip;
}

Affine3 affine(const RigidPose& pose)
{
    Affine3 out = Affine3::Identity();
    out.linear() = pose.rotation.toRotationMatrix();
    out.translation() = pose.translation;
    return out;
}

/// The weights of the surface where there are some, else by heat.
void require_weights(Character& character, Progress& progress, std::vector<std::string>& notes)
{
    if (character.weights.vertex_count() > 0) return;
    if (character.skeleton.joints.empty())
        throw InputError(
            "the character has no skeleton; fit one with: lithe rig FILE --fit biped -o OUT.glb");
    (void)bind_character(character, {}, {}, progress, notes);
    notes.push_back(
        fmt::format("it has no skin weights; they were made by heat for {} bones", character.bones.size()));
}

} // namespace

Character load_character(const SceneSource& source, Progress& progress, std::vector<std::string>& notes)
{
    return at_place(source.place, [&] {
        const auto* file = std::get_if<fs::path>(&source.from);
        Character character = file ? read_character(*file, source.read)
                                   : read_shape_rig(std::get<std::string>(source.from), {}, source.detail);
        if (character.surface.triangle_count() == 0)
            throw InputError(
                fmt::format("{}: it has no surface; give it as the motion of a character instead",
                            character.file.string()));
        append(notes, "", character.notes);
        require_weights(character, progress, notes);
        return character;
    });
}

CharacterBody close_character(const Character& character, Progress& progress)
{
    Wrap wrapped = wrap(character.surface, {}, progress);
    SkinWeights weights = character.weights.vertex_count() > 0
                              ? carried(character.weights, character.surface, wrapped.surface.vertices)
                              : SkinWeights{};
    return {std::move(wrapped.surface), std::move(weights), std::move(wrapped.report)};
}

CharacterVolume fill_character(const Character& character, const CharacterBody& body,
                               const TetrahedraliseOptions& options, Progress& progress)
{
    TetMesh tets = tetrahedralise(body.closed, options, progress).mesh;
    SkinWeights weights =
        body.weights.vertex_count() > 0 ? carried_into(body.weights, body.closed, tets) : SkinWeights{};
    Embedding surface = embed(character.surface.vertices, tets);
    return {std::move(tets), std::move(weights), std::move(surface)};
}

CharacterVolume bind_character(Character& character, const TetrahedraliseOptions& tets,
                               const BindOptions& options, Progress& progress,
                               std::vector<std::string>& notes)
{
    character.weights = {};
    character.bones = rest_bones(character.skeleton);
    CharacterVolume volume = fill_character(character, close_character(character, progress), tets, progress);
    BoundWeights bound = bind_volume(volume.tets, bone_segments(character.skeleton, character.bones),
                                     static_cast<Index>(character.bones.size()), options, progress);
    append(notes, "", bound.notes);
    volume.weights = std::move(bound.weights);
    character.weights = carried(volume.weights, volume.surface, options.influences);
    return volume;
}

Clip find_or_read_clip(const std::string& wanted, const Character& character, std::vector<std::string>& notes)
{
    std::error_code ignored;
    if (fs::is_regular_file(wanted.substr(0, wanted.find('#')), ignored))
        return read_clip(wanted, character, notes);
    return find_clip(character.clips, wanted);
}

Clip chosen_clip(const SceneCharacter& wanted, const Character& character, std::vector<std::string>& notes)
{
    if (!wanted.tracks.empty()) return clip_of(wanted.tracks, character.skeleton);
    return at_place(wanted.place, [&] {
        if (wanted.motion)
            return read_clip(wanted.clip ? *wanted.motion + "#" + *wanted.clip : *wanted.motion, character,
                             notes);
        if (wanted.clip) return find_or_read_clip(*wanted.clip, character, notes);
        return character.clips.empty() ? Clip() : character.clips.front();
    });
}

std::unique_ptr<KinematicCharacter> prepare_character(const SceneCharacter& wanted, Progress& progress,
                                                      std::vector<std::string>& notes)
{
    std::vector<std::string> own;
    auto character = std::make_shared<Character>(load_character(wanted.source, progress, own));
    if (wanted.color)
        std::erase_if(character->surface.fields, [](const VertexField& f) { return f.name == "color"; });
    CharacterBody body = close_character(*character, progress);
    append(own, "", body.report.notes);
    Clip clip = chosen_clip(wanted, *character, own);
    append(notes, wanted.name, own);
    character->skeleton.placement = affine(wanted.placement) * character->skeleton.placement;
    return at_place(wanted.place, [&] {
        return std::make_unique<KinematicCharacter>(KinematicCharacterModel{
            .name = wanted.name,
            .character = character,
            .clip = std::move(clip),
            .playback = {.start = wanted.start, .speed = wanted.speed, .loop = wanted.loop},
            .skinning = wanted.skinning,
            .closed = std::move(body.closed),
            .closed_weights = std::move(body.weights),
            .friction = wanted.friction,
            .color = wanted.color.value_or(Vec3(0.62, 0.64, 0.67))});
    });
}

} // namespace lithe
