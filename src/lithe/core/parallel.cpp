#include "lithe/core/parallel.hpp"

#include <algorithm>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

namespace lithe {

/// Made in place: a tbb::global_control can be copied, but the copy controls nothing.
struct ThreadLimit::Control {
    explicit Control(std::size_t threads) : limit(tbb::global_control::max_allowed_parallelism, threads) {}
    tbb::global_control limit;
};

ThreadLimit::ThreadLimit(int count)
{
    const int threads = count > 0 ? count : tbb::info::default_concurrency();
    control_ = std::make_unique<Control>(static_cast<std::size_t>(threads));
}

ThreadLimit::~ThreadLimit() = default;

int thread_count()
{
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    // TBB makes no more threads than there are cores, whatever it is allowed.
    return std::clamp(static_cast<int>(allowed), 1, tbb::this_task_arena::max_concurrency());
}

} // namespace lithe
