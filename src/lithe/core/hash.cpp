#include "lithe/core/hash.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace lithe {
namespace {

static_assert(std::endian::native == std::endian::little, "XXH64 reads little-endian words");

// The five primes of the XXH64 specification.
constexpr std::uint64_t p1 = 0x9e3779b185ebca87, p2 = 0xc2b2ae3d27d4eb4f, p3 = 0x165667b19e3779f9,
                        p4 = 0x85ebca77c2b2ae63, p5 = 0x27d4eb2f165667c5;

/// The next word of the text, which must have it.
template <class Word>
std::uint64_t take(std::string_view& bytes)
{
    Word word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    bytes.remove_prefix(sizeof word);
    return word;
}

std::uint64_t mix(std::uint64_t lane, std::uint64_t word)
{
    return std::rotl(lane + word * p2, 31) * p1;
}

/// Four lanes that do not wait for each other, 32 bytes at a time; fewer than 32 bytes are left over.
std::uint64_t hash_stripes(std::string_view& bytes)
{
    std::array<std::uint64_t, 4> lane{p1 + p2, p2, 0, std::uint64_t{0} - p1};
    while (bytes.size() >= 32)
        for (std::uint64_t& l : lane) l = mix(l, take<std::uint64_t>(bytes));
    std::uint64_t hash =
        std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
    for (const std::uint64_t l : lane) hash = (hash ^ mix(0, l)) * p1 + p4;
    return hash;
}

} // namespace

std::uint64_t hash_bytes(std::string_view bytes)
{
    const std::uint64_t size = bytes.size();
    std::uint64_t hash = (size < 32 ? p5 : hash_stripes(bytes)) + size;
    while (bytes.size() >= 8) hash = std::rotl(hash ^ mix(0, take<std::uint64_t>(bytes)), 27) * p1 + p4;
    if (bytes.size() >= 4) hash = std::rotl(hash ^ take<std::uint32_t>(bytes) * p1, 23) * p2 + p3;
    while (!bytes.empty()) hash = std::rotl(hash ^ take<std::uint8_t>(bytes) * p5, 11) * p1;
    hash = (hash ^ (hash >> 33)) * p2;
    hash = (hash ^ (hash >> 29)) * p3;
    return hash ^ (hash >> 32);
}

std::uint64_t hash_numbers(std::span<const double> values)
{
    return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

} // namespace lithe
