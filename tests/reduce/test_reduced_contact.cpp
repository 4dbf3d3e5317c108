#include "lithe/reduce/reduced_contact.hpp"

#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/reduce/modes.hpp"
#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

RigidShape torus()
{
    Progress silent;
    return FieldShape{DistanceField(SurfaceQuery(make_torus(0.2, 0.08, 0.02)), {.cell = 0.02}, silent)};
}

/// A bar in ten modes between a ball, a plane and a ring, all of which it overlaps at rest.
struct Pressed {
    TetMesh mesh = box_tets({8, 2, 2}, {0.8, 0.2, 0.2});
    FemModel fem = make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0);
    ReducedSurface surface;
    std::unique_ptr<ReducedContactSurface> contact_surface;
    ReducedContactModel model;
    RigidShape ball = SphereShape{0.3}, plane = PlaneShape{}, ring = torus();
    std::vector<Obstacle> obstacles;
    FrictionState friction;
    ReducedContactWork work;
    VecX q_0;

    Pressed()
    {
        RestSystem system(fem, vertices_at(fem.rest, 0, 0.0));
        Progress progress;
        std::vector<int> origin;
        TriangleMesh boundary = boundary_surface(mesh, origin);
        surface = make_reduced_surface(std::move(boundary), embed_vertices(origin, mesh),
                                       linear_modes(system, {.count = 10}, progress).basis.U);
        contact_surface = std::make_unique<ReducedContactSurface>(surface);
        model = {contact_surface.get(), 1e6, 0.6};
        const auto add = [&](const RigidShape& shape, std::uint64_t key, const Vec3& from, const Vec3& to,
                             double mu) {
            obstacles.push_back({.key = key,
                                 .shape = &shape,
                                 .pose_0 = {Quat::Identity(), from},
                                 .pose_1 = {Quat(Eigen::AngleAxisd(0.01, Vec3::UnitX())), to},
                                 .friction = mu});
        };
        add(ball, 9, {0.7, 0.493, 0.1}, {0.7, 0.49, 0.102}, 0.05);
        add(plane, 4, {0.0, 0.004, 0.0}, {0.0, 0.005, 0.0}, 0.0);
        add(ring, 6, {0.5, 0.1, 0.35}, {0.5, 0.1, 0.345}, 1.0);
        q_0 = VecX::Zero(10);
    }
    ReducedContactScene scene() const { return {model, obstacles, friction}; }
    void begin(const VecX& q)
    {
        begin_contact(scene(), q_0, VecX::Zero(10), work);
        VecX g = VecX::Zero(10);
        (void)add_contact_gradient(scene(), q, g, work);
        (void)refresh_contact(scene(), g, work);
    }
    double energy(const VecX& q)
    {
        VecX g = VecX::Zero(10);
        return add_contact_gradient(scene(), q, g, work);
    }
    VecX gradient(const VecX& q)
    {
        VecX g = VecX::Zero(10);
        (void)add_contact_gradient(scene(), q, g, work);
        return g;
    }
};

struct Touch {
    int sample, obstacle;
    double depth;
};

/// Pins hold all of its vertices.
bool is_held(const ReducedSurface& surface, const ContactSample& sample)
{
    MatX U_T(surface.rank(), 3);
    sample_basis(surface, sample, U_T);
    return U_T.isZero(0.0);
}

} // namespace

