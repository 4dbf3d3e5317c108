#include "lithe/rig/clip.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/geometry/io/number_source.hpp"
#include "lithe/rig/joint_path.hpp"

namespace lithe {
namespace {

template <class T>
T mixed(const T& a, const T& b, double s)
{
    if constexpr (std::is_same_v<T, Quat>)
        return interpolated(a, b, s);
    else
        return (1.0 - s) * a + s * b;
}

/// Hermite's weights of the value and slope here and of those at the next key, s in [0, 1] of the way, h between the keys.
Vec4 hermite_weights(double s, double h)
{
    const double s2 = s * s, s3 = s2 * s;
    return {2.0 * s3 - 3.0 * s2 + 1.0, h * (s3 - 2.0 * s2 + s), 3.0 * s2 - 2.0 * s3, h * (s3 - s2)};
}

template <class T>
T hermite(const T& value_0, const T& slope_0, const T& value_1, const T& slope_1, const Vec4& w)
{
    if constexpr (std::is_same_v<T, Quat>) {
        const Vec4 sum = w[0] * value_0.coeffs() + w[1] * slope_0.coeffs() + w[2] * value_1.coeffs() +
                         w[3] * slope_1.coeffs();
        const double length = sum.norm();
        return length > 1e-100 ? Quat(Vec4(sum / length)) : value_0; // tangents may lead through zero
    } else {
        return w[0] * value_0 + w[1] * slope_0 + w[2] * value_1 + w[3] * slope_1;
    }
}

/// Calls f with every list of key times of the clip.
void for_each_times(const Clip& clip, const auto& f)
{
    for (const JointTracks& tracks : clip.joints) {
        if (tracks.translation) f(tracks.translation->times);
        if (tracks.rotation) f(tracks.rotation->times);
        if (tracks.scale) f(tracks.scale->times);
    }
    for (const MorphTrack& morph : clip.morphs) f(morph.weights.times);
}

/// The number that the whole text is, or -1.
int number_of(const std::string& text)
{
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

} // namespace

template <class T>
T Track<T>::at(double t) const
{
    const bool cubic = interpolation == Interpolation::Cubic;
    LITHE_ASSERT(!times.empty() && values.size() == (cubic ? 3 : 1) * times.size());
    const auto value = [&](std::size_t key) -> const T& { return values[cubic ? 3 * key + 1 : key]; };

    const auto after = std::upper_bound(times.begin(), times.end(), t);
    const auto next = static_cast<std::size_t>(after - times.begin());
    if (next == 0) return value(0);
    const std::size_t key = next - 1;
    if (after == times.end() || interpolation == Interpolation::Step || t == times[key]) return value(key);

    const double h = times[next] - times[key];
    const double s = (t - times[key]) / h;
    if (!cubic) return mixed(value(key), value(next), s);
    return hermite(value(key), values[3 * key + 2], value(next), values[3 * next], hermite_weights(s, h));
}

template struct Track<Vec3>;
template struct Track<Quat>;
template struct Track<VecX>;

double Clip::begin() const
{
    double first = std::numeric_limits<double>::infinity();
    for_each_times(*this, [&](const std::vector<double>& times) { first = std::min(first, times.front()); });
    return std::isfinite(first) ? first : 0.0;
}

double Clip::end() const
{
    double last = -std::numeric_limits<double>::infinity();
    for_each_times(*this, [&](const std::vector<double>& times) { last = std::max(last, times.back()); });
    return std::isfinite(last) ? last : 0.0;
}

Pose pose_at(const Skeleton& skeleton, const Clip& clip, double t)
{
    Pose pose;
    pose_at(skeleton, clip, t, pose);
    return pose;
}

void pose_at(const Skeleton& skeleton, const Clip& clip, double t, Pose& pose)
{
    pose.resize(skeleton.joints.size());
    for (std::size_t j = 0; j < pose.size(); ++j) pose[j] = skeleton.joints[j].rest;
    for (const JointTracks& tracks : clip.joints) {
        LITHE_ASSERT(0 <= tracks.joint && tracks.joint < skeleton.joint_count());
        apply_tracks(tracks, t, pose[tracks.joint]);
    }
}

void make_continuous(std::vector<Quat>& rotations)
{
    for (std::size_t k = 1; k < rotations.size(); ++k)
        if (rotations[k].dot(rotations[k - 1]) < 0.0) rotations[k].coeffs() *= -1.0;
}

double looped(const Clip& clip, double t)
{
    const double first = clip.begin(), duration = clip.duration();
    if (!(duration > 0.0)) return first;
    const double turn = std::fmod(t, duration);
    return first + (turn < 0.0 ? turn + duration : turn);
}

double Playback::clip_time(const Clip& clip, double t) const
{
    const double at = clip.begin() + start + speed * t;
    return loop ? looped(clip, at) : std::clamp(at, clip.begin(), clip.end());
}

namespace {

/// "Armature|Walk" is "walk" for short.
std::string short_name(const std::string& name)
{
    return io::lower_case(name.substr(name.find_last_of("|:/") + 1));
}

/// The one clip of that short name, or null.
const Clip* find_short_name(const std::vector<Clip>& clips, const std::string& wanted)
{
    const Clip* found = nullptr;
    for (const Clip& clip : clips) {
        if (short_name(clip.name) != io::lower_case(wanted)) continue;
        if (found) return nullptr;
        found = &clip;
    }
    return found;
}

} // namespace

const Clip& find_clip(const std::vector<Clip>& clips, const std::string& wanted)
{
    for (const Clip& clip : clips)
        if (clip.name == wanted) return clip;
    const int number = number_of(wanted);
    if (0 <= number && number < static_cast<int>(clips.size())) return clips[number];
    if (const Clip* clip = find_short_name(clips, wanted)) return *clip;

    if (clips.empty())
        throw InputError(fmt::format("there is no clip '{}': the character has none; give the file of a "
                                     "motion, such as a .bvh",
                                     wanted));
    std::vector<std::string> names, list;
    for (std::size_t c = 0; c < clips.size(); ++c) {
        names.push_back(clips[c].name);
        list.push_back(fmt::format("{} '{}'", c, clips[c].name));
    }
    throw InputError(fmt::format("there is no clip '{}'; there are {}{}", wanted, fmt::join(list, ", "),
                                 did_you_mean(wanted, names)));
}

} // namespace lithe
