#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "lithe/server/comparison.hpp"
#include "lithe/server/live_scene.hpp"
#include "lithe/server/recording.hpp"
#include "lithe/server/scene_origin.hpp"

namespace lithe {

struct LiveOptions {
    std::filesystem::path output = "out/view";            ///< the only folder that is written to
    bool paused = false;                                  ///< at the start
    std::size_t recording_bytes = std::size_t{256} << 20; ///< of frames, and as many of states
};

/// Who looks, and at what beside the bodies.
struct Audience {
    int clients = 0;
    bool wants_overlays = false;
    std::set<std::string> fields = {}; ///< to colour by
};

/// What clients are to be shown now. Numbers grow with every new one; the bytes are shared and never change.
struct LiveView {
    struct ShownBody {
        std::uint32_t key;
        Bytes message;
        BodyId id = {};         ///< in the scene at hand
        std::uint64_t hash = 0; ///< of the message without its key
    };
    std::uint32_t scene = 0; ///< 0: there is none yet
    std::shared_ptr<const std::vector<ShownBody>> bodies = {};
    Bytes scene_message = {}, status = {}, frame = {}, overlays = {};
    std::uint64_t status_count = 0, frame_count = 0, overlay_count = 0;
};

/// Called from any thread; they must not wait.
struct LiveEvents {
    std::function<void()> changed;                   ///< view() has something new
    std::function<void(const std::string&)> message; ///< JSON for all clients
};

/// Runs a scene in a thread of its own, at its own pace, whoever looks. Scenes are prepared in another thread while the
/// one at hand goes on. All functions may be called from any thread and return at once.
class Live {
public:
    Live(LiveOptions options, LiveEvents events);
    ~Live(); ///< stops both threads
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    /// Opens and prepares, in the background; what is wrong is told to the clients.
    void load(std::function<SceneOrigin()> open);
    void submit(Command command);
    /// Calls `job` between two steps, in the thread of the simulation; with null when there is no scene.
    void ask(std::function<void(LiveScene*)> job);
    /// Somebody looks, or nobody does: the scene waits for the first one, and overlays are made only when they are wanted.
    void set_audience(Audience audience);

    LiveView view() const;
    const LiveOptions& options() const { return options_; }

private:
    using Clock = std::chrono::steady_clock;
    using Job = std::function<void()>;

    // in the thread of the simulation
    void run(const std::stop_token& stop);
    void take_jobs();
    void advance();
    void carry_out(const Command& command);
    void obey(const Command& command);
    void take_over(std::unique_ptr<LiveScene> scene);
    void start(SceneOrigin origin, std::unique_ptr<LiveScene> scene);
    void change(const SceneEdits& edits);
    void apply(const SceneEdits& edits);
    void go_on();
    void reset();
    void compare();
    void hold(const Command& command);
    void save_state();
    void announce_scene();
    LiveView::ShownBody shown_body(BodyId id, std::span<const LiveView::ShownBody> taken);
    void publish_frame();
    void publish_overlays();
    void publish_status();
    nlohmann::json error_json() const;
    void show(Bytes frame);
    void note(const char* level, const std::string& text);
    void tell(const nlohmann::json& message);
    bool goes() const;

    // in the thread that prepares
    void prepare(std::string what, std::function<Job(Progress&)> work);

    const LiveOptions options_;
    const LiveEvents events_;

    mutable std::mutex mutex_; ///< guards what follows
    std::condition_variable_any wake_;
    std::vector<Job> jobs_;
    LiveView view_;

    // only the thread of the simulation touches these
    std::optional<SceneOrigin> origin_;
    std::unique_ptr<LiveScene> scene_;
    std::vector<LiveView::ShownBody> bodies_;
    const LiveScene* announced_ = nullptr; ///< the scene that bodies_ are of
    std::uint32_t next_key_ = 1;
    SceneEdits edits_;
    std::vector<SceneEdits> undo_;
    std::optional<LiveCut> cut_;
    Recording recording_;
    FrameEncoder encoder_;
    bool playing_ = true;
    Audience audience_;
    bool audience_came_ = false;
    bool compares_ = false;
    std::optional<Comparison> comparison_; ///< while somebody wants it and the scene is as it came
    double speed_ = 1.0;
    std::optional<std::uint32_t> scrubbed_; ///< the recorded frame that is shown instead of now
    Clock::time_point due_ = {}, status_due_ = {}, overlays_due_ = {}, rate_since_ = {};
    double rate_from_ = 0.0, real_time_ = 0.0; ///< simulated seconds per second

    std::mutex preparing_mutex_;
    std::vector<std::jthread> preparers_; ///< the last one works; those before it were asked to stop
    std::atomic<std::uint64_t> preparation_ = 0;
    std::jthread thread_;
};

} // namespace lithe
