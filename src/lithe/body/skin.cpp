#include "lithe/body/skin.hpp"

#include <algorithm>

#include <immintrin.h>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// The first `count` of eight numbers, the others zero.
__m256i mask_of(Index count)
{
    alignas(32) int lanes[8];
    for (int k = 0; k < 8; ++k) lanes[k] = k < count ? -1 : 0;
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
}

/// Three sums of eight: x, y and z, and nothing.
__m128 sums_of(__m256 x, __m256 y, __m256 z)
{
    const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(x, y), _mm256_hadd_ps(z, _mm256_setzero_ps()));
    return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
}

/// S q of a vertex, whose three rows of r numbers follow each other from `rows`.
class ShapeSum {
public:
    explicit ShapeSum(const VecX& q)
        : q_(q.cast<float>()), rank_(q.size()), last_(mask_of((rank_ - 1) % 8 + 1))
    {
    }

    __m128 at(const float* rows) const
    {
        __m256 x = _mm256_setzero_ps(), y = x, z = x;
        for (Index k = 0; k < rank_; k += 8) {
            const __m256i part = k + 8 < rank_ ? _mm256_set1_epi32(-1) : last_;
            const auto load = [&](const float* from) { return _mm256_maskload_ps(from + k, part); };
            const __m256 q = load(q_.data());
            x = _mm256_fmadd_ps(load(rows), q, x);
            y = _mm256_fmadd_ps(load(rows + rank_), q, y);
            z = _mm256_fmadd_ps(load(rows + 2 * rank_), q, z);
        }
        return sums_of(x, y, z);
    }

private:
    Eigen::VectorXf q_;
    Index rank_;
    __m256i last_;
};

/// Adds what one bone does to its vertices from `begin` until `end`, places in its own list.
void add_bone(const SkinBone& skin, const BoneMotion& bone, std::size_t begin, std::size_t end, Points& x)
{
    const Mat3 R = bone.frame.rotation.toRotationMatrix();
    const Vec3& t = bone.frame.translation;
    const auto column = [](const auto& v) { return _mm256_set_pd(0.0, v[2], v[1], v[0]); };
    const __m256d R_x = column(R.col(0)), R_y = column(R.col(1)), R_z = column(R.col(2)), T = column(t);
    const __m256i three = _mm256_set_epi64x(0, -1, -1, -1);
    const ShapeSum shapes(*bone.q);
    const Index rank = bone.q->size();
    for (std::size_t i = begin; i < end; ++i) {
        const auto k = static_cast<Index>(i);
        __m256d p = _mm256_maskload_pd(skin.rest.col(k).data(), three);
        if (rank > 0) p = _mm256_add_pd(p, _mm256_cvtps_pd(shapes.at(skin.basis.data() + 3 * k * rank)));
        const __m256d z = _mm256_permute4x64_pd(p, 0xaa), y = _mm256_permute4x64_pd(p, 0x55),
                      w = _mm256_set1_pd(skin.weights[k]);
        __m256d moved = _mm256_fmadd_pd(R_x, _mm256_permute4x64_pd(p, 0x00), T);
        moved = _mm256_fmadd_pd(R_z, z, _mm256_fmadd_pd(R_y, y, moved));
        double* to = x.col(skin.vertices[i]).data();
        const __m256d sum = _mm256_fmadd_pd(w, moved, _mm256_maskload_pd(to, three));
        _mm_storeu_pd(to, _mm256_castpd256_pd128(sum)); // stores with a mask are slow
        _mm_store_sd(to + 2, _mm256_extractf128_pd(sum, 1));
    }
}

} // namespace

void place_skin(std::span<const SkinBone> skin, std::span<const BoneMotion> bones, Points& x)
{
    const SkinPlacement body{{bones.begin(), bones.end()}, &x};
    place_skins(skin, std::span(&body, 1));
}

void place_skins(std::span<const SkinBone> skin, std::span<const SkinPlacement> bodies)
{
    constexpr Index block = 1024; // so that what bodies share stays near
    parallel_blocks(bodies.front().x->cols(), block, [&](Index begin, Index end) {
        for (const SkinPlacement& body : bodies) body.x->middleCols(begin, end - begin).setZero();
        for (std::size_t k = 0; k < skin.size(); ++k) {
            const std::vector<int>& vertices = skin[k].vertices;
            const auto place = [&](Index v) {
                return static_cast<std::size_t>(std::ranges::lower_bound(vertices, v) - vertices.begin());
            };
            const std::size_t first = place(begin), last = place(end);
            if (first == last) continue;
            for (const SkinPlacement& body : bodies) add_bone(skin[k], body.bones[k], first, last, *body.x);
        }
    });
}

} // namespace lithe
