#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/lane_sums.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {
namespace {

/// The first `count` < 4 of four lanes.
inline __m256i first_lanes(Index count)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

/// Four rows of a basis times q. Summed in double, so that what rests on these positions (contact) is smooth in q.
inline Lanes4 rows_times(const float* const* rows, Index r, const double* q)
{
    Lanes4 sum[4] = {Lanes4(0.0), Lanes4(0.0), Lanes4(0.0), Lanes4(0.0)};
    Index k = 0;
    for (; k + 4 <= r; k += 4) {
        const Lanes4 q_k = Lanes4::load(q + k);
        for (int s = 0; s < 4; ++s)
            sum[s] = fma(Lanes4(_mm256_cvtps_pd(_mm_loadu_ps(rows[s] + k))), q_k, sum[s]);
    }
    if (k < r) {
        const __m256i lanes = first_lanes(r - k);
        const __m128i float_lanes = _mm256_castsi256_si128(
            _mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
        const Lanes4 q_k(_mm256_maskload_pd(q + k, lanes));
        for (int s = 0; s < 4; ++s)
            sum[s] = fma(Lanes4(_mm256_cvtps_pd(_mm_maskload_ps(rows[s] + k, float_lanes))), q_k, sum[s]);
    }
    return sums_of(sum);
}

/// x = X + U q for the coordinates [begin, end) of the result; coordinate p is row `row_of(p)` of the basis.
template <class RowOf>
void set_coordinates(const ReducedSurface& surface, const VecX& q, Index begin, Index end, double* x,
                     const RowOf& row_of)
{
    const Index r = surface.rank();
    const float* const basis = surface.basis.data();
    const double* const rest = surface.rest.vertices.data();
    for (Index p = begin; p < end; p += 4) {
        Index row[4];
        const float* start[4];
        for (Index s = 0; s < 4; ++s) {
            row[s] = row_of(std::min(p + s, end - 1));
            start[s] = basis + r * row[s];
        }
        alignas(32) double moved[4];
        rows_times(start, r, q.data()).store(moved);
        for (Index s = 0; s < std::min<Index>(4, end - p); ++s) x[p + s] = rest[row[s]] + moved[s];
    }
}

} // namespace

void reconstruct(const ReducedSurface& surface, const VecX& q, Points& x)
{
    LITHE_ASSERT(surface.rank() == q.size());
    x.resize(3, surface.rest.vertex_count());
    parallel_blocks(x.size(), 3072, [&](Index begin, Index end) {
        set_coordinates(surface, q, begin, end, x.data(), [](Index p) { return p; });
    });
}

void reconstruct(const ReducedSurface& surface, std::span<const int> vertices, const VecX& q, Points& x)
{
    LITHE_ASSERT(surface.rank() == q.size());
    x.resize(3, static_cast<Index>(vertices.size()));
    set_coordinates(surface, q, 0, x.size(), x.data(), [&](Index p) {
        return 3 * static_cast<Index>(vertices[static_cast<std::size_t>(p / 3)]) + p % 3;
    });
}

} // namespace lithe
