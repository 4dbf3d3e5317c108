#include "lithe/body/skin.hpp"

#include <gtest/gtest.h>

#include "lithe/body/published.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"

namespace lithe {
namespace {

constexpr Index vertex_count = 3000, rank = 4;

/// Vertices that follow one or two of three bones, the last of which is rigid.
struct Worm {
    std::vector<SkinBone> skin = std::vector<SkinBone>(3);
    std::vector<RigidPose> frames;
    std::vector<VecX> q;

    Worm()
    {
        Random random(7);
        const auto number = [&] { return 2.0 * random.uniform() - 1.0; };
        std::vector<std::vector<double>> weights(3);
        for (int v = 0; v < vertex_count; ++v) {
            const int first = v % 3, second = (v / 3) % 3;
            const double share = first == second ? 1.0 : 0.25 + 0.5 * random.uniform();
            skin[static_cast<std::size_t>(first)].vertices.push_back(v);
            weights[static_cast<std::size_t>(first)].push_back(share);
            if (first == second) continue;
            skin[static_cast<std::size_t>(second)].vertices.push_back(v);
            weights[static_cast<std::size_t>(second)].push_back(1.0 - share);
        }
        for (std::size_t k = 0; k < 3; ++k) {
            const auto n = static_cast<Index>(skin[k].vertices.size());
            const Index r = k == 2 ? 0 : rank;
            skin[k].weights = Eigen::Map<const VecX>(weights[k].data(), n);
            skin[k].rest = Points::NullaryExpr(3, n, number);
            skin[k].basis = MatX::NullaryExpr(3 * n, r, number).cast<float>();
            frames.push_back(
                {exp_quat(Vec3(number(), number(), number())), Vec3(number(), number(), number())});
            q.push_back(VecX::NullaryExpr(r, number));
        }
    }
    std::vector<BoneMotion> motions() const
    {
        std::vector<BoneMotion> out;
        for (std::size_t k = 0; k < 3; ++k) out.push_back({frames[k], &q[k]});
        return out;
    }
};

TEST(Skin, IsTheWeightedSumOfItsBones)
{
    const Worm worm;
    Points expected = Points::Zero(3, vertex_count), x(3, vertex_count);
    for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < worm.skin[k].vertices.size(); ++i) {
            const auto at = static_cast<Index>(i);
            Vec3 p = worm.skin[k].rest.col(at);
            for (Index a = 0; a < worm.q[k].size(); ++a)
                for (Index c = 0; c < 3; ++c)
                    p[c] += static_cast<double>(worm.skin[k].basis(3 * at + c, a)) * worm.q[k][a];
            expected.col(worm.skin[k].vertices[i]) += worm.skin[k].weights[at] * worm.frames[k].apply(p);
        }
    place_skin(worm.skin, worm.motions(), x);
    EXPECT_LT((x - expected).cwiseAbs().maxCoeff(), 2e-6); // shapes are summed in single precision
}

TEST(Skin, OfManyBodiesIsThatOfEachAlone)
{
    const Worm worm;
    std::vector<RigidPose> elsewhere;
    for (const RigidPose& frame : worm.frames) elsewhere.push_back({frame.rotation, 2.0 * frame.translation});
    std::vector<BoneMotion> moved = worm.motions();
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k].frame = elsewhere[k];
    Points a(3, vertex_count), b(3, vertex_count), alone(3, vertex_count);
    const std::vector<SkinPlacement> bodies{{worm.motions(), &a}, {moved, &b}};
    place_skins(worm.skin, bodies);
    place_skin(worm.skin, worm.motions(), alone);
    EXPECT_EQ(a, alone);
    place_skin(worm.skin, moved, alone);
    EXPECT_EQ(b, alone);
}

TEST(Skin, HasTheSameBitsForAnyNumberOfThreads)
{
    const Worm worm;
    Points one(3, vertex_count), many(3, vertex_count);
    {
        const ThreadLimit limit(1);
        place_skin(worm.skin, worm.motions(), one);
    }
    place_skin(worm.skin, worm.motions(), many);
    EXPECT_EQ(one, many);
}

TEST(Skin, IsWhatTheSurfaceOfABodyShows)
{
    const Worm worm;
    Shown shown;
    shown.surface.vertices = Points::Zero(3, vertex_count);
    shown.skin = std::make_shared<const std::vector<SkinBone>>(worm.skin);
    Published now;
    now.frame.translation = Vec3(1, 2, 3);
    for (std::size_t k = 0; k < 3; ++k) now.bones.push_back({worm.frames[k], worm.q[k]});
    Points x(3, vertex_count);
    place_skin(worm.skin, worm.motions(), x);
    EXPECT_EQ(surface_in_world(shown, now), Points(x.colwise() + Vec3(1, 2, 3)));
}

TEST(Skin, SurfacesOfManyBodiesAreThoseOfEachAlone)
{
    const Worm worm;
    Shown on_bones, plain;
    on_bones.surface.vertices = Points::Zero(3, vertex_count);
    on_bones.skin = std::make_shared<const std::vector<SkinBone>>(worm.skin);
    plain.surface.vertices = Points::Random(3, 10);
    Published here, there, framed, lone;
    for (std::size_t k = 0; k < 3; ++k) {
        here.bones.push_back({worm.frames[k], worm.q[k]});
        there.bones.push_back({worm.frames[2 - k], k == 2 ? VecX() : VecX(0.5 * worm.q[k])});
    }
    framed = here;
    framed.frame.translation = lone.frame.translation = Vec3(1, 2, 3);
    const std::vector<Shown> shown{on_bones, plain, on_bones, on_bones};
    const std::vector<Published> now{here, lone, framed, there};
    std::vector<Points> x(4);
    place_surfaces(shown, now, x);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(x[i], surface_in_world(shown[i], now[i])) << i;
    EXPECT_NE(x[0], x[3]);
}

} // namespace
} // namespace lithe
