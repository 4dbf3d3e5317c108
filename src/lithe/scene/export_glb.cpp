// glTF 2.0, binary: a JSON text that describes the scene, and one block of bytes with all numbers.
#include <algorithm>
#include <optional>
#include <set>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/version.hpp"
#include "lithe/math/color.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/skinning.hpp"
#include "lithe/scene/export_creases.hpp"
#include "lithe/scene/export_morphs.hpp"

namespace lithe::exporting {
namespace {

using Json = GltfDocument::Json;

constexpr int vertex_target = 34962;           ///< of buffer views that hold attributes of vertices
constexpr const char* run_name = "simulation"; ///< the one animation

/// Columns of the surface's vertices for those of the creased surface, whose vertices may be doubled.
Eigen::Matrix3Xf spread(const Eigen::Matrix3Xf& columns, const CreasedSurface& creased)
{
    return columns(Eigen::all, creased.origin);
}

std::vector<std::uint32_t> corners_of(const Triangles& triangles)
{
    const auto corners = triangles.reshaped();
    return {corners.begin(), corners.end()};
}

MatX vertex_colors(const TriangleMesh& surface, const CreasedSurface& creased) ///< linear RGBA, 4 x vertices
{
    const MatX& srgb = find_color(surface.fields)->values;
    MatX rgba = MatX::Ones(4, creased.vertex_count());
    for (Index v = 0; v < rgba.cols(); ++v)
        rgba.col(v).head<3>() = linear_from_srgb(srgb.col(creased.origin[v]));
    return rgba;
}

Points3f as_points(const Eigen::VectorXf& flat)
{
    return flat.reshaped(3, flat.size() / 3);
}

MatX pseudo_inverse(const MatX& W)
{
    const MatX WWt = W * W.transpose();
    const Eigen::LDLT<MatX> ldlt(WWt);
    if (ldlt.info() == Eigen::Success && ldlt.rcond() > 1e-12) return ldlt.solve(W).transpose();
    // A body's own shapes may be more than there are frames, or never move.
    return W.completeOrthogonalDecomposition().pseudoInverse();
}

/// What each shape adds to the normals of the base, 3n x r. Normals are no linear function of the weights; this is the best
/// fit over all frames, per vertex, of
///
///   n_0 + sum_k w_kf n_k = s n_f
///
/// where the scale s is free too, since viewers normalise the sum.
Eigen::MatrixXf normal_targets(const CreasedSurface& creased, const Morphs& morphs, const Points3f& base)
{
    const MatX W = morphs.weights.cast<double>();
    const MatX fit = pseudo_inverse(W);                     // frames x r
    const VecX ones = fit.colwise().sum(),                  // how the weights fit the constant 1,
        left = VecX::Ones(W.cols()) - W.transpose() * ones; // and what they leave of it
    MatX targets = MatX::Zero(base.size(), morphs.count());
    VecX along = VecX::Zero(base.size());
    for (Index f = 0; f < W.cols(); ++f) {
        const VecX n = crease_normals(creased, morphs.shape(f)).cast<double>().reshaped();
        targets.noalias() += n * fit.row(f);
        along += left[f] * n;
    }
    for (Index v = 0; v < base.cols(); ++v) {
        const Vec3 n_0 = base.col(v).cast<double>();
        const double inverse = n_0.dot(along.segment<3>(3 * v)) / std::max(left.squaredNorm(), 1e-12);
        const double s = 1.0 / std::clamp(inverse, 0.1, 10.0);
        targets.middleRows<3>(3 * v) = s * targets.middleRows<3>(3 * v) - n_0 * ones.transpose();
    }
    return targets.cast<float>();
}

auto numbers_of(const Vec3& value)
{
    return value;
}
auto numbers_of(const Quat& value)
{
    return value.coeffs();
}

/// What never leaves the rest pose, but for rounding, needs no track.
template <class T, class Numbers>
void drop_if_at_rest(std::optional<Track<T>>& track, const Numbers& rest)
{
    const double size = rest.cwiseAbs().maxCoeff();
    if (std::ranges::all_of(track->values, [&](const T& value) {
            return (numbers_of(value) - rest).cwiseAbs().maxCoeff() <= 1e-12 * size;
        }))
        track.reset();
}

/// The joints of a skeleton over time, as what each does in its parent.
Clip recorded_clip(const RecordedBody& body, const std::vector<double>& times)
{
    const Character& character = *body.shown.character;
    const Skeleton& skeleton = character.skeleton;
    Clip clip{.name = run_name};
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        JointTracks tracks{.joint = j,
                           .translation = Track<Vec3>{.times = times, .values = {}},
                           .rotation = Track<Quat>{.times = times, .values = {}},
                           .scale = Track<Vec3>{.times = times, .values = {}}};
        const auto joint = static_cast<std::size_t>(j);
        const int parent = skeleton.joints[joint].parent;
        for (const std::vector<Affine3>& world : body.joints) {
            const Affine3& above = parent < 0 ? skeleton.placement : world[static_cast<std::size_t>(parent)];
            JointTransform local = decomposed(Affine3(above.inverse() * world[joint]));
            std::vector<Quat>& turns = tracks.rotation->values;
            if (!turns.empty() && turns.back().dot(local.rotation) < 0.0) local.rotation.coeffs() *= -1.0;
            tracks.translation->values.push_back(local.translation);
            turns.push_back(local.rotation);
            tracks.scale->values.push_back(local.scale);
        }
        const JointTransform& rest = skeleton.joints[joint].rest;
        drop_if_at_rest(tracks.translation, rest.translation);
        drop_if_at_rest(tracks.rotation, rest.rotation.coeffs());
        drop_if_at_rest(tracks.scale, rest.scale);
        if (tracks.translation || tracks.rotation || tracks.scale) clip.joints.push_back(std::move(tracks));
    }
    Index first = 0;
    for (const SurfacePart& part : character.parts) {
        const auto count = static_cast<Index>(part.morphs.size());
        const bool is_new = clip.morphs.empty() || clip.morphs.back().joint != part.joint;
        if (count > 0 && is_new) {
            Track<VecX> weights{.times = times, .values = {}};
            for (const VecX& all : body.weights) weights.values.push_back(all.segment(first, count));
            clip.morphs.push_back({part.joint, std::move(weights)});
        }
        first += count;
    }
    return clip;
}

/// Puts a node with the placement above what a document shows. Skins stay where they are: their joints alone place them.
void place_scene(const Affine3& placement, const std::string& name, GltfDocument& document)
{
    if (placement.matrix() == Affine3::Identity().matrix()) return;
    Json& nodes = document.edit_list("nodes");
    Json& scene = document.edit_list("scenes")[document.json().value("scene", std::size_t{0})];
    Json top = {{"name", name}, {"matrix", Json::array()}, {"children", Json::array()}};
    Json roots = Json::array({nodes.size()});
    for (const Json& node : scene["nodes"]) {
        const Json& root = nodes[node.get<std::size_t>()];
        (root.contains("skin") && !root.contains("children") ? roots : top["children"]).push_back(node);
    }
    const Mat4 matrix = Eigen::Transform<double, 3, Eigen::Affine>(placement).matrix();
    for (const double value : matrix.reshaped()) top["matrix"].push_back(value);
    scene["nodes"] = std::move(roots);
    nodes.push_back(std::move(top));
}

// ---- flesh

constexpr double flesh_tolerance = 1e-3; ///< of the body's size, by which baked skin may miss its place

/// What morph targets add to the skin at rest in every frame, so that skinning brings it where the flesh is:
///
///   A_v (X + c) + t_v = x,   A_v and t_v of linear skinning, as viewers of glTF do it
MatX rest_corrections(const RecordedBody& body)
{
    const Character& character = *body.shown.character;
    MatX out(3 * body.vertex_count(), static_cast<Index>(body.joints.size()));
    VertexFrames frames;
    Points X;
    for (std::size_t f = 0; f < body.joints.size(); ++f) {
        const std::vector<Affine3> M = bone_transforms(character.bones, body.joints[f]);
        skin_frames(SkinningMethod::Linear, character.weights, M, frames);
        pull_back(frames, world_positions(body, f).cast<double>(), X);
        out.col(static_cast<Index>(f)) = (X - character.surface.vertices).reshaped();
    }
    return out;
}

/// Shapes whose sums over the frames correct a skin.
struct Bake {
    MatX shapes;  ///< 3n x r [m]
    MatX weights; ///< r x frames
};

/// The same sums with all weights in [0, 1], since Blender and others cut off what is not: one more shape, of constant weight 1, has
/// what the others are at their least.
Bake in_unit_range(const Bake& bake)
{
    const VecX low = bake.weights.rowwise().minCoeff();
    const VecX range = (bake.weights.rowwise().maxCoeff() - low).cwiseMax(1e-12);
    Bake out{MatX(bake.shapes.rows(), low.size() + 1), MatX::Ones(low.size() + 1, bake.weights.cols())};
    out.shapes << bake.shapes * range.asDiagonal(), bake.shapes * low;
    out.weights.topRows(low.size()) = range.cwiseInverse().asDiagonal() * (bake.weights.colwise() - low);
    return out;
}

/// The fewest of them, up to `most`, that are within `tolerance` of the corrections at every vertex.
std::optional<Bake> baked(const MatX& corrections, int most, double tolerance)
{
    const MatX gram = corrections.transpose() * corrections;
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(gram);
    const auto error_of = [&](const Bake& bake) {
        const MatX left = corrections - bake.shapes * bake.weights;
        return left.reshaped(3, left.size() / 3).colwise().norm().maxCoeff();
    };
    const Index frames = corrections.cols();
    for (Index rank = 1; rank <= std::min<Index>(most, frames); rank = std::max(rank + 1, rank * 5 / 4)) {
        const MatX V = eigen.eigenvectors().rightCols(rank).rowwise().reverse();
        const Bake bake{corrections * V, V.transpose()};
        if (error_of(bake) <= tolerance) return in_unit_range(bake);
    }
    return std::nullopt;
}

/// Nothing for a body whose skin is where its joints bring it, and for one that needs more shapes than that.
std::optional<Bake> flesh_of(const RecordedBody& body, const GlbOptions& options)
{
    if (body.positions.empty() || options.bake_rank < 1) return std::nullopt;
    const double size = bounds(body.shown.surface.vertices).diagonal().norm();
    return baked(rest_corrections(body), options.bake_rank, flesh_tolerance * size);
}

/// A character as it came, with what it did in the run as its one animation.
GltfDocument character_document(const RecordedBody& body, const std::vector<double>& times,
                                const std::optional<Bake>& flesh)
{
    const Character& character = *body.shown.character;
    const Clip clip = recorded_clip(body, times);
    if (!character.source) {
        Character copy = character;
        copy.clips = {clip};
        GltfDocument made = make_gltf(copy);
        if (!flesh) return made;
        // read again: targets are added to a document and the character in it
        const auto document = std::make_shared<const GltfDocument>(std::move(made));
        made = *document;
        add_morph_targets(made, gltf_character(document), flesh->shapes, times, flesh->weights, run_name);
        return made;
    }
    GltfDocument document = *character.source;
    set_animation(document, character, clip);
    if (flesh) add_morph_targets(document, character, flesh->shapes, times, flesh->weights, run_name);
    place_scene(character.skeleton.placement, body.shown.name, document);
    return document;
}

class GlbWriter {
public:
    GlbWriter(const Recording& recording, const GlbOptions& options)
        : recording_(recording), options_(options)
    {
        for (const RecordedBody& body : recording_.bodies)
            if (!body.joints.empty()) add_character(body);
        document_.edit()["asset"]["generator"] = "Lithe " LITHE_VERSION;
        if (document_.count("scenes") == 0) {
            document_.edit()["scene"] = 0;
            document_.edit_list("scenes").push_back({{"nodes", Json::array()}});
        }
        if (recording_.frame_count() > 1) {
            Eigen::MatrixXf times(1, recording_.frame_count());
            for (Index f = 0; f < times.cols(); ++f) times(0, f) = static_cast<float>(recording_.times[f]);
            times_ = document_.add_accessor(times);
        }
        for (const RecordedBody& body : recording_.bodies)
            if (body.joints.empty() || bodies_with_shapes_.contains(&body)) add_body(body);
        join_animations();
    }

