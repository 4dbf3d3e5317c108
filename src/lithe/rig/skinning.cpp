#include "lithe/rig/skinning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/lanes.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe {
namespace {

constexpr Index block_size = 2048;          ///< vertices that one task moves; a multiple of 4
constexpr std::size_t bones_on_stack = 256; ///< more bones than this take memory from the heap
constexpr double rigid_tolerance = 1e-9;    ///< of |A^T A - I|
constexpr double smallest_stretch = 0.05;   ///< of the largest, when a map is inverted

using Mat34 = Eigen::Matrix<double, 3, 4>;

// --- What the loops read of a bone --------------------------------------------------------------------------------

/// The columns of [A t], each padded to four doubles.
struct alignas(32) LinearBone {
    double columns[4][4];
};

/// A motion R X + t as  q + eps e,  q the rotation and e = t q / 2. In the order x y z w.   [KCZO08]
struct alignas(32) DualQuaternion {
    double q[4], e[4];
};

/// The columns of a symmetric 3x3 matrix, each padded to four doubles.
struct alignas(32) Stretch {
    double columns[3][4];
};

/// One T per bone, on the stack while there are few. Not kept between calls: a thread that waits inside a parallel
/// loop may begin another character meanwhile.
template <class T>
class PerBone {
public:
    explicit PerBone(std::size_t count) : many_(count > bones_on_stack ? count : 0) {}
    T* data() { return many_.empty() ? few_.data() : many_.data(); }

private:
    std::array<T, bones_on_stack> few_; ///< left as it is until it is filled
    std::vector<T> many_;
};

void pack(const Affine3& M, LinearBone& bone)
{
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 3; ++i) bone.columns[j][i] = M.matrix()(i, j);
        bone.columns[j][3] = 0.0;
    }
}

bool is_rigid(const Affine3& M)
{
    const Mat3 A = M.linear();
    return (A.transpose() * A - Mat3::Identity()).norm() < rigid_tolerance && A.determinant() > 0.0;
}

bool all_rigid(std::span<const Affine3> M)
{
    return std::all_of(M.begin(), M.end(), is_rigid);
}

/// e = t q / 2 as a quaternion product, for the translation t.
Vec4 dual_part(const Quat& q, const Vec3& t)
{
    return 0.5 * (Quat(0.0, t[0], t[1], t[2]) * q).coeffs();
}

DualQuaternion dual_quaternion(const Mat3& R, const Vec3& t)
{
    const Quat q = Quat(R).normalized();
    const Vec4 e = dual_part(q, t);
    DualQuaternion out;
    for (int i = 0; i < 4; ++i) {
        out.q[i] = q.coeffs()[i];
        out.e[i] = e[i];
    }
    return out;
}

void pack(const Mat3& S, Stretch& stretch)
{
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) stretch.columns[j][i] = S(i, j);
        stretch.columns[j][3] = 0.0;
    }
}

/// The bones of the dual-quaternion method: motions, and stretches where any bone has one.
class DualBones {
public:
    explicit DualBones(std::span<const Affine3> M)
        : motions_(M.size()), stretches_(M.size()), rigid_(all_rigid(M))
    {
        for (std::size_t b = 0; b < M.size(); ++b) {
            const Polar3 polar = rigid_ ? Polar3{M[b].linear(), Mat3::Identity()} : polar3(M[b].linear());
            motions_.data()[b] = dual_quaternion(polar.R, M[b].translation());
            if (!rigid_) pack(polar.S, stretches_.data()[b]);
        }
    }
    const DualQuaternion* motions() { return motions_.data(); }
    const Stretch* stretches() { return rigid_ ? nullptr : stretches_.data(); }

private:
    PerBone<DualQuaternion> motions_;
    PerBone<Stretch> stretches_;
    bool rigid_;
};

// --- Four doubles at a time ---------------------------------------------------------------------------------------

void store3(Lanes4 a, double* p)
{
    _mm_storeu_pd(p, _mm256_castpd256_pd128(a.v));
    _mm_store_sd(p + 2, _mm256_extractf128_pd(a.v, 1));
}

