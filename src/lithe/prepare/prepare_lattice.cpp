#include "lithe/prepare/prepare_lattice.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/suggest.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/control_lattice_io.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/prepare/bone_partition.hpp"
#include "lithe/prepare/collision_proxy.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/reduce/make_lattice_model.hpp"
#include "lithe/rig/bind.hpp"
#include "lithe/rig/gltf_character.hpp"

namespace lithe {
namespace {

constexpr double standard_gravity = 9.81;   ///< [m/s^2]
constexpr double smallest_character = 0.03; ///< [m]
constexpr double largest_character = 100.0; ///< [m]
constexpr double least_line = 2e-3;         ///< of the body's size: shorter bones have no line
constexpr Index default_vertices = 200, vertices_per_bone = 3; ///< of a lattice
constexpr Index most_bones = 512;
constexpr double covered_share = 1e-3; ///< of the body's size: by as much the closed body may miss the skin
constexpr double same_color = 0.06;    ///< by which painted colours may differ from the one that is named

// --- What is asked for --------------------------------------------------------------------------------------------

std::string joint_name(const Skeleton& skeleton, int joint)
{
    const std::string& name = skeleton.joints[static_cast<std::size_t>(joint)].name;
    return name.empty() ? fmt::format("joint {}", joint) : name;
}

int root_of(const Skeleton& skeleton, int joint)
{
    while (skeleton.joints[static_cast<std::size_t>(joint)].parent >= 0)
        joint = skeleton.joints[static_cast<std::size_t>(joint)].parent;
    return joint;
}

/// Two skeletons, each with bones and skin of its own, are two characters.
void require_one(const Character& character)
{
    const auto count = static_cast<int>(character.bones.size());
    UnionFind joined(count);
    std::map<int, int> first_of_root;
    for (int b = 0; b < count; ++b)
        joined.join(
            b, first_of_root
                   .try_emplace(
                       root_of(character.skeleton, character.bones[static_cast<std::size_t>(b)].joint), b)
                   .first->second);
    for (Index v = 0; v < character.weights.vertex_count(); ++v)
        for (Index k = 1; k < character.weights.slots(); ++k)
            if (character.weights.weights(k, v) > 0.0)
                joined.join(character.weights.bones(0, v), character.weights.bones(k, v));
    std::map<int, int> bones_of;
    for (int b = 0; b < count; ++b) ++bones_of[joined.root(b)];
    std::erase_if(bones_of, [](const auto& one) { return one.second < 2; }); // a prop, an eye
    if (bones_of.size() < 2) return;
    const auto name = [&](int bone) {
        const Skeleton& skeleton = character.skeleton;
        return joint_name(skeleton, root_of(skeleton, character.bones[static_cast<std::size_t>(bone)].joint));
    };
    throw InputError(fmt::format(
        "there are {} characters in it, '{}' and '{}' among them; write each to a file of its own",
        bones_of.size(), name(bones_of.begin()->first), name(std::next(bones_of.begin())->first)));
}

void require_usable(const Character& character)
{
    if (character.bones.empty() || character.weights.vertex_count() == 0)
        throw InputError(
            "the character has no skin weights; make some with: lithe rig FILE --bind -o OUT.glb");
    if (static_cast<Index>(character.bones.size()) > most_bones)
        throw InputError(fmt::format("the character has {} bones; a lattice takes {} at most",
                                     character.bones.size(), most_bones));
    require_sound(character.weights, character.bones.size());
    require_one(character);
    const double size = bounds(character.surface.vertices).diagonal().norm();
    if (!(size > smallest_character && size < largest_character))
        throw InputError(
            fmt::format("the character is {:.3g} m large; is it in another unit? give --scale {:g}", size,
                        size < 1.0 ? 100.0 : 0.01));
}

// --- Lines along bones --------------------------------------------------------------------------------------------

std::vector<Vec3> joint_places(const Character& character)
{
    std::vector<Vec3> out;
    for (const Affine3& bound : bound_joints(character.skeleton, character.bones))
        out.push_back(bound.translation());
    return out;
}

/// 1 for the joints whose bones have weight somewhere.
std::vector<unsigned char> joints_with_skin(const Character& character)
{
    std::vector<unsigned char> out(character.skeleton.joints.size(), 0);
    for (Index v = 0; v < character.weights.vertex_count(); ++v)
        for (Index k = 0; k < character.weights.slots(); ++k)
            if (character.weights.weights(k, v) > 0.0)
                out[static_cast<std::size_t>(
                    character.bones[static_cast<std::size_t>(character.weights.bones(k, v))].joint)] = 1;
    return out;
}

/// The shortest tree over places, from the first on, edge by edge [Prim].
std::vector<std::pair<Vec3, Vec3>> shortest_tree(std::vector<Vec3> rest)
{
    std::vector<Vec3> tree = {rest.front()};
    rest.erase(rest.begin());
    std::vector<std::pair<Vec3, Vec3>> out;
    while (!rest.empty()) {
        std::size_t from = 0, to = 0;
        for (std::size_t a = 0; a < tree.size(); ++a)
            for (std::size_t b = 0; b < rest.size(); ++b)
                if ((tree[a] - rest[b]).squaredNorm() < (tree[from] - rest[to]).squaredNorm()) {
                    from = a;
                    to = b;
                }
        out.emplace_back(tree[from], rest[to]);
        tree.push_back(rest[to]);
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(to));
    }
    return out;
}

/// How far the line of a joint at the end of a chain goes on: half of its parent's length, less where the body ends before.
Vec3 chain_end(const SurfaceQuery& body, const Vec3& joint, const Vec3& parent)
{
    for (const double share : {0.5, 0.4, 0.3, 0.2}) {
        const Vec3 end = joint + share * (joint - parent);
        if (body.inside(end)) return end;
    }
    return joint + 0.1 * (joint - parent);
}

bool any_inside(const SurfaceQuery& body, const BoneLine& line)
{
    for (int k = 0; k <= 8; ++k)
        if (body.inside(line.head + k / 8.0 * (line.tail - line.head))) return true;
    return false;
}

// --- The lattice --------------------------------------------------------------------------------------------------

TriangleMesh joined(const TriangleMesh& a, const TriangleMesh& b)
{
    TriangleMesh out;
    out.vertices.resize(3, a.vertex_count() + b.vertex_count());
    out.vertices << a.vertices, b.vertices;
    out.triangles.resize(3, a.triangle_count() + b.triangle_count());
    out.triangles << a.triangles, (b.triangles.array() + static_cast<int>(a.vertex_count())).matrix();
    return out;
}

void hold_by_points(const std::vector<JointLine>& lines, LatticeDescription& out)
{
    for (const JointLine& bone : lines)
        out.held_bones.push_back({bone.line.name, bone.joint, bone.line.head, bone.line.tail});
}

/// A lattice of ours: with bones on its edges, or of cubes in which they are held by points.
void set_own_lattice(const TriangleMesh& body, const std::vector<JointLine>& lines, Index vertices,
                     Progress& progress, std::vector<std::string>& notes, LatticeDescription& out)
{
    std::vector<BoneLine> bones;
    for (const JointLine& bone : lines) bones.push_back(bone.line);
    BoneLattice made = bone_lattice(body, bones, {.vertices = vertices}, progress);
    if (made.failure.empty()) {
        out.lattice = std::move(made.lattice);
        for (const JointLine& bone : lines) out.bone_joints.push_back(bone.joint);
        return;
    }
    out.lattice = grid_lattice(body, vertices, progress);
    hold_by_points(lines, out);
    notes.push_back(fmt::format(
        "{}: bones are held by points in a lattice of cubes instead of lying on its edges", made.failure));
}

/// A hand-made lattice: its bones name joints; the others are held by points.
void set_given_lattice(const std::filesystem::path& file, const Skeleton& skeleton,
                       const std::vector<JointLine>& lines, std::vector<std::string>& notes,
                       LatticeDescription& out)
{
    out.lattice = read_lattice(file);
    std::vector<std::string> names;
    for (const Joint& joint : skeleton.joints) names.push_back(joint.name);
    for (const LatticeBone& bone : out.lattice.bones) {
        const int joint = skeleton.find(bone.name);
        if (joint < 0)
            throw InputError({.file = file}, fmt::format("the skeleton has no joint '{}'{}", bone.name,
                                                         did_you_mean(bone.name, names)));
        out.bone_joints.push_back(joint);
    }
    std::vector<JointLine> others;
    for (const JointLine& line : lines)
        if (std::ranges::find(out.bone_joints, line.joint) == out.bone_joints.end()) others.push_back(line);
    hold_by_points(others, out);
    if (!others.empty())
        notes.push_back(
            fmt::format("{} bones are not in the lattice's file and are held by points", others.size()));
}

// --- Stiffness ----------------------------------------------------------------------------------------------------

/// Whether a place in the body belongs to one of the regions of stiffness.
using Belongs = std::function<bool(const Vec3&)>;

Belongs around_bone(const std::string& name, const Character& character,
                    std::shared_ptr<const SurfaceQuery> skin)
{
    const int joint = character.skeleton.find(name);
    int bone = -1;
    std::vector<std::string> names;
    for (int b = 0; b < static_cast<int>(character.bones.size()); ++b) {
        names.push_back(joint_name(character.skeleton, character.bones[static_cast<std::size_t>(b)].joint));
        if (character.bones[static_cast<std::size_t>(b)].joint == joint) bone = b;
    }
    if (bone < 0)
        throw InputError(fmt::format("there is no bone '{}'{}; there are: {}", name,
                                     did_you_mean(name, names), fmt::join(names, ", ")));
    return [bone, skin, weights = character.weights](const Vec3& p) {
        const ClosestPoint near = skin->closest_point(p);
        double share = 0.0;
        for (int k = 0; k < 3; ++k) {
            const int v = skin->mesh().triangles(k, near.triangle);
            for (Index slot = 0; slot < weights.slots(); ++slot)
                if (weights.bones(slot, v) == bone) share += near.barycentric[k] * weights.weights(slot, v);
        }
        return share > 0.5;
    };
}

Vec3 parse_color(const std::string& text)
{
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value, 16);
    if (text.size() != 7 || error != std::errc() || end != text.data() + text.size())
        throw InputError(fmt::format("'{}' is not a colour; write it as in #ff8000", text));
    return Vec3(value >> 16 & 255u, value >> 8 & 255u, value & 255u) / 255.0;
}

