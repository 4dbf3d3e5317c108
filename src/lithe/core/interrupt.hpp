#pragma once
#include <stop_token>

namespace lithe {

/// While this lives, Ctrl-C (SIGINT) and SIGTERM ask `token()` to stop instead of killing the program;
/// a second signal kills. Signals belong to the process, so only a program makes one, never the library.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    std::stop_token token() const { return source_.get_token(); }

private:
    std::stop_source source_;
    int pipe_[2] = {-1,
                    -1}; ///< the handler writes, the watcher thread reads: nothing unsafe runs in the handler
    void (*old_int_)(int) = nullptr;
    void (*old_term_)(int) = nullptr;
    struct Watcher;
    Watcher* watcher_ = nullptr;
};

} // namespace lithe