    std::string bytes() const { return document_.to_glb(); }

private:
    void add_character(const RecordedBody& body)
    {
        const std::optional<Bake> flesh = flesh_of(body, options_);
        if (!body.positions.empty() && !flesh) {
            bodies_with_shapes_.insert(&body);
            return;
        }
        GltfDocument document = character_document(body, recording_.times, flesh);
        if (document_.count("nodes") == 0)
            document_ = std::move(document);
        else
            document_.append(std::move(document));
    }

    /// What was recorded of all bodies is one animation.
    void join_animations()
    {
        Json all = {{"name", run_name}, {"channels", Json::array()}, {"samplers", Json::array()}};
        const auto join = [&](const Json& animation) {
            const std::size_t first = all["samplers"].size();
            for (const Json& sampler : animation["samplers"]) all["samplers"].push_back(sampler);
            for (Json channel : animation["channels"]) {
                channel["sampler"] = channel["sampler"].get<std::size_t>() + first;
                all["channels"].push_back(std::move(channel));
            }
        };
        for (const Json& animation : document_.list("animations")) join(animation);
        join({{"channels", channels_}, {"samplers", samplers_}});
        document_.edit().erase("animations");
        if (!all["channels"].empty()) document_.edit()["animations"] = Json::array({std::move(all)});
    }

