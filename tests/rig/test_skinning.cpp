#include "lithe/rig/skinning.hpp"

#include <algorithm>
#include <cstring>
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/math/svd3.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr SkinningMethod both_methods[] = {SkinningMethod::Linear, SkinningMethod::DualQuaternion};

struct Rig {
    SkinWeights weights;
    std::vector<Affine3> M;
    Points X;
};

enum class BoneKind { Rigid, Stretched, Mirrored };

Affine3 random_bone(Random& random, BoneKind kind)
{
    Affine3 M;
    M.linear() = random_rotation(random);
    if (kind != BoneKind::Rigid) {
        const MatX shear = random_matrix(random, 3, 3);
        M.linear() = M.linear() * (Mat3::Identity() + 0.3 * shear);
    }
    if (kind == BoneKind::Mirrored) M.linear().col(1) *= -1.0;
    M.translation() = random_vector(random, 3);
    return M;
}

Rig random_rig(Index vertices, Index slots, int bones, BoneKind kind, std::uint64_t seed = 1)
{
    Random random(seed);
    Rig rig;
    for (int b = 0; b < bones; ++b) rig.M.push_back(random_bone(random, kind));
    rig.X = random_matrix(random, 3, vertices);
    MatX dense = MatX::Zero(bones, vertices);
    for (Index v = 0; v < vertices; ++v)
        for (Index k = 0; k < slots; ++k)
            dense(static_cast<Index>(random.index(static_cast<std::uint64_t>(bones))), v) +=
                random.uniform(0.01, 1.0);
    rig.weights = sparse_weights(dense, slots);
    return rig;
}

Points skinned(SkinningMethod method, const Rig& rig)
{
    Points x;
    skin(method, rig.weights, rig.M, rig.X, x);
    return x;
}

VertexFrames frames_of(SkinningMethod method, const Rig& rig)
{
    VertexFrames frames;
    skin_frames(method, rig.weights, rig.M, frames);
    return frames;
}

Points plain_linear(const Rig& rig)
{
    Points x = Points::Zero(3, rig.X.cols());
    for (Index v = 0; v < rig.X.cols(); ++v)
        for (Index k = 0; k < rig.weights.slots(); ++k) {
            const Affine3& M = rig.M[static_cast<std::size_t>(rig.weights.bones(k, v))];
            for (int i = 0; i < 3; ++i) {
                double sum = M.matrix()(i, 3);
                for (int j = 0; j < 3; ++j) sum += M.matrix()(i, j) * rig.X(j, v);
                x(i, v) += rig.weights.weights(k, v) * sum;
            }
        }
    return x;
}

/// By the book: quaternions of unit length, a square root, a rotation matrix.
Points plain_dual(const Rig& rig)
{
    Points x(3, rig.X.cols());
    for (Index v = 0; v < rig.X.cols(); ++v) {
        Vec4 c = Vec4::Zero(), e = Vec4::Zero(), first = Vec4::Zero();
        Vec3 stretched = Vec3::Zero();
        for (Index k = 0; k < rig.weights.slots(); ++k) {
            const Affine3& M = rig.M[static_cast<std::size_t>(rig.weights.bones(k, v))];
            const Polar3 polar = polar3(M.linear());
            const Quat q(polar.R);
            const Vec3 t = M.translation();
            const Vec4 dual = 0.5 * (Quat(0.0, t[0], t[1], t[2]) * q).coeffs();
            if (k == 0) first = q.coeffs();
            const double w = rig.weights.weights(k, v) * (first.dot(q.coeffs()) < 0.0 ? -1.0 : 1.0);
            c += w * q.coeffs();
            e += w * dual;
            stretched += rig.weights.weights(k, v) * (polar.S * rig.X.col(v));
        }
        const double length = c.norm();
        const Quat rotation(Vec4(c / length));
        const Quat translation = Quat(Vec4(2.0 * e / length)) * rotation.conjugate();
        x.col(v) = rotation.toRotationMatrix() * stretched + translation.vec();
    }
    return x;
}