Belongs below_color(const std::string& text, const Character& character,
                    std::shared_ptr<const SurfaceQuery> skin)
{
    const Vec3 wanted = parse_color(text);
    const VertexField* colors = find_color(character.surface.fields);
    if (!colors)
        throw InputError(
            fmt::format("'{}': the character has no vertex colours; paint some, or name bones", text));
    const MatX distances = (colors->values.colwise() - wanted).colwise().norm();
    if (distances.minCoeff() > same_color)
        throw InputError(fmt::format("'{}': no vertex has a colour like that", text));
    return [skin, distances](const Vec3& p) {
        const ClosestPoint near = skin->closest_point(p);
        Index corner = 0;
        (void)near.barycentric.maxCoeff(&corner);
        return distances(0, skin->mesh().triangles(corner, near.triangle)) <= same_color;
    };
}

Belongs inside_mask(const std::string& file)
{
    auto mask = std::make_shared<SurfaceQuery>(read_surface(file));
    return [mask](const Vec3& p) { return mask->inside(p); };
}

void set_materials(const Character& character, const LatticePrepareOptions& options,
                   std::vector<std::string>& notes, LatticeDescription& out)
{
    const double height = bounds(out.closed.vertices).sizes()[1];
    const double young = options.young.value_or(comfortable_young(options.density, standard_gravity, height));
    if (!options.young)
        notes.push_back(
            fmt::format("no modulus is given; chosen for its size and weight: young = {:.4g} Pa", young));
    const auto material = [&](int label, double E) {
        return RegionParameters{.label = label,
                                .material = {.kind = MaterialKind::Linear, .elastic = {E, options.poisson}},
                                .density = options.density};
    };
    out.materials = {material(0, young)};
    const auto skin = std::make_shared<const SurfaceQuery>(character.surface);
    std::vector<Belongs> places;
    for (const LatticeStiffness& s : options.stiffness) {
        out.materials.push_back(
            material(static_cast<int>(out.materials.size()), require_positive("young", s.young)));
        places.push_back(s.where == LatticeStiffness::Where::Bone    ? around_bone(s.what, character, skin)
                         : s.where == LatticeStiffness::Where::Color ? below_color(s.what, character, skin)
                                                                     : inside_mask(s.what));
    }
    if (places.empty()) return;
    out.material_at = [places](const Vec3& p) {
        const auto found = std::ranges::find_if(places, [&](const Belongs& belongs) { return belongs(p); });
        return found == places.end() ? 0 : 1 + static_cast<int>(found - places.begin());
    };
}

