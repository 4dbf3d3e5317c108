// Any bytes as a scene file: they are a scene whose numbers can be worked with, or an InputError of one line with its
// place.
#include <set>
#include <string_view>

#include "lithe/scene/scene.hpp"

namespace {

using namespace lithe;

void check(const RigidPose& pose)
{
    LITHE_ASSERT((pose.translation.array().abs() <= largest_coordinate).all());
    LITHE_ASSERT(std::abs(pose.rotation.norm() - 1.0) < 1e-9);
}

void check(const Keyframes<RigidPose>& motion)
{
    for (const RigidPose& pose : motion.values()) check(pose);
}

void check(const Scene& scene)
{
    std::set<std::string> names;
    LITHE_ASSERT(!scene.bodies.empty() && scene.time.fps > 0.0 && scene.gravity.allFinite());
    for (const SceneBody& body : scene.bodies) {
        LITHE_ASSERT(!body.name.empty() && names.insert(body.name).second);
        LITHE_ASSERT(body.place.line > 0 && body.material.density > 0.0);
        check(body.placement);
        for (const ScenePin& pin : body.pins) check(pin.motion);
    }
    for (const SceneObstacle& obstacle : scene.obstacles) {
        LITHE_ASSERT(!obstacle.name.empty() && names.insert(obstacle.name).second);
        check(obstacle.path);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try {
        check(parse_scene(std::string_view(reinterpret_cast<const char*>(data), size), "fuzzed"));
    } catch (const InputError& error) {
        const std::string_view what = error.what();
        LITHE_ASSERT(what.starts_with("fuzzed:") && what.find('\n') == what.npos);
    }
    return 0;
}
