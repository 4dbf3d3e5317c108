#include "lithe/contact/contact_potential.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/meshes.hpp"
#include "support/random_matrices.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

VecX flat(const Points& x)
{
    return x.reshaped();
}
Points points(const VecX& x)
{
    return Eigen::Map<const Points>(x.data(), 3, x.size() / 3);
}

/// A cube, a little crooked, pressed into a ball that turns and into a plane.
struct Pressed {
    TetMesh mesh = unit_cube_tets(3);
    ContactModel model = make_contact_model(mesh, {.stiffness = 1e5, .friction = 0.6});
    RigidShape ball = SphereShape{2.0}, plane = PlaneShape{};
    std::vector<Obstacle> obstacles;
    FrictionState friction;
    Points x_0, x;
    std::vector<unsigned char> pinned;
    ContactWork work;

    Pressed()
    {
        Random random(5);
        x_0 = mesh.vertices + 0.01 * Points(random_matrix(random, 3, mesh.vertex_count()));
        x = x_0 + 0.01 * Points(random_matrix(random, 3, mesh.vertex_count()));
        pinned.assign(static_cast<std::size_t>(mesh.vertex_count()), 0);
        const RigidPose start{Quat::Identity(), {0.5, 0.5, 2.9}};
        const RigidPose end{Quat(Eigen::AngleAxisd(0.02, Vec3::UnitX())), {0.5, 0.5, 2.89}};
        obstacles = {{.key = 9, .shape = &ball, .pose_0 = start, .pose_1 = end, .friction = 0.05},
                     {.key = 4,
                      .shape = &plane,
                      .pose_0 = {Quat::Identity(), {0.0, 0.1, 0.0}},
                      .pose_1 = {Quat::Identity(), {0.0, 0.1, 0.0}},
                      .friction = 0.0}};
    }
    ContactScene scene() const { return {model, obstacles, friction}; }
    void begin()
    {
        begin_contact(scene(), x_0, pinned, work);
        Points g = Points::Zero(3, x.cols());
        (void)add_contact_gradient(scene(), x, g, work);
        (void)refresh_contact(scene(), x, g, work);
    }
    double energy(const VecX& at)
    {
        Points g = Points::Zero(3, x.cols());
        return add_contact_gradient(scene(), points(at), g, work);
    }
    VecX gradient(const VecX& at)
    {
        Points g = Points::Zero(3, x.cols());
        (void)add_contact_gradient(scene(), points(at), g, work);
        return flat(g);
    }
    MatX hessian()
    {
        MatX H = MatX::Zero(x.size(), x.size());
        set_contact_stiffness(scene(), x, work);
        for (const ContactStiffness& part : work.stiffness)
            for (std::size_t a = 0; a < static_cast<std::size_t>(part.count); ++a)
                for (std::size_t b = 0; b < static_cast<std::size_t>(part.count); ++b)
                    H.block<3, 3>(3 * part.vertices[a], 3 * part.vertices[b]) +=
                        part.weights[a] * part.weights[b] * part.H;
        return H;
    }
};

} // namespace

TEST(ContactPotential, GradientHasItsOrder)
{
    Pressed body;
    body.begin();
    Random random(1);
    const VecX d = random_vector(random, body.x.size()).normalized();
    const VecX g = body.gradient(flat(body.x));
    ASSERT_GT(body.work.rubbing.size(), 5u);
    ASSERT_GT(body.work.contacts.size(), body.work.rubbing.size()); // the plane is smooth
    EXPECT_GT(g.norm(), 1.0);
    EXPECT_GT(taylor_order_of_scalar([&](const VecX& at) { return body.energy(at); }, g.dot(d), flat(body.x),
                                     d, {1e-4, 1e-5}),
              1.9);
}

// Against the plane the distance is linear and Newton's matrix exact, sliding and sticking alike; the ball's curvature is left
// out on purpose.
TEST(ContactPotential, HessianIsExactOnAPlane)
{
    Pressed body;
    body.obstacles.erase(body.obstacles.begin());
    for (const double friction : {0.02, 30.0}) { // slides, sticks
        body.obstacles[0].friction = friction;
        body.begin();
        Random random(2);
        const VecX d = random_vector(random, body.x.size()).normalized();
        const VecX g =
            body.gradient(flat(body.x)); // before hessian: it looks at the contacts of the last call
        EXPECT_GT(g.norm(), 1.0);
        const VecX Hd = body.hessian() * d;
        EXPECT_GT(Hd.norm(), 1.0);
        const auto gradient = [&](const VecX& at) { return body.gradient(at); };
        EXPECT_GT(taylor_order(gradient, Hd, flat(body.x), d, {1e-4, 1e-5}), 1.9) << friction;
    }
}

TEST(ContactPotential, HessianIsSymmetricAndPositive)
{
    Pressed body;
    body.begin();
    (void)body.gradient(flat(body.x));
    const MatX H = body.hessian();
    EXPECT_LT((H - H.transpose()).cwiseAbs().maxCoeff(), 1e-12 * H.cwiseAbs().maxCoeff());
    const VecX eigenvalues = Eigen::SelfAdjointEigenSolver<MatX>(H).eigenvalues();
    EXPECT_GT(eigenvalues.maxCoeff(), 100.0);
    EXPECT_GT(eigenvalues.minCoeff(), -1e-10 * eigenvalues.maxCoeff());
}

