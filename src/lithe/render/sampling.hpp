#pragma once
#include <cstdint>

#include <Eigen/Core>

namespace lithe {

/// Points in the unit square that fill it evenly, within a pixel and from pixel to pixel: one Sobol sequence,
/// Owen-scrambled by hashing [LK11, Bur20], is dealt to the pixels in the order of a Z-curve [AW20], so that the
/// error of neighbours differs and the eye (and our filter) averages it out. A pure function: no state, no order.

inline std::uint32_t reverse_bits(std::uint32_t x)
{
    x = __builtin_bswap32(x);
    x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
    x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
    return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

/// Mixes each bit with the lower ones only: on reversed bits, a nested uniform scramble.
inline std::uint32_t laine_karras_hash(std::uint32_t x, std::uint32_t seed)
{
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    return x ^ (x * 0x8d22f6e6u);
}

inline std::uint32_t owen_scramble(std::uint32_t x, std::uint32_t seed)
{
    return reverse_bits(laine_karras_hash(reverse_bits(x), seed));
}

/// The second Sobol dimension: Pascal's triangle modulo 2 times the index, as a butterfly of five steps.
inline std::uint32_t sobol_second(std::uint32_t index)
{
    index ^= index >> 16;
    index ^= (index & 0xff00ff00u) >> 8;
    index ^= (index & 0xf0f0f0f0u) >> 4;
    index ^= (index & 0xccccccccu) >> 2;
    index ^= (index & 0xaaaaaaaau) >> 1;
    return reverse_bits(index);
}

/// Spreads the low 16 bits to the even places.
inline std::uint32_t spread_bits(std::uint32_t x)
{
    x = (x | (x << 8)) & 0x00ff00ffu;
    x = (x | (x << 4)) & 0x0f0f0f0fu;
    x = (x | (x << 2)) & 0x33333333u;
    return (x | (x << 1)) & 0x55555555u;
}

/// Which sample of which pixel. `count` is how many samples each pixel takes.
struct SampleIndex {
    int x, y;
    std::uint32_t sample, count;
};

/// A point in [0, 1)^2; different `purpose`s give independent points.
inline Eigen::Vector2f sample_square(const SampleIndex& at, std::uint32_t purpose)
{
    const std::uint32_t z =
        spread_bits(static_cast<std::uint32_t>(at.x)) | (spread_bits(static_cast<std::uint32_t>(at.y)) << 1);
    const std::uint32_t seed = (purpose + 1) * 0x9e3779b9u;
    const std::uint32_t index = owen_scramble(z * at.count + at.sample, seed);
    const std::uint32_t first = owen_scramble(reverse_bits(index), seed ^ 0x51633e2du);
    const std::uint32_t second = owen_scramble(sobol_second(index), seed ^ 0x68bc21ebu);
    return {static_cast<float>(first >> 8) * 0x1.0p-24f, static_cast<float>(second >> 8) * 0x1.0p-24f};
}

} // namespace lithe
