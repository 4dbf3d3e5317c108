#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "lithe/prepare/compare.hpp"

namespace lithe {

/// The reduced bodies of a live scene in full space, from this moment on, in a thread of its own that falls behind as it must: what it
/// waits for are a few numbers per frame.
class Comparison {
public:
    /// `options.first_frame` is the frame that the world is at. Throws InputError where there is nothing to compare.
    Comparison(const World& reduced, std::span<const BodyVolume> volumes, const RunOptions& options);
    ~Comparison(); ///< waits for the frame that it works at

    /// The scene has come to a frame; the next after the last that was told.
    void add(int frame, const World& reduced);

    struct Result {
        int frame = 0;                ///< that it has come to
        double t = 0.0;               ///< of that frame [s]
        double last = 0.0, max = 0.0; ///< error in that frame, and the largest so far; relative
        std::string trouble = {};     ///< why it ended; empty while it goes on
    };
    Result result() const;

private:
    struct Waiting {
        int frame;
        std::vector<Published> reduced;
    };
    void work(const std::stop_token& stop);
    std::optional<Waiting> next(const std::stop_token& stop);

    FullRun run_; ///< of the thread, once it is there
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<Waiting> waiting_;
    Result result_;
    std::jthread thread_;
};

} // namespace lithe
