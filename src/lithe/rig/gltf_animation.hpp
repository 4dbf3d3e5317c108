#pragma once
#include <map>

#include "lithe/rig/gltf_scene.hpp"

// What writing clips and writing morph targets have in common.

namespace lithe::gltf {

/// In single precision. InputError when they are too large for it; `what` they are, for the message.
Eigen::MatrixXf file_numbers(const MatX& numbers, const char* what);
Json array_of(const Eigen::Ref<const VecX>& numbers);

/// Says where a node is in its parent, without what is the identity. A matrix goes.
void set_transform(Json& node, const JointTransform& transform);
/// A node that an animation moves must not have a matrix: it gets its parts instead.
void make_animatable(GltfDocument& document, int node, const JointTransform& rest);

/// glTF knows no times before zero: a motion that begins earlier is moved to begin there. What to take from its times.
double file_begin(double begin);

/// Makes samplers in a document. Those of equal times share the accessor of the times.
class AnimationWriter {
public:
    /// `begin` is taken from all times.
    AnimationWriter(GltfDocument& document, double begin) : document_(document), begin_(begin) {}

    /// In single precision; keys that fall on the one before are left out. T is Vec3, Quat or VecX (weights).
    template <class T>
    Json sampler(const Track<T>& track);
    template <class T>
    void add_channel(Json& animation, int node, const char* path, const Track<T>& track);

private:
    int times(const std::vector<float>& list);

    GltfDocument& document_;
    double begin_;
    std::map<std::vector<float>, int> times_; ///< their accessors
};

Json new_animation(const std::string& name);
Json channel_of(std::size_t sampler, int node, const char* path);

/// A track of weights with `count` more targets behind the others, whose weights stay at zero.
Track<VecX> widened(Track<VecX> track, Index count);

/// A clip as an animation. Its channels are empty when it moves nothing.
Json animation_of(GltfDocument& document, const Clip& clip, const std::vector<int>& node_of_joint);

} // namespace lithe::gltf
