#include "lithe/prepare/prepare_bones.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/suggest.hpp"
#include "lithe/prepare/bone_partition.hpp"
#include "lithe/prepare/collision_proxy.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/prepare/source.hpp"

namespace lithe {
namespace {

constexpr double standard_gravity = 9.81;  ///< [m/s^2]
constexpr double least_skin_weight = 0.01; ///< below it a vertex does not follow a bone
constexpr double least_triangle = 1e-3;    ///< height of the points of a weld over their distance
constexpr double strong_share = 0.5;       ///< of the best weight that a joint's points have of both bones

// --- What is asked for --------------------------------------------------------------------------------------------

/// Some of the skeleton must be where the body is: else it belongs to another, or has another unit.
void require_inside(const Character& character)
{
    const Box3 body = bounds(character.surface.vertices);
    Box3 near = body, skeleton;
    near.min() -= 0.05 * body.sizes();
    near.max() += 0.05 * body.sizes();
    bool meets = false;
    for (const BoneSegment& s : bone_segments(character.skeleton, character.bones)) {
        skeleton.extend(s.a);
        skeleton.extend(s.b);
        meets = meets || near.contains(s.a) || near.contains(s.b) || near.contains(0.5 * (s.a + s.b));
    }
    if (meets) return;
    const auto text = [](const Vec3& p) { return fmt::format("({:.3g}, {:.3g}, {:.3g})", p[0], p[1], p[2]); };
    throw InputError(
        fmt::format("the skeleton lies outside the mesh: its bones are from {} to {}, the mesh from {} "
                    "to {}; give both the same unit and place, or fit a skeleton with: "
                    "lithe rig FILE --fit biped -o OUT.glb",
                    text(skeleton.min()), text(skeleton.max()), text(body.min()), text(body.max())));
}

void require_usable(const Character& character, const BoneOptions& options)
{
    if (character.bones.empty() || character.weights.vertex_count() == 0)
        throw InputError(
            "the character has no skin weights; make some with: lithe rig FILE --bind -o OUT.glb");
    if (character.weights.vertex_count() != character.surface.vertex_count())
        throw InputError(fmt::format("there are weights of {} vertices, but the surface has {}",
                                     character.weights.vertex_count(), character.surface.vertex_count()));
    require_sound(character.weights, character.bones.size());
    if (options.modes < 0) throw InputError(fmt::format("modes = {} must be at least 0", options.modes));
    if (options.elastic != ElasticChoice::Linear && options.elastic != ElasticChoice::Polynomial)
        throw InputError("bones have linear or polynomial elasticity; give one of them");
    require_positive("density", options.density);
    require_inside(character);
}

/// The part that a bone of this name is; it must be one of its own.
int require_part(const Character& character, const BonePartition& partition, const std::string& name)
{
    const auto part = std::ranges::find(partition.parts, name, &BonePart::name);
    if (part != partition.parts.end()) return static_cast<int>(part - partition.parts.begin());
    std::vector<std::string> names;
    for (const BonePart& p : partition.parts) names.push_back(p.name);
    const int joint = character.skeleton.find(name);
    for (std::size_t b = 0; joint >= 0 && b < character.bones.size(); ++b)
        if (character.bones[b].joint == joint)
            throw InputError(fmt::format("bone '{}' is too small to be a bone of its own and moves with "
                                         "'{}'; name that one, or take more tets",
                                         name, names[static_cast<std::size_t>(partition.part_of_bone[b])]));
    throw InputError(fmt::format("there is no bone '{}'{}; there are: {}", name, did_you_mean(name, names),
                                 fmt::join(names, ", ")));
}

RegionParameters make_material(const BoneOptions& options, const TetMesh& tets,
                               std::vector<std::string>& notes)
{
    const double height = bounds(tets.vertices).sizes()[1];
    const double young = options.young.value_or(comfortable_young(options.density, standard_gravity, height));
    if (!options.young)
        notes.push_back(
            fmt::format("no modulus is given; chosen for its size and weight: young = {:.4g} Pa", young));
    return {.label = 0,
            .material = {.kind = options.elastic == ElasticChoice::Linear ? MaterialKind::Linear
                                                                          : MaterialKind::StVenantKirchhoff,
                         .elastic = {young, options.poisson}},
            .density = options.density};
}

// --- Which bones a skin follows -----------------------------------------------------------------------------------

/// A surface in the tets, and how much each of its vertices follows which part.
struct Skin {
    TriangleMesh rest;
    Embedding embedding;
    struct Follower {
        int part;
        double weight;
    };
    std::vector<std::vector<Follower>> followers; ///< of each vertex; weights sum to one
};

void normalise(std::vector<Skin::Follower>& followers)
{
    double sum = 0.0;
    for (const auto& f : followers) sum += f.weight;
    for (auto& f : followers) f.weight /= sum;
}

/// Only parts that have the tet around the vertex can move it. Their weights fade out towards `overlap`, where parts end, so that
/// the skin has no steps there.
std::vector<Skin::Follower> followers_of(const std::vector<int>& tet_parts, const SkinWeights& weights,
                                         Index vertex, double overlap)
{
    std::vector<Skin::Follower> out;
    Skin::Follower strongest{tet_parts.front(), 0.0};
    for (Index k = 0; k < weights.slots(); ++k) {
        const Skin::Follower f{weights.bones(k, vertex), weights.weights(k, vertex)};
        if (!std::ranges::binary_search(tet_parts, f.part)) continue;
        if (f.weight > strongest.weight) strongest = f;
        if (f.weight > overlap) out.push_back({f.part, f.weight - overlap});
    }
    if (out.empty()) return {{strongest.part, 1.0}};
    normalise(out);
    std::erase_if(out, [](const Skin::Follower& f) { return f.weight < least_skin_weight; });
    normalise(out);
    return out;
}

Skin make_skin(TriangleMesh rest, Embedding embedding, const SkinWeights& weights,
               const BonePartition& partition, double overlap)
{
    Skin out{.rest = std::move(rest), .embedding = std::move(embedding), .followers = {}};
    for (Index v = 0; v < out.rest.vertex_count(); ++v) {
        const int tet = out.embedding.tet[static_cast<std::size_t>(v)];
        out.followers.push_back(
            followers_of(partition.tet_parts[static_cast<std::size_t>(tet)], weights, v, overlap));
    }
    return out;
}

// --- One bone -----------------------------------------------------------------------------------------------------

/// A part as a body of its own.
struct PartBody {
    BodyParts parts;
    std::vector<int> local; ///< of each vertex of the whole volume, its number in the part; -1: not in it
    PreparedBone bone;
    MatX S; ///< 3n x r
};

/// Its tets, labelled by their shares.
TetMesh part_mesh(const TetMesh& volume, const BonePart& part, std::vector<int>& local)
{
    local.assign(static_cast<std::size_t>(volume.vertex_count()), -1);
    TetMesh out{.vertices = {}, .tets = volume.tets(Eigen::all, part.tets), .regions = part.shares};
    std::vector<int> used(out.tets.data(), out.tets.data() + out.tets.size());
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (std::size_t i = 0; i < used.size(); ++i)
        local[static_cast<std::size_t>(used[i])] = static_cast<int>(i);
    for (int& v : out.tets.reshaped()) v = local[static_cast<std::size_t>(v)];
    out.vertices = volume.vertices(Eigen::all, used);
    return out;
}

/// A share of the mass and the same share of the stiffness: the bone's own frequencies stay those of the material.
std::vector<RegionParameters> shared_materials(const RegionParameters& whole, const std::vector<int>& shares)
{
    std::vector<RegionParameters> out;
    for (int share = 1; share <= whole_share; ++share) {
        if (std::ranges::find(shares, share) == shares.end()) continue;
        RegionParameters region = whole;
        region.label = share;
        region.density *= static_cast<double>(share) / whole_share;
        region.material.elastic.young_modulus *= static_cast<double>(share) / whole_share;
        out.push_back(region);
    }
    return out;
}

/// The vertices of the skin that follow a part, in the order of the skin.
std::vector<int> following(const Skin& skin, int part)
{
    std::vector<int> out;
    for (std::size_t v = 0; v < skin.followers.size(); ++v)
        if (std::ranges::find(skin.followers[v], part, &Skin::Follower::part) != skin.followers[v].end())
            out.push_back(static_cast<int>(v));
    return out;
}

/// Where some points of an embedding lie in a part.
Embedding part_embedding(const Embedding& whole, const std::vector<int>& points,
                         const std::vector<int>& local)
{
    Embedding out;
    out.corners = whole.corners(Eigen::all, points);
    for (int& v : out.corners.reshaped()) v = local[static_cast<std::size_t>(v)];
    out.weights = whole.weights(Eigen::all, points);
    return out;
}

/// What of a part those need who look at it: its tets without their shares, as the stress is that of the material.
std::shared_ptr<const PreparedVolume> kept_volume(const PartBody& body, const Skin& skin,
                                                  const std::vector<int>& points)
{
    if (body.S.cols() == 0) return nullptr;
    PreparedVolume out{.mesh = body.parts.model.shown.volume,
                       .pins = {},
                       .U = body.S,
                       .cubature = {},
                       .embedding = part_embedding(skin.embedding, points, body.local)};
    out.mesh.regions.clear();
    return std::make_shared<const PreparedVolume>(std::move(out));
}

PartBody make_part(const TetMesh& volume, const BonePart& part, const RegionParameters& material,
                   const RayleighDamping& damping)
{
    PartBody out;
    FullBodyModel& model = out.parts.model;
    model.shown.name = part.name;
    model.shown.volume = part_mesh(volume, part, out.local);
    out.parts.materials = shared_materials(material, part.shares);
    model.fem =
        make_fem_model(model.shown.volume, region_materials(out.parts.materials), {.damping = damping});
    return out;
}

/// What the example poses of a part do to it, a column for each. `points` of the skin follow it.
MatX example_columns(PartBody& body, const Skin& skin, const std::vector<int>& points,
                     const std::string& name, const std::vector<BoneShape>& shapes)
{
    FullBodyModel& model = body.parts.model;
    model.embedding = part_embedding(skin.embedding, points, body.local);
    MatX out(model.fem.rest.size(), 0);
    for (const BoneShape& shape : shapes) {
        if (shape.bone != name) continue;
        const Points pose = read_mesh_or_character(shape.file, {}).vertices;
        if (pose.cols() != skin.rest.vertex_count())
            throw InputError({shape.file},
                             fmt::format("has {} vertices, of another mesh: the character's surface has "
                                         "{}; write it with: lithe mesh RIG -o rest.obj",
                                         pose.cols(), skin.rest.vertex_count()));
        // the embedding of a surface that is not quite in the tets: what counts is how it moves
        const Points moved = pose(Eigen::all, points) - skin.rest.vertices(Eigen::all, points);
        const Points x = extended_into_tets(model, deform(model.embedding, model.fem.rest) + moved);
        out.conservativeResize(Eigen::NoChange, out.cols() + 1);
        out.rightCols<1>() = deformation(body.parts, x);
    }
    model.embedding = {};
    return out;
}

void set_rank(PartBody& body, const BoneOptions& options, MatX shapes, Progress& progress,
              std::vector<std::string>& notes)
{
    const FemModel& fem = body.parts.model.fem;
    const Index most = 3 * fem.vertex_count() - 6, rank = std::min(options.modes + shapes.cols(), most);
    if (rank == 0) {
        PreparedModel rigid = rigid_model(body.parts);
        body.bone.reduced = std::move(rigid.reduced);
        body.bone.tensors = std::move(rigid.tensors);
        body.S = MatX(fem.rest.size(), 0);
        return;
    }
    SceneReduction wanted;
    wanted.rank = rank;
    wanted.elastic = options.elastic;
    const TrainingData training{
        .snapshots = MatX(fem.rest.size(), 0), .shapes = std::move(shapes), .notes = {}};
    Reduction reduction = reduce_body(body.parts, wanted, training, {}, progress);
    for (const std::string& note : reduction.notes) notes.push_back(body.bone.name + ": " + note);
    body.bone.reduced = std::move(reduction.model.reduced);
    body.bone.tensors = std::move(reduction.model.tensors);
    body.S = std::move(reduction.volume.U);
}

/// Rows of the basis of a part at a point of the tets.
Rows3 rows_at(const PartBody& body, const Eigen::Vector4i& corners, const Eigen::Vector4d& weights)
{
    Rows3 out = Rows3::Zero(3, body.S.cols());
    for (int a = 0; a < 4; ++a)
        out += weights[a] * body.S.middleRows<3>(3 * body.local[static_cast<std::size_t>(corners[a])]);
    return out;
}

// --- Skin ---------------------------------------------------------------------------------------------------------

SkinBone skin_of(const Skin& skin, int part, const PartBody& body)
{
    SkinBone out;
    out.vertices = following(skin, part);
    const auto count = static_cast<Index>(out.vertices.size());
    out.weights.resize(count);
    out.rest = skin.rest.vertices(Eigen::all, out.vertices).colwise() - body.bone.tensors.centre;
    out.basis.resize(3 * count, body.S.cols());
    for (Index i = 0; i < count; ++i) {
        const int v = out.vertices[static_cast<std::size_t>(i)];
        out.weights[i] =
            std::ranges::find(skin.followers[static_cast<std::size_t>(v)], part, &Skin::Follower::part)
                ->weight;
        out.basis.middleRows<3>(3 * i) =
            rows_at(body, skin.embedding.corners.col(v), skin.embedding.weights.col(v)).cast<float>();
    }
    return out;
}

BoneSurface skinned(Skin skin, const std::vector<PartBody>& bodies)
{
    BoneSurface out;
    for (std::size_t p = 0; p < bodies.size(); ++p)
        out.skin.push_back(skin_of(skin, static_cast<int>(p), bodies[p]));
    out.rest = std::move(skin.rest);
    std::erase_if(out.rest.fields, [](const VertexField& field) { return field.name != "color"; });
    return out;
}

// --- Joints -------------------------------------------------------------------------------------------------------

double weight_of(const SkinWeights& weights, int vertex, int part)
{
    for (Index k = 0; k < weights.slots(); ++k)
        if (weights.bones(k, vertex) == part && weights.weights(k, vertex) > 0.0)
            return weights.weights(k, vertex);
    return 0.0;
}

/// Vertices that both parts have: those where the weights of both are large, or all.
struct Common {
    std::vector<int> strong, all;
};

Common common_vertices(const BonePartition& partition, const std::vector<PartBody>& bodies, int a, int b)
{
    Common out;
    double best = 0.0;
    std::vector<double> scores;
    const std::vector<int>&in_a = bodies[static_cast<std::size_t>(a)].local,
          &in_b = bodies[static_cast<std::size_t>(b)].local;
    for (std::size_t v = 0; v < in_a.size(); ++v) {
        if (in_a[v] < 0 || in_b[v] < 0) continue;
        out.all.push_back(static_cast<int>(v));
        scores.push_back(std::min(weight_of(partition.weights, out.all.back(), a),
                                  weight_of(partition.weights, out.all.back(), b)));
        best = std::max(best, scores.back());
    }
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i] >= strong_share * best) out.strong.push_back(out.all[i]);
    return out;
}

