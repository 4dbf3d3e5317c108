#include "lithe/server/live.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/world/checkpoint.hpp"

namespace lithe {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::size_t most_jobs = 10'000, most_undo = 100;
constexpr auto status_every = 100ms, overlays_every = 50ms;

std::string text_of(const Json& message)
{
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Ray ray_of(const Command& command)
{
    const Ray ray{command.point("origin"), command.point("direction")};
    if (!(ray.direction.norm() > 1e-9)) throw InputError("a direction has no length");
    return ray;
}

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

} // namespace

Live::Live(LiveOptions options, LiveEvents events)
    : options_(std::move(options)), events_(std::move(events)), recording_(options_.recording_bytes),
      playing_(!options_.paused), thread_([this](const std::stop_token& stop) { run(stop); })
{
}

Live::~Live()
{
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
    const std::lock_guard lock(preparing_mutex_);
    for (std::jthread& preparer : preparers_) preparer.request_stop();
    preparers_.clear();
}

void Live::ask(std::function<void(LiveScene*)> job)
{
    {
        const std::lock_guard lock(mutex_);
        if (jobs_.size() >= most_jobs) return;
        jobs_.push_back([this, job = std::move(job)] { job(scene_.get()); });
    }
    wake_.notify_all();
}

void Live::submit(Command command)
{
    ask([this, command = std::move(command)](LiveScene*) { carry_out(command); });
}

void Live::set_audience(int clients, int want_overlays)
{
    {
        const std::lock_guard lock(mutex_);
        clients_ = clients;
        want_overlays_ = want_overlays;
    }
    ask([this, clients](LiveScene* scene) {
        audience_came_ = audience_came_ || clients > 0;
        if (scene) publish_overlays(); // a scene that stands still has not made them while nobody wanted them
    });
}

LiveView Live::view() const
{
    const std::lock_guard lock(mutex_);
    return view_;
}

void Live::load(std::function<SceneOrigin()> open)
{
    prepare("scene", [this, open = std::move(open)](Progress& progress) -> Job {
        auto origin = std::make_shared<SceneOrigin>(open());
        PreparedScene prepared = prepare_scene(origin->scene, progress);
        auto scene = std::make_shared<std::unique_ptr<LiveScene>>(
            std::make_unique<LiveScene>(origin->scene, std::move(prepared)));
        return [this, origin, scene] { start(std::move(*origin), std::move(*scene)); };
    });
}

/// Does `work` in the background, and what it returns in the thread of the simulation. Work that is still going on is stopped:
/// the newest wish counts.
void Live::prepare(std::string what, std::function<Job(Progress&)> work)
{
    const std::lock_guard lock(preparing_mutex_);
    for (std::jthread& preparer : preparers_) preparer.request_stop();
    if (preparers_.size() > 4) preparers_.erase(preparers_.begin()); // waits for it: it has had time enough
    const std::uint64_t number = ++preparation_;
    preparers_.emplace_back(
        [this, number, what = std::move(what), work = std::move(work)](const std::stop_token& stop) {
            auto last = Clock::now() - 1s;
            const auto sink = [&](const ProgressEvent& event) {
                if (const auto now = Clock::now(); now - last >= 100ms) {
                    last = now;
                    tell({{"type", "progress"},
                          {"what", what},
                          {"stage", event.stage},
                          {"fraction", event.fraction}});
                }
            };
            Progress progress(sink, stop);
            try {
                Job job = work(progress);
                ask([this, number, job = std::move(job)](LiveScene*) {
                    if (number == preparation_) job();
                });
            } catch (const Interrupted&) {
            } catch (const std::exception& error) {
                note("error", error.what());
            }
            if (number == preparation_)
                tell({{"type", "progress"}, {"what", what}, {"stage", "done"}, {"fraction", 1.0}});
        });
}

void Live::tell(const Json& message)
{
    events_.message(text_of(message));
}

void Live::note(const char* level, const std::string& text)
{
    tell({{"type", "note"}, {"level", level}, {"text", text}});
}

bool Live::goes() const
{
    return scene_ && playing_ && audience_came_;
}

void Live::run(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        take_jobs();
        if (goes() && Clock::now() >= due_) advance();
        std::unique_lock lock(mutex_);
        const auto until = goes() ? due_ : Clock::now() + 1s;
        wake_.wait_until(lock, stop, until, [&] { return !jobs_.empty(); });
    }
}

void Live::take_jobs()
{
    std::vector<Job> jobs;
    {
        const std::lock_guard lock(mutex_);
        jobs.swap(jobs_);
    }
    for (const Job& job : jobs) {
        try {
            job();
        } catch (const std::exception& error) {
            note("error", error.what());
        }
    }
}

