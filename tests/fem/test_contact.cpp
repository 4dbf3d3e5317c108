// Contact in the solvers: bodies on, under and between obstacles, and on themselves.
#include <cmath>

#include <gtest/gtest.h>

#include "contact_scene.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/count_mallocs.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double g = 9.81;
constexpr double degree = std::numbers::pi / 180.0;

/// The modulus of our default bodies: rho g L / E = 0.03.
double default_modulus(double density, double size)
{
    return density * g * size / 0.03;
}

/// A block on a plane that is tilted; we tilt gravity.
ContactWorld block_on_incline(double mu, double angle, double modulus)
{
    ContactWorld world(box_tets({3, 2, 3}, {0.3, 0.1, 0.3}), Corotational({modulus, 0.3}), 1000.0,
                       {.friction = mu});
    world.add(PlaneShape{}, {}, mu);
    world.gravity = g * Vec3(std::sin(angle), -std::cos(angle), 0.0);
    return world;
}

double slide(ContactWorld& world, double seconds)
{
    const Vec3 start = world.centre();
    const double h = 1.0 / 60.0;
    for (int k = 0; k < std::lround(seconds / h); ++k) {
        const SolveReport report = world.step(h);
        EXPECT_TRUE(report.converged()) << k << " " << to_string(report.status);
    }
    return (world.centre() - start).norm();
}

} // namespace

// Acceptance: one degree below atan(mu) it stays, one degree above it slides.
TEST(ContactIncline, BlockSticksBelowTheAngleOfFriction)
{
    const double mu = 0.5;
    ContactWorld stiff = block_on_incline(mu, std::atan(mu) - degree, 1e7);
    EXPECT_LT(slide(stiff, 2.0), 1e-3 * stiff.size());

    // a soft block leans first, then stays
    ContactWorld soft = block_on_incline(mu, std::atan(mu) - degree, default_modulus(1000.0, 0.3));
    EXPECT_LT(slide(soft, 1.0), 0.1 * soft.size());
    EXPECT_LT(slide(soft, 2.0), 1e-3 * soft.size());
}

TEST(ContactIncline, BlockSlidesAboveTheAngleOfFriction)
{
    const double mu = 0.5, angle = std::atan(mu) + degree;
    ContactWorld world = block_on_incline(mu, angle, 1e7);
    const double expected = 0.5 * g * (std::sin(angle) - mu * std::cos(angle)) * 4.0;
    EXPECT_NEAR(slide(world, 2.0), expected, 0.03 * expected); // backward Euler is 1/120 too far
    EXPECT_NEAR(world.state.v.row(0).mean(), expected, 0.03 * expected);
}

TEST(ContactIncline, FrictionIsThatOfBothSurfaces)
{
    const auto distance = [](double body, double obstacle) {
        ContactWorld world = block_on_incline(body, std::atan(0.5) + degree, 1e7);
        world.obstacles[0].friction = obstacle;
        return slide(world, 0.5);
    };
    EXPECT_LT(distance(1.0, 0.3), 1e-3); // sqrt(0.3) = 0.55
    EXPECT_GT(distance(0.0, 1.0), 0.4);  // smooth: g sin(27.6) t^2/2 = 0.57
    EXPECT_GT(distance(1.0, 0.0), 0.4);
}

TEST(ContactDrop, BallComesToRest)
{
    const double R = 0.5, E = default_modulus(1000.0, 1.0);
    ContactWorld world(ball_tets(6, R), Corotational({E, 0.4}), 1000.0);
    world.add(PlaneShape{});
    world.move({0.0, R + 0.2, 0.0});
    const double weight = g * world.model.vertex_mass.sum();
    ElasticWork elastic;
    const auto energy = [&] {
        return kinetic_energy(world.model, world.state) +
               elastic_energy(world.model, world.state.x, elastic) + weight * world.centre().y();
    };
    const double first = energy();
    double deepest = 0.0;
    SolveReport report;
    for (int k = 0; k < 120; ++k) {
        report = world.step(1.0 / 60.0);
        ASSERT_TRUE(report.converged()) << k << " " << to_string(report.status);
        EXPECT_LE(energy(), first * (1.0 + 1e-6)) << k;
        EXPECT_LE(report.iterations, 30) << k;
        deepest = std::max(deepest, report.contact.penetration);
    }
    EXPECT_NEAR(report.contact.normal_force, weight, 0.02 * weight);
    EXPECT_LT(report.contact.penetration, 1e-3 * 2.0 * R);
    EXPECT_LT(deepest, 2e-3 * 2.0 * R);
    EXPECT_GT(report.contact.contacts, 3);
    EXPECT_LT(kinetic_energy(world.model, world.state), 1e-3 * weight * 0.2);

    Points points, forces;
    contact_forces(world.contact, world.state.x, world.work.contact, points, forces);
    ASSERT_EQ(points.cols(), report.contact.contacts);
    EXPECT_NEAR(forces.row(1).sum(), report.contact.normal_force, 1e-9 * weight);
    EXPECT_LT(points.row(1).maxCoeff(), 0.0);
}

