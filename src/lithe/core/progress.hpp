#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace lithe {

/// What long work tells its caller: a stage by name and how much of it is done.
struct ProgressEvent {
    std::string_view stage;
    double fraction; ///< of this stage, in [0, 1]
};

/// Handed down into long work. The work calls `begin` and `advance`; the caller may watch, and may ask it to stop.
/// A default-made Progress watches nothing and never stops. `advance` and `check` may be called from any thread.
class Progress {
public:
    using Sink = std::function<void(const ProgressEvent&)>;

    Progress() = default;
    Progress(Sink sink, std::stop_token stop) : sink_(std::move(sink)), stop_(std::move(stop)) {}

    /// Starts a stage of `total` steps. Throws Interrupted when a stop was asked for.
    void begin(std::string_view stage, std::int64_t total);
    /// `steps` more are done. Throws Interrupted when a stop was asked for.
    void advance(std::int64_t steps = 1);
    /// The stage is over.
    void end();
    /// Throws Interrupted when a stop was asked for; for loops too small to be a stage.
    void check() const;

private:
    Sink sink_;
    std::stop_token stop_;
    std::mutex mutex_;
    std::string stage_;
    std::int64_t total_ = 1;
    std::atomic<std::int64_t> done_ = 0;
    std::atomic<int> percent_ = -1;
};

/// Prints events: a bar with the time left on a terminal, a line every quarter of a stage that takes
/// longer than a second otherwise.
class ProgressPrinter {
public:
    using Clock = std::chrono::steady_clock;

    enum class Style { Bar, Lines };
    /// Bar when `stream` is a terminal.
    static Style style_for(std::FILE* stream);

    ProgressPrinter(std::FILE* stream, Style style) : stream_(stream), style_(style) {}
    void operator()(const ProgressEvent& event);

private:
    void print_bar(const ProgressEvent& event, double elapsed);
    void print_line(const ProgressEvent& event, double elapsed);

    std::FILE* stream_;
    Style style_;
    std::string stage_;
    Clock::time_point start_;
    int quarter_ = 0;
    bool bar_shown_ = false;
};

/// "7 s", "3 min 20 s", "2 h 5 min".
std::string format_duration(double seconds);

} // namespace lithe