// Coulomb: at the end every anchor is so far that its spring pulls with at most mu N.
TEST(ContactPotential, AnchorsAreDraggedToTheLimit)
{
    Pressed body;
    body.begin();
    (void)body.gradient(flat(body.x));
    FrictionState next;
    const ContactReport report = finish_contact(body.scene(), body.x, body.work, next);
    EXPECT_EQ(static_cast<std::size_t>(report.contacts), body.work.contacts.size());
    EXPECT_GT(report.penetration, 0.01);
    ASSERT_EQ(next.size(), body.work.rubbing.size());
    int slid = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
        const FrictionContact& contact = body.work.rubbing[i];
        EXPECT_EQ(next.sample[i], contact.sample);
        EXPECT_EQ(next.obstacle[i], 9u);
        const Vec3 p = body.model.samples[static_cast<std::size_t>(contact.sample)].position(body.x);
        const double pull = contact.stiffness * (p - body.obstacles[0].pose_1.apply(next.anchor[i])).norm();
        EXPECT_LE(pull, contact.limit * (1.0 + 1e-9));
        slid += pull > contact.limit * (1.0 - 1e-9);
    }
    EXPECT_GT(slid, 0);
    // the forces are those of the gradient
    Points at, force;
    contact_forces(body.model, body.x, body.work, at, force);
    EXPECT_EQ(at.cols(), report.contacts);
    const VecX g = body.gradient(flat(body.x));
    EXPECT_LT((points(g).rowwise().sum() + force.rowwise().sum()).norm(), 1e-9 * force.norm());
}

TEST(ContactPotential, PinnedSamplesFeelNothing)
{
    Pressed body;
    std::fill(body.pinned.begin(), body.pinned.end(), 1);
    body.begin();
    EXPECT_EQ(body.gradient(flat(body.x)).norm(), 0.0);
    EXPECT_TRUE(body.work.contacts.empty());
}

TEST(ContactPotential, DoesNotDependOnTheOrderOfObstacles)
{
    Pressed a, b;
    std::swap(b.obstacles[0], b.obstacles[1]);
    a.begin();
    b.begin();
    EXPECT_TRUE(a.gradient(flat(a.x)) == b.gradient(flat(b.x)));
}

TEST(ContactPotential, SameBitsForAnyNumberOfThreads)
{
    const auto run = [](int threads) {
        const ThreadLimit limit(threads);
        Pressed body;
        body.begin();
        return body.gradient(flat(body.x));
    };
    const VecX one = run(1);
    EXPECT_TRUE(run(2) == one);
    EXPECT_TRUE(run(4) == one);
}

TEST(ContactPotential, RefusesNonsense)
{
    Pressed body;
    const auto begin = [&] { begin_contact(body.scene(), body.x_0, body.pinned, body.work); };
    EXPECT_NO_THROW(begin());
    body.obstacles[0].key = body.obstacles[1].key;
    EXPECT_THROW(begin(), InputError);
    body.obstacles[0].key = 1;
    body.obstacles[0].friction = -1.0;
    EXPECT_THROW(begin(), InputError);
    body.obstacles[0].friction = 1.0;
    body.obstacles[0].shape = nullptr;
    EXPECT_THROW(begin(), InputError);
}

/// The ball of Pressed as a surface that is moved vertex by vertex.
struct PressedBySurface : Pressed {
    MovingSurface surface{make_sphere(2.0, 0.05)};

    PressedBySurface()
    {
        Obstacle& ball_obstacle = obstacles[0];
        for (const StepEnd end : {StepEnd::Start, StepEnd::End}) {
            const RigidPose& pose = ball_obstacle.pose(end);
            const Points X = make_sphere(2.0, 0.05).vertices;
            surface.place(end, (pose.rotation.toRotationMatrix() * X).colwise() + pose.translation);
        }
        ball_obstacle.shape = nullptr;
        ball_obstacle.surface = &surface;
        ball_obstacle.pose_0 = ball_obstacle.pose_1 = {};
    }
};

// The skin of a character pushes and drags like the rigid solid that it is when it moves rigidly.
TEST(ContactPotential, ASurfaceThatMovesRigidlyIsAnObstacleLikeTheRigidOne)
{
    Pressed exact;
    PressedBySurface meshed;
    exact.begin();
    meshed.begin();
    const VecX g = exact.gradient(flat(exact.x)), g_meshed = meshed.gradient(flat(meshed.x));
    ASSERT_GT(exact.work.rubbing.size(), 5u);
    EXPECT_LT((g_meshed - g).norm(), 0.01 * g.norm()); // the facets lie up to 2e-4 inside the ball
    FrictionState friction, friction_meshed;
    (void)finish_contact(exact.scene(), exact.x, exact.work, friction);
    (void)finish_contact(meshed.scene(), meshed.x, meshed.work, friction_meshed);
    ASSERT_EQ(friction.anchor.size(), friction_meshed.anchor.size());
    const Obstacle& solid = exact.obstacles[0];
    for (std::size_t i = 0; i < friction.anchor.size(); ++i) {
        EXPECT_EQ(friction.sample[i], friction_meshed.sample[i]);
        // the rigid anchor may lie inside, the other is on the surface above it
        const Vec3 offset = place_of(meshed.obstacles[0], StepEnd::End, friction_meshed.anchor[i]) -
                            place_of(solid, StepEnd::End, friction.anchor[i]);
        const Vec3 n =
            signed_distance(solid, StepEnd::End, place_of(solid, StepEnd::End, friction.anchor[i])).normal;
        // 0.15 deep at most, under facets that are turned from the ball by up to 0.025
        EXPECT_LT((offset - n.dot(offset) * n).norm(), 0.15 * 0.025);
    }
}

TEST(ContactPotential, GradientAgainstASurfaceHasItsOrder)
{
    PressedBySurface body;
    body.begin();
    Random random(1);
    const VecX d = random_vector(random, body.x.size()).normalized();
    const VecX g = body.gradient(flat(body.x));
    EXPECT_GT(taylor_order_of_scalar([&](const VecX& at) { return body.energy(at); }, g.dot(d), flat(body.x),
                                     d, {1e-4, 1e-5}),
              1.9);
}
