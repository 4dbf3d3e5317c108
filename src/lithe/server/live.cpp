#include "lithe/server/live.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::size_t most_jobs = 10'000;

Ray ray_of(const Command& command)
{
    const Ray ray{command.point("origin"), command.point("direction")};
    if (!(ray.direction.norm() > 1e-9)) throw InputError("a direction has no length");
    return ray;
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

void Live::set_audience(Audience audience)
{
    ask([this, audience = std::move(audience)](LiveScene* scene) {
        audience_ = audience;
        audience_came_ = audience_came_ || audience_.clients > 0;
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
    events_.message(json_text(message));
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
        if (comparison_ && Clock::now() >= status_due_)
            publish_status(); // it may go on when the scene does not
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
    compare();
    publish_frame();
    if (Clock::now() >= overlays_due_) publish_overlays();
    if (Clock::now() >= status_due_ || !playing_) publish_status();
}

/// Hands, pins and thrown balls are not there in full space: it begins anew once they are gone.
void Live::compare()
{
    if (!compares_) return;
    if (scene_->has_extras()) return comparison_.reset();
    try {
        if (comparison_) return comparison_->add(scene_->frame(), scene_->world());
        RunOptions options = scene_->run();
        options.first_frame = scene_->frame();
        comparison_.emplace(scene_->world(), scene_->prepared().volumes, options);
    } catch (const InputError& error) {
        compares_ = false;
        note("error", error.what());
    }
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
        if (playing_) go_on();
        due_ = Clock::now();
    } else if (name == "step") {
        playing_ = false;
        audience_came_ = true;
        go_on();
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
    } else if (name == "compare") {
        compares_ = command.flag("on");
        comparison_.reset();
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

} // namespace lithe