double farthest_apart(const Points& a, const Points& b)
{
    return (a - b).cwiseAbs().maxCoeff();
}

/// A cylinder along z from -length/2 to length/2, skinned to a bone below and one above.
Rig two_bone_cylinder(double radius, double length)
{
    Rig rig;
    rig.X.resize(3, 41 * 16);
    MatX dense(2, rig.X.cols());
    for (Index i = 0; i < 41; ++i)
        for (Index j = 0; j < 16; ++j) {
            const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / 16.0;
            const double s = static_cast<double>(i) / 40.0;
            rig.X.col(16 * i + j) << radius * std::cos(angle), radius * std::sin(angle), (s - 0.5) * length;
            dense.col(16 * i + j) << 1.0 - s, s;
        }
    rig.weights = sparse_weights(dense, 2);
    rig.M.assign(2, Affine3::Identity());
    return rig;
}

/// How far the vertices of the middle ring are from the axis, at least and at most.
Vec2 middle_radii(const Points& x)
{
    const auto ring = x.middleCols(16 * 20, 16).topRows<2>();
    return {ring.colwise().norm().minCoeff(), ring.colwise().norm().maxCoeff()};
}

Affine3 twisted(const Affine3& M, const VecX& twist)
{
    Affine3 out;
    const Mat3 R = exp_so3(twist.head<3>());
    out.linear() = R * M.linear();
    out.translation() = R * M.translation() + twist.tail<3>();
    return out;
}

Mat3 linear_part(const VertexFrames& frames, Index v)
{
    return Eigen::Map<const Mat3>(&frames(0, v));
}

} // namespace

TEST(Skinning, LinearIsThePlainSum)
{
    for (Index slots = 1; slots <= most_influences; ++slots)
        for (const Index vertices : {1, 2, 3, 5, 1003, 2051}) {
            const Rig rig = random_rig(vertices, slots, 20, BoneKind::Stretched);
            EXPECT_LT(farthest_apart(skinned(SkinningMethod::Linear, rig), plain_linear(rig)), 1e-14)
                << slots << " slots, " << vertices << " vertices";
        }
}

TEST(Skinning, DualQuaternionsAreThoseOfTheBook)
{
    for (const BoneKind kind : {BoneKind::Rigid, BoneKind::Stretched, BoneKind::Mirrored})
        for (Index slots = 1; slots <= most_influences; ++slots)
            for (const Index vertices : {1, 2, 3, 4, 5, 1003, 2051}) {
                const Rig rig = random_rig(vertices, slots, 20, kind);
                EXPECT_LT(farthest_apart(skinned(SkinningMethod::DualQuaternion, rig), plain_dual(rig)),
                          1e-14)
                    << slots << " slots, " << vertices << " vertices";
            }
}

TEST(Skinning, TakesMoreBonesThanFitOnTheStack)
{
    const Rig rig = random_rig(501, 4, 700, BoneKind::Stretched);
    EXPECT_LT(farthest_apart(skinned(SkinningMethod::Linear, rig), plain_linear(rig)), 1e-14);
    EXPECT_LT(farthest_apart(skinned(SkinningMethod::DualQuaternion, rig), plain_dual(rig)), 1e-14);
}

TEST(Skinning, NoVerticesGiveNoVertices)
{
    Rig rig = random_rig(1, 4, 3, BoneKind::Rigid);
    rig.X.resize(3, 0);
    rig.weights.bones.resize(4, 0);
    rig.weights.weights.resize(4, 0);
    for (const SkinningMethod method : both_methods) EXPECT_EQ(skinned(method, rig).cols(), 0);
}

TEST(Skinning, OneMotionOfAllBonesMovesTheSkinRigidly)
{
    Random random(4);
    const Affine3 G = random_bone(random, BoneKind::Rigid);
    for (const SkinningMethod method : both_methods) {
        Rig rig = random_rig(1001, 4, 20, BoneKind::Stretched);
        const Points before = skinned(method, rig);
        for (Affine3& M : rig.M) M = G * M;
        EXPECT_LT(farthest_apart(skinned(method, rig), G * before), 1e-12);
        rig.M.assign(20, G);
        EXPECT_LT(farthest_apart(skinned(method, rig), G * rig.X), 1e-12);
    }
}

