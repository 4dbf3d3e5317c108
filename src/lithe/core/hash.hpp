#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace lithe {

/// 64 bits that change when any byte does: XXH64 with seed 0, so that other programs can compute them too (`xxhsum -H64`).
/// Runs at the speed of memory. Finds accidents, not attackers.
std::uint64_t hash_bytes(std::string_view bytes);
/// The same of the bits of numbers.
std::uint64_t hash_numbers(std::span<const double> values);

} // namespace lithe
