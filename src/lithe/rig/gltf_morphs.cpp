#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_animation.hpp"
#include "lithe/rig/gltf_character.hpp"

namespace lithe {
namespace {

using namespace gltf;

/// Both side by side, at the times of both, straight between them.
Track<VecX> joined(const Track<VecX>& old, const Track<VecX>& added)
{
    std::set<double> times(old.times.begin(), old.times.end());
    times.insert(added.times.begin(), added.times.end());
    Track<VecX> track;
    for (const double t : times) {
        const VecX a = old.at(t), b = added.at(t);
        VecX value(a.size() + b.size());
        value << a, b;
        track.times.push_back(t);
        track.values.push_back(value);
    }
    return track;
}

/// Adds morph targets to the meshes of a document, and what moves them to one of its animations.
class MorphWriter {
public:
    MorphWriter(GltfDocument& document, const Character& character, const MatX& displacements,
                const Track<VecX>& weights, const std::string& animation)
        : document_(document), character_(character), scene_(scene_nodes(document)),
          places_(document, scene_, character.skeleton), displacements_(displacements), weights_(weights),
          writer_(document, 0.0), animation_(find_animation(animation))
    {
        LITHE_ASSERT(scene_.node.size() == character.skeleton.joints.size());
    }

    /// To all meshes that have a part which moves.
    void write()
    {
        std::set<int> joints;
        for (const SurfacePart& part : character_.parts)
            if (!displacements_.middleRows(3 * part.first_vertex, 3 * part.vertex_count).isZero(0.0))
                joints.insert(part.joint);
        for (const int joint : joints) add_to_mesh(joint);
        drop_animation_if_empty();
    }

private:
    std::size_t find_animation(const std::string& name);
    void drop_animation_if_empty();
    void add_to_mesh(int joint);
    int own_mesh(int node);
    const SurfacePart* find_part(int joint, int primitive) const;
    void add_targets(Json& primitive, const SurfacePart* part);
    void widen_weights(Json& object) const;
    void name_targets(Json& mesh) const;
    bool widen_channels(int node, Index old_count);
    void replace_sampler(Json& animation, Json& channel, const Track<VecX>& track);
    void drive(int node, const VecX& old_weights);

    Index count() const { return displacements_.cols(); } ///< of the new targets