void transpose(Lanes4& a, Lanes4& b, Lanes4& c, Lanes4& d)
{
    const __m256d ab_even = _mm256_unpacklo_pd(a.v, b.v), ab_odd = _mm256_unpackhi_pd(a.v, b.v);
    const __m256d cd_even = _mm256_unpacklo_pd(c.v, d.v), cd_odd = _mm256_unpackhi_pd(c.v, d.v);
    a.v = _mm256_permute2f128_pd(ab_even, cd_even, 0x20);
    b.v = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
    c.v = _mm256_permute2f128_pd(ab_even, cd_even, 0x31);
    d.v = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
}

/// a.b0, a.b1, a.b2, a.b3
Lanes4 dots(Lanes4 a, Lanes4 b0, Lanes4 b1, Lanes4 b2, Lanes4 b3)
{
    const __m256d s01 = _mm256_hadd_pd((a * b0).v, (a * b1).v), s23 = _mm256_hadd_pd((a * b2).v, (a * b3).v);
    const __m256d low = _mm256_permute2f128_pd(s01, s23, 0x20), high = _mm256_permute2f128_pd(s01, s23, 0x31);
    return Lanes4(_mm256_add_pd(low, high));
}

/// Three numbers for each of four vertices, a vertex per lane.
struct Three {
    Lanes4 x, y, z;

    friend Three operator+(const Three& a, const Three& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

Three cross(const Three& a, const Three& b)
{
    return {fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x))};
}

/// s a + b
Three fma(Lanes4 s, const Three& a, const Three& b)
{
    return {fma(s, a.x, b.x), fma(s, a.y, b.y), fma(s, a.z, b.z)};
}

/// From four points in a row, and back.
Three load_points(const double* p)
{
    Lanes4 a = Lanes4::load(p), b = Lanes4::load(p + 3), c = Lanes4::load(p + 6);
    Lanes4 d(_mm256_permute4x64_pd(_mm256_loadu_pd(p + 8), 0x39)); // reads no further than the fourth point
    transpose(a, b, c, d);
    return {a, b, c};
}

void store_points(Three points, double* p)
{
    Lanes4 d = points.z;
    transpose(points.x, points.y, points.z, d);
    points.x.store(p); // each spills into the next one, which is stored after it
    points.y.store(p + 3);
    points.z.store(p + 6);
    store3(d, p + 9);
}

// --- Linear blending ----------------------------------------------------------------------------------------------

/// sum_k w_k columns_k
template <int slots, int columns, class BoneColumns>
void blend(const BoneColumns* bones, const int* bone, const double* w, Lanes4 (&sum)[columns])
{
    for (int k = 0; k < slots; ++k) {
        const double(&of_bone)[columns][4] = bones[bone[k]].columns;
        const Lanes4 weight(w[k]);
        for (int j = 0; j < columns; ++j)
            sum[j] =
                k == 0 ? weight * Lanes4::load(of_bone[j]) : fma(weight, Lanes4::load(of_bone[j]), sum[j]);
    }
}

template <int slots>
void skin_linear(const LinearBone* bones, const SkinWeights& weights, const Points& X, Index begin, Index end,
                 Points& x)
{
    for (Index v = begin; v < end; ++v) {
        Lanes4 c[4];
        blend<slots>(bones, &weights.bones(0, v), &weights.weights(0, v), c);
        const double* p = &X(0, v);
        store3(fma(c[0], Lanes4(p[0]), fma(c[1], Lanes4(p[1]), fma(c[2], Lanes4(p[2]), c[3]))), &x(0, v));
    }
}

template <int slots>
void frames_linear(const LinearBone* bones, const SkinWeights& weights, Index begin, Index end,
                   VertexFrames& frames)
{
    for (Index v = begin; v < end; ++v) {
        Lanes4 c[4];
        blend<slots>(bones, &weights.bones(0, v), &weights.weights(0, v), c);
        for (int j = 0; j < 4; ++j) store3(c[j], &frames(3 * j, v));
    }
}

// --- Dual quaternions ---------------------------------------------------------------------------------------------

/// The blended motions of four vertices, a vertex per lane: X -> rotation by q = (v, w) / |q|, then + t.
///
///   R X = X + 2 (w v x X + v x (v x X)) / |q|^2,    t = 2 (w e_v - e_w v + v x e_v) / |q|^2
struct Motion {
    Three v;
    Lanes4 w;
    Lanes4 scale; ///< 2 / |q|^2
    Three t;

    Three rotated(const Three& X) const
    {
        const Three v_X = cross(v, X);
        return fma(scale, fma(w, v_X, cross(v, v_X)), X);
    }
    Three moved(const Three& X) const { return rotated(X) + t; }
};

