#include "lithe/reduce/skinned_spheres.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr int bone_count = 4;
constexpr Index rank = 5, vertex_count = 160;

/// A tube whose vertices follow one to three of the bones along it, each bone with modes of its own.
struct Tube {
    Points rest = Points(3, vertex_count);
    std::vector<SkinBone> bones;

    explicit Tube(std::uint64_t seed)
    {
        Random random(seed);
        MatX weights = MatX::Zero(bone_count, vertex_count);
        for (Index i = 0; i < vertex_count; ++i) {
            const double s = static_cast<double>(i / 8) / (vertex_count / 8.0 - 1.0);
            const double angle = 0.7853981633974483 * static_cast<double>(i % 8);
            rest.col(i) = Vec3(2.0 * s, 0.15 * std::cos(angle), 0.15 * std::sin(angle));
            for (int k = 0; k < bone_count; ++k)
                weights(k, i) = std::max(0.0, 1.0 - std::abs(s * (bone_count - 1) - k) / 1.4);
            weights.col(i) /= weights.col(i).sum();
        }
        for (int k = 0; k < bone_count; ++k) {
            SkinBone bone;
            for (int i = 0; i < vertex_count; ++i)
                if (weights(k, i) > 0.0) bone.vertices.push_back(i);
            const auto count = static_cast<Index>(bone.vertices.size());
            bone.weights.resize(count);
            bone.rest.resize(3, count);
            for (Index i = 0; i < count; ++i) {
                bone.weights[i] = weights(k, bone.vertices[static_cast<std::size_t>(i)]);
                bone.rest.col(i) =
                    rest.col(bone.vertices[static_cast<std::size_t>(i)]) - Vec3(2.0 * k / 3.0, 0, 0);
            }
            bone.basis.resize(3 * count, k == 2 ? 0 : rank);
            for (Index a = 0; a < bone.basis.cols(); ++a) { // smooth, as modes are
                const Vec3 wave = 3.0 * random_vector(random, 3), along = random_vector(random, 3);
                for (Index i = 0; i < count; ++i)
                    bone.basis.col(a).segment<3>(3 * i) =
                        (std::sin(wave.dot(bone.rest.col(i))) * along).cast<float>();
            }
            bones.push_back(bone);
        }
    }

    Points posed(const std::vector<BoneMotion>& motion) const
    {
        Points x = Points::Zero(3, vertex_count);
        for (std::size_t k = 0; k < bones.size(); ++k)
            for (std::size_t i = 0; i < bones[k].vertices.size(); ++i) {
                const auto at = static_cast<Index>(i);
                const Vec3 p = Vec3(bones[k].rest.col(at)) +
                               bones[k].basis.middleRows<3>(3 * at).cast<double>() * *motion[k].q;
                x.col(bones[k].vertices[i]) += bones[k].weights[at] * motion[k].frame.apply(p);
            }
        return x;
    }
};

struct Pose {
    std::vector<VecX> q;
    std::vector<BoneMotion> motion;

    Pose(Random& random, double bend, double deform)
    {
        for (int k = 0; k < bone_count; ++k) q.push_back(deform * random_vector(random, k == 2 ? 0 : rank));
        for (int k = 0; k < bone_count; ++k)
            motion.push_back({{exp_quat(bend * random_vector(random, 3)),
                               Vec3(2.0 * k / 3.0, 0, 0) + 0.3 * bend * random_vector(random, 3)},
                              &q[static_cast<std::size_t>(k)]});
    }
};

} // namespace

