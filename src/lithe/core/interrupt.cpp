#include "lithe/core/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include <unistd.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

std::atomic<int> signal_pipe = -1; // a signal handler can reach nothing else

void on_signal(int number)
{
    const int error = errno;      // of the code that we interrupt
    std::signal(number, SIG_DFL); // the second one kills
    const char byte = 1;
    const int fd = signal_pipe.load();
    if (fd >= 0 && write(fd, &byte, 1) < 0) std::raise(number);
    errno = error;
}

} // namespace

struct InterruptGuard::Watcher {
    std::thread thread;
};

InterruptGuard::InterruptGuard()
{
    LITHE_ASSERT(signal_pipe == -1); // one guard per process
    LITHE_ASSERT(pipe(pipe_) == 0);
    signal_pipe = pipe_[1];
    watcher_ = new Watcher{std::thread([this] {
        char byte = 0;
        if (read(pipe_[0], &byte, 1) == 1 && byte == 1) source_.request_stop();
    })};
    old_int_ = std::signal(SIGINT, on_signal);
    old_term_ = std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard()
{
    std::signal(SIGINT, old_int_);
    std::signal(SIGTERM, old_term_);
    signal_pipe = -1;
    const char byte = 0; // wakes the watcher without stopping anything
    if (write(pipe_[1], &byte, 1) == 1)
        watcher_->thread.join();
    else
        watcher_->thread.detach();
    delete watcher_;
    close(pipe_[0]);
    close(pipe_[1]);
}

} // namespace lithe