/// One frame, and when the next one is due. A scene that is too slow for its rate does not run after it.
void Live::advance()
{
    const auto period = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(1.0 / (scene_->run().fps * speed_)));
    due_ = std::max(due_ + period, Clock::now() - period);
    try {
        if (const StepReport report = scene_->advance_frame(); !report.done) {
            playing_ = false;
            note("error", "a step could not be solved, and the scene is paused: " + report.trouble);
        }
    } catch (const std::exception& error) {
        playing_ = false;
        note("error", std::string("the scene is paused: ") + error.what());
    }
    if (const double passed = std::chrono::duration<double>(Clock::now() - rate_since_).count();
        passed > 0.5) {
        real_time_ = std::max(0.0, scene_->time() - rate_from_) / passed;
        rate_since_ = Clock::now();
        rate_from_ = scene_->time();
    }
    publish_frame();
    if (Clock::now() >= overlays_due_) publish_overlays();
    if (Clock::now() >= status_due_ || !playing_) publish_status();
}

void Live::carry_out(const Command& command)
{
    try {
        obey(command);
    } catch (const InputError& error) {
        note("error", error.what());
    }
    publish_status();
}

void Live::obey(const Command& command)
{
    const std::string& name = command.name;
    if (name == "load") {
        load([scene = command.text("scene")] { return open_builtin_scene(scene); });
        return;
    }
    if (!scene_) return;
    if (name == "play" || name == "pause") {
        playing_ = name == "play";
        if (playing_ && scrubbed_) publish_frame();
        due_ = Clock::now();
    } else if (name == "step") {
        playing_ = false;
        audience_came_ = true;
        advance();
        publish_overlays();
    } else if (name == "reset")
        reset();
    else if (name == "speed")
        speed_ = command.number("value");
    else if (name == "scrub") {
        playing_ = false;
        const auto number = static_cast<std::uint32_t>(command.integer("frame"));
        if (const Bytes frame = recording_.find(number)) {
            scrubbed_ = number;
            show(frame);
        }
    } else if (name == "grab" || name == "pin")
        hold(command);
    else if (name == "drag")
        scene_->drag(command.point("target"));
    else if (name == "release")
        scene_->release();
    else if (name == "unpin")
        scene_->unpin();
    else if (name == "throw") {
        scene_->throw_ball(ray_of(command));
        announce_scene();
    } else if (name == "undo") {
        if (undo_.empty()) return;
        const SceneEdits before = undo_.back();
        undo_.pop_back();
        apply(before);
    } else if (name == "cut") {
        cut_.reset();
        if (command.flag("on")) cut_ = {static_cast<int>(command.integer("axis")), command.number("offset")};
        publish_overlays();
    } else if (name == "save_state")
        save_state();
    else {
        SceneEdits edits = edits_;
        if (name == "gravity") edits.gravity = command.point("value");
        if (name == "substeps") edits.substeps = static_cast<int>(command.integer("value"));
        if (name == "stiffness") edits.stiffness = command.number("value");
        if (name == "damping") edits.damping = command.number("value");
        if (name == "friction") edits.friction = command.number("value");
        change(edits);
    }
}

void Live::hold(const Command& command)
{
    const bool grabs = command.name == "grab";
    const std::optional<Picked> picked = grabs ? scene_->grab(ray_of(command)) : scene_->pin(ray_of(command));
    if (!picked)
        return tell({{"type", "held"}, {"body", nullptr}, {"point", nullptr}, {"kind", command.name}});
    tell({{"type", "held"},
          {"body", scene_->world().body(picked->body).shown().name},
          {"point", vector_json(picked->point)},
          {"kind", command.name}});
}

void Live::change(const SceneEdits& edits)
{
    if (edits == edits_) return;
    const SceneEdits before = edits_;
    apply(edits);
    undo_.push_back(before);
    if (undo_.size() > most_undo) undo_.erase(undo_.begin());
}

/// Substeps change at once; the rest is part of what bodies are made from, and they are prepared again with their state
/// kept.
void Live::apply(const SceneEdits& edits)
{
    const Scene next = edited(origin_->scene, edits); // throws before anything has changed
    SceneEdits at_once = edits_;
    at_once.substeps = edits.substeps;
    scene_->set_substeps(edits.substeps);
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
    scene_ = std::move(scene);
    announce_scene();
    publish_status();
}