/// The candidate of which f is largest, the first of equal ones.
template <class F>
int best_of(const std::vector<int>& candidates, const F& f)
{
    return *std::ranges::max_element(candidates, {}, f);
}

/// One vertex in the middle; two as far from each other as they come, across the direction; or three that are spread widely. Fewer
/// where the candidates lie on a line.
std::vector<int> joint_vertices(const Points& X, const std::vector<int>& candidates, BoneHold hold,
                                const Vec3& direction)
{
    const Vec3 middle = X(Eigen::all, candidates).rowwise().mean();
    if (hold == BoneHold::Ball)
        return {best_of(candidates, [&](int v) { return -(X.col(v) - middle).norm(); })};
    const Vec3 left_out = hold == BoneHold::Hinge ? direction : Vec3(Vec3::Zero());
    const auto distance = [&](const Vec3& p, int v) {
        const Vec3 way = X.col(v) - p;
        return (way - left_out * left_out.dot(way)).norm();
    };
    const int first = best_of(candidates, [&](int v) { return distance(middle, v); });
    const int second = best_of(candidates, [&](int v) { return distance(X.col(first), v); });
    const Vec3 line = X.col(second) - X.col(first);
    if (first == second || !(line.norm() > 0.0)) return {first};
    if (hold == BoneHold::Hinge) return {first, second};
    const auto height = [&](int v) { return line.cross(Vec3(X.col(v) - X.col(first))).norm() / line.norm(); };
    const int third = best_of(candidates, height);
    if (!(height(third) > least_triangle * line.norm())) return {first, second};
    return {first, second, third};
}

