#pragma once
// Several doubles at once, behind one vocabulary, so that a kernel is written once as a template over T and
// compiled for one, four and eight lanes. Every operation is rounded as IEEE says and fused only where `fma`
// is written, so that all widths give the same bits.
//
// Everything here is in an unnamed namespace on purpose: each translation unit compiles its own copy with its own
// instruction set, and the linker cannot swap an AVX-512 copy into a program that runs without it. For the same
// reason nothing of the standard library and nothing of Eigen may be used in here or in a kernel.
#include <immintrin.h>

namespace lithe {
namespace {

constexpr double smallest_scale = 0x1.0p-1022, largest_scale = 0x1.0p1022;
constexpr long long exponent_bits = 0x7ff0000000000000LL;
constexpr long long twice_exponent_bias = 2046LL << 52;

/// One lane: the plain reference.
struct Lanes1 {
    static constexpr int width = 1;
    using Mask = bool;
    double v;

    Lanes1() = default;
    explicit Lanes1(double x) : v(x) {}
    static Lanes1 load(const double* p) { return Lanes1(*p); }
    void store(double* p) const { *p = v; }

    friend Lanes1 operator+(Lanes1 a, Lanes1 b) { return Lanes1(a.v + b.v); }
    friend Lanes1 operator-(Lanes1 a, Lanes1 b) { return Lanes1(a.v - b.v); }
    friend Lanes1 operator*(Lanes1 a, Lanes1 b) { return Lanes1(a.v * b.v); }
    friend Lanes1 operator/(Lanes1 a, Lanes1 b) { return Lanes1(a.v / b.v); }
    friend Lanes1 operator-(Lanes1 a) { return Lanes1(-a.v); }
    friend Mask operator>(Lanes1 a, Lanes1 b) { return a.v > b.v; }

    friend Lanes1 fma(Lanes1 a, Lanes1 b, Lanes1 c) { return Lanes1(__builtin_fma(a.v, b.v, c.v)); }
    friend Lanes1 sqrt(Lanes1 a) { return Lanes1(_mm_cvtsd_f64(_mm_sqrt_pd(_mm_set1_pd(a.v)))); }
    friend Lanes1 abs(Lanes1 a) { return Lanes1(__builtin_fabs(a.v)); }
    friend Lanes1 with_sign_of(Lanes1 a, Lanes1 sign) { return Lanes1(__builtin_copysign(a.v, sign.v)); }
    /// b where either is NaN, as the hardware does.
    friend Lanes1 max(Lanes1 a, Lanes1 b) { return a.v > b.v ? a : b; }
    friend Lanes1 min(Lanes1 a, Lanes1 b) { return a.v < b.v ? a : b; }
    friend Lanes1 select(Mask m, Lanes1 a, Lanes1 b) { return m ? a : b; }
    static Mask both(Mask a, Mask b) { return a && b; }
    static Mask either(Mask a, Mask b) { return a || b; }
    static bool any(Mask m) { return m; }
    static bool all(Mask m) { return m; }

    /// The power of two at or below |a| (held inside the range whose inverse is finite), and its inverse.
    static void power_of_two(Lanes1 a, Lanes1& power, Lanes1& inverse)
    {
        const Lanes1 held = min(max(a, Lanes1(smallest_scale)), Lanes1(largest_scale));
        const long long bits = __builtin_bit_cast(long long, held.v) & exponent_bits;
        power.v = __builtin_bit_cast(double, bits);
        inverse.v = __builtin_bit_cast(double, twice_exponent_bias - bits);
    }
};

/// Four lanes of AVX2, the baseline of every build.
struct Lanes4 {
    static constexpr int width = 4;
    using Mask = __m256d;
    __m256d v;

    Lanes4() = default;
    explicit Lanes4(double x) : v(_mm256_set1_pd(x)) {}
    explicit Lanes4(__m256d x) : v(x) {}
    static Lanes4 load(const double* p) { return Lanes4(_mm256_loadu_pd(p)); }
    void store(double* p) const { _mm256_storeu_pd(p, v); }