    void add_body(const RecordedBody& body)
    {
        const CreasedSurface creased = split_at_creases(body.shown.surface);
        Json node = {{"name", body.shown.name}, {"mesh", document_.count("meshes")}};
        if (body.deforms() && recording_.frame_count() > 1) {
            const double size = bounds(body.shown.surface.vertices).diagonal().norm();
            const Morphs morphs = find_morphs(body, options_.tolerance * size);
            add_motion(morphs.poses, node);
            add_morphs(body, creased, morphs);
        } else {
            const Points3f positions = body.positions_in_pose(0);
            add_motion(body.poses, node);
            add_mesh(body, creased, positions, crease_normals(creased, positions));
        }
        Json& scene = document_.edit_list("scenes")[document_.json().value("scene", std::size_t{0})];
        scene["nodes"].push_back(document_.count("nodes"));
        document_.edit_list("nodes").push_back(std::move(node));
    }

    void add_mesh(const RecordedBody& body, const CreasedSurface& creased, const Points3f& positions,
                  const Points3f& normals)
    {
        Json attributes = {{"POSITION", document_.add_accessor(spread(positions, creased), vertex_target)},
                           {"NORMAL", document_.add_accessor(normals, vertex_target)}};
        if (find_color(body.shown.surface.fields))
            attributes["COLOR_0"] = document_.add_colors(vertex_colors(body.shown.surface, creased));
        add_material(body.shown);
        Json primitive = {{"attributes", std::move(attributes)},
                          {"indices", document_.add_indices(corners_of(creased.triangles))},
                          {"material", document_.count("materials") - 1}};
        Json primitives = Json::array({std::move(primitive)});
        document_.edit_list("meshes").push_back(
            {{"name", body.shown.name}, {"primitives", std::move(primitives)}});
    }