/// Weights with the signs that turn each bone's quaternion to the side of the heaviest bone's.
template <int slots>
void signed_weights(const DualQuaternion* bones, const int* bone, const double* w, double* out)
{
    const Lanes4 first = Lanes4::load(bones[bone[0]].q);
    const auto q = [&](int k) { return Lanes4::load(bones[bone[std::min(k, slots - 1)]].q); };
    const auto weight = [&](int k) { return k < slots ? w[k] : 0.0; };
    for (int k = 0; k < slots; k += 4) {
        const Lanes4 side = dots(first, q(k), q(k + 1), q(k + 2), q(k + 3));
        const __m256d plain = k + 4 <= slots
                                  ? _mm256_loadu_pd(w + k)
                                  : _mm256_setr_pd(weight(k), weight(k + 1), weight(k + 2), weight(k + 3));
        const __m256d flip = _mm256_and_pd(side.v, _mm256_set1_pd(-0.0));
        _mm256_storeu_pd(out + k, _mm256_xor_pd(plain, flip));
    }
}

/// The motions of four vertices in a row, whose slots lie one after the other.
template <int slots>
Motion blend_motions(const DualQuaternion* bones, const int* bone, const double* w)
{
    Lanes4 q[4], e[4];
    for (int i = 0; i < 4; ++i) {
        double signed_w[most_influences];
        const int* of_vertex = bone + i * slots;
        signed_weights<slots>(bones, of_vertex, w + i * slots, signed_w);
        for (int k = 0; k < slots; ++k) {
            const DualQuaternion& d = bones[of_vertex[k]];
            const Lanes4 weight(signed_w[k]);
            q[i] = k == 0 ? weight * Lanes4::load(d.q) : fma(weight, Lanes4::load(d.q), q[i]);
            e[i] = k == 0 ? weight * Lanes4::load(d.e) : fma(weight, Lanes4::load(d.e), e[i]);
        }
    }
    transpose(q[0], q[1], q[2], q[3]);
    transpose(e[0], e[1], e[2], e[3]);

    Motion motion;
    motion.v = {q[0], q[1], q[2]};
    motion.w = q[3];
    const Lanes4 norm2 = fma(q[0], q[0], fma(q[1], q[1], fma(q[2], q[2], q[3] * q[3])));
    motion.scale = Lanes4(2.0) / norm2;
    const Three e_v = {e[0], e[1], e[2]};
    const Three t = fma(q[3], e_v, fma(-e[3], motion.v, cross(motion.v, e_v)));
    motion.t = {motion.scale * t.x, motion.scale * t.y, motion.scale * t.z};
    return motion;
}

/// The columns of sum_b w_b S_b for four vertices in a row.
template <int slots>
void blend_stretches(const Stretch* bones, const int* bone, const double* w, Three (&columns)[3])
{
    Lanes4 S[4][3];
    for (int i = 0; i < 4; ++i) blend<slots>(bones, bone + i * slots, w + i * slots, S[i]);
    for (int j = 0; j < 3; ++j) {
        transpose(S[0][j], S[1][j], S[2][j], S[3][j]);
        columns[j] = {S[0][j], S[1][j], S[2][j]};
    }
}

Three times(const Three (&columns)[3], const Three& X)
{
    const Three first = {columns[0].x * X.x, columns[0].y * X.x, columns[0].z * X.x};
    return fma(X.z, columns[2], fma(X.y, columns[1], first));
}

/// Slots of four vertices and what `moved` makes of them, when fewer than four are left.
template <int slots>
struct LastFour {
    int bone[4 * slots];
    double w[4 * slots];

    LastFour(const SkinWeights& weights, Index begin, Index end)
    {
        for (Index i = 0; i < 4; ++i) {
            const Index v = std::min(begin + i, end - 1);
            for (Index k = 0; k < slots; ++k) {
                bone[i * slots + k] = weights.bones(k, v);
                w[i * slots + k] = weights.weights(k, v);
            }
        }
    }
};

template <int slots>
void skin_four(const DualQuaternion* motions, const Stretch* stretches, const int* bone, const double* w,
               const double* X, double* x)
{
    const Motion motion = blend_motions<slots>(motions, bone, w);
    Three at_rest = load_points(X);
    if (stretches) {
        Three S[3];
        blend_stretches<slots>(stretches, bone, w, S);
        at_rest = times(S, at_rest);
    }
    store_points(motion.moved(at_rest), x);
}