    friend Lanes4 operator+(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_add_pd(a.v, b.v)); }
    friend Lanes4 operator-(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_sub_pd(a.v, b.v)); }
    friend Lanes4 operator*(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_mul_pd(a.v, b.v)); }
    friend Lanes4 operator/(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_div_pd(a.v, b.v)); }
    friend Lanes4 operator-(Lanes4 a) { return Lanes4(_mm256_xor_pd(a.v, _mm256_set1_pd(-0.0))); }
    friend Mask operator>(Lanes4 a, Lanes4 b) { return _mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ); }

    friend Lanes4 fma(Lanes4 a, Lanes4 b, Lanes4 c) { return Lanes4(_mm256_fmadd_pd(a.v, b.v, c.v)); }
    friend Lanes4 sqrt(Lanes4 a) { return Lanes4(_mm256_sqrt_pd(a.v)); }
    friend Lanes4 abs(Lanes4 a) { return Lanes4(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)); }
    friend Lanes4 with_sign_of(Lanes4 a, Lanes4 sign)
    {
        const __m256d bit = _mm256_set1_pd(-0.0);
        return Lanes4(_mm256_or_pd(_mm256_andnot_pd(bit, a.v), _mm256_and_pd(bit, sign.v)));
    }
    friend Lanes4 max(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_max_pd(a.v, b.v)); }
    friend Lanes4 min(Lanes4 a, Lanes4 b) { return Lanes4(_mm256_min_pd(a.v, b.v)); }
    friend Lanes4 select(Mask m, Lanes4 a, Lanes4 b) { return Lanes4(_mm256_blendv_pd(b.v, a.v, m)); }
    static Mask both(Mask a, Mask b) { return _mm256_and_pd(a, b); }
    static Mask either(Mask a, Mask b) { return _mm256_or_pd(a, b); }
    static bool any(Mask m) { return _mm256_movemask_pd(m) != 0; }
    static bool all(Mask m) { return _mm256_movemask_pd(m) == 15; }

    static void power_of_two(Lanes4 a, Lanes4& power, Lanes4& inverse)
    {
        const Lanes4 held = min(max(a, Lanes4(smallest_scale)), Lanes4(largest_scale));
        const __m256i bits = _mm256_and_si256(_mm256_castpd_si256(held.v), _mm256_set1_epi64x(exponent_bits));
        power.v = _mm256_castsi256_pd(bits);
        inverse.v = _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_set1_epi64x(twice_exponent_bias), bits));
    }
};

#ifdef __AVX512DQ__
/// Eight lanes of AVX-512 (F and DQ); only in files that are compiled for it and called behind a CPU check.
struct Lanes8 {
    static constexpr int width = 8;
    using Mask = __mmask8;
    __m512d v;

    Lanes8() = default;
    explicit Lanes8(double x) : v(_mm512_set1_pd(x)) {}
    explicit Lanes8(__m512d x) : v(x) {}
    static Lanes8 load(const double* p) { return Lanes8(_mm512_loadu_pd(p)); }
    void store(double* p) const { _mm512_storeu_pd(p, v); }

    friend Lanes8 operator+(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_add_pd(a.v, b.v)); }
    friend Lanes8 operator-(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_sub_pd(a.v, b.v)); }
    friend Lanes8 operator*(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_mul_pd(a.v, b.v)); }
    friend Lanes8 operator/(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_div_pd(a.v, b.v)); }
    friend Lanes8 operator-(Lanes8 a) { return Lanes8(_mm512_xor_pd(a.v, _mm512_set1_pd(-0.0))); }
    friend Mask operator>(Lanes8 a, Lanes8 b) { return _mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ); }

    friend Lanes8 fma(Lanes8 a, Lanes8 b, Lanes8 c) { return Lanes8(_mm512_fmadd_pd(a.v, b.v, c.v)); }
    friend Lanes8 sqrt(Lanes8 a) { return Lanes8(_mm512_sqrt_pd(a.v)); }
    friend Lanes8 abs(Lanes8 a) { return Lanes8(_mm512_andnot_pd(_mm512_set1_pd(-0.0), a.v)); }
    friend Lanes8 with_sign_of(Lanes8 a, Lanes8 sign)
    {
        const __m512d bit = _mm512_set1_pd(-0.0);
        return Lanes8(_mm512_or_pd(_mm512_andnot_pd(bit, a.v), _mm512_and_pd(bit, sign.v)));
    }
    friend Lanes8 max(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_max_pd(a.v, b.v)); }
    friend Lanes8 min(Lanes8 a, Lanes8 b) { return Lanes8(_mm512_min_pd(a.v, b.v)); }
    friend Lanes8 select(Mask m, Lanes8 a, Lanes8 b) { return Lanes8(_mm512_mask_blend_pd(m, b.v, a.v)); }
    static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
    static Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
    static bool any(Mask m) { return m != 0; }
    static bool all(Mask m) { return m == 0xff; }

    static void power_of_two(Lanes8 a, Lanes8& power, Lanes8& inverse)
    {
        const Lanes8 held = min(max(a, Lanes8(smallest_scale)), Lanes8(largest_scale));
        const __m512i bits = _mm512_and_si512(_mm512_castpd_si512(held.v), _mm512_set1_epi64(exponent_bits));
        power.v = _mm512_castsi512_pd(bits);
        inverse.v = _mm512_castsi512_pd(_mm512_sub_epi64(_mm512_set1_epi64(twice_exponent_bias), bits));
    }
};
#endif

} // namespace
} // namespace lithe
