#pragma once
#include <cmath>
#include <cstdint>

namespace lithe {

/// Seeded random numbers, the same on every machine (the standard distributions are not).
/// The generator is SplitMix64: small, fast, and good enough for sampling and jitter.  [SLF14]
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
    double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
    /// In [0, count), count > 0.
    std::uint64_t index(std::uint64_t count)
    {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * count) >> 64);
    }
    /// Mean 0, deviation 1 (Box-Muller; the second value is thrown away to keep the state one number).
    double normal()
    {
        constexpr double two_pi = 6.283185307179586476925;
        const double r = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return r * std::cos(two_pi * uniform());
    }

private:
    std::uint64_t state_;
};

} // namespace lithe