template <int slots>
void skin_dual(const DualQuaternion* motions, const Stretch* stretches, const SkinWeights& weights,
               const Points& X, Index begin, Index end, Points& x)
{
    Index v = begin;
    for (; v + 4 <= end; v += 4)
        skin_four<slots>(motions, stretches, &weights.bones(0, v), &weights.weights(0, v), &X(0, v),
                         &x(0, v));
    if (v == end) return;
    const LastFour<slots> last(weights, v, end);
    Eigen::Matrix<double, 3, 4> rest, posed;
    for (Index i = 0; i < 4; ++i) rest.col(i) = X.col(std::min(v + i, end - 1));
    skin_four<slots>(motions, stretches, last.bone, last.w, rest.data(), posed.data());
    x.middleCols(v, end - v) = posed.leftCols(end - v);
}

template <int slots>
void frames_of_four(const DualQuaternion* motions, const Stretch* stretches, const int* bone, const double* w,
                    double* frames)
{
    const Motion motion = blend_motions<slots>(motions, bone, w);
    const Lanes4 zero(0.0), one(1.0);
    Three axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    if (stretches) blend_stretches<slots>(stretches, bone, w, axes);
    Lanes4 rows[12];
    for (int j = 0; j < 4; ++j) {
        const Three column = j < 3 ? motion.rotated(axes[j]) : motion.t;
        rows[3 * j] = column.x;
        rows[3 * j + 1] = column.y;
        rows[3 * j + 2] = column.z;
    }
    for (int j = 0; j < 12; j += 4) {
        transpose(rows[j], rows[j + 1], rows[j + 2], rows[j + 3]);
        for (int i = 0; i < 4; ++i) rows[j + i].store(frames + 12 * i + j);
    }
}

template <int slots>
void frames_dual(const DualQuaternion* motions, const Stretch* stretches, const SkinWeights& weights,
                 Index begin, Index end, VertexFrames& frames)
{
    Index v = begin;
    for (; v + 4 <= end; v += 4)
        frames_of_four<slots>(motions, stretches, &weights.bones(0, v), &weights.weights(0, v),
                              &frames(0, v));
    if (v == end) return;
    const LastFour<slots> last(weights, v, end);
    Eigen::Matrix<double, 12, 4> four;
    frames_of_four<slots>(motions, stretches, last.bone, last.w, four.data());
    frames.middleCols(v, end - v) = four.leftCols(end - v);
}

// --- Which loop ---------------------------------------------------------------------------------------------------

/// Calls f with the number of slots as a constant, so that the loops over them unroll.
template <class F>
void with_slots(Index slots, const F& f)
{
    switch (slots) {
    case 1:
        return f(std::integral_constant<int, 1>());
    case 2:
        return f(std::integral_constant<int, 2>());
    case 3:
        return f(std::integral_constant<int, 3>());
    case 4:
        return f(std::integral_constant<int, 4>());
    case 5:
        return f(std::integral_constant<int, 5>());
    case 6:
        return f(std::integral_constant<int, 6>());
    case 7:
        return f(std::integral_constant<int, 7>());
    case 8:
        return f(std::integral_constant<int, 8>());
    default:
        LITHE_ASSERT(slots >= 1 && slots <= most_influences);
    }
}

/// Calls loop(linear bones, constant slots, begin, end), or loop(dual bones, ...), over blocks of vertices.
template <class Linear, class Dual>
void for_blocks(SkinningMethod method, const SkinWeights& weights, std::span<const Affine3> M,
                const Linear& linear, const Dual& dual)
{
    LITHE_ASSERT(weights.bones.rows() == weights.slots() && weights.bones.cols() == weights.vertex_count());
    if (weights.vertex_count() == 0) return;
    LITHE_ASSERT_HEAVY(weights.bones.minCoeff() >= 0 &&
                       static_cast<std::size_t>(weights.bones.maxCoeff()) < M.size());
    const auto run = [&](const auto& loop) {
        with_slots(weights.slots(), [&](auto slots) {
            parallel_blocks(weights.vertex_count(), block_size,
                            [&](Index begin, Index end) { loop(slots, begin, end); });
        });
    };
    if (method == SkinningMethod::Linear) {
        PerBone<LinearBone> bones(M.size());
        for (std::size_t b = 0; b < M.size(); ++b) pack(M[b], bones.data()[b]);
        run([&](auto slots, Index begin, Index end) { linear(bones.data(), slots, begin, end); });
    } else {
        DualBones bones(M);
        run([&](auto slots, Index begin, Index end) { dual(bones, slots, begin, end); });
    }
}