// Acceptance (9.4): no vertex outside of any sphere above it, in 300 poses.
TEST(SkinnedSpheres, HoldEveryVertexInEveryPose)
{
    const Tube tube(1);
    const SkinnedSpheres spheres(tube.rest, tube.bones, 4);
    Random random(2);
    double looseness = 0.0;
    int balls = 0, violations = 0;
    for (int i = 0; i < 300; ++i) {
        const Pose pose(random, i % 3 == 0 ? 3.0 : 0.7, i % 2 == 0 ? 0.02 : 0.2);
        const Points x = tube.posed(pose.motion);
        // every vertex below a ball: a walk that keeps only what is above one leaf finds them
        std::vector<SkinnedSpheres::Ball> above;
        spheres.visit(
            pose.motion,
            [&](const SkinnedSpheres::Ball& ball) {
                above.push_back(ball);
                return true;
            },
            [&](std::span<const int> vertices) {
                const SkinnedSpheres::Ball& ball = above.back();
                double reach = 0.0;
                for (const int v : vertices) reach = std::max(reach, (x.col(v) - ball.centre).norm());
                violations += reach > ball.radius;
                looseness += ball.radius / reach;
                ++balls;
            });
        double reach = 0.0;
        for (Index v = 0; v < vertex_count; ++v) reach = std::max(reach, (x.col(v) - above[0].centre).norm());
        violations += reach > above[0].radius;
        const Box3 box = spheres.bounds(pose.motion);
        for (Index v = 0; v < vertex_count; ++v) violations += !box.contains(x.col(v));
    }
    EXPECT_EQ(violations, 0);
    EXPECT_LT(looseness / balls, 2.0);
    RecordProperty("looseness", std::to_string(looseness / balls));
    std::printf("mean looseness of %d leaves %.3f\n", balls, looseness / balls);
}

// What is pruned cannot hold the vertex that is looked for.
TEST(SkinnedSpheres, FindWhatIsNear)
{
    const Tube tube(3);
    const SkinnedSpheres spheres(tube.rest, tube.bones, 4);
    Random random(4);
    for (int i = 0; i < 50; ++i) {
        const Pose pose(random, 1.0, 0.05);
        const Points x = tube.posed(pose.motion);
        const Vec3 p =
            x.col(static_cast<Index>(random.index(vertex_count))) + 0.05 * random_vector(random, 3);
        std::vector<int> found, expected;
        const Index looked_at = spheres.visit(
            pose.motion,
            [&](const SkinnedSpheres::Ball& ball) { return (ball.centre - p).norm() <= ball.radius + 0.1; },
            [&](std::span<const int> vertices) {
                found.insert(found.end(), vertices.begin(), vertices.end());
            });
        for (int v = 0; v < vertex_count; ++v)
            if ((x.col(v) - p).norm() <= 0.1) expected.push_back(v);
        std::ranges::sort(found);
        EXPECT_TRUE(std::ranges::includes(found, expected));
        EXPECT_LE(looked_at, spheres.node_count());
    }
}

// One bone with all the weight: as tight as spheres about the points can be.
TEST(SkinnedSpheres, OfOneRigidBoneAreTight)
{
    Tube tube(5);
    SkinBone bone;
    bone.vertices.resize(vertex_count);
    std::iota(bone.vertices.begin(), bone.vertices.end(), 0);
    bone.weights = VecX::Ones(vertex_count);
    bone.rest = tube.rest;
    bone.basis.resize(3 * vertex_count, 0);
    const SkinnedSpheres spheres(tube.rest, std::span(&bone, 1), vertex_count);
    const VecX none;
    const BoneMotion motion{{exp_quat(Vec3(1, 2, 3)), Vec3(4, 5, 6)}, &none};
    spheres.visit(
        std::span(&motion, 1),
        [&](const SkinnedSpheres::Ball& ball) {
            EXPECT_LT((ball.centre - motion.frame.apply(Vec3(1, 0, 0))).norm(), 1e-12);
            EXPECT_NEAR(ball.radius, std::hypot(1.0, 0.15), 1e-9);
            return true;
        },
        [](std::span<const int>) {});
}

TEST(SkinnedSpheres, RefuseWeightsThatDoNotSumToOne)
{
    Tube tube(6);
    tube.bones[0].weights[3] *= 0.5;
    EXPECT_THROW(SkinnedSpheres(tube.rest, tube.bones, 4), InputError);
    tube = Tube(6);
    tube.bones[0].weights[3] = -0.1;
    EXPECT_THROW(SkinnedSpheres(tube.rest, tube.bones, 4), InputError);
}