std::size_t point_count(BoneHold hold)
{
    return hold == BoneHold::Weld ? 3 : hold == BoneHold::Hinge ? 2 : 1;
}

BonePoint bone_point(const Points& X, int vertex, const PartBody& body)
{
    const int local = body.local[static_cast<std::size_t>(vertex)];
    return {X.col(vertex) - body.bone.tensors.centre, body.S.middleRows<3>(3 * local)};
}

PreparedBoneJoint make_joint(const TetMesh& volume, const BonePartition& partition,
                             const std::vector<PartBody>& bodies, int part, BoneHold hold)
{
    const int parent = partition.parts[static_cast<std::size_t>(part)].parent;
    const PartBody &a = bodies[static_cast<std::size_t>(parent)], &b = bodies[static_cast<std::size_t>(part)];
    const Common common = common_vertices(partition, bodies, parent, part);
    const Vec3 direction = (b.bone.tensors.centre - a.bone.tensors.centre).normalized();
    std::vector<int> chosen = joint_vertices(volume.vertices, common.strong, hold, direction);
    if (chosen.size() < point_count(hold))
        chosen = joint_vertices(volume.vertices, common.all, hold, direction);
    if (chosen.size() < point_count(hold))
        throw InputError(
            fmt::format("bones '{}' and '{}' meet on a line only, where no joint finds three points; take "
                        "more tets, or a smaller overlap",
                        a.bone.name, b.bone.name));
    PreparedBoneJoint out{.a = parent, .b = part, .points = {}};
    for (const int v : chosen)
        out.points.push_back({bone_point(volume.vertices, v, a), bone_point(volume.vertices, v, b)});
    return out;
}