/// A^-1, with the small singular values of A held up; the bound |A| |A^-1| on their ratio spares most of the work.
Mat3 held_inverse(const Mat3& A)
{
    const Mat3 inverse = A.inverse();
    if (A.norm() * inverse.norm() < 1.0 / smallest_stretch) return inverse;
    const Svd3 svd = svd3(A);
    if (!(svd.sigma[0] > 0.0)) return Mat3::Zero();
    const double least = smallest_stretch * svd.sigma[0];
    const Vec3 sigma =
        svd.sigma.unaryExpr([&](double s) { return std::copysign(std::max(std::abs(s), least), s); });
    return svd.V * sigma.cwiseInverse().asDiagonal() * svd.U.transpose();
}

/// det(A) A^-T: what a linear map does to the area vector of a triangle.
Mat3 cofactors(const Mat3& A)
{
    Mat3 C;
    for (int j = 0; j < 3; ++j) C.col(j) = A.col((j + 1) % 3).cross(A.col((j + 2) % 3));
    return C;
}

// --- Derivatives --------------------------------------------------------------------------------------------------

Vec4 conjugate(const Vec4& q)
{
    return {-q[0], -q[1], -q[2], q[3]};
}

/// The product of two quaternions (x y z w) that need not have unit length.
Vec4 product(const Vec4& a, const Vec4& b)
{
    return (Quat(a) * Quat(b)).coeffs();
}

/// The blend at one vertex, and what its derivative needs.
///
///   x = (c X' c* + 2 e c*) / |c|^2,   c = sum_b s_b w_b q_b,   e = sum_b s_b w_b e_b,   X' = sum_b w_b S_b X
struct VertexBlend {
    Vec4 c = Vec4::Zero(), e = Vec4::Zero();
    Vec4 rest = Vec4::Zero(); ///< X' as a quaternion

    Vec3 posed() const
    {
        const Vec4 moved = product(product(c, rest), conjugate(c)) + 2.0 * product(e, conjugate(c));
        return moved.head<3>() / c.squaredNorm();
    }
    /// dx for changes of c and e.
    Vec3 derivative(const Vec4& dc, const Vec4& de) const
    {
        const Vec4 c_star = conjugate(c), dc_star = conjugate(dc);
        const Vec4 moved = product(product(dc, rest), c_star) + product(product(c, rest), dc_star) +
                           2.0 * (product(de, c_star) + product(e, dc_star));
        return (moved.head<3>() - 2.0 * c.dot(dc) * posed()) / c.squaredNorm();
    }
};

/// What a bone adds to the blends of the vertices that follow it.
struct BlendedBone {
    Quat q;
    Vec4 e;
    Mat3 S;

    explicit BlendedBone(const Affine3& M)
    {
        const Polar3 polar = polar3(M.linear());
        q = Quat(polar.R).normalized();
        e = dual_part(q, M.translation());
        S = polar.S;
    }
};

Eigen::Matrix<double, 3, 6> dual_jacobian(const SkinWeights& weights, std::span<const Affine3> M,
                                          const Vec3& X, Index vertex, int bone)
{
    const auto bone_of = [&](Index k) { return weights.bones(k, vertex); };
    const Quat first = BlendedBone(M[bone_of(0)]).q;
    VertexBlend blend;
    double w = 0.0; // of `bone`, with its sign
    for (Index k = 0; k < weights.slots(); ++k) {
        const BlendedBone part(M[bone_of(k)]);
        const double sign = first.dot(part.q) < 0.0 ? -1.0 : 1.0;
        const double w_k = weights.weights(k, vertex);
        blend.c += sign * w_k * part.q.coeffs();
        blend.e += sign * w_k * part.e;
        blend.rest.head<3>() += w_k * part.S * X;
        if (bone_of(k) == bone) w += sign * w_k;
    }

    // a twist (omega, v) of the bone: dq = omega q / 2,  dt = omega x t + v,  de = (dt q + t dq) / 2
    const Affine3& moving = M[bone];
    const Quat q = BlendedBone(moving).q;
    const Vec3 t = moving.translation();
    Eigen::Matrix<double, 3, 6> J;
    for (int i = 0; i < 6; ++i) {
        const Vec3 omega = i < 3 ? Vec3(Vec3::Unit(i)) : Vec3(Vec3::Zero());
        const Vec3 dt = i < 3 ? Vec3(omega.cross(t)) : Vec3(Vec3::Unit(i - 3));
        const Vec4 dq = dual_part(q, omega);
        const Vec4 de = dual_part(q, dt) + dual_part(Quat(dq), t);
        J.col(i) = blend.derivative(w * dq, w * de);
    }
    return J;
}

} // namespace

