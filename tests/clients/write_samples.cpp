// Writes one animation in all formats into a folder, with where the vertices should be as JSON: what the checks with
// other programs open.
#include <cstdio>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/scene/exporter.hpp"
#include "support/animation.hpp"
#include "support/waving_arm.hpp"

namespace {

using lithe::test::Animation;

nlohmann::json rows(const lithe::Points& points)
{
    nlohmann::json all = nlohmann::json::array();
    for (const auto& x : points.colwise()) all.push_back({x[0], x[1], x[2]});
    return all;
}

nlohmann::json expected(const lithe::test::MorphingBall& ball, int frames)
{
    nlohmann::json all = {{"fps", lithe::test::MorphingBall::fps}};
    for (const int f : {0, frames / 3, frames - 1})
        all["positions"][std::to_string(f)][ball.shown().name] =
            rows(surface_in_world(ball.shown(), ball.at(f)));
    return all;
}

/// Positions of all bodies in some frames, and of the block's nodes the largest displacement and speed.
nlohmann::json expected(const Animation& animation, int frames)
{
    nlohmann::json all = {{"fps", Animation::fps}, {"frames", frames}};
    for (const int f : {0, frames / 3, frames - 1}) {
        nlohmann::json& at = all["positions"][std::to_string(f)];
        for (std::size_t b = 0; b < animation.bodies().size(); ++b)
            at[animation.bodies()[b].name] = rows(animation.positions(static_cast<int>(b), f));
    }
    const lithe::Shown& block = animation.bodies()[Animation::block];
    const lithe::Published last = animation.frame(frames - 1).bodies[Animation::block];
    const lithe::Points u = nodes_in_world(block, last) - in_world(last.frame, block.volume.vertices);
    all["block"] = {{"displacement", u.colwise().norm().maxCoeff()},
                    {"speed", last.node_velocities.colwise().norm().maxCoeff()},
                    {"tets", block.volume.tet_count()}};
    return all;
}

/// As NAME.glb, and where its surface is as NAME.json.
void write_arm(const std::filesystem::path& folder, const std::string& name,
               const lithe::test::WavingArm& arm, int frames)
{
    lithe::test::play(*lithe::make_exporter(folder / (name + ".glb")), {&arm}, frames);
    nlohmann::json json = {{"fps", lithe::test::WavingArm::fps}};
    for (const int f : {0, frames / 3, frames - 1})
        json["positions"][std::to_string(f)]["surface"] = rows(arm.at(f).positions);
    lithe::write_file(folder / (name + ".json"), json.dump());
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2) return std::fputs("usage: write_samples FOLDER\n", stderr), 2;
    const std::filesystem::path folder = arguments[1];
    const Animation animation;
    constexpr int frames = 30;
    for (const char* name : {"sample.glb", "sample.usda", "sample.pc2", "sample.pvd", "frames"}) {
        const auto sink = lithe::make_exporter(folder / name);
        animation.play(*sink, frames);
        sink->finish();
    }
    lithe::write_file(folder / "expected.json", expected(animation, frames).dump());
    const lithe::test::MorphingBall ball;
    ball.play(*lithe::make_exporter(folder / "reduced.glb"), frames);
    lithe::write_file(folder / "reduced.json", expected(ball, frames).dump());
    lithe::test::WavingArm arm(lithe::test::make_gltf_arm(), "arm", lithe::Vec3(0.5, 0.0, 0.0));
    write_arm(folder, "character", arm, frames);
    arm.grow_flesh(0.03);
    write_arm(folder, "flesh", arm, frames);
}