void Live::start(SceneOrigin origin, std::unique_ptr<LiveScene> scene)
{
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

void Live::reset()
{
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

/// The body as pages have it already, or under a new key.
LiveView::ShownBody Live::shown_body(BodyId id, std::span<const LiveView::ShownBody> taken)
{
    if (announced_ == scene_.get())
        for (const LiveView::ShownBody& body : bodies_)
            if (body.id == id) return body;
    const Body& drawn = scene_->world().body(id);
    const bool led = drawn.freedoms() == 0 && drawn.collides() == Collides::Nowhere;
    const std::uint64_t hash = hash_bytes(encode_body(drawn.shown(), {0, led}));
    const auto same = [&](const LiveView::ShownBody& body) { return body.hash == hash; };
    const auto known = std::ranges::find_if(bodies_, same);
    const bool is_free = known != bodies_.end() && std::ranges::none_of(taken, [&](const auto& other) {
                             return other.key == known->key;
                         });
    if (is_free) return {known->key, known->message, id, hash};
    const std::uint32_t key = next_key_++;
    return {key, std::make_shared<const std::string>(encode_body(drawn.shown(), {key, led})), id, hash};
}

/// A new list of bodies; the recording begins anew.
void Live::announce_scene()
{
    std::vector<LiveView::ShownBody> bodies;
    Json keys = Json::array();
    for (const BodyId id : scene_->seen()) {
        bodies.push_back(shown_body(id, bodies));
        keys.push_back(bodies.back().key);
    }
    bodies_ = std::move(bodies);
    announced_ = scene_.get();
    recording_.clear();
    scrubbed_.reset();
    {
        const std::lock_guard lock(mutex_);
        ++view_.scene;
        view_.bodies = std::make_shared<const std::vector<LiveView::ShownBody>>(bodies_);
        const Json message = {{"type", "scene"},
                              {"scene", view_.scene},
                              {"title", scene_->scene().title},
                              {"bodies", keys},
                              {"fps", scene_->run().fps},
                              {"size", scene_->size()},
                              {"centre", vector_json(scene_->centre())}};
        view_.scene_message = std::make_shared<const std::string>(text_of(message));
    }
    publish_frame();
    publish_overlays();
}

void Live::publish_frame()
{
    scene_->encode_frame(view().scene, encoder_);
    auto bytes = std::make_shared<const std::string>(encoder_.bytes());
    const auto number = static_cast<std::uint32_t>(scene_->frame());
    if (recording_.size() == 0 || number == recording_.first() + recording_.size())
        recording_.add(number, bytes);
    scrubbed_.reset();
    show(std::move(bytes));
}

void Live::show(Bytes frame)
{
    {
        const std::lock_guard lock(mutex_);
        view_.frame = std::move(frame);
        ++view_.frame_count;
    }
    events_.changed();
}

void Live::publish_overlays()
{
    overlays_due_ = Clock::now() + overlays_every;
    {
        const std::lock_guard lock(mutex_);
        if (want_overlays_ == 0) return;
    }
    const std::vector<DrawnOverlay> overlays = scene_->overlays();
    const Points cut = cut_ ? scene_->cut(*cut_) : Points(3, 0);
    auto bytes = std::make_shared<const std::string>(encode_overlays(overlays, cut, view().scene));
    {
        const std::lock_guard lock(mutex_);
        view_.overlays = std::move(bytes);
        ++view_.overlay_count;
    }
    events_.changed();
}

void Live::publish_status()
{
    if (!scene_) return;
    status_due_ = Clock::now() + status_every;
    Json message = scene_->figures();
    const auto last =
        recording_.first() + static_cast<std::uint32_t>(std::max<std::size_t>(recording_.size(), 1)) - 1;
    message.update({{"type", "status"},
                    {"scene", view().scene},
                    {"playing", playing_},
                    {"shown", scrubbed_ ? *scrubbed_ : static_cast<std::uint32_t>(scene_->frame())},
                    {"first", recording_.first()},
                    {"last", last},
                    {"speed", speed_},
                    {"substeps", edits_.substeps},
                    {"gravity", vector_json(edits_.gravity)},
                    {"stiffness", edits_.stiffness},
                    {"damping", edits_.damping},
                    {"friction", edits_.friction},
                    {"undo", undo_.size()},
                    {"real_time", playing_ ? real_time_ : 0.0}});
    {
        const std::lock_guard lock(mutex_);
        view_.status = std::make_shared<const std::string>(text_of(message));
        ++view_.status_count;
    }
    events_.changed();
}

namespace {

/// Only what was not changed goes on from the scene as it is.
bool is_as_it_came(const SceneOrigin& origin, const SceneEdits& edits)
{
    return edits == edits_of(origin.scene);
}

} // namespace

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
