// Many bodies that fly, collide and rest: what has to hold over a whole run.
#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/world.hpp"
#include "support/bodies.hpp"
#include "support/framed_bodies.hpp"

namespace lithe {
namespace {

using test::framed;
using test::free_box;
using test::free_model;

const Vec3 still = Vec3::Zero();
const ContactStageOptions exact{.impulses = {.tolerance = 1e-9, .max_sweeps = 1000}};

const FramedState& state_of(const World& world, const std::string& name)
{
    return dynamic_cast<const FramedBody&>(world.body(*world.find(name))).motion().state();
}

std::string numbered(const char* name, int i)
{
    return name + std::to_string(i);
}

double total(const Mechanics& mechanics)
{
    return mechanics.kinetic + mechanics.elastic + mechanics.potential;
}

/// What a run does to energy and momenta.
struct Audit {
    explicit Audit(World& world) : first(world.mechanics()), energy(total(first)) {}

    void step(World& world, double h)
    {
        const StepReport report = world.step(h);
        ASSERT_TRUE(report.done) << report.trouble;
        contacts += report.contacts;
        parted += report.parting_angular_momentum;
        const Mechanics now = world.mechanics();
        largest_rise = std::max(largest_rise, total(now) - energy);
        energy = total(now);
        highest = std::max(highest, energy);
        linear_scale = std::max(linear_scale, now.linear_scale);
        angular_scale = std::max(angular_scale, now.angular_scale);
        linear_drift = std::max(linear_drift, (now.linear_momentum - first.linear_momentum).norm());
        angular_drift =
            std::max(angular_drift, (now.angular_momentum - first.angular_momentum - parted).norm());
    }

