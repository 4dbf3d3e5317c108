// Any bytes as a BVH file, or, when the first is '#', as a text rig's skeleton with matrices: they are a tree of joints with
// finite poses at all times, or an InputError.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lithe/core/error.hpp"
#include "lithe/rig/rig_files.hpp"

namespace {

using namespace lithe;

void check_poses(const Skeleton& skeleton, const Clip& clip)
{
    for (const double t : {clip.begin(), 0.5 * (clip.begin() + clip.end()), clip.end()})
        for (const Affine3& world : world_transforms(skeleton, pose_at(skeleton, clip, t)))
            LITHE_ASSERT(world.matrix().allFinite());
    for (const JointTracks& tracks : clip.joints)
        if (tracks.rotation)
            for (const Quat& q : tracks.rotation->values) LITHE_ASSERT(std::abs(q.norm() - 1.0) < 1e-9);
}

void try_bvh(std::string_view text)
{
    const Character character = parse_bvh(text, "fuzzed.bvh");
    const Skeleton& skeleton = character.skeleton;
    LITHE_ASSERT(!skeleton.joints.empty());
    check_poses(skeleton, Clip{});
    for (const Clip& clip : character.clips) {
        check_poses(skeleton, clip);
        std::vector<std::string> notes;
        LITHE_ASSERT(!retargeted(clip, skeleton, skeleton, notes).joints.empty());
    }
    LITHE_ASSERT(parse_skeleton(skeleton_text(skeleton), "written").joint_count() == skeleton.joint_count());
}

/// A skeleton, then from a line "fps ..." on a clip, then from a line "vertices ..." on weights.
void try_text_rig(std::string_view text)
{
    const auto part = [&](std::string_view begin) {
        const std::size_t at = text.find(begin);
        const std::string_view rest = at == text.npos ? std::string_view() : text.substr(at + 1);
        if (at != text.npos) text = text.substr(0, at + 1);
        return rest;
    };
    const std::string_view weights = part("\nvertices "), frames = part("\nfps ");
    const Skeleton skeleton = parse_skeleton(text, "fuzzed.skel.txt");
    if (!weights.empty()) (void)parse_weights(weights, "fuzzed.weights.txt", skeleton.joint_count());
    std::vector<std::string> notes;
    if (!frames.empty()) check_poses(skeleton, parse_clip(frames, "fuzzed.anim.txt", skeleton, {}, notes));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        if (text.starts_with('#'))
            try_text_rig(text);
        else
            try_bvh(text);
    } catch (const InputError&) {
        return 0;
    }
    return 0;
}
