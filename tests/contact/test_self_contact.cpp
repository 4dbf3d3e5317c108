#include "lithe/contact/self_contact.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/contact/contact_potential.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// A flat bar, folded about its middle until its arms overlap by about `overlap` [m]; mirror-symmetric to rounding.
struct Folded {
    TetMesh mesh = make_box_tets({2.0, 0.1, 0.3}, 0.1);
    ContactModel model = make_contact_model(mesh, {.stiffness = 1e6, .self = SelfContact::On});
    Points x;

    explicit Folded(double overlap)
    {
        x = mesh.vertices;
        const double radius = 0.2, half = 0.5 * std::numbers::pi * radius;
        for (Index i = 0; i < x.cols(); ++i) {
            const double s = x(0, i), t = -x(1, i); // along, and outward from the fold
            const double gap = radius - 0.5 * overlap * std::max(0.0, std::abs(s) - half) / (1.0 - half) -
                               (0.2 - 0.05) * std::min(1.0, std::max(0.0, std::abs(s) - half) / 0.3);
            const double side = std::copysign(1.0, s);
            if (std::abs(s) > half)
                x.col(i) = Vec3(half - std::abs(s), side * (gap + t), x(2, i));
            else
                x.col(i) =
                    Vec3((radius + t) * std::cos(s / radius), (radius + t) * std::sin(s / radius), x(2, i));
        }
    }
    std::vector<SelfPair> pairs(const Points& at) const
    {
        std::vector<SelfPair> found;
        SelfDetectionWork work;
        detect_self_contact(*model.self, model.stiffness, at, found, work);
        return found;
    }
};

/// The force k d on each vertex.
Points forces(const std::vector<SelfPair>& pairs, const Points& x)
{
    Points f = Points::Zero(3, x.cols());
    for (const SelfPair& pair : pairs) {
        const Vec3 force = pair.stiffness * pair.offset(x);
        f.col(pair.vertex) += force;
        for (int a = 0; a < 3; ++a)
            f.col(pair.triangle[static_cast<std::size_t>(a)]) -= pair.weights[a] * force;
    }
    return f;
}

} // namespace

// Acceptance P2: vertices on the faces of tets count as inside.
TEST(SelfContact, FindsASymmetricFold)
{
    const Folded bar(0.02);
    const std::vector<SelfPair> pairs = bar.pairs(bar.x);
    EXPECT_GT(pairs.size(), 10u);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        EXPECT_LT(pairs[i].offset(bar.x).norm(), 0.03); // not out of the far side
        EXPECT_NEAR(pairs[i].normal.norm(), 1.0, 1e-12);
        EXPECT_TRUE(i == 0 || pairs[i - 1].vertex < pairs[i].vertex);
    }
}

// Acceptance P1: no net force, no net torque, and N d = d with N = n n^T.
TEST(SelfContact, ForcesBalance)
{
    const Folded bar(0.02);
    const std::vector<SelfPair> pairs = bar.pairs(bar.x);
    const Points f = forces(pairs, bar.x);
    ASSERT_GT(f.norm(), 1.0);
    EXPECT_LT(f.rowwise().sum().norm(), 1e-12 * f.norm());
    Vec3 torque = Vec3::Zero();
    for (Index i = 0; i < f.cols(); ++i) torque += Vec3(bar.x.col(i)).cross(Vec3(f.col(i)));
    EXPECT_LT(torque.norm(), 1e-12 * f.norm());
    for (const SelfPair& pair : pairs) {
        const Vec3 d = pair.offset(bar.x);
        EXPECT_LT((pair.normal * pair.normal.dot(d) - d).norm(), 1e-12 * 0.1);
    }
}

TEST(SelfContact, PotentialPushesWithKTimesD)
{
    const Folded bar(0.02);
    const FrictionState none;
    const ContactScene scene{bar.model, {}, none};
    const std::vector<unsigned char> pinned(static_cast<std::size_t>(bar.x.cols()), 0);
    ContactWork work;
    begin_contact(scene, bar.x, pinned, work);
    Points g = Points::Zero(3, bar.x.cols());
    const double energy = add_contact_gradient(scene, bar.x, g, work);
    const Points f = forces(bar.pairs(bar.x), bar.x);
    EXPECT_LT((g + f).norm(), 1e-12 * f.norm());
    EXPECT_GT(energy, 0.0);
    FrictionState after;
    const ContactReport report = finish_contact(scene, bar.x, work, after);
    EXPECT_GT(report.contacts, 10); // of the pairs, some lie on the surface
    EXPECT_GT(report.penetration, 0.005);
    EXPECT_LT(report.penetration, 0.03);
}

TEST(SelfContact, LeavesABodyAloneThatDoesNotTouchItself)
{
    const Folded bar(0.02);
    EXPECT_TRUE(bar.pairs(bar.mesh.vertices).empty());
    // squeezed to half its height, crumpled a little: neighbours come close, but do not fight
    Random random(3);
    Points crumpled = bar.mesh.vertices + 0.01 * Points(random_matrix(random, 3, bar.x.cols()));
    crumpled.row(1) *= 0.5;
    EXPECT_TRUE(bar.pairs(crumpled).empty());
    // turned inside out: inverted tets are no place to be inside of
    Points mirrored = bar.mesh.vertices;
    mirrored.row(1) *= -1.0;
    EXPECT_TRUE(bar.pairs(mirrored).empty());
}

TEST(SelfContact, SameBitsForAnyNumberOfThreadsAndAnyTree)
{
    const Folded bar(0.02);
    const auto run = [&](int threads, SelfDetectionWork& work) {
        const ThreadLimit limit(threads);
        std::vector<SelfPair> pairs;
        detect_self_contact(*bar.model.self, bar.model.stiffness, bar.x, pairs, work);
        return forces(pairs, bar.x);
    };
    SelfDetectionWork fresh, used;
    const Points one = run(1, fresh);
    std::vector<SelfPair> pairs;
    detect_self_contact(*bar.model.self, bar.model.stiffness, bar.mesh.vertices, pairs, used); // another tree
    for (const int threads : {2, 4}) EXPECT_TRUE(run(threads, used) == one);
}
