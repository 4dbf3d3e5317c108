#include "support/count_mallocs.hpp"

#include <cstddef>
#include <cstdlib>

namespace {
thread_local bool counting = false;
thread_local long counted = 0;
} // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define LITHE_COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);

void* malloc(std::size_t size) noexcept
{
    if (counting) ++counted;
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept
{
    if (counting) ++counted;
    return __libc_calloc(count, size);
}
void* realloc(void* p, std::size_t size) noexcept
{
    if (counting) ++counted;
    return __libc_realloc(p, size);
}
}
#else
#define LITHE_COUNTS_MALLOC 0
#endif

namespace lithe::test {

MallocCounter::MallocCounter()
{
    counted = 0;
    counting = true;
}
MallocCounter::~MallocCounter()
{
    counting = false;
}
long MallocCounter::count() const
{
    return counted;
}
bool MallocCounter::works()
{
    return LITHE_COUNTS_MALLOC;
}

} // namespace lithe::test