// --- All together -------------------------------------------------------------------------------------------------

/// The closed body filled with tets; weights and proxy go with it.
struct Filled {
    CharacterBody body;
    CharacterVolume volume;
};

Filled fill(const Character& character, const TetrahedraliseOptions& tets, Progress& progress,
            std::vector<std::string>& notes)
{
    CharacterBody body = close_character(character, progress);
    notes.insert(notes.end(), body.report.notes.begin(), body.report.notes.end());
    CharacterVolume volume = fill_character(character, body, tets, progress);
    return {std::move(body), std::move(volume)};
}

Skin proxy_skin(const Filled& filled, const BonePartition& partition, const BoneOptions& options,
                std::vector<std::string>& notes)
{
    CollisionProxy proxy = make_collision_proxy(filled.body.closed, {.vertices = options.proxy_vertices});
    notes.insert(notes.end(), proxy.notes.begin(), proxy.notes.end());
    const SkinWeights weights{.bones = filled.body.weights.bones(Eigen::all, proxy.origin),
                              .weights = filled.body.weights.weights(Eigen::all, proxy.origin)};
    Embedding embedding = embed(proxy.surface.vertices, filled.volume.tets);
    return make_skin(std::move(proxy.surface), std::move(embedding),
                     weights_by_part(weights, partition.part_of_bone), partition, options.overlap);
}