    Mechanics first;
    double energy, largest_rise = 0.0, highest = 0.0;
    double linear_scale = 0.0, angular_scale = 0.0, linear_drift = 0.0, angular_drift = 0.0;
    Vec3 parted = still;
    int contacts = 0;
};

// ---- rest

struct Tower {
    Index rank;
    double seconds;
};

class FramedTower : public testing::TestWithParam<Tower> {};

/// After a second, in which it settles.
TEST_P(FramedTower, OfTenBoxesRestsWithoutDrift)
{
    World world;
    world.add(test::make_ground());
    const auto box = free_box({0.4, 0.2, 0.3}, {4, 2, 3}, 2e6, GetParam().rank);
    const int count = 10;
    for (int i = 0; i < count; ++i)
        world.add(framed(numbered("box", i), box, Vec3(0.01 * (i % 2), 0.1 + 0.2 * i, 0.005 * (i % 3))));
    const double h = 1.0 / 60.0;
    std::vector<Vec3> settled(count, still);
    double drift = 0.0;
    for (int k = 0; k < static_cast<int>(GetParam().seconds / h); ++k) {
        ASSERT_TRUE(world.step(h).done);
        for (int i = 0; i < count; ++i) {
            const Vec3& at = state_of(world, numbered("box", i)).frame.translation;
            if (k == 60) settled[static_cast<std::size_t>(i)] = at;
            if (k > 60) drift = std::max(drift, (at - settled[static_cast<std::size_t>(i)]).norm());
        }
    }
    EXPECT_LT(drift, 1e-3);
    EXPECT_LT(world.mechanics().kinetic, 1e-3);
}
INSTANTIATE_TEST_SUITE_P(, FramedTower, testing::Values(Tower{0, 20.0}, Tower{8, 10.0}),
                         [](const auto& about) { return about.param.rank == 0 ? "Rigid" : "Soft"; });

TEST(FramedWorld, ABoxRestsOnOneOfAMillionTimesItsMass)
{
    const Vec3 size(0.2, 0.2, 0.2);
    for (const Index rank : {0, 6}) {
        World world({.contact = exact});
        world.add(test::make_ground());
        const auto box = [&](double density) { return free_box(size, {2, 2, 2}, 1e10, rank, {}, density); };
        world.add(framed("lower", box(1e5), Vec3(0, 0.1, 0)));
        world.add(framed("upper", box(0.1), Vec3(0.02, 0.35, 0.01)));
        Audit audit(world);
        for (int k = 0; k < 240; ++k) audit.step(world, 1.0 / 120.0);
        EXPECT_NEAR(state_of(world, "lower").frame.translation[1], 0.1, 1e-3);
        EXPECT_NEAR(state_of(world, "upper").frame.translation[1], 0.3, 1e-3);
        EXPECT_LT(audit.largest_rise, 1e-6 * total(audit.first));
    }
}

/// The other way round, a sweep passes on no more than the weight of the light one: so it has to leap.
TEST(FramedWorld, ABoxRestsOnOneOfAMillionthOfItsMass)
{
    for (const double ratio : {100.0, 1e4, 1e6}) {
        World world;
        world.add(test::make_ground());
        const auto box = [](double density) {
            return free_box({0.2, 0.2, 0.2}, {2, 2, 2}, 1e10, 0, {}, density);
        };
        world.add(framed("lower", box(1.0), Vec3(0, 0.1, 0)));
        world.add(framed("upper", box(ratio), Vec3(0.02, 0.3, 0.01)));
        Audit audit(world);
        for (int k = 0; k < 240; ++k) audit.step(world, 1.0 / 120.0);
        EXPECT_LT((state_of(world, "lower").frame.translation - Vec3(0, 0.1, 0)).norm(), 1e-3) << ratio;
        EXPECT_LT((state_of(world, "upper").frame.translation - Vec3(0.02, 0.3, 0.01)).norm(), 1e-3) << ratio;
        EXPECT_LT(audit.highest, (1.0 + 1e-5) * total(audit.first)) << ratio;
    }
}

/// Edges on the far sides of bricks that touch are no business of each other.
TEST(FramedWorld, BricksThatTouchDoNotOverlap)
{
    for (const Index rank : {0, 10}) {
        World world;
        world.add(test::make_ground());
        const auto brick = free_box({0.4, 0.2, 0.2}, {4, 2, 2}, 2e6, rank);
        for (int i = 0; i < 9; ++i) {
            const int row = i / 3;
            world.add(framed(numbered("brick", i), brick,
                             Vec3(0.402 * (i % 3) + 0.2 * (row % 2), 0.1005 + 0.2005 * row, 0)));
        }
        double deepest = 0.0;
        for (int k = 0; k < 40; ++k) deepest = std::max(deepest, world.step(1.0 / 120.0).penetration);
        EXPECT_LT(deepest, 5e-4);
    }
}

// ---- impacts

/// A cube of tets drawn to a ball: the vertices of every shell go out to a sphere.
TetMesh ball_tets(double radius, int cells)
{
    TetMesh mesh = test::box_tets(Eigen::Vector3i::Constant(cells), Vec3::Constant(2.0));
    mesh.vertices.colwise() -= Vec3::Ones();
    for (auto x : mesh.vertices.colwise())
        if (!x.isZero(1e-12)) x *= radius * x.lpNorm<Eigen::Infinity>() / x.norm();
    return mesh;
}

struct Cradle {
    double young;
    FramedScheme scheme;
};

class FramedCradle : public testing::TestWithParam<Cradle> {};

/// Of balls whose vibrations a step does not resolve. Softer ones keep more of the energy as vibrations than a cradle may
/// lose: that is how they are.
TEST_P(FramedCradle, HandsTheSpeedOn)
{
    const double radius = 0.05, gap = 1e-3, speed = 1.0, h = 1e-4;
    const auto ball = free_model(ball_tets(radius, 4), GetParam().young, 8, {});
    ASSERT_GT(h * ball->motion.lowest_frequency, 1.0);
    World world({.gravity = still, .contact = exact});
    const int count = 5;
    for (int i = 0; i < count; ++i)
        world.add(framed(numbered("ball", i), ball, Vec3((2.0 * radius + gap) * i, 0, 0),
                         {.velocity = Vec3(i == 0 ? speed : 0.0, 0, 0),
                          .motion = {.scheme = GetParam().scheme},
                          .law = {.restitution = 1.0}}));
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(world.step(h).done);
    const auto velocity = [&](int i) { return state_of(world, numbered("ball", i)).v; };
    EXPECT_GE(velocity(count - 1)[0], 0.9 * speed);
    for (int i = 0; i + 1 < count; ++i) EXPECT_LT(velocity(i).norm(), 0.05 * speed);
}
INSTANTIATE_TEST_SUITE_P(, FramedCradle,
                         testing::Values(Cradle{1e8, FramedScheme::Theta}, Cradle{1e9, FramedScheme::Theta},
                                         Cradle{1e10, FramedScheme::Theta},
                                         Cradle{1e8, FramedScheme::BackwardEuler},
                                         Cradle{1e10, FramedScheme::BackwardEuler}));

/// The tets of a box from -0.6 to 0.6 m, less those from -0.5 to 0.5.
TetMesh shell_tets()
{
    TetMesh mesh = test::box_tets({3, 3, 3}, Vec3::Constant(3.0));
    const std::array place = {-0.6, -0.5, 0.5, 0.6};
    std::vector<Eigen::Vector4i> kept;
    for (const auto tet : mesh.tets.colwise()) {
        const Vec3 middle = mesh.vertices(Eigen::all, tet).rowwise().mean();
        if ((middle.array() < 1.0).any() || (middle.array() > 2.0).any()) kept.push_back(tet);
    }
    mesh.tets.resize(4, static_cast<Index>(kept.size()));
    for (std::size_t i = 0; i < kept.size(); ++i) mesh.tets.col(static_cast<Index>(i)) = kept[i];
    for (double& x : mesh.vertices.reshaped()) x = place[static_cast<std::size_t>(std::lround(x))];
    return mesh;
}

/// Bodies in a closed shell that flies freely itself, two of them jointed, the centre of mass of all at rest.
World closed_shell(const ContactLaw& law)
{
    World world({.gravity = still, .contact = exact});
    const auto soft = free_box({0.3, 0.2, 0.2}, {2, 1, 1}, 1e6, 6),
               rigid = free_box({0.2, 0.2, 0.25}, {1, 1, 1}, 1e6, 0),
               shell = free_model(shell_tets(), 1e6, 0);
    struct Way {
        Vec3 at, velocity, angular_velocity;
    };
    const Way ways[] = {{{-0.25, -0.25, -0.2}, {1.5, 0.3, -0.4}, {2, -1, 3}},
                        {{0.25, -0.2, 0.2}, {-1.0, 1.2, 0.5}, {-3, 1, 1}},
                        {{-0.2, 0.25, 0.25}, {0.2, -1.4, 0.8}, {1, 4, -2}},
                        {{0.22, 0.25, -0.25}, {-0.6, 0.4, -1.3}, {0, -2, 2}}};
    Vec3 P = still;
    std::vector<BodyId> bodies;
    for (int i = 0; i < 4; ++i) {
        const auto& model = i < 2 ? soft : rigid;
        const Way& way = ways[i];
        bodies.push_back(world.add(
            framed(numbered("body", i), model, way.at,
                   {.velocity = way.velocity, .angular_velocity = way.angular_velocity, .law = law})));
        P += model->motion.tensors.mass * way.velocity;
    }
    (void)world.add_joint(bodies[2], bodies[3], {.place = 0.5 * (ways[2].at + ways[3].at)});
    world.add(framed("shell", shell, still, {.velocity = -P / shell->motion.tensors.mass, .law = law}));
    return world;
}

TEST(FramedWorld, BodiesInAFreeShellKeepAllMomentum)
{
    World world = closed_shell({.friction = 0.05, .restitution = 1.0});
    Audit audit(world);
    for (int k = 0; k < 100000; ++k) audit.step(world, 1.0 / 240.0);
    EXPECT_GT(audit.contacts, 10000);
    EXPECT_LT(audit.linear_drift, 1e-10 * audit.linear_scale);
    EXPECT_LT(audit.angular_drift, 1e-10 * audit.angular_scale);
}

/// Joints keep the energy of a turning pair to the third order of the step only, up and down: 1.4e-6 at twice the step.
TEST(FramedWorld, BodiesInAFreeShellOnlyLoseEnergy)
{
    World world = closed_shell({.friction = 0.3});
    Audit audit(world);
    for (int k = 0; k < 4000; ++k) audit.step(world, 1.0 / 480.0);
    EXPECT_GT(audit.contacts, 1000);
    EXPECT_LT(audit.largest_rise, 1e-6 * total(audit.first));
    EXPECT_LT(audit.highest, (1.0 + 1e-3) * total(audit.first));
}

/// Soft and rigid boxes that fall on a heap.
World heap(const ContactStageOptions& contact)
{
    World world({.contact = contact});
    world.add(test::make_ground());
    const auto soft = free_box({0.3, 0.2, 0.2}, {3, 2, 2}, 5e5, 8),
               rigid = free_box({0.2, 0.2, 0.25}, {2, 2, 2}, 1e6, 0);
    for (int i = 0; i < 8; ++i) {
        FramedBodyOptions options{.angular_velocity = Vec3(0.3 * i, 0.2, -0.1 * i)};
        options.placement.rotation = Quat(Eigen::AngleAxisd(0.4 * i, Vec3(1, 0.5 * i, -0.3).normalized()));
        world.add(framed(numbered("body", i), i % 2 ? soft : rigid,
                         Vec3(0.05 * (i % 3), 0.3 + 0.35 * i, 0.04 * (i % 2)), options));
    }
    return world;
}

TEST(FramedWorld, AHeapOnlyLosesEnergy)
{
    World world = heap({.impulses = {.tolerance = 1e-6, .max_sweeps = 500}});
    Audit audit(world);
    for (int k = 0; k < 720; ++k) audit.step(world, 1.0 / 240.0);
    EXPECT_GT(audit.contacts, 1000);
    EXPECT_LT(audit.largest_rise, 1e-6 * total(audit.first));
    EXPECT_LT(audit.highest, (1.0 + 1e-3) * total(audit.first));
    EXPECT_LT(world.mechanics().kinetic, 1e-6); // it has come to rest
}

TEST(FramedWorld, IsTheSameForAnyNumberOfThreads)
{
    const auto hash_with = [](int threads) {
        const ThreadLimit limit(threads);
        World world = heap({});
        for (int k = 0; k < 200; ++k) EXPECT_TRUE(world.step(1.0 / 120.0).done);
        return world.state_hash();
    };
    const std::uint64_t one = hash_with(1);
    EXPECT_EQ(hash_with(2), one);
    EXPECT_EQ(hash_with(4), one);
}

/// The angular momentum is not asked for: the backward Euler step of a body in full space does not keep it.
TEST(FramedWorld, AFullAndAFramedBodyThatMeetKeepLinearMomentum)
{
    World world({.gravity = still, .contact = exact});
    world.add(test::make_soft_cube("full", Vec3(-0.3, 0, 0), Vec3(1.5, 0, 0)));
    world.add(framed("framed", free_box({0.3, 0.2, 0.2}, {3, 2, 2}, 5e5, 8), Vec3(0.1, 0.05, 0.03),
                     {.velocity = Vec3(-0.5, 0, 0), .angular_velocity = Vec3(1, 2, 3)}));
    world.add(framed("rigid", free_box({0.2, 0.2, 0.2}, {2, 2, 2}, 5e5, 0), Vec3(-0.3, 0.5, 0.02),
                     {.velocity = Vec3(0.2, -1.5, 0), .angular_velocity = Vec3(0, 1, 0)}));
    Audit audit(world);
    for (int k = 0; k < 240; ++k) audit.step(world, 1.0 / 240.0);
    EXPECT_GT(audit.contacts, 10);
    EXPECT_LT(audit.linear_drift, 1e-9 * audit.linear_scale);
    EXPECT_LT(audit.largest_rise, 1e-6 * total(audit.first));
}

} // namespace
} // namespace lithe