    /// Colours of the vertices are multiplied with that of the material: white where there are any.
    void add_material(const Shown& shown)
    {
        const Vec3 rgb =
            find_color(shown.surface.fields) ? Vec3(Vec3::Ones()) : linear_from_srgb(shown.color);
        document_.edit_list("materials")
            .push_back({{"name", shown.name},
                        {"pbrMetallicRoughness",
                         {{"baseColorFactor", {rgb[0], rgb[1], rgb[2], 1.0}},
                          {"metallicFactor", 0.0},
                          {"roughnessFactor", 0.6}}},
                        {"doubleSided", true}});
    }

    /// The first pose stands in the node; channels only for what changes.
    void add_motion(const std::vector<RigidPose>& poses, Json& node)
    {
        Eigen::MatrixXf translations(3, poses.size()), rotations(4, poses.size());
        for (Index f = 0; f < translations.cols(); ++f) {
            translations.col(f) = poses[f].translation.cast<float>();
            rotations.col(f) = poses[f].rotation.normalized().coeffs().cast<float>(); // x y z w
            if (f > 0 && rotations.col(f).dot(rotations.col(f - 1)) < 0.0F) rotations.col(f) *= -1.0F;
        }
        const Eigen::Vector3f t = translations.col(0);
        const Eigen::Vector4f r = rotations.col(0);
        if (t != Eigen::Vector3f::Zero()) node["translation"] = std::vector<float>(t.begin(), t.end());
        if (r != Eigen::Vector4f::Unit(3)) node["rotation"] = std::vector<float>(r.begin(), r.end());
        if ((translations.colwise() - t).cwiseAbs().maxCoeff() > 0.0F)
            add_channel("translation", translations);
        if ((rotations.colwise() - r).cwiseAbs().maxCoeff() > 0.0F) add_channel("rotation", rotations);
    }