// --- The record ---------------------------------------------------------------------------------------------------

std::string character_name(const std::filesystem::path& file)
{
    const std::filesystem::path stem = file.stem();
    return (stem.extension() == ".skel" ? stem.stem() : stem).string();
}

std::string describe(const LatticePrepareOptions& options, const LatticeModel& model)
{
    std::string out = fmt::format("lattice; {} vertices; {} levels; young {:.6g} poisson {:.6g} density "
                                  "{:.6g}; damping {:.6g}; proxy {}",
                                  model.lattice.vertices.size(), options.levels,
                                  model.materials.front().material.elastic.young_modulus, options.poisson,
                                  options.density, model.settings.damping, options.proxy_vertices);
    for (const LatticeStiffness& s : options.stiffness) out += fmt::format("; {} {:.6g}", s.what, s.young);
    if (options.lattice) out += fmt::format("; lattice {}", options.lattice->filename().string());
    return out;
}

/// Whether the file that it came from binds it.
bool is_skinned_gltf(const Character& character)
{
    return character.source && gltf_character(character.source).weights.vertex_count() > 0;
}

/// The same, as it will be read from the model.
Character as_gltf(const Character& character)
{
    return gltf_character(std::make_shared<const GltfDocument>(
        GltfDocument::parse(make_gltf(character).to_glb(), character.file)));
}

} // namespace