TEST(ContactDrop, EveryShapeStopsABody)
{
    Progress silent;
    const DistanceField field(SurfaceQuery(make_torus(0.6, 0.3, 0.05)), {.cell = 0.03}, silent);
    const std::pair<RigidShape, double> shapes[] = {
        {PlaneShape{}, 0.0},           {BoxShape{{2.0, 0.5, 2.0}}, 0.25}, {SphereShape{3.0}, 3.0},
        {CapsuleShape{1.0, 2.0}, 2.0}, {CylinderShape{0.8, 1.0}, 0.5},    {FieldShape{field}, 0.3}};
    for (const auto& [shape, top] : shapes) {
        ContactWorld world(box_tets({4, 2, 4}, {0.6, 0.3, 0.6}), Corotational({1e5, 0.4}), 1000.0,
                           {.friction = 1.0});
        world.add(shape, {Quat::Identity(), {0.3, -top, 0.3}}, 1.0);
        world.move({0.0, 0.05, 0.0});
        double deepest = 0.0;
        for (int k = 0; k < 60; ++k) {
            const SolveReport report = world.step(1.0 / 60.0);
            ASSERT_TRUE(report.converged()) << shape.index() << " " << k << " " << to_string(report.status);
            deepest = std::max(deepest, report.contact.penetration);
        }
        EXPECT_GT(deepest, 0.0) << shape.index();
        EXPECT_LT(deepest, 5e-3) << shape.index();
        EXPECT_GT(world.centre().y(), -0.1) << shape.index(); // free fall would take it 5 m down
    }
}

// A conveyor starts under a resting block: the block slides at first, then rides along.
TEST(ContactMotion, ConveyorDragsABlock)
{
    const double mu = 0.4, speed = 0.5, h = 1.0 / 60.0;
    ContactWorld world(box_tets({3, 2, 3}, {0.3, 0.1, 0.3}), Corotational({1e6, 0.3}), 1000.0,
                       {.friction = mu});
    world.add(BoxShape{{20.0, 1.0, 2.0}}, {Quat::Identity(), {0.0, -0.5, 0.0}}, mu);
    for (int k = 0; k < 60; ++k) {
        Obstacle& belt = world.obstacles[0];
        belt.pose_0 = belt.pose_1;
        belt.pose_1.translation.x() += speed * h;
        ASSERT_TRUE(world.step(h).converged()) << k;
        const double v = world.state.v.row(0).mean(), sliding = mu * g * (k + 1) * h;
        if (sliding < 0.9 * speed) { // a = mu g
            EXPECT_NEAR(v, sliding, 0.1 * speed) << k;
        }
    }
    EXPECT_NEAR(world.state.v.row(0).mean(), speed, 0.01 * speed);
}

TEST(ContactMotion, RisingTurningFloorCarriesABody)
{
    const double h = 1.0 / 60.0, turn = 0.5 * h, rise = 0.2 * h;
    ContactWorld world(box_tets({2, 2, 2}, {0.2, 0.2, 0.2}), Corotational({1e6, 0.3}), 1000.0,
                       {.friction = 1.0});
    world.add(PlaneShape{}, {}, 1.0);
    world.move({-0.1, 0.0, -0.1});
    for (int k = 0; k < 60; ++k) {
        Obstacle& floor = world.obstacles[0];
        floor.pose_0 = floor.pose_1;
        floor.pose_1.translation.y() += rise;
        floor.pose_1.rotation = Quat(Eigen::AngleAxisd((k + 1) * turn, Vec3::UnitY()));
        ASSERT_TRUE(world.step(h).converged()) << k;
    }
    const Vec3 edge = world.state.x.col(2) - world.state.x.col(0); // along x at rest
    EXPECT_NEAR(std::atan2(-edge.z(), edge.x()), 60 * turn, 0.02);
    EXPECT_NEAR(world.centre().y(), 60 * rise + 0.1, 2e-3);
}

