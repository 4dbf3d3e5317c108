#pragma once
#include <immintrin.h>

#include <limits>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A box in single precision around one in double: half of the memory, and compared at once. What it misses, the box misses.
struct alignas(32) FloatBox {
    float lo[4]; ///< the fourth is 0
    float hi[4]; ///< the fourth is the sum of the sides, for comparing boxes
};

/// From its corners, of which the fourth numbers do not matter.
inline FloatBox float_box(__m128 lo, __m128 hi)
{
    const __m128 side = _mm_sub_ps(hi, lo), y = _mm_movehdup_ps(side), z = _mm_movehl_ps(side, side);
    const __m128 sum = _mm_add_ss(_mm_add_ss(side, y), z);
    FloatBox out;
    _mm_store_ps(out.lo, _mm_blend_ps(lo, _mm_setzero_ps(), 8));
    _mm_store_ps(out.hi, _mm_insert_ps(hi, sum, 3 << 4));
    return out;
}

/// Rounded outward.
inline FloatBox around(const Box3& box)
{
    constexpr float most = std::numeric_limits<float>::max(), ulp = 1.2e-7f, tiny = 1e-37f;
    const __m128 sign = _mm_set1_ps(-0.0f);
    const auto rounded = [](const Vec3& x) { return _mm256_cvtpd_ps(_mm256_set_pd(0.0, x[2], x[1], x[0])); };
    const auto step = [&](__m128 x) {
        return _mm_add_ps(_mm_mul_ps(_mm_andnot_ps(sign, x), _mm_set1_ps(ulp)),
                          _mm_set_ps(0.0f, tiny, tiny, tiny));
    };
    const __m128 min = _mm_min_ps(rounded(box.min()), _mm_set1_ps(most));
    const __m128 max = _mm_max_ps(rounded(box.max()), _mm_set1_ps(-most));
    return float_box(_mm_sub_ps(min, step(min)), _mm_add_ps(max, step(max)));
}

inline FloatBox merged(const FloatBox& a, const FloatBox& b)
{
    return float_box(_mm_min_ps(_mm_load_ps(a.lo), _mm_load_ps(b.lo)),
                     _mm_max_ps(_mm_load_ps(a.hi), _mm_load_ps(b.hi)));
}

/// Touching counts.
inline bool meet(const FloatBox& a, const FloatBox& b)
{
    const __m128 apart = _mm_or_ps(_mm_cmpgt_ps(_mm_load_ps(a.lo), _mm_load_ps(b.hi)),
                                   _mm_cmpgt_ps(_mm_load_ps(b.lo), _mm_load_ps(a.hi)));
    return (_mm_movemask_ps(apart) & 7) == 0;
}

/// The square of the distance of a point from the box, to the rounding of doubles. [m^2]
inline double squared_distance(const FloatBox& box, const Vec3& p)
{
    const __m256d x = _mm256_set_pd(0.0, p[2], p[1], p[0]);
    const __m256d below = _mm256_sub_pd(_mm256_cvtps_pd(_mm_load_ps(box.lo)), x);
    const __m256d above = _mm256_sub_pd(x, _mm256_cvtps_pd(_mm_load_ps(box.hi)));
    const __m256d out = _mm256_max_pd(_mm256_max_pd(below, above), _mm256_setzero_pd());
    alignas(32) double d[4];
    _mm256_store_pd(d, out);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

} // namespace lithe
