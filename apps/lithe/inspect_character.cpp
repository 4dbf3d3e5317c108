#include "inspect_character.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "lithe/prepare/prepare_character.hpp"

namespace lithe::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CharacterFault {
    std::string name, what, advice;
};

/// What a character holds and what we found out about it.
struct Found {
    std::string file;
    Character character;
    std::vector<Affine3> rest = {}; ///< of the joints, in the world
    std::optional<CharacterBody> body = {};
    std::vector<int> joints_outside = {}; ///< of the bones, by more than a twentieth of the size
    std::vector<CharacterFault> faults = {};

    Box3 box() const
    {
        if (character.surface.vertex_count() > 0) return bounds(character.surface.vertices);
        Box3 out;
        for (const Affine3& joint : rest) out.extend(Vec3(joint.translation()));
        return out;
    }
};

std::vector<int> bones_outside(const Found& found)
{
    std::vector<int> out;
    const SurfaceQuery query(found.body->closed);
    const double far = 0.05 * found.box().sizes().maxCoeff();
    for (const Bone& bone : found.character.bones)
        if (query.signed_distance(found.rest[static_cast<std::size_t>(bone.joint)].translation()) > far)
            out.push_back(bone.joint);
    return out;
}

/// Sizes that no person or animal has are in other units.
void judge_size(Found& found)
{
    const Box3 box = found.box();
    if (box.isEmpty()) return;
    const double size = box.sizes().maxCoeff();
    const auto fault = [&](const char* guess, const char* scale) {
        found.faults.push_back({"units", fmt::format("it is {:.3g} m large; {}", size, guess),
                                fmt::format("if so, read it with --scale {}", scale)});
    };
    if (size > 20.0)
        fault("perhaps the file is in centimetres", "0.01");
    else if (size < 0.02)
        fault("perhaps the file is in a unit larger than the metre", "METRES");
}

void judge_body(Found& found)
{
    const Character& character = found.character;
    if (!found.body) {
        found.faults.push_back({"no_surface", "it has no surface", "give it as the motion of a character"});
        return;
    }
    if (!found.body->report.was_closed)
        found.faults.push_back({"not_closed", "its surface is not one closed shell",
                                "nothing to do: it is wrapped for simulation, and its own surface follows"});
    if (character.skeleton.joints.empty())
        found.faults.push_back({"no_skeleton", "it has no skeleton",
                                "fit one with: lithe rig " + found.file + " --fit biped -o OUT.glb"});
    else if (character.weights.vertex_count() == 0)
        found.faults.push_back({"no_weights", "nothing binds its surface to its skeleton",
                                "make weights with: lithe rig " + found.file + " -o OUT.glb"});
    if (!found.joints_outside.empty())
        found.faults.push_back(
            {"joints_outside",
             fmt::format("{} of its bones begin outside the body", found.joints_outside.size()),
             "look at it with: lithe render " + found.file + " --bones -o bones.png"});
}

Found find(const std::string& file, const ReadOptions& read, Session& session)
{
    Found found{.file = file, .character = read_character(file, read)};
    const Character& character = found.character;
    found.rest = world_transforms(character.skeleton, rest_pose(character.skeleton));
    if (character.surface.triangle_count() > 0) {
        found.body = close_character(character, session.progress());
        found.joints_outside = bones_outside(found);
    }
    judge_size(found);
    judge_body(found);
    return found;
}

// --- for programs ---

Json point(const Vec3& p)
{
    return Json::array({p[0], p[1], p[2]});
}

Json joints_json(const Found& found)
{
    const Skeleton& skeleton = found.character.skeleton;
    std::set<int> bones;
    for (const Bone& bone : found.character.bones) bones.insert(bone.joint);
    Json out = Json::array();
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        const Joint& joint = skeleton.joints[static_cast<std::size_t>(j)];
        out.push_back({{"name", joint.name},
                       {"parent", joint.parent},
                       {"position", point(found.rest[static_cast<std::size_t>(j)].translation())},
                       {"bone", bones.contains(j)}});
    }
    return out;
}

Json clips_json(const Character& character)
{
    Json out = Json::array();
    for (const Clip& clip : character.clips)
        out.push_back({{"name", clip.name},
                       {"begin", clip.begin()},
                       {"duration", clip.duration()},
                       {"joints", clip.joints.size()},
                       {"morph_tracks", clip.morphs.size()}});
    return out;
}