TEST(ReducedContact, FindsWhatLookingAtAllSamplesFinds)
{
    Pressed body;
    Random random(1);
    std::size_t found = 0;
    for (int k = 0; k < 40; ++k) {
        // from near the start to so far that it must ask again
        const VecX q = (k % 2 == 0 ? 0.01 : 0.3) * random_vector(random, 10);
        body.begin(body.q_0);
        (void)body.energy(q);
        Points x;
        reconstruct(body.surface, q, x);
        std::vector<Touch> all;
        for (const int obstacle : {1, 2, 0}) // by key
            for (std::size_t s = 0; s < body.contact_surface->samples.size(); ++s) {
                const Obstacle& solid = body.obstacles[static_cast<std::size_t>(obstacle)];
                const ContactSample& sample = body.contact_surface->samples[s];
                const bool held = is_held(body.surface, sample);
                const double d =
                    signed_distance(*solid.shape, solid.pose_1.apply_inverse(sample.position(x))).distance;
                if (d < -1e-12 && !held) all.push_back({static_cast<int>(s), obstacle, -d});
            }
        const auto& contacts = body.work.contact.contacts;
        ASSERT_EQ(contacts.size(), all.size()) << k;
        for (std::size_t c = 0; c < all.size(); ++c) {
            EXPECT_EQ(body.work.names[static_cast<std::size_t>(contacts[c].sample)], all[c].sample);
            EXPECT_EQ(contacts[c].obstacle, all[c].obstacle);
            EXPECT_NEAR(contacts[c].depth, all[c].depth, 1e-12);
        }
        found += all.size();
    }
    EXPECT_GT(found, 1000u);
}

TEST(ReducedContact, GradientHasItsOrder)
{
    Pressed body;
    body.obstacles.pop_back(); // the normal of a field is a unit vector, its slope is not quite
    body.obstacles[1].friction = 0.3;
    Random random(2);
    const VecX q = 0.005 * random_vector(random, 10), d = random_vector(random, 10).normalized();
    body.begin(q);
    const VecX g = body.gradient(q);
    ASSERT_GT(body.work.contact.rubbing.size(), 5u);
    EXPECT_GT(g.norm(), 1.0);
    EXPECT_GT(
        taylor_order_of_scalar([&](const VecX& at) { return body.energy(at); }, g.dot(d), q, d, {1e-4, 1e-5}),
        1.9);
}

// Against the plane the distance is linear and Newton's matrix exact, sliding and sticking alike.
TEST(ReducedContact, StiffnessIsExactOnAPlane)
{
    Pressed body;
    body.obstacles = {body.obstacles[1]};
    Random random(3);
    for (const double friction : {0.02, 30.0}) {
        body.obstacles[0].friction = friction;
        const VecX q = 0.005 * random_vector(random, 10), d = random_vector(random, 10).normalized();
        body.begin(q);
        EXPECT_GT(body.gradient(q).norm(), 1.0);
        MatX H = MatX::Zero(10, 10);
        add_contact_stiffness(body.scene(), H, body.work);
        EXPECT_EQ(H, H.transpose());
        EXPECT_GT((H * d).norm(), 1.0);
        EXPECT_GT(taylor_order([&](const VecX& at) { return body.gradient(at); }, H * d, q, d, {1e-5, 1e-6}),
                  1.9)
            << friction;
    }
}

TEST(ReducedContact, RemembersFrictionByTheSamplesOfTheSurface)
{
    Pressed body;
    body.begin(body.q_0);
    (void)body.energy(body.q_0);
    FrictionState friction;
    const ContactReport report = finish_contact(body.scene(), body.work, friction);
    EXPECT_EQ(report.contacts, static_cast<int>(body.work.contact.contacts.size()));
    ASSERT_GT(friction.size(), 5u);
    for (std::size_t i = 0; i < friction.size(); ++i) {
        EXPECT_LT(friction.sample[i], static_cast<int>(body.contact_surface->samples.size()));
        if (i == 0) continue;
        EXPECT_LT(std::pair(friction.obstacle[i - 1], friction.sample[i - 1]),
                  std::pair(friction.obstacle[i], friction.sample[i]));
    }
    // the next step starts from the anchors: nothing has moved, so that nothing rubs
    body.friction = friction;
    for (Obstacle& obstacle : body.obstacles) obstacle.pose_0 = obstacle.pose_1;
    body.begin(body.q_0);
    FrictionState again;
    (void)body.energy(body.q_0);
    (void)finish_contact(body.scene(), body.work, again);
    ASSERT_EQ(again.sample, friction.sample);
    for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_LT((again.anchor[i] - friction.anchor[i]).norm(), 1e-12);
    Points points, forces;
    contact_forces(body.work, points, forces);
    EXPECT_EQ(points.cols(), report.contacts);
    EXPECT_NEAR(forces.colwise().norm().sum(), report.normal_force, 0.2 * report.normal_force);
}