    GltfDocument& document_;
    const Character& character_;
    SceneNodes scene_;
    RestPlaces places_;
    const MatX& displacements_;
    const Track<VecX>& weights_;
    AnimationWriter writer_;
    std::size_t animation_;
    int shared_sampler_ = -1; ///< of the meshes that had no targets before
};

std::size_t MorphWriter::find_animation(const std::string& name)
{
    Json& animations = document_.edit_list("animations");
    for (std::size_t a = 0; a < animations.size(); ++a)
        if (name_of(animations[a], fmt::format("clip {}", a)) == name) return a;
    animations.push_back(new_animation(name));
    return animations.size() - 1;
}

void MorphWriter::drop_animation_if_empty()
{
    Json& animations = document_.edit_list("animations");
    if (animations[animation_]["channels"].empty()) animations.erase(animation_);
    if (animations.empty()) document_.edit().erase("animations");
}

void MorphWriter::add_to_mesh(int joint)
{
    const int node = scene_.node[joint], mesh = own_mesh(node);
    const VecX old_weights = rest_weights(document_, node);
    const auto primitives = static_cast<int>(document_.list("meshes")[mesh]["primitives"].size());
    for (int p = 0; p < primitives; ++p)
        add_targets(document_.edit_list("meshes")[mesh]["primitives"][p], find_part(joint, p));

    Json& of_mesh = document_.edit_list("meshes")[mesh];
    if (!of_mesh.contains("weights")) of_mesh["weights"] = array_of(VecX::Zero(old_weights.size()));
    widen_weights(of_mesh);
    name_targets(of_mesh);
    Json& of_node = document_.edit_list("nodes")[node];
    if (of_node.contains("weights")) widen_weights(of_node);

    make_animatable(document_, node, character_.skeleton.joints[joint].rest);
    if (!widen_channels(node, old_weights.size())) drive(node, old_weights);
}

/// The mesh of a node; a copy of it when other nodes use it too, since each is displaced in its own way.
int MorphWriter::own_mesh(int node)
{
    const Json& nodes = document_.list("nodes");
    const int mesh = nodes[node]["mesh"].get<int>();
    const auto uses = [&](const Json& other) { return int_at(other, "mesh", -1) == mesh; };
    if (std::count_if(nodes.begin(), nodes.end(), uses) == 1) return mesh;
    Json& meshes = document_.edit_list("meshes");
    Json copy = meshes[mesh];
    meshes.push_back(std::move(copy));
    const int own = static_cast<int>(meshes.size()) - 1;
    document_.edit_list("nodes")[node]["mesh"] = own;
    return own;
}

const SurfacePart* MorphWriter::find_part(int joint, int primitive) const
{
    for (const SurfacePart& part : character_.parts)
        if (part.joint == joint && part.primitive == primitive) return &part;
    return nullptr;
}

/// Displacements from the world into the space of the mesh, by the inverse of the linear part that brought its vertices
/// here. A primitive that is no part of the surface (lines, points) stays as it is.
void MorphWriter::add_targets(Json& primitive, const SurfacePart* part)
{
    const int position = primitive["attributes"]["POSITION"].get<int>();
    const auto vertices = document_.list("accessors")[position]["count"].get<Index>();
    LITHE_ASSERT(!part || part->vertex_count == vertices);
    Mat3 to_mesh = Mat3::Identity();
    if (part) {
        const int skin = int_at(document_.list("nodes")[scene_.node[part->joint]], "skin", -1);
        to_mesh = (part->skinned ? places_.of_skin(skin) : places_.of_joint(part->joint)).linear().inverse();
    }
    Json targets = primitive.value("targets", Json::array());
    for (Index t = 0; t < count(); ++t) {
        Points D = Points::Zero(3, vertices);
        if (part)
            D = to_mesh *
                displacements_.col(t).segment(3 * part->first_vertex, 3 * vertices).reshaped(3, vertices);
        targets.push_back(
            {{"POSITION", document_.add_accessor(file_numbers(D, "the displacements"), vertex_data)}});
    }
    primitive["targets"] = std::move(targets);
}

/// The new targets have no weight where nothing moves them.
void MorphWriter::widen_weights(Json& object) const
{
    for (Index t = 0; t < count(); ++t) object["weights"].push_back(0.0);
}

/// They have names where the others have names.
void MorphWriter::name_targets(Json& mesh) const
{
    const Json* names = find(mesh, {"extras", "targetNames"});
    if (!names || !names->is_array()) return;
    for (Index t = 0; t < count(); ++t) mesh["extras"]["targetNames"].push_back(fmt::format("lithe {}", t));
}

/// Animations that move the old targets say of the new ones that they are at rest; ours says how both move. Returns
/// whether ours has such a channel.
bool MorphWriter::widen_channels(int node, Index old_count)
{
    bool driven = false;
    for (std::size_t a = 0; a < document_.count("animations"); ++a) {
        Json& animation = document_.edit_list("animations")[a];
        for (Json& channel : animation["channels"]) {
            const Json& target = channel["target"];
            if (int_at(target, "node", -1) != node || target.value("path", "") != "weights") continue;
            const Json& sampler = animation["samplers"][channel["sampler"].get<int>()];
            const Track<VecX> old = read_weights_track(document_, sampler, old_count);
            const bool ours = a == animation_;
            replace_sampler(animation, channel, ours ? joined(old, weights_) : widened(old, count()));
            driven = driven || ours;
        }
    }
    return driven;
}

void MorphWriter::replace_sampler(Json& animation, Json& channel, const Track<VecX>& track)
{
    Json& samplers = animation["samplers"];
    const auto at = channel["sampler"].get<std::size_t>();
    const auto uses = [&](const Json& other) { return other["sampler"].get<std::size_t>() == at; };
    Json made = writer_.sampler(track);
    if (std::count_if(animation["channels"].begin(), animation["channels"].end(), uses) == 1) {
        samplers[at] = std::move(made);
        return;
    }
    channel["sampler"] = samplers.size();
    samplers.push_back(std::move(made));
}

void MorphWriter::drive(int node, const VecX& old_weights)
{
    Json& animation = document_.edit_list("animations")[animation_];
    if (old_weights.size() > 0) {
        const Track<VecX> rest{Interpolation::Step, {weights_.times.front()}, {old_weights}};
        writer_.add_channel(animation, node, "weights", joined(rest, weights_));
        return;
    }
    if (shared_sampler_ < 0) {
        shared_sampler_ = static_cast<int>(animation["samplers"].size());
        animation["samplers"].push_back(writer_.sampler(weights_));
    }
    animation["channels"].push_back(channel_of(shared_sampler_, node, "weights"));
}

} // namespace

void add_morph_targets(GltfDocument& document, const Character& character, const MatX& displacements,
                       const std::vector<double>& times, const MatX& weights, const std::string& animation)
{
    LITHE_ASSERT(displacements.rows() == 3 * character.surface.vertex_count());
    LITHE_ASSERT(weights.rows() == displacements.cols() && !times.empty());
    LITHE_ASSERT(weights.cols() == static_cast<Index>(times.size()));
    if (displacements.cols() == 0) return;
    Track<VecX> track;
    for (std::size_t k = 0; k < times.size(); ++k) {
        track.times.push_back(times[k] - file_begin(times.front()));
        track.values.push_back(weights.col(static_cast<Index>(k)));
    }
    MorphWriter(document, character, displacements, track, animation).write();
}

} // namespace lithe