Json parts_json(const Character& character)
{
    Json out = Json::array();
    for (const SurfacePart& part : character.parts)
        out.push_back({{"name", part.name},
                       {"vertices", part.vertex_count},
                       {"triangles", part.triangle_count},
                       {"skinned", part.skinned},
                       {"morph_targets", part.morphs.size()}});
    return out;
}

Json closing_json(const CharacterBody& body)
{
    const WrapReport& r = body.report;
    return {{"was_closed", r.was_closed},
            {"shells", r.shells},
            {"open_edges", r.open_edges},
            {"seam_vertices", r.seam_vertices},
            {"dropped_parts", r.dropped_parts},
            {"vertices", body.closed.vertex_count()},
            {"triangles", body.closed.triangle_count()},
            {"volume", volume(body.closed)},
            {"farthest", r.farthest},
            {"uncovered", r.uncovered},
            {"notes", r.notes}};
}

Json to_json(const Found& found)
{
    const Character& character = found.character;
    const Box3 box = found.box();
    Json json = {
        {"file", found.file},
        {"kind", "character"},
        {"vertices", character.surface.vertex_count()},
        {"triangles", character.surface.triangle_count()},
        {"bounds", box.isEmpty() ? Json() : Json{{"min", point(box.min())}, {"max", point(box.max())}}},
        {"units", "metres"},
        {"joint_count", character.skeleton.joint_count()},
        {"bones", character.bones.size()},
        {"influences", character.weights.slots()},
        {"parts", parts_json(character)},
        {"joints", joints_json(found)},
        {"clips", clips_json(character)},
        {"closed", found.body ? closing_json(*found.body) : Json()},
        {"notes", character.notes},
        {"faults", Json::array()}};
    for (const CharacterFault& fault : found.faults)
        json["faults"].push_back({{"name", fault.name}, {"what", fault.what}, {"advice", fault.advice}});
    return json;
}

// --- for people ---

template <class... Args>
void row(const char* name, fmt::format_string<Args...> format, Args&&... args)
{
    fmt::print("  {:<14}{}\n", name, fmt::format(format, std::forward<Args>(args)...));
}

void print_tree(const Skeleton& skeleton)
{
    std::vector<int> depth;
    for (const Joint& joint : skeleton.joints) {
        depth.push_back(joint.parent < 0 ? 0 : depth[static_cast<std::size_t>(joint.parent)] + 1);
        fmt::print("    {:{}}{}\n", "", 2 * std::min(depth.back(), 20), joint.name);
    }
}

void print_text(const Found& found)
{
    const Character& character = found.character;
    fmt::print("{}: {} triangles on {} vertices, {} joints, {} clips\n", found.file,
               character.surface.triangle_count(), character.surface.vertex_count(),
               character.skeleton.joint_count(), character.clips.size());
    if (const Box3 box = found.box(); !box.isEmpty()) {
        const Vec3 s = box.sizes();
        row("size", "{:.4g} x {:.4g} x {:.4g} m", s[0], s[1], s[2]);
    }
    for (const SurfacePart& part : character.parts)
        row("part", "{}: {} triangles, {}{}", part.name, part.triangle_count,
            part.skinned ? "skinned" : "rigid",
            part.morphs.empty() ? "" : fmt::format(", {} morph targets", part.morphs.size()));
    if (!character.bones.empty())
        row("bones", "{}, at most {} for a vertex", character.bones.size(), character.weights.slots());
    for (const Clip& clip : character.clips)
        row("clip", "{}: {:.4g} s, {} joints", clip.name, clip.duration(), clip.joints.size());
    if (found.body)
        row("closed body", "{} triangles, {:.4g} m^3", found.body->closed.triangle_count(),
            volume(found.body->closed));
    if (found.body)
        for (const std::string& note : found.body->report.notes) row("closing", "{}", note);
    for (const std::string& note : character.notes) row("note", "{}", note);
    if (!character.skeleton.joints.empty()) row("joints", "");
    print_tree(character.skeleton);
    fmt::print("{}\n", found.faults.empty() ? "No faults found." : "Faults:");
    for (const CharacterFault& fault : found.faults) fmt::print("  - {}\n    {}\n", fault.what, fault.advice);
}

} // namespace

void inspect_character(const std::string& file, const ReadOptions& read, ReportStyle style, Session& session)
{
    const Found found = find(file, read, session);
    if (style == ReportStyle::Json)
        fmt::print("{}\n", to_json(found).dump(2, ' ', false, Json::error_handler_t::replace));
    else
        print_text(found);
}

} // namespace lithe::cli