void skin(SkinningMethod method, const SkinWeights& weights, std::span<const Affine3> M, const Points& X,
          Points& x)
{
    LITHE_ASSERT(X.cols() == weights.vertex_count());
    x.resize(3, X.cols());
    for_blocks(
        method, weights, M,
        [&](const LinearBone* bones, auto slots, Index begin, Index end) {
            skin_linear<slots()>(bones, weights, X, begin, end, x);
        },
        [&](DualBones& bones, auto slots, Index begin, Index end) {
            skin_dual<slots()>(bones.motions(), bones.stretches(), weights, X, begin, end, x);
        });
}

void skin_frames(SkinningMethod method, const SkinWeights& weights, std::span<const Affine3> M,
                 VertexFrames& frames)
{
    frames.resize(12, weights.vertex_count());
    for_blocks(
        method, weights, M,
        [&](const LinearBone* bones, auto slots, Index begin, Index end) {
            frames_linear<slots()>(bones, weights, begin, end, frames);
        },
        [&](DualBones& bones, auto slots, Index begin, Index end) {
            frames_dual<slots()>(bones.motions(), bones.stretches(), weights, begin, end, frames);
        });
}

void apply_frames(const VertexFrames& frames, const Points& X, Points& x)
{
    LITHE_ASSERT(X.cols() == frames.cols());
    x.resize(3, X.cols());
    parallel_for(X.cols(), block_size, [&](Index v) {
        const Mat34 A_t = Eigen::Map<const Mat34>(&frames(0, v));
        const Vec3 rest = X.col(v);
        x.col(v) = A_t.leftCols<3>() * rest + A_t.col(3);
    });
}

void pull_back(const VertexFrames& frames, const Points& x, Points& X)
{
    LITHE_ASSERT(x.cols() == frames.cols());
    X.resize(3, x.cols());
    parallel_for(x.cols(), block_size / 4, [&](Index v) {
        const Mat34 A_t = Eigen::Map<const Mat34>(&frames(0, v));
        const Vec3 arm = x.col(v) - A_t.col(3);
        X.col(v) = held_inverse(A_t.leftCols<3>()) * arm;
    });
}

void skin_normals(const VertexFrames& frames, const Points& N, Points& n)
{
    LITHE_ASSERT(N.cols() == frames.cols());
    n.resize(3, N.cols());
    parallel_for(N.cols(), block_size, [&](Index v) {
        const Mat3 A = Eigen::Map<const Mat34>(&frames(0, v)).leftCols<3>();
        const Vec3 rest = N.col(v);
        const Vec3 posed = (A.determinant() < 0.0 ? -1.0 : 1.0) * (cofactors(A) * rest);
        const double length = posed.norm();
        n.col(v) = length > 0.0 ? Vec3(posed / length) : rest; // a map that leaves a line keeps the old one
    });
}

Eigen::Matrix<double, 3, 6> skin_jacobian(SkinningMethod method, const SkinWeights& weights,
                                          std::span<const Affine3> M, const Points& X, Index vertex, int bone)
{
    LITHE_ASSERT(bone >= 0 && static_cast<std::size_t>(bone) < M.size());
    LITHE_ASSERT(vertex >= 0 && vertex < weights.vertex_count());
    const Vec3 rest = X.col(vertex);
    if (method == SkinningMethod::DualQuaternion) return dual_jacobian(weights, M, rest, vertex, bone);
    double w = 0.0;
    for (Index k = 0; k < weights.slots(); ++k)
        if (weights.bones(k, vertex) == bone) w += weights.weights(k, vertex);
    Eigen::Matrix<double, 3, 6> J;
    J << -w * skew(M[bone] * rest), w * Mat3::Identity();
    return J;
}

} // namespace lithe
