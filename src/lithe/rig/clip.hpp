#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lithe/rig/skeleton.hpp"

namespace lithe {

enum class Interpolation {
    Step,   ///< the value of the key before
    Linear, ///< straight; rotations the short way round at constant speed
    Cubic,  ///< Hermite's, with the tangents of the keys; rotations normalised afterwards
};

/// A quantity over time: constant before the first key and after the last. T is Vec3, Quat or VecX.
template <class T>
struct Track {
    Interpolation interpolation = Interpolation::Linear;
    std::vector<double> times; ///< rising [s], at least one
    std::vector<T> values;     ///< one per time; Cubic: in-tangent, value, out-tangent per time

    T at(double t) const;
};

/// What a clip says about one joint; the rest pose says what it does not.
struct JointTracks {
    int joint = 0;
    std::optional<Track<Vec3>> translation = {};
    std::optional<Track<Quat>> rotation = {};
    std::optional<Track<Vec3>> scale = {};
};

/// Weights of the morph targets of the mesh that hangs on a joint.
struct MorphTrack {
    int joint = 0;
    Track<VecX> weights;
};

/// A motion of a skeleton. A pose is an exact function of time, not a frame in a list.
struct Clip {
    std::string name;
    std::vector<JointTracks> joints = {}; ///< by rising joint, each at most once
    std::vector<MorphTrack> morphs = {};  ///< by rising joint, each at most once

    double begin() const; ///< time of the first key [s]; 0 for a clip without keys
    double end() const;   ///< of the last
    double duration() const { return end() - begin(); }
};

Pose pose_at(const Skeleton& skeleton, const Clip& clip, double t);
/// The same into a buffer; allocates nothing when it fits.
void pose_at(const Skeleton& skeleton, const Clip& clip, double t, Pose& pose);

/// Turns the signs of quaternions, which mean the same rotation either way, so that each lies on the side of the one before.
void make_continuous(std::vector<Quat>& rotations);

/// The time in the clip when it is played over and over, beginning at its first key.
double looped(const Clip& clip, double t);

/// How a clip runs beside the time of the world: it is at  start + speed t  after its first key.
struct Playback {
    double start = 0.0; ///< [s]
    double speed = 1.0; ///< may be zero or negative
    bool loop = true;   ///< else it stays where it ends

    double clip_time(const Clip& clip, double t) const;
};

/// Which clip is meant by a name, by a number from 0, or by the last part of one name, whatever its case ("walk" for
/// "Armature|Walk"). InputError that lists what there is, with the nearest name.
const Clip& find_clip(const std::vector<Clip>& clips, const std::string& wanted);

/// A clip of one skeleton for another that has joints of the same names, compared without case and without what stands
/// before a colon ("mixamorig:Hips" is "hips").
///
/// The joints turn in the world, from rest, as those of the source do, whatever the axes of their frames are; bones keep
/// the target's lengths. So where the two rest in different poses (arms down, arms out) the result differs by as much all the
/// time. Translation is taken by the topmost joints with a partner only, as their way from rest, scaled by the ratio of the
/// skeletons' heights (from the lowest joint with a partner to the highest; of their whole extents where one lies flat). Keys
/// are at the times of all keys of the source, and straight between them. Joints without a partner stay at rest; `notes` says
/// which, and InputError when none has one.
Clip retargeted(const Clip& clip, const Skeleton& from, const Skeleton& to, std::vector<std::string>& notes);

} // namespace lithe
