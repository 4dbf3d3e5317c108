#pragma once
#include "lithe/math/lanes.hpp"

namespace lithe {
namespace {

/// The sum over the lanes of each of four vectors, as one vector.
inline Lanes4 sums_of(const Lanes4* a)
{
    const __m256d low = _mm256_hadd_pd(a[0].v, a[1].v), high = _mm256_hadd_pd(a[2].v, a[3].v);
    return Lanes4(_mm256_add_pd(_mm256_permute2f128_pd(low, high, 0x21), _mm256_blend_pd(low, high, 0b1100)));
}

inline double sum_of(Lanes1 a)
{
    return a.v;
}
inline double sum_of(Lanes4 a)
{
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
#ifdef __AVX512DQ__
inline double sum_of(Lanes8 a)
{
    return sum_of(Lanes4(_mm512_castpd512_pd256(a.v)) + Lanes4(_mm512_extractf64x4_pd(a.v, 1)));
}
#endif

/// The sum over the lanes of each of `count` vectors.
template <int count>
inline void sums_of(const Lanes4* a, double* sums)
{
    int i = 0;
    for (; i + 4 <= count; i += 4) sums_of(a + i).store(sums + i);
    if constexpr (count % 4 == 3) {
        const Lanes4 last[4] = {a[i], a[i + 1], a[i + 2], Lanes4(0.0)};
        double four[4];
        sums_of(last).store(four);
        for (int k = 0; k < 3; ++k) sums[i + k] = four[k];
    } else {
        for (; i < count; ++i) sums[i] = sum_of(a[i]);
    }
}

} // namespace
} // namespace lithe