LatticeStiffness parse_stiffness(const std::string& text)
{
    const auto sign = text.rfind('=');
    double young = 0.0;
    const char* end = text.data() + text.size();
    if (sign == std::string::npos || sign == 0 ||
        std::from_chars(text.data() + sign + 1, end, young).ptr != end || !(young > 0.0))
        throw InputError(
            fmt::format("'{}': give BONE=YOUNG, #rrggbb=YOUNG or mask:FILE=YOUNG, with the modulus "
                        "in Pa, as in ear=2000",
                        text));
    const std::string what = text.substr(0, sign);
    if (what.front() == '#') return {LatticeStiffness::Where::Color, what, young};
    if (what.starts_with("mask:")) return {LatticeStiffness::Where::Mask, what.substr(5), young};
    return {LatticeStiffness::Where::Bone, what, young};
}

std::vector<JointLine> bone_lines(const Character& character, const TriangleMesh& closed,
                                  std::vector<std::string>& notes)
{
    const Skeleton& skeleton = character.skeleton;
    const std::vector<Vec3> places = joint_places(character);
    const std::vector<unsigned char> with_skin = joints_with_skin(character);
    const SurfaceQuery body(closed);
    const double shortest = least_line * bounds(closed.vertices).diagonal().norm();

    std::vector<JointLine> out;
    std::vector<std::string> without, outside;
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        if (!with_skin[static_cast<std::size_t>(j)]) continue;
        const Vec3& at = places[static_cast<std::size_t>(j)];
        const int parent = skeleton.joints[static_cast<std::size_t>(j)].parent;
        std::vector<Vec3> ends = {at};
        for (int k = j + 1; k < skeleton.joint_count(); ++k)
            if (skeleton.joints[static_cast<std::size_t>(k)].parent == j &&
                with_skin[static_cast<std::size_t>(k)])
                ends.push_back(places[static_cast<std::size_t>(k)]);
        if (ends.size() == 1 && parent >= 0)
            ends.push_back(chain_end(body, at, places[static_cast<std::size_t>(parent)]));
        const std::string name = joint_name(skeleton, j);
        std::size_t before = out.size();
        for (const auto& [head, tail] : shortest_tree(ends))
            if ((tail - head).norm() > shortest) out.push_back({{name, head, tail}, j});
        if (out.size() == before) without.push_back(name);
        std::erase_if(out, [&](const JointLine& bone) {
            const bool off = bone.joint == j && !any_inside(body, bone.line);
            if (off) outside.push_back(name);
            return off;
        });
    }
    if (out.empty() && !outside.empty())
        throw InputError(
            "all bones lie outside the surface; give skeleton and surface the same unit and place, or "
            "fit a skeleton with: lithe rig FILE --fit biped -o OUT.glb");
    if (out.empty())
        throw InputError(
            "no bone has a length: all joints lie at one place; fit a skeleton with: lithe rig FILE --fit "
            "biped -o OUT.glb");
    if (!without.empty())
        notes.push_back(
            fmt::format("bones without length move with their neighbours: {}", fmt::join(without, ", ")));
    if (!outside.empty())
        notes.push_back(fmt::format("bones outside the surface hold nothing: {}", fmt::join(outside, ", ")));
    return out;
}