TEST(ContactMotion, NewmarkLandsToo)
{
    ContactWorld world(box_tets({2, 2, 2}, {0.2, 0.2, 0.2}), Corotational({1e6, 0.3}), 1000.0);
    world.add(PlaneShape{});
    world.move({0.0, 0.02, 0.0});
    const Loading loading = world.loading();
    ASSERT_TRUE(set_acceleration(world.model, loading, world.state, world.work).converged());
    EXPECT_NEAR(world.state.a.row(1).mean(), -g, 1e-6);
    for (int k = 0; k < 120; ++k)
        ASSERT_TRUE(step_newmark(world.model, loading, 1.0 / 120.0, {.beta = 0.3025, .gamma = 0.6},
                                 world.state, world.work)
                        .converged())
            << k;
    EXPECT_NEAR(world.centre().y(), 0.1, 5e-3);
    // at rest what presses balances the weight
    ASSERT_TRUE(set_acceleration(world.model, loading, world.state, world.work).converged());
    EXPECT_LT((world.state.a * world.model.vertex_mass).norm(), 0.05 * g * world.model.vertex_mass.sum());
}

// Without pins contact alone holds the body: the matrix is singular at first.
TEST(ContactStatic, BallLiesOnAPlane)
{
    const double R = 0.5, E = default_modulus(1000.0, 1.0);
    for (const double friction : {0.0, 0.5}) {
        ContactWorld world(ball_tets(6, R), Corotational({E, 0.4}), 1000.0, {.friction = friction});
        world.add(PlaneShape{});
        world.move({0.0, R + 0.01, 0.0});
        const SolveReport report = solve_static(world.model, world.loading(), {}, world.state, world.work);
        ASSERT_TRUE(report.converged()) << to_string(report.status);
        const double weight = g * world.model.vertex_mass.sum();
        EXPECT_NEAR(report.contact.normal_force, weight, 1e-3 * weight);
        EXPECT_LT(world.centre().y(), R - 0.02); // it sags
        EXPECT_GT(world.centre().y(), R - 0.1);
        EXPECT_LT(report.contact.penetration, 1.5e-3 * 2.0 * R);
    }
}

TEST(ContactStatic, NeedsPinsOrObstacles)
{
    ContactWorld world(box_tets({1, 1, 1}, {1.0, 1.0, 1.0}), Corotational({1e5, 0.3}), 1000.0);
    EXPECT_THROW((void)solve_static(world.model, world.loading(), {}, world.state, world.work), InputError);
}

TEST(ContactState, FailureAndResumptionKeepFriction)
{
    ContactWorld world = block_on_incline(0.5, std::atan(0.5) - degree, 1e6);
    (void)slide(world, 0.2);
    ASSERT_GT(world.state.friction.size(), 5u);
    const FrictionState before = world.state.friction;
    EXPECT_FALSE(world.step(1.0 / 60.0, {.max_iterations = 1, .decrement = 1e-30}).converged());
    EXPECT_TRUE(world.state.friction == before);

    // a copy of the state, with fresh buffers, goes on as if nothing had happened
    FemState resumed = world.state;
    FemWork fresh;
    for (int k = 0; k < 5; ++k) {
        ASSERT_TRUE(world.step(1.0 / 60.0).converged());
        ASSERT_TRUE(
            step_backward_euler(world.model, world.loading(), 1.0 / 60.0, {}, resumed, fresh).converged());
    }
    EXPECT_TRUE(resumed.x == world.state.x);
    EXPECT_TRUE(resumed.friction == world.state.friction);

    // anchors go with the contacts
    world.obstacles.clear();
    ASSERT_TRUE(world.step(1.0 / 60.0).converged());
    EXPECT_EQ(world.state.friction.size(), 0u);
}

TEST(ContactState, SameBitsForAnyNumberOfThreads)
{
    const auto run = [](int threads) {
        const ThreadLimit limit(threads);
        ContactWorld world(ball_tets(5, 0.5), Corotational({1e5, 0.3}), 1000.0, {.self = SelfContact::On});
        world.add(BoxShape{{1.0, 1.0, 1.0}}, {Quat(Eigen::AngleAxisd(0.7, Vec3::UnitZ())), {0.3, -1.2, 0.0}});
        world.add(PlaneShape{}, {Quat::Identity(), {0.0, -0.55, 0.0}});
        for (int k = 0; k < 12; ++k) EXPECT_TRUE(world.step(1.0 / 60.0).converged());
        EXPECT_GT(world.state.friction.size(), 3u);
        return world.state;
    };
    const FemState one = run(1);
    for (const int threads : {2, 4}) {
        const FemState many = run(threads);
        EXPECT_TRUE(many.x == one.x && many.v == one.v && many.friction == one.friction) << threads;
    }
}