TEST(Skinning, TwistOfHalfATurnKeepsTheRadiusWithDualQuaternionsOnly)
{
    Rig rig = two_bone_cylinder(0.3, 2.0);
    rig.M[1].linear() = exp_so3(Vec3(0.0, 0.0, std::numbers::pi));
    const Vec2 linear = middle_radii(skinned(SkinningMethod::Linear, rig));
    EXPECT_LT(linear[1], 1e-15); // a candy wrapper: the ring is a point
    const Points x = skinned(SkinningMethod::DualQuaternion, rig);
    EXPECT_LT((x.topRows<2>().colwise().norm().array() / 0.3 - 1.0).abs().maxCoeff(), 1e-6);
    EXPECT_LT((x.row(2) - rig.X.row(2)).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Skinning, FramesMapTheRestToThePosedSkin)
{
    for (const SkinningMethod method : both_methods)
        for (const BoneKind kind : {BoneKind::Rigid, BoneKind::Mirrored})
            for (const Index slots : {1, 3, 4, 7}) {
                const Rig rig = random_rig(1003, slots, 20, kind);
                const VertexFrames frames = frames_of(method, rig);
                Points x;
                apply_frames(frames, rig.X, x);
                EXPECT_LT(farthest_apart(x, skinned(method, rig)), 1e-14);

                // A_v is dx / dX: another point with the same weights goes by the same map
                Rig moved = rig;
                moved.X.colwise() += Vec3(0.3, -0.2, 0.1);
                apply_frames(frames, moved.X, x);
                EXPECT_LT(farthest_apart(x, skinned(method, moved)), 1e-14);
            }
}

TEST(Skinning, FramesOfRigidBonesAreRotationsWithDualQuaternions)
{
    const VertexFrames frames =
        frames_of(SkinningMethod::DualQuaternion, random_rig(403, 4, 20, BoneKind::Rigid));
    for (Index v = 0; v < frames.cols(); ++v) {
        const Mat3 A = linear_part(frames, v);
        EXPECT_LT((A.transpose() * A - Mat3::Identity()).norm(), 1e-14);
        EXPECT_GT(A.determinant(), 0.0);
    }
}

TEST(Skinning, PullBackUndoesTheFrames)
{
    for (const BoneKind kind : {BoneKind::Rigid, BoneKind::Mirrored}) {
        const Rig rig = random_rig(1003, 4, 20, kind);
        Points x, X;
        const VertexFrames frames = frames_of(SkinningMethod::DualQuaternion, rig);
        apply_frames(frames, rig.X, x);
        pull_back(frames, x, X);
        for (Index v = 0; v < X.cols(); ++v) {
            const Vec3 sigma = svd3(linear_part(frames, v)).sigma.cwiseAbs();
            if (sigma[2] < 0.06 * sigma[0]) continue; // held away from singular maps
            EXPECT_LT((X.col(v) - rig.X.col(v)).norm(), 1e-10);
        }
    }
}

TEST(Skinning, PullBackIsBoundedWhereLinearBlendingCollapses)
{
    Rig rig = two_bone_cylinder(0.3, 2.0);
    for (const double angle : {0.5, 0.95, 0.999, 1.0}) {
        rig.M[1].linear() = exp_so3(Vec3(0.0, 0.0, angle * std::numbers::pi));
        const VertexFrames frames = frames_of(SkinningMethod::Linear, rig);
        Points x, X;
        apply_frames(frames, rig.X, x);
        x.colwise() += Vec3(0.01, 0.0, 0.0); // a centimetre at the skin is at most 20 at rest
        pull_back(frames, x, X);
        EXPECT_TRUE(X.allFinite());
        EXPECT_LT(farthest_apart(X, rig.X), angle < 0.9 ? 0.02 : 0.3 + 0.01 / 0.05);
    }
    VertexFrames nothing = VertexFrames::Zero(12, 1);
    Points X;
    pull_back(nothing, Points::Ones(3, 1), X);
    EXPECT_EQ(X, Points::Zero(3, 1));
}

TEST(Skinning, JacobianIsTheDerivativeByTheTwistOfABone)
{
    for (const SkinningMethod method : both_methods)
        for (const BoneKind kind : {BoneKind::Rigid, BoneKind::Mirrored}) {
            const Rig rig = random_rig(8, 4, 6, kind, 7);
            Random random(5);
            for (Index v = 0; v < 8; ++v)
                for (Index k = 0; k < 2; ++k) {
                    const int bone = rig.weights.bones(k, v);
                    const auto posed = [&](const VecX& twist) {
                        Rig turned = rig;
                        Affine3& M = turned.M[static_cast<std::size_t>(bone)];
                        M = twisted(M, twist);
                        return VecX(skinned(method, turned).col(v));
                    };
                    const VecX d = random_vector(random, 6);
                    const VecX J_d = skin_jacobian(method, rig.weights, rig.M, rig.X, v, bone) * d;
                    EXPECT_GT(J_d.norm(), 1e-3);
                    EXPECT_GT(taylor_order(posed, J_d, VecX::Zero(6), d), 1.9);
                }
        }
}

TEST(Skinning, JacobianIsZeroForBonesThatAVertexDoesNotFollow)
{
    const Rig rig = random_rig(1, 2, 20, BoneKind::Rigid);
    int other = 0;
    while (other == rig.weights.bones(0, 0) || other == rig.weights.bones(1, 0)) ++other;
    for (const SkinningMethod method : both_methods)
        EXPECT_EQ(skin_jacobian(method, rig.weights, rig.M, rig.X, 0, other).norm(), 0.0);
}

TEST(Skinning, JacobiansOfAllBonesSumToThatOfTheWholeSkin)
{
    const Rig rig = random_rig(5, 4, 6, BoneKind::Rigid);
    for (const SkinningMethod method : both_methods) {
        const Points x = skinned(method, rig);
        for (Index v = 0; v < 5; ++v) {
            Eigen::Matrix<double, 3, 6> sum = Eigen::Matrix<double, 3, 6>::Zero(), whole;
            for (int b = 0; b < 6; ++b) sum += skin_jacobian(method, rig.weights, rig.M, rig.X, v, b);
            whole << -skew(x.col(v)), Mat3::Identity();
            EXPECT_LT((sum - whole).norm(), 1e-13);
        }
    }
}

TEST(Skinning, NormalsAreThoseOfAnEllipsoid)
{
    const TriangleMesh sphere = make_sphere(1.0, 0.2);
    Rig rig;
    rig.X = sphere.vertices;
    rig.weights = sparse_weights(MatX::Ones(1, rig.X.cols()), 1);
    for (const double mirror : {1.0, -1.0}) {
        const Vec3 axes(2.0, mirror * 1.0, 0.5);
        rig.M.assign(1, Affine3::Identity());
        rig.M[0].linear() = axes.asDiagonal();
        for (const SkinningMethod method : both_methods) {
            Points n;
            skin_normals(frames_of(method, rig), rig.X, n); // of the sphere: its points
            const Points x = skinned(method, rig);
            for (Index v = 0; v < x.cols(); ++v) {
                const Vec3 exact = x.col(v).cwiseQuotient(axes.cwiseAbs2()).normalized();
                EXPECT_LT((n.col(v) - exact).norm(), 1e-12);
            }
        }
    }
}

TEST(Skinning, NormalsStayAtRightAnglesToPosedTangents)
{
    const Rig rig = random_rig(501, 4, 20, BoneKind::Mirrored);
    Random random(9);
    Points N = random_matrix(random, 3, 501);
    N.colwise().normalize();
    for (const SkinningMethod method : both_methods) {
        const VertexFrames frames = frames_of(method, rig);
        Points n;
        skin_normals(frames, N, n);
        for (Index v = 0; v < 501; ++v) {
            const Mat3 A = linear_part(frames, v);
            const Vec3 a = N.col(v).unitOrthogonal(), b = N.col(v).cross(a);
            EXPECT_NEAR(n.col(v).norm(), 1.0, 1e-14);
            EXPECT_LT(std::abs(n.col(v).dot(A * a)), 1e-12 * A.norm());
            EXPECT_LT(std::abs(n.col(v).dot(A * b)), 1e-12 * A.norm());
        }
    }
}

TEST(Skinning, NormalsOfABentTubeFollowIt)
{
    // a bend of 0.6 rad; weights that rise smoothly over the middle third
    TriangleMesh tube = make_cylinder(0.2, 3.0, 0.05);
    const Points N = vertex_normals(tube);
    Rig rig;
    rig.X = tube.vertices;
    Index axis = 0; // along which the cylinder lies
    bounds(rig.X).sizes().maxCoeff(&axis);
    rig.X.row(axis).array() -= bounds(rig.X).center()[axis];
    MatX dense(2, rig.X.cols());
    for (Index v = 0; v < rig.X.cols(); ++v) {
        const double s = std::clamp(rig.X(axis, v) + 0.5, 0.0, 1.0);
        dense.col(v) << 1.0 - s * s * (3.0 - 2.0 * s), s * s * (3.0 - 2.0 * s);
    }
    rig.weights = sparse_weights(dense, 2);
    const double bend = 0.6;
    rig.M.assign(2, Affine3::Identity());
    rig.M[1].linear() = exp_so3(bend * Vec3::Unit((axis + 1) % 3));

    for (const SkinningMethod method : both_methods) {
        Points n;
        skin_normals(frames_of(method, rig), N, n);
        tube.vertices = skinned(method, rig);
        const Points recomputed = vertex_normals(tube);
        for (Index v = 0; v < rig.X.cols(); ++v) {
            const double angle = std::acos(std::clamp(n.col(v).dot(recomputed.col(v)), -1.0, 1.0));
            // exact where one bone rules; in between, what the slope of the weights adds: z w' bend < bend / 3
            EXPECT_LT(angle, std::abs(rig.X(axis, v)) > 0.6 ? 1e-7 : bend / 3.0 + 0.05);
        }
    }
}

TEST(Skinning, SameBitsForAnyNumberOfThreads)
{
    const Rig rig = random_rig(9001, 4, 20, BoneKind::Stretched);
    for (const SkinningMethod method : both_methods) {
        std::vector<Points> x(2), back(2);
        std::vector<VertexFrames> frames(2);
        for (const int threads : {1, 2}) {
            const ThreadLimit limit(threads);
            const auto i = static_cast<std::size_t>(threads - 1);
            skin(method, rig.weights, rig.M, rig.X, x[i]);
            skin_frames(method, rig.weights, rig.M, frames[i]);
            pull_back(frames[i], x[i], back[i]);
        }
        EXPECT_EQ(std::memcmp(x[0].data(), x[1].data(), sizeof(double) * 3 * 9001), 0);
        EXPECT_EQ(std::memcmp(frames[0].data(), frames[1].data(), sizeof(double) * 12 * 9001), 0);
        EXPECT_EQ(std::memcmp(back[0].data(), back[1].data(), sizeof(double) * 3 * 9001), 0);
    }
}

TEST(Skinning, AllocatesNothingWhenBuffersFit)
{
    if (!MallocCounter::works()) GTEST_SKIP();
    const Rig rig = random_rig(9001, 4, 60, BoneKind::Stretched);
    const ThreadLimit one(1);
    for (const SkinningMethod method : both_methods) {
        Points x, X, n;
        VertexFrames frames;
        const auto all = [&] {
            skin(method, rig.weights, rig.M, rig.X, x);
            skin_frames(method, rig.weights, rig.M, frames);
            apply_frames(frames, rig.X, x);
            pull_back(frames, x, X);
            skin_normals(frames, rig.X, n);
        };
        all();
        const MallocCounter counter;
        all();
        EXPECT_EQ(counter.count(), 0);
    }
}
