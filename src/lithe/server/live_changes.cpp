#include "lithe/server/live.hpp"

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/world/checkpoint.hpp"

// What people make of the scene: other values, the start again, a moment of the past, a file.

namespace lithe {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_undo = 100;

/// Where the scene leaves the modulus open, the one that preparation chose.
void settle_moduli(Scene& scene, const World& world)
{
    for (SceneBody& body : scene.bodies) {
        const auto id = world.find(body.name);
        if (!id || body.model || body.rigid) continue;
        Published now;
        world.body(*id).publish(now);
        const double height = bounds(surface_in_world(world.body(*id).shown(), now)).sizes()[1];
        const double g = scene.gravity.norm() > 0.0 ? scene.gravity.norm() : 9.81;
        const auto settle = [&](SceneMaterial& material) {
            if (!material.young) material.young = comfortable_young(material.density, g, height);
        };
        settle(body.material);
        for (SceneRegion& region : body.regions) settle(region.material);
    }
}

/// Only what was not changed goes on from the scene as it is.
bool is_as_it_came(const SceneOrigin& origin, const SceneEdits& edits)
{
    return edits == edits_of(origin.scene);
}

} // namespace

void Live::change(const SceneEdits& edits)
{
    if (edits == edits_) return;
    const SceneEdits before = edits_;
    apply(edits);
    undo_.push_back(before);
    if (undo_.size() > most_undo) undo_.erase(undo_.begin());
}

/// Substeps and gravity change at once; the rest is part of what bodies are made from, and they are prepared again with their
/// state kept.
void Live::apply(const SceneEdits& edits)
{
    const Scene next = edited(origin_->scene, edits); // throws before anything has changed
    SceneEdits at_once = edits_;
    at_once.substeps = edits.substeps;
    at_once.gravity = edits.gravity;
    scene_->set_substeps(edits.substeps);
    scene_->set_gravity(edits.gravity);
    comparison_.reset();
    const bool prepares = !(at_once == edits);
    edits_ = edits;
    if (!prepares) return;
    note("info", "prepares the bodies again with the new values; the scene goes on meanwhile");
    prepare("change", [this, next](Progress& progress) -> Job {
        PreparedScene prepared = prepare_scene(next, progress);
        auto scene = std::make_shared<std::unique_ptr<LiveScene>>(
            std::make_unique<LiveScene>(next, std::move(prepared)));
        return [this, scene] { take_over(std::move(*scene)); };
    });
}

void Live::take_over(std::unique_ptr<LiveScene> scene)
{
    if (!scene_) return;
    if (!scene->continue_from(*scene_))
        note("warning", "the new bodies cannot go on from the old state; the scene starts again");
    scene->set_gravity(edits_.gravity); // that may have changed meanwhile
    comparison_.reset();
    scene_ = std::move(scene);
    announce_scene();
    publish_status();
}

void Live::start(SceneOrigin origin, std::unique_ptr<LiveScene> scene)
{
    comparison_.reset();
    origin_ = std::move(origin);
    settle_moduli(origin_->scene, scene->world());
    scene_ = std::move(scene);
    for (const std::string& text : scene_->prepared().notes) note("info", text);
    edits_ = edits_of(origin_->scene);
    undo_.clear();
    cut_.reset();
    due_ = rate_since_ = Clock::now();
    rate_from_ = 0.0;
    playing_ = !options_.paused;
    announce_scene();
    publish_status();
}

/// From the frame that is shown, where it is one of the past and its state is kept.
void Live::go_on()
{
    if (!scrubbed_) return;
    const std::uint32_t number = *scrubbed_;
    scrubbed_.reset();
    if (number == static_cast<std::uint32_t>(scene_->frame())) return;
    comparison_.reset();
    const std::string* state = recording_.state(number);
    if (!state)
        note("warning",
             fmt::format("the state of frame {} is not kept any more (--recording keeps more): the scene "
                         "goes on from frame {}",
                         number, scene_->frame()));
    else if (scene_->go_back(static_cast<int>(number), *state))
        recording_.forget_after(number);
    else
        note("warning", fmt::format("a joint has broken since frame {}: the scene goes on from frame {}",
                                    number, scene_->frame()));
    publish_frame();
}

void Live::reset()
{
    comparison_.reset();
    if (scene_->reset()) return announce_scene();
    note("info", "a joint has broken: prepares the scene again");
    const Scene scene = edited(origin_->scene, edits_);
    prepare("reset", [this, scene](Progress& progress) -> Job {
        PreparedScene prepared = prepare_scene(scene, progress);
        auto made = std::make_shared<std::unique_ptr<LiveScene>>(
            std::make_unique<LiveScene>(scene, std::move(prepared)));
        return [this, made] {
            scene_ = std::move(*made);
            announce_scene();
            publish_status();
        };
    });
}

/// A checkpoint, and a scene file where the one that it came from does not say it all. Hands, pins and thrown balls are no part of a
/// scene: they are let go and taken away.
void Live::save_state()
{
    scene_->remove_extras();
    announce_scene();
    std::filesystem::create_directories(options_.output);
    const std::string stem = fmt::format("{}-{}", origin_->name, scene_->frame());
    const auto checkpoint = options_.output / (stem + ".checkpoint");
    const auto file = options_.output / (stem + ".toml");
    const auto saved = [this, checkpoint](const std::filesystem::path& scene, bool wrote_scene) {
        Json files = Json::array({checkpoint.string()});
        if (wrote_scene) files.push_back(scene.string());
        tell({{"type", "saved"},
              {"files", files},
              {"command", fmt::format("lithe simulate {} --resume {} --frames N", scene.string(),
                                      checkpoint.string())}});
    };
    const int frame = scene_->frame();
    if (is_as_it_came(*origin_, edits_)) {
        write_checkpoint(checkpoint, scene_->world(), {scene_->prepared().inputs, frame});
        if (!origin_->file.empty()) return saved(origin_->file, false);
        write_file(file, origin_->text);
        return saved(file, true);
    }
    StateWriter state;
    scene_->world().save(state);
    const std::string text = scene_text(*origin_, edited(origin_->scene, edits_));
    prepare("save", [=, bytes = state.bytes()](Progress& progress) -> Job {
        PreparedScene prepared = prepare_scene(parse_scene(text, file), progress);
        StateReader in(bytes);
        prepared.world.restore(in);
        write_file(file, text);
        write_checkpoint(checkpoint, prepared.world, {prepared.inputs, frame});
        return [=] { saved(file, true); };
    });
}

} // namespace lithe
