#pragma once

namespace lithe::test {

/// Counts what this thread asks of malloc, calloc and realloc while it lives: Eigen's buffers and the standard
/// library's alike. Counts nothing under a sanitizer, which has its own malloc: see `works`.
class MallocCounter {
public:
    MallocCounter();
    ~MallocCounter();
    MallocCounter(const MallocCounter&) = delete;
    MallocCounter& operator=(const MallocCounter&) = delete;

    long count() const;
    static bool works();
};

} // namespace lithe::test
