#pragma once
#include <memory>

#include "lithe/server/live_scene.hpp"

namespace lithe::test {

/// One body of each kind, small: a reduced ring, a rigid stone and a soft cube in full space above a plane.
inline constexpr const char* mixed_scene = R"(
title = "mixed"
[[body]]
name = "ring"
shape = "torus:major=0.25,minor=0.08"
tets = 300
position = [0, 0.6, 0]
material = { kind = "linear", young = "100 kPa", density = 1000 }
reduce = { rank = 8 }
[[body]]
name = "stone"
shape = "sphere:radius=0.1"
cell = 0.08
position = [0.6, 0.4, 0]
rigid = true
[[body]]
name = "cube"
shape = "box:size=0.2x0.2x0.2"
cell = 0.1
position = [-0.6, 0.3, 0]
material = { kind = "corotational", young = "50 kPa", density = 1000 }
[[obstacle]]
name = "ground"
shape = "plane"
)";

/// The cube alone, in zero gravity: quick to make.
inline constexpr const char* cube_scene = R"(
title = "cube"
[world]
gravity = [0, 0, 0]
[[body]]
name = "cube"
shape = "box:size=0.2x0.2x0.2"
cell = 0.1
material = { kind = "corotational", young = "50 kPa", density = 1000 }
)";

inline std::unique_ptr<LiveScene> make_live(const char* text)
{
    const Scene scene = parse_scene(text, "test.toml");
    Progress progress;
    return std::make_unique<LiveScene>(scene, prepare_scene(scene, progress));
}

inline Vec3 centre_of(LiveScene& scene, const char* name)
{
    const Body& body = scene.world().body(*scene.world().find(name));
    Published now;
    body.publish(now);
    return surface_in_world(body.shown(), now).rowwise().mean();
}

} // namespace lithe::test
