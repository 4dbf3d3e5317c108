#include "lithe/server/comparison.hpp"

namespace lithe {
namespace {

/// Ten minutes at 60 frames per second. A frame that is not kept is gone through without being measured.
constexpr std::size_t most_waiting = 36'000;

} // namespace

Comparison::Comparison(const World& reduced, std::span<const BodyVolume> volumes, const RunOptions& options)
    : run_(reduced, volumes, options), result_{.frame = options.first_frame, .t = reduced.time()},
      thread_([this](const std::stop_token& stop) { work(stop); })
{
}

Comparison::~Comparison()
{
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

void Comparison::add(int frame, const World& reduced)
{
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.size() == most_waiting) waiting_.pop_front();
        waiting_.push_back({frame, run_.compared(reduced)});
    }
    wake_.notify_all();
}

Comparison::Result Comparison::result() const
{
    const std::lock_guard lock(mutex_);
    return result_;
}

std::optional<Comparison::Waiting> Comparison::next(const std::stop_token& stop)
{
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [&] { return !waiting_.empty(); })) return {};
    Waiting out = std::move(waiting_.front());
    waiting_.pop_front();
    return out;
}

void Comparison::work(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        const std::optional<Waiting> now = next(stop);
        if (!now || stop.stop_requested()) return;
        std::string trouble;
        try {
            run_.follow(now->frame, now->reduced);
        } catch (const std::exception& error) {
            trouble = error.what();
        }
        const std::lock_guard lock(mutex_);
        result_.trouble = trouble;
        if (!trouble.empty()) return;
        result_ = {now->frame, run_.time(), run_.errors().last_error(), run_.errors().max_error(), {}};
    }
}

} // namespace lithe