// Through conjugate gradients, so that no factorisation allocates either.
TEST(ContactState, PreparedStepAllocatesNothing)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "a sanitizer has replaced malloc";
    const ThreadLimit limit(1);
    ContactWorld world = block_on_incline(0.5, std::atan(0.5) + degree, 1e5);
    const Loading loading = world.loading();
    const NewtonOptions newton{.linear_solver = LinearSolver::ConjugateGradient};
    const auto step = [&] {
        return step_backward_euler(world.model, loading, 0.01, newton, world.state, world.work).converged();
    };
    EXPECT_TRUE(step() && step() && step());
    bool converged = true;
    long count = 0;
    {
        const MallocCounter counter;
        for (int k = 0; k < 5; ++k) converged = step() && converged;
        count = counter.count();
    }
    EXPECT_TRUE(converged);
    EXPECT_EQ(count, 0);
    EXPECT_GT(world.state.friction.size(), 5u);
}

namespace {

/// A bar bent to a U, open to the left, whose outer end rows are led together until the arms must press on each other.
struct ClosingU {
    ContactWorld world;
    std::vector<int> lower, upper;
    double deepest = 0.0;

    explicit ClosingU(SelfContact self) : world(bent(), Corotational({1e5, 0.3}), 1000.0, {.self = self})
    {
        world.gravity.setZero();
        const Points& X = world.model.rest;
        const double end = X.row(0).minCoeff() + 1e-9, out = X.row(1).maxCoeff() - 1e-9;
        for (Index i = 0; i < X.cols(); ++i)
            if (X(0, i) < end && std::abs(X(1, i)) > out)
                (X(1, i) < 0.0 ? lower : upper).push_back(static_cast<int>(i));
    }
    static TetMesh bent()
    {
        TetMesh mesh = box_tets({16, 3, 3}, {1.6, 0.15, 0.3});
        const double radius = 0.25, half = 0.5 * std::numbers::pi * radius;
        for (Index i = 0; i < mesh.vertex_count(); ++i) {
            const double s = mesh.vertices(0, i) - 0.8, t = 0.075 - mesh.vertices(1, i),
                         z = mesh.vertices(2, i);
            const double angle = std::clamp(s, -half, half) / radius;
            mesh.vertices.col(i) = Vec3((radius + t) * std::cos(angle) - std::max(0.0, std::abs(s) - half),
                                        (radius + t) * std::sin(angle), z);
        }
        return mesh;
    }
    /// Leads the ends together by `way` each, over a second.
    void close(double way)
    {
        const ContactModel probe = make_contact_model(world.model, {.self = SelfContact::On});
        std::vector<int> both = lower;
        both.insert(both.end(), upper.begin(), upper.end());
        SelfDetectionWork detection;
        std::vector<SelfPair> pairs;
        for (int k = 1; k <= 30; ++k) {
            Points target = world.model.rest;
            for (const int v : lower) target(1, v) += way * k / 30.0;
            for (const int v : upper) target(1, v) -= way * k / 30.0;
            world.pins = pinned_where_they_are(target, both);
            const SolveReport report = world.step(1.0 / 30.0);
            ASSERT_TRUE(report.converged()) << k << " " << to_string(report.status);
            detect_self_contact(*probe.self, probe.stiffness, world.state.x, pairs, detection);
            for (const SelfPair& pair : pairs) deepest = std::max(deepest, pair.offset(world.state.x).norm());
        }
    }
};

} // namespace

TEST(ContactSelf, ArmsStopEachOther)
{
    ClosingU with(SelfContact::On), without(SelfContact::Off);
    ASSERT_EQ(with.lower.size(), 4u);
    ASSERT_EQ(with.upper.size(), 4u);
    with.close(0.22); // the outer faces are 0.65 apart, the arms 0.3 thick together
    without.close(0.22);
    EXPECT_LT(with.deepest, 0.006);
    EXPECT_GT(without.deepest, 0.02); // to the nearest side, of an arm that is 0.15 thick
}
