#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/number_source.hpp"
#include "lithe/rig/clip.hpp"

namespace lithe {
namespace {

constexpr std::size_t most_values = 50'000'000; ///< rotations in a retargeted clip

/// What joints are compared by: the letters after the last colon, small.
std::string plain_name(const std::string& name)
{
    return io::lower_case(name.substr(name.rfind(':') + 1)); // the whole when there is no colon
}

/// For each joint of `to` the first joint of `from` of the same name, or -1.
std::vector<int> partners(const Skeleton& from, const Skeleton& to)
{
    std::map<std::string, int> by_name;
    for (int j = 0; j < from.joint_count(); ++j) by_name.emplace(plain_name(from.joints[j].name), j);
    std::vector<int> partner;
    for (const Joint& joint : to.joints) {
        const std::string name = plain_name(joint.name);
        const auto found = name.empty() ? by_name.end() : by_name.find(name);
        partner.push_back(found == by_name.end() ? -1 : found->second);
    }
    return partner;
}

/// "'a', 'b' and 7 more"
std::string listed(const std::vector<std::string>& names)
{
    constexpr std::size_t shown = 6;
    std::vector<std::string> quoted;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) quoted.push_back(io::in_quotes(names[i]));
    const std::string list = fmt::format("{}", fmt::join(quoted, ", "));
    return names.size() > shown ? fmt::format("{} and {} more", list, names.size() - shown) : list;
}

std::vector<std::string> joint_names(const Skeleton& skeleton)
{
    std::vector<std::string> names;
    for (const Joint& joint : skeleton.joints) names.push_back(joint.name);
    return names;
}

/// Says which joints have no partner; InputError when none has one.
void report_partners(const Clip& clip, const Skeleton& from, const Skeleton& to,
                     const std::vector<int>& partner, std::vector<std::string>& notes)
{
    std::vector<std::string> alone;
    for (std::size_t j = 0; j < partner.size(); ++j)
        if (partner[j] < 0) alone.push_back(to.joints[j].name);
    if (alone.size() == partner.size())
        throw InputError(
            fmt::format("clip '{}' moves {}, and the character has {}: no joint has a partner of the same "
                        "name; rename the joints of one of them",
                        clip.name, listed(joint_names(from)), listed(joint_names(to))));
    if (!alone.empty())
        notes.push_back(
            fmt::format("joints that clip '{}' does not know stay at rest: {}", clip.name, listed(alone)));
    if (!clip.morphs.empty())
        notes.push_back(fmt::format(
            "the morph targets of clip '{}' belong to another surface and were left out", clip.name));
}

/// All times at which a joint has a key, rising.
std::vector<double> key_times(const Clip& clip)
{
    std::vector<double> times;
    const auto add = [&](const auto& track) {
        if (track) times.insert(times.end(), track->times.begin(), track->times.end());
    };
    for (const JointTracks& tracks : clip.joints) {
        add(tracks.translation);
        add(tracks.rotation);
        add(tracks.scale);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

/// The orientation of each joint in the world, whatever the scales on the way are.
void world_rotations(const Skeleton& skeleton, const Quat& placement, const Pose& pose, std::vector<Quat>& Q)
{
    Q.resize(pose.size());
    for (std::size_t j = 0; j < pose.size(); ++j) {
        const int parent = skeleton.joints[j].parent;
        Q[j] = ((parent < 0 ? placement : Q[parent]) * pose[j].rotation).normalized();
    }
}

/// A skeleton in some pose, in the world.
struct Posed {
    const Skeleton& skeleton;
    Quat placement = decomposed(skeleton.placement).rotation;
    Pose pose = rest_pose(skeleton);
    std::vector<Quat> Q = {};
    std::vector<Affine3> world = {};

    void update()
    {
        world_rotations(skeleton, placement, pose, Q);
        world_transforms(skeleton, pose, world);
    }
};

/// How much larger the target is than the source: by the heights of the joints with a partner, at rest.
double size_ratio(const Posed& from, const Posed& to, const std::vector<int>& partner)
{
    Box3 source, target;
    for (std::size_t j = 0; j < partner.size(); ++j)
        if (partner[j] >= 0) {
            source.extend(Vec3(from.world[partner[j]].translation()));
            target.extend(Vec3(to.world[j].translation()));
        }
    const auto is_flat = [](const Box3& box) { return box.sizes()[1] <= 1e-3 * box.diagonal().norm(); };
    const bool flat = is_flat(source) || is_flat(target);
    const double source_size = flat ? source.diagonal().norm() : source.sizes()[1];
    const double target_size = flat ? target.diagonal().norm() : target.sizes()[1];
    return source_size > 0.0 && target_size > 0.0 ? target_size / source_size : 1.0;
}

/// The joints with a partner that have none with a partner above them, and can move in the frame that is.
std::vector<bool> topmost(const Posed& rest, const std::vector<int>& partner)
{
    std::vector<bool> top(partner.size()), below(partner.size()); // below: a joint with a partner is above
    for (std::size_t j = 0; j < partner.size(); ++j) {
        const int parent = rest.skeleton.joints[j].parent;
        const Affine3& frame = parent < 0 ? rest.skeleton.placement : rest.world[parent];
        below[j] = parent >= 0 && (below[parent] || partner[parent] >= 0);
        top[j] = partner[j] >= 0 && !below[j] && std::abs(frame.linear().determinant()) > 0.0;
    }
    return top;
}

/// Empty tracks for the joints with a partner; the topmost also move.
std::vector<JointTracks> empty_tracks(const std::vector<int>& partner, const std::vector<bool>& top,
                                      const std::vector<double>& times)
{
    std::vector<JointTracks> tracks;
    for (std::size_t j = 0; j < partner.size() && !times.empty(); ++j) {
        if (partner[j] < 0) continue;
        JointTracks& joint = tracks.emplace_back(JointTracks{.joint = static_cast<int>(j)});
        joint.rotation = Track<Quat>{Interpolation::Linear, times, {}};
        if (top[j]) joint.translation = Track<Vec3>{Interpolation::Linear, times, {}};
    }
    if (tracks.size() * times.size() > most_values)
        throw InputError(fmt::format("{} keys for {} joints are too many to retarget; sample the clip first",
                                     times.size(), tracks.size()));
    return tracks;
}

} // namespace

/// In the world, for a joint j of the target with the partner p,
///
///   Q_j(t) = Q_p(t) Q_p(rest)^-1 Q_j(rest),    x_j(t) = x_j(rest) + ratio (x_p(t) - x_p(rest))  for the topmost.
Clip retargeted(const Clip& clip, const Skeleton& from, const Skeleton& to, std::vector<std::string>& notes)
{
    const std::vector<int> partner = partners(from, to);
    report_partners(clip, from, to, partner, notes);
    const std::vector<double> times = key_times(clip);

    Posed source_rest{from}, target_rest{to}, source{from};
    source_rest.update();
    target_rest.update();
    const std::vector<bool> top = topmost(target_rest, partner);
    const double ratio = size_ratio(source_rest, target_rest, partner);

    Clip result{.name = clip.name, .joints = empty_tracks(partner, top, times)};
    std::vector<Quat> Q(partner.size()); // of the target, in the world
    for (const double t : times) {
        pose_at(from, clip, t, source.pose);
        source.update();
        std::size_t next = 0; // track
        for (int j = 0; j < to.joint_count(); ++j) {
            const int p = partner[j], parent = to.joints[j].parent;
            const Quat& above = parent < 0 ? target_rest.placement : Q[parent];
            if (p < 0) {
                Q[j] = above * to.joints[j].rest.rotation;
                continue;
            }
            Q[j] = (source.Q[p] * source_rest.Q[p].conjugate() * target_rest.Q[j]).normalized();
            JointTracks& tracks = result.joints[next++];
            tracks.rotation->values.push_back((above.conjugate() * Q[j]).normalized());
            if (!top[j]) continue;
            // All above a topmost joint is at rest.
            const Vec3 way = source.world[p].translation() - source_rest.world[p].translation();
            const Affine3 frame = parent < 0 ? to.placement : target_rest.world[parent];
            tracks.translation->values.push_back(frame.inverse() *
                                                 Vec3(target_rest.world[j].translation() + ratio * way));
        }
    }
    for (JointTracks& tracks : result.joints) make_continuous(tracks.rotation->values);
    return result;
}

} // namespace lithe
