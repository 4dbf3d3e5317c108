#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace lithe {

/// At most `count` threads work while this lives. 0 means all cores.
class ThreadLimit {
public:
    explicit ThreadLimit(int count);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    struct Control;
    std::unique_ptr<Control> control_;
};

/// Number of threads that parallel loops use now.
int thread_count();

/// Calls f(i) for i in [0, count), in blocks of `grain`, on all threads. The calls must not depend on each other.
template <class F>
void parallel_for(std::ptrdiff_t count, std::ptrdiff_t grain, const F& f)
{
    tbb::parallel_for(tbb::blocked_range<std::ptrdiff_t>(0, count, grain), [&](const auto& range) {
        for (std::ptrdiff_t i = range.begin(); i < range.end(); ++i) f(i);
    });
}

/// Calls f(begin, end) for consecutive blocks of exactly `block` items (the last may be shorter). The blocks do
/// not depend on the number of threads, so that what is computed per block is the same for any number.
template <class F>
void parallel_blocks(std::ptrdiff_t count, std::ptrdiff_t block, const F& f)
{
    const std::ptrdiff_t blocks = (count + block - 1) / block;
    parallel_for(blocks, 1, [&](std::ptrdiff_t b) {
        const std::ptrdiff_t begin = b * block;
        f(begin, begin + block < count ? begin + block : count);
    });
}

/// Folds f(begin, end) -> T over fixed blocks, joined left to right: same bits for any number of threads.
/// `partial` is scratch that the caller keeps, so that a repeated reduction allocates nothing.
template <class T, class F, class Join>
T parallel_reduce(std::ptrdiff_t count, std::ptrdiff_t block, T start, const F& f, const Join& join,
                  std::vector<T>& partial)
{
    static_assert(!std::is_same_v<T, bool>,
                  "vector<bool> packs its entries: threads would race; use char or int");
    partial.assign(static_cast<std::size_t>((count + block - 1) / block), start);
    parallel_blocks(count, block, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        partial[static_cast<std::size_t>(begin / block)] = f(begin, end);
    });
    for (const T& part : partial) start = join(start, part);
    return start;
}

/// The same with scratch of its own.
template <class T, class F, class Join>
T parallel_reduce(std::ptrdiff_t count, std::ptrdiff_t block, T start, const F& f, const Join& join)
{
    std::vector<T> partial;
    return parallel_reduce(count, block, std::move(start), f, join, partial);
}

} // namespace lithe
