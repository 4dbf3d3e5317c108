#pragma once
#include <algorithm>
#include <cmath>

#include "lithe/body/published.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/skinning.hpp"

namespace lithe::test {

/// An upright tube of 1 m on two bones that bends in its middle.
inline Character make_arm()
{
    Character arm;
    arm.surface = make_cylinder(0.1, 1.0, 0.05);
    arm.skeleton.joints = {{.name = "shoulder", .parent = -1, .rest = {.translation = Vec3(0.0, -0.5, 0.0)}},
                           {.name = "elbow", .parent = 0, .rest = {.translation = Vec3(0.0, 0.5, 0.0)}}};
    arm.bones.resize(2);
    for (int b = 0; b < 2; ++b) {
        arm.bones[static_cast<std::size_t>(b)].joint = b;
        arm.bones[static_cast<std::size_t>(b)].inverse_bind.translation() =
            Vec3(0.0, b == 0 ? 0.5 : 0.0, 0.0);
    }
    MatX dense(2, arm.surface.vertex_count());
    dense.row(1) = (0.5 + 2.0 * arm.surface.vertices.row(1).array()).cwiseMax(0.0).cwiseMin(1.0);
    dense.row(0) = 1.0 - dense.row(1).array();
    arm.weights = sparse_weights(dense);
    const Quat bent(Eigen::AngleAxisd(1.2, Vec3::UnitZ()));
    arm.clips = {
        {.name = "wave",
         .joints = {{.joint = 1,
                     .rotation = Track<Quat>{.times = {0.0, 0.5, 1.0},
                                             .values = {Quat::Identity(), bent, Quat::Identity()}}}}}};
    return arm;
}

/// The same as it is read from a glTF file.
inline Character make_gltf_arm()
{
    return gltf_character(
        std::make_shared<GltfDocument>(GltfDocument::parse(make_gltf(make_arm()).to_glb(), "arm.glb")));
}

/// A body that is the skin of the arm, somewhere.
class WavingArm {
public:
    static constexpr double fps = 30.0;

    WavingArm(Character arm, const std::string& name, const Vec3& place)
    {
        arm.skeleton.placement.translation() += place;
        character_ = std::make_shared<const Character>(std::move(arm));
        shown_.name = name;
        shown_.surface = character_->surface;
        shown_.character = character_;
    }
    /// Its skin swells and sinks beside what the joints do, by as much. [m]
    void grow_flesh(double height)
    {
        shown_.flesh = true;
        height_ = height;
    }

    const Shown& shown() const { return shown_; }
    Published at(int frame) const
    {
        const Skeleton& skeleton = character_->skeleton;
        Published out;
        out.joints = world_transforms(skeleton, pose_at(skeleton, character_->clips[0], frame / fps));
        skin(SkinningMethod::Linear, character_->weights, bone_transforms(character_->bones, out.joints),
             character_->surface.vertices, out.positions);
        out.positions.row(2).array() +=
            height_ * std::sin(0.7 * frame) * (5.0 * out.positions.row(1).array()).cos();
        return out;
    }

private:
    std::shared_ptr<const Character> character_;
    Shown shown_;
    double height_ = 0.0;
};

inline void play(FrameSink& sink, std::initializer_list<const WavingArm*> arms, int frames)
{
    std::vector<Shown> bodies;
    for (const WavingArm* arm : arms) bodies.push_back(arm->shown());
    sink.begin(bodies, WavingArm::fps);
    for (int f = 0; f < frames; ++f) {
        Frame frame{.number = f, .t = f / WavingArm::fps, .bodies = {}};
        for (const WavingArm* arm : arms) frame.bodies.push_back(arm->at(f));
        sink.frame(frame);
    }
    sink.finish();
}

} // namespace lithe::test
