#include "lithe/rig/gltf_animation.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe::gltf {
namespace {

const char* name_of(Interpolation interpolation)
{
    switch (interpolation) {
    case Interpolation::Step:
        return "STEP";
    case Interpolation::Cubic:
        return "CUBICSPLINE";
    case Interpolation::Linear:
        break;
    }
    return "LINEAR";
}

/// The keys whose times differ in single precision.
struct FileKeys {
    std::vector<float> times;
    std::vector<std::size_t> key; ///< that each of them was
};

FileKeys file_keys(const std::vector<double>& times, double begin)
{
    FileKeys keys;
    for (std::size_t k = 0; k < times.size(); ++k) {
        const auto time = static_cast<float>(times[k] - begin);
        if (!keys.times.empty() && time <= keys.times.back()) continue;
        keys.times.push_back(time);
        keys.key.push_back(k);
    }
    return keys;
}

const Vec3& numbers_of(const Vec3& v)
{
    return v;
}
const Vec4& numbers_of(const Quat& q)
{
    return q.coeffs();
}
const VecX& numbers_of(const VecX& v)
{
    return v;
}

} // namespace

Eigen::MatrixXf file_numbers(const MatX& numbers, const char* what)
{
    constexpr double largest = 1e38; // of single precision, nearly
    if (!(numbers.array().abs() <= largest).all())
        throw InputError(
            fmt::format("{}: glTF holds numbers up to {:g} only; choose a larger unit", what, largest));
    return numbers.cast<float>();
}

Json array_of(const Eigen::Ref<const VecX>& numbers)
{
    Json array = Json::array();
    for (const double x : numbers) array.push_back(x);
    return array;
}

void set_transform(Json& node, const JointTransform& transform)
{
    for (const char* key : {"matrix", "translation", "rotation", "scale"}) node.erase(key);
    if (!transform.translation.isZero(0.0)) node["translation"] = array_of(transform.translation);
    if (transform.rotation.coeffs() != Quat::Identity().coeffs())
        node["rotation"] = array_of(transform.rotation.coeffs());
    if (transform.scale != Vec3::Ones()) node["scale"] = array_of(transform.scale);
}

void make_animatable(GltfDocument& document, int node, const JointTransform& rest)
{
    Json& json = document.edit_list("nodes")[node];
    if (json.contains("matrix")) set_transform(json, rest);
}

double file_begin(double begin)
{
    return std::min(begin, 0.0);
}

template <class T>
Json AnimationWriter::sampler(const Track<T>& track)
{
    const FileKeys keys = file_keys(track.times, begin_);
    const std::size_t per_key = track.interpolation == Interpolation::Cubic ? 3 : 1;
    const Index size = numbers_of(track.values.front()).size();
    MatX values(size, static_cast<Index>(per_key * keys.key.size()));
    Index column = 0;
    for (const std::size_t key : keys.key)
        for (std::size_t i = 0; i < per_key; ++i)
            values.col(column++) = numbers_of(track.values[per_key * key + i]);
    // Weights are single numbers, one after the other, however many targets there are.
    if constexpr (std::is_same_v<T, VecX>) values = MatX(values.reshaped(1, values.size()));
    const int input = times(keys.times);
    const int output = document_.add_accessor(file_numbers(values, "the clip"));
    return {{"input", input}, {"interpolation", name_of(track.interpolation)}, {"output", output}};
}

template <class T>
void AnimationWriter::add_channel(Json& animation, int node, const char* path, const Track<T>& track)
{
    animation["samplers"].push_back(sampler(track));
    animation["channels"].push_back(channel_of(animation["samplers"].size() - 1, node, path));
}

template Json AnimationWriter::sampler(const Track<VecX>&);
template void AnimationWriter::add_channel(Json&, int, const char*, const Track<VecX>&);

int AnimationWriter::times(const std::vector<float>& list)
{
    const auto [it, is_new] = times_.try_emplace(list, 0);
    if (is_new)
        it->second = document_.add_accessor(
            Eigen::Map<const Eigen::RowVectorXf>(list.data(), static_cast<Index>(list.size())));
    return it->second;
}

Json new_animation(const std::string& name)
{
    return {{"name", name}, {"samplers", Json::array()}, {"channels", Json::array()}};
}

Json channel_of(std::size_t sampler, int node, const char* path)
{
    return {{"sampler", sampler}, {"target", {{"node", node}, {"path", path}}}};
}

Track<VecX> widened(Track<VecX> track, Index count)
{
    for (VecX& value : track.values) {
        value.conservativeResize(value.size() + count);
        value.tail(count).setZero();
    }
    return track;
}

Json animation_of(GltfDocument& document, const Clip& clip, const std::vector<int>& node_of_joint)
{
    AnimationWriter writer(document, file_begin(clip.begin()));
    Json animation = new_animation(clip.name);
    for (const JointTracks& tracks : clip.joints) {
        const int node = node_of_joint.at(tracks.joint);
        if (tracks.translation) writer.add_channel(animation, node, "translation", *tracks.translation);
        if (tracks.rotation) writer.add_channel(animation, node, "rotation", *tracks.rotation);
        if (tracks.scale) writer.add_channel(animation, node, "scale", *tracks.scale);
    }
    for (const MorphTrack& morph : clip.morphs) {
        const int node = node_of_joint.at(morph.joint);
        // The mesh may have got more targets since the clip was read.
        const Index more = rest_weights(document, node).size() - morph.weights.values.front().size();
        LITHE_ASSERT(more >= 0);
        writer.add_channel(animation, node, "weights", widened(morph.weights, more));
    }
    return animation;
}

} // namespace lithe::gltf