    void add_morphs(const RecordedBody& body, const CreasedSurface& creased, const Morphs& morphs)
    {
        const Points3f base = as_points(morphs.base), base_normals = crease_normals(creased, base);
        add_mesh(body, creased, base, base_normals);
        if (morphs.count() == 0) return;
        const Eigen::MatrixXf normals = normal_targets(creased, morphs, base_normals);
        Json targets = Json::array(), names = Json::array();
        for (Index k = 0; k < morphs.count(); ++k) {
            targets.push_back(
                {{"POSITION",
                  document_.add_accessor(spread(as_points(morphs.targets.col(k)), creased), vertex_target)},
                 {"NORMAL", document_.add_accessor(as_points(normals.col(k)), vertex_target)}});
            names.push_back("shape " + std::to_string(k + 1));
        }
        Json& mesh = document_.edit_list("meshes").back();
        mesh["primitives"][0]["targets"] = std::move(targets);
        const Eigen::VectorXf first = morphs.weights.col(0);
        mesh["weights"] = std::vector<float>(first.begin(), first.end());
        mesh["extras"]["targetNames"] = std::move(names);
        if (morphs.scale.size() > 0)
            mesh["extras"]["coordinates"] = {
                {"offset", std::vector<double>(morphs.offset.begin(), morphs.offset.end())},
                {"scale", std::vector<double>(morphs.scale.begin(), morphs.scale.end())}};
        add_channel("weights", morphs.weights.reshaped(1, morphs.weights.size()));
    }

    void add_channel(const char* path, const Eigen::MatrixXf& values)
    {
        samplers_.push_back(
            {{"input", times_}, {"interpolation", "LINEAR"}, {"output", document_.add_accessor(values)}});
        channels_.push_back({{"sampler", samplers_.size() - 1},
                             {"target", {{"node", document_.count("nodes")}, {"path", path}}}});
    }

    const Recording& recording_;
    GlbOptions options_;
    GltfDocument document_;
    int times_ = -1;                                   ///< accessor of the times of all frames
    std::set<const RecordedBody*> bodies_with_shapes_; ///< characters whose flesh is too rich for their skin
    Json channels_ = Json::array(), samplers_ = Json::array();
};

class GlbExporter : public RecordingSink {
public:
    GlbExporter(const Path& target, const GlbOptions& options)
        : RecordingSink(Skins::AsSkeletons), file_(target), options_(options)
    {
        require_positive("tolerance", options.tolerance);
    }

private:
    void write() override
    {
        file_.write(GlbWriter(recording(), options_).bytes());
        file_.commit();
    }

    AtomicFile file_;
    GlbOptions options_;
};

} // namespace

std::unique_ptr<FrameSink> make_glb_exporter(const Path& target, const GlbOptions& options)
{
    return std::make_unique<GlbExporter>(target, options);
}

} // namespace lithe::exporting