LatticeModel prepare_lattice(const Character& character, const LatticePrepareOptions& options,
                             Progress& progress, std::vector<std::string>& notes)
{
    require_usable(character);
    CharacterBody body = close_character(character, progress);
    notes.insert(notes.end(), body.report.notes.begin(), body.report.notes.end());
    const std::vector<JointLine> lines = bone_lines(character, body.closed, notes);
    const double size = bounds(body.closed.vertices).diagonal().norm();

    LatticeDescription description{.name = character_name(character.file),
                                   .lattice = {},
                                   .bone_joints = {},
                                   .skeleton = character.skeleton,
                                   .bones = character.bones,
                                   .weights = character.weights,
                                   .shown = character.surface,
                                   .closed = body.closed,
                                   .collision = {}};
    const Index vertices = options.vertices.value_or(
        std::max(default_vertices, vertices_per_bone * static_cast<Index>(character.bones.size())));
    if (options.lattice)
        set_given_lattice(*options.lattice, character.skeleton, lines, notes, description);
    else
        set_own_lattice(body.report.uncovered > covered_share * size ? joined(body.closed, character.surface)
                                                                     : body.closed,
                        lines, vertices, progress, notes, description);
    set_materials(character, options, notes, description);
    description.collision = make_collision_proxy(body.closed, {.vertices = options.proxy_vertices}).surface;
    description.levels = options.levels;
    description.integration_levels = std::max(2, options.levels);
    if (options.damping) description.settings.damping = *options.damping;

    LatticeModel out = make_lattice_model(description, progress);
    out.record.settings = describe(options, out);
    out.record.basis = fmt::format("lattice of {} levels", options.levels);
    return out;
}

LatticeModel prepare_lattice(const SceneSource& source, const LatticePrepareOptions& options,
                             Progress& progress, std::vector<std::string>& notes)
{
    Character character = load_character(source, progress, notes);
    ModelCharacter kept{.glb = {}, .read = source.read};
    if (!is_skinned_gltf(character)) {
        character = as_gltf(character);
        kept.read = {};
    }
    kept.glb = character.source->to_glb();
    LatticeModel out =
        at_place(source.place, [&] { return prepare_lattice(character, options, progress, notes); });
    out.character = std::move(kept);
    record_source(source, out.record);
    return out;
}

} // namespace lithe
