#include <map>
#include <set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_scene.hpp"

namespace lithe::gltf {
namespace {

Interpolation interpolation_of(const Json& sampler)
{
    const std::string name = sampler.value("interpolation", "LINEAR");
    if (name == "STEP") return Interpolation::Step;
    if (name == "CUBICSPLINE") return Interpolation::Cubic;
    return Interpolation::Linear;
}

/// A value of `size` numbers per key; the accessor may hold them as columns or one after the other.
template <class T>
Track<T> read_track(const GltfDocument& document, const Json& sampler, Index size, const auto& value_of)
{
    Track<T> track{interpolation_of(sampler), {}, {}};
    const MatX times = document.numbers(sampler["input"].get<int>());
    const MatX numbers = document.numbers(sampler["output"].get<int>());
    const Index per_key = track.interpolation == Interpolation::Cubic ? 3 : 1;
    LITHE_ASSERT(times.rows() == 1 && numbers.size() == times.cols() * per_key * size);
    track.times.assign(times.data(), times.data() + times.size());
    for (Index k = 0; k < times.cols() * per_key; ++k) {
        const bool is_tangent = per_key == 3 && k % 3 != 1;
        track.values.push_back(value_of(Eigen::Map<const VecX>(numbers.data() + k * size, size), is_tangent));
    }
    return track;
}

Track<Vec3> read_vec3_track(const GltfDocument& document, const Json& sampler)
{
    return read_track<Vec3>(document, sampler, 3,
                            [](const Eigen::Map<const VecX>& v, bool) { return Vec3(v); });
}

Track<Quat> read_quat_track(const GltfDocument& document, const Json& sampler)
{
    return read_track<Quat>(document, sampler, 4, [](const Eigen::Map<const VecX>& v, bool is_tangent) {
        const Quat q{Vec4(v)};
        return is_tangent ? q : q.normalized();
    });
}

/// Reads one animation, channel by channel.
class ClipReader {
public:
    ClipReader(const GltfDocument& document, const SceneNodes& scene, const Json& animation, std::string name)
        : document_(document), scene_(scene), animation_(animation), clip_{.name = std::move(name)}
    {
    }

    Clip read(std::vector<std::string>& notes)
    {
        for (const Json& channel : animation_["channels"]) read_channel(channel);
        for (auto& [joint, tracks] : joints_) clip_.joints.push_back(std::move(tracks));
        for (auto& [joint, track] : morphs_) clip_.morphs.push_back(std::move(track));
        for (const auto& [why, count] : skipped_)
            notes.push_back(fmt::format("clip '{}': {} {} skipped: {}", clip_.name, count,
                                        count == 1 ? "channel" : "channels", why));
        return std::move(clip_);
    }

private:
    void skip(const std::string& why) { ++skipped_[why]; }

    void read_channel(const Json& channel)
    {
        const Json& target = channel["target"];
        const std::string path = target.value("path", "");
        const int node = int_at(target, "node", -1);
        if (path != "translation" && path != "rotation" && path != "scale" && path != "weights")
            return skip(fmt::format("what they animate ('{}') is not part of a pose", path));
        if (node < 0) return skip("they name no node");
        const int joint = scene_.joint[node];
        if (joint < 0) return skip("their nodes are not in the scene");
        if (!seen_.insert({joint, path}).second) return skip("they animate what an earlier channel animates");
        read_target(animation_["samplers"][channel["sampler"].get<int>()], node, joint, path);
    }

    void read_target(const Json& sampler, int node, int joint, const std::string& path)
    {
        if (path == "weights") {
            const Index targets = rest_weights(document_, node).size();
            morphs_[joint] = {joint, read_weights_track(document_, sampler, targets)};
            return;
        }
        JointTracks& tracks = joints_[joint];
        tracks.joint = joint;
        if (path == "translation") tracks.translation = read_vec3_track(document_, sampler);
        if (path == "rotation") tracks.rotation = read_quat_track(document_, sampler);
        if (path == "scale") tracks.scale = read_vec3_track(document_, sampler);
    }

    const GltfDocument& document_;
    const SceneNodes& scene_;
    const Json& animation_;
    Clip clip_;
    std::map<int, JointTracks> joints_;
    std::map<int, MorphTrack> morphs_;
    std::set<std::pair<int, std::string>> seen_;
    std::map<std::string, int> skipped_; ///< channels by the reason
};

} // namespace

Track<VecX> read_weights_track(const GltfDocument& document, const Json& sampler, Index targets)
{
    return read_track<VecX>(document, sampler, targets,
                            [](const Eigen::Map<const VecX>& v, bool) { return VecX(v); });
}

std::vector<Clip> read_clips(const GltfDocument& document, const SceneNodes& scene,
                             std::vector<std::string>& notes)
{
    std::vector<Clip> clips;
    const Json& animations = document.list("animations");
    for (std::size_t a = 0; a < animations.size(); ++a)
        clips.push_back(
            ClipReader(document, scene, animations[a], name_of(animations[a], fmt::format("clip {}", a)))
                .read(notes));
    return clips;
}

} // namespace lithe::gltf
