#include "lithe/core/memory.hpp"

#include <sys/resource.h>

namespace lithe {

std::int64_t peak_memory_bytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{1024} * usage.ru_maxrss;
}

} // namespace lithe