std::vector<PartBody> reduce_parts(const Character& character, const CharacterVolume& volume,
                                   const BonePartition& partition, const RegionParameters& material,
                                   const Skin& skin, const BoneOptions& options, Progress& progress,
                                   std::vector<std::string>& notes)
{
    std::vector<unsigned char> rigid(partition.parts.size(), 0);
    for (const std::string& name : options.rigid)
        rigid[static_cast<std::size_t>(require_part(character, partition, name))] = 1;
    for (const BoneShape& shape : options.shapes)
        if (rigid[static_cast<std::size_t>(require_part(character, partition, shape.bone))])
            throw InputError(
                fmt::format("bone '{}' is rigid and has an example pose; choose one", shape.bone));

    std::vector<PartBody> out;
    for (std::size_t p = 0; p < partition.parts.size(); ++p) {
        const BonePart& part = partition.parts[p];
        PartBody body = make_part(volume.tets, part, material, options.damping);
        body.bone.name = part.name;
        body.bone.parent = part.parent;
        BoneOptions own = options;
        if (rigid[p]) own.modes = 0;
        const std::vector<int> points = following(skin, static_cast<int>(p));
        MatX shapes = example_columns(body, skin, points, part.name, options.shapes);
        try {
            set_rank(body, own, std::move(shapes), progress, notes);
        } catch (const InputError& error) {
            throw InputError(fmt::format("bone '{}': {}", part.name, error.what()));
        }
        body.bone.volume = kept_volume(body, skin, points);
        out.push_back(std::move(body));
    }
    return out;
}

