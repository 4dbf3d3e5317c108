#pragma once
#include <cstdint>

namespace lithe {

/// The most memory that this process has held at any time [bytes].
std::int64_t peak_memory_bytes();

} // namespace lithe
