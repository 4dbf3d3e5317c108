#include "lithe/contact/triangle_pack.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

// Eight numbers in a register are written as such: through Eigen's arrays they would go by way of memory.

__m256 load(const auto& row)
{
    return _mm256_load_ps(row.of);
}
__m256 all_of(float x)
{
    return _mm256_set1_ps(x);
}
__m256 min(__m256 a, __m256 b)
{
    return _mm256_min_ps(a, b);
}
__m256 max(__m256 a, __m256 b)
{
    return _mm256_max_ps(a, b);
}

/// One bit for each number of a that is above that of b; none where either is no number.
unsigned above(__m256 a, __m256 b)
{
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
}

struct Vectors {
    __m256 x, y, z;
};
Vectors load(const auto& x, const auto& y, const auto& z)
{
    return {load(x), load(y), load(z)};
}
Vectors operator-(const Vectors& a, const Vectors& b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__m256 dot(const Vectors& a, const Vectors& b)
{
    return _mm256_fmadd_ps(a.x, b.x, _mm256_fmadd_ps(a.y, b.y, a.z * b.z));
}
Vectors cross(const Vectors& a, const Vectors& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Vectors all_of(const Eigen::Vector3f& v)
{
    return {all_of(v[0]), all_of(v[1]), all_of(v[2])};
}

/// What numbers that are taken in one by one lie between.
struct Span {
    __m256 lowest = all_of(std::numeric_limits<float>::infinity()), highest = -lowest;
    void take(__m256 height)
    {
        lowest = min(lowest, height);
        highest = max(highest, height);
    }
    unsigned misses(__m256 low, __m256 high, __m256 reach) const
    {
        return above(lowest, high + reach) | above(low - reach, highest);
    }
};

} // namespace

TrianglePack::TrianglePack(const Triangles& triangles, std::span<const int> members)
    : count_(static_cast<int>(members.size()))
{
    LITHE_ASSERT(count_ > 0 && count_ <= size);
    for (std::size_t i = 0; i < triangles_.size(); ++i) { // the last fills up the row
        const int t = members[std::min(i, members.size() - 1)];
        triangles_[i] = t;
        for (std::size_t k = 0; k < 3; ++k)
            offsets_[k][i] = Places::RowsAtCompileTime * triangles(static_cast<Index>(k), t);
    }
}

void TrianglePack::update(const Places& places)
{
    std::array<Span, 3> box;
    for (std::size_t k = 0; k < 3; ++k) {
        const __m256i offset = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets_[k].data()));
        for (std::size_t time = 0; time < 2; ++time)
            for (std::size_t c = 0; c < 3; ++c) {
                const __m256 x = _mm256_i32gather_ps(places.data() + 4 * time + c, offset, sizeof(float));
                _mm256_store_ps(corners_[time][k][c].of, x);
                box[c].take(x);
            }
    }
    for (std::size_t c = 0; c < 3; ++c) {
        _mm256_store_ps(lo_[c].of, box[c].lowest);
        _mm256_store_ps(hi_[c].of, box[c].highest);
        box_lo_[c] = *std::min_element(lo_[c].of, lo_[c].of + size);
        box_hi_[c] = *std::max_element(hi_[c].of, hi_[c].of + size);
    }
    const auto corner = [&](std::size_t time, std::size_t k) {
        const Rows3& x = corners_[time][k];
        return load(x[0], x[1], x[2]);
    };
    const Vectors first = corner(0, 0), across = cross(corner(0, 1) - first, corner(0, 2) - first);
    const __m256 length = _mm256_sqrt_ps(dot(across, across));
    const __m256 has_area = _mm256_cmp_ps(length, _mm256_setzero_ps(), _CMP_GT_OQ);
    const auto unit = [&](__m256 x) { return _mm256_and_ps(has_area, x / length); };
    const Vectors normal{unit(across.x), unit(across.y), unit(across.z)};
    Span heights;
    for (std::size_t time = 0; time < 2; ++time)
        for (std::size_t k = 0; k < 3; ++k) heights.take(dot(normal, corner(time, k)));
    _mm256_store_ps(normal_[0].of, normal.x);
    _mm256_store_ps(normal_[1].of, normal.y);
    _mm256_store_ps(normal_[2].of, normal.z);
    _mm256_store_ps(lower_.of, heights.lowest);
    _mm256_store_ps(upper_.of, heights.highest);
}

void TrianglePack::add_near(const TrianglePack& other, const PackWay& way,
                            std::vector<std::array<int, 2>>& pairs) const
{
    for (unsigned mine = all() & ~apart_from_pack(other, way); mine != 0; mine &= mine - 1) {
        const int i = std::countr_zero(mine);
        unsigned near = other.all() & ~apart_by_box(i, other, way);
        if (near != 0) near &= ~apart_by_planes_of(other, i, way);
        if (near != 0) near &= ~apart_by_its_plane(i, other, way);
        for (; near != 0; near &= near - 1)
            pairs.push_back({triangles_[static_cast<std::size_t>(i)],
                             other.triangles_[static_cast<std::size_t>(std::countr_zero(near))]});
    }
}

/// Which triangles lie outside the box around all others, on their way past it.
unsigned TrianglePack::apart_from_pack(const TrianglePack& other, const PackWay& way) const
{
    unsigned apart = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto axis = static_cast<Index>(c);
        apart |= above(load(lo_[c]) + all_of(way.low[axis]), all_of(other.box_hi_[c]));
        apart |= above(all_of(other.box_lo_[c]), load(hi_[c]) + all_of(way.high[axis]));
    }
    return apart;
}

/// Which of the others lie outside the box of triangle i, made wider by its way and the reach.
unsigned TrianglePack::apart_by_box(int i, const TrianglePack& other, const PackWay& way) const
{
    unsigned apart = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto axis = static_cast<Index>(c);
        const float low = lo_[c].of[i] + way.low[axis], high = hi_[c].of[i] + way.high[axis];
        apart |= above(load(other.lo_[c]), all_of(high)) | above(all_of(low), load(other.hi_[c]));
    }
    return apart;
}

/// Which of the others have a plane that triangle i stays away from.
unsigned TrianglePack::apart_by_planes_of(const TrianglePack& other, int i, const PackWay& way) const
{
    const Vectors n = load(other.normal_[0], other.normal_[1], other.normal_[2]);
    Span heights;
    for (std::size_t time = 0; time < 2; ++time) {
        const __m256 shift = dot(n, all_of(time == 0 ? way.from : way.to));
        for (const Rows3& x : corners_[time])
            heights.take(dot(n, {all_of(x[0].of[i]), all_of(x[1].of[i]), all_of(x[2].of[i])}) + shift);
    }
    return heights.misses(load(other.lower_), load(other.upper_), all_of(way.reach));
}

/// Which of the others stay away from the plane of triangle i.
unsigned TrianglePack::apart_by_its_plane(int i, const TrianglePack& other, const PackWay& way) const
{
    const Vectors n{all_of(normal_[0].of[i]), all_of(normal_[1].of[i]), all_of(normal_[2].of[i])};
    Span heights;
    for (std::size_t time = 0; time < 2; ++time) {
        const __m256 shift = dot(n, all_of(time == 0 ? way.from : way.to));
        for (const Rows3& x : other.corners_[time]) heights.take(dot(n, load(x[0], x[1], x[2])) - shift);
    }
    return heights.misses(all_of(lower_.of[i]), all_of(upper_.of[i]), all_of(way.reach));
}

} // namespace lithe