/// "fish" for fish.glb and for fish.skel.txt.
std::string character_name(const std::filesystem::path& file)
{
    const std::filesystem::path stem = file.stem();
    return (stem.extension() == ".skel" ? stem.stem() : stem).string();
}

std::string describe(const BoneOptions& options, const RegionParameters& material, Index tets)
{
    std::string out = fmt::format("bones; {} tets; overlap {:.6g}; {} modes; {} joints; {} elastic; young "
                                  "{:.6g} poisson {:.6g} density {:.6g}; "
                                  "damping {:.6g} {:.6g}; proxy {}",
                                  tets, options.overlap, options.modes, name_of(options.hold, bone_holds),
                                  name_of(options.elastic, elastic_choices),
                                  material.material.elastic.young_modulus, options.poisson, options.density,
                                  options.damping.mass, options.damping.stiffness, options.proxy_vertices);
    if (!options.rigid.empty()) out += fmt::format("; rigid {}", fmt::join(options.rigid, ", "));
    for (const BoneShape& shape : options.shapes)
        out += fmt::format("; {} as in {} ({:016x})", shape.bone, shape.file.filename().string(),
                           source_hash({.from = shape.file}));
    return out;
}

} // namespace

BoneModel prepare_bones(const Character& character, const BoneOptions& options, Progress& progress,
                        std::vector<std::string>& notes)
{
    require_usable(character, options);
    const Filled filled = fill(character, options.tets, progress, notes);
    const TetMesh& tets = filled.volume.tets;
    const BonePartition partition = partition_by_bone(character, filled.volume, options.overlap, notes);
    const RegionParameters material = make_material(options, tets, notes);
    Skin shown =
        make_skin(character.surface, filled.volume.surface,
                  weights_by_part(character.weights, partition.part_of_bone), partition, options.overlap);
    std::vector<PartBody> bodies =
        reduce_parts(character, filled.volume, partition, material, shown, options, progress, notes);

    BoneModel out;
    out.name = character_name(character.file);
    for (int part = 1; part < static_cast<int>(bodies.size()); ++part)
        out.joints.push_back(make_joint(tets, partition, bodies, part, options.hold));
    out.shown = skinned(std::move(shown), bodies);
    out.collision = skinned(proxy_skin(filled, partition, options, notes), bodies);
    for (PartBody& body : bodies) out.bones.push_back(std::move(body.bone));
    out.materials = {material};
    out.record.settings = describe(options, material, tets.tet_count());
    out.record.basis = fmt::format("{} modes of each bone, free", options.modes);
    return out;
}

BoneModel prepare_bones(const SceneSource& source, const BoneOptions& options, Progress& progress,
                        std::vector<std::string>& notes)
{
    const Character character = load_character(source, progress, notes);
    BoneModel out =
        at_place(source.place, [&] { return prepare_bones(character, options, progress, notes); });
    record_source(source, out.record);
    return out;
}

} // namespace lithe
