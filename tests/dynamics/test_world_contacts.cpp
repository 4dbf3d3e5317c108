// What users of a world ask of contacts: who meets whom, what happened, where things are, and rest.
#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/world.hpp"
#include "support/bodies.hpp"
#include "support/framed_bodies.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::framed;
using test::free_box;

const Vec3 still = Vec3::Zero();
constexpr double h = 1.0 / 120.0; ///< [s]
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const FramedBodyModel> rigid_box(const Vec3& size = Vec3::Constant(0.2))
{
    return free_box(size, {1, 1, 1}, 1e6, 0);
}

const FramedState& state_of(const World& world, BodyId id)
{
    return dynamic_cast<const FramedBody&>(world.body(id)).motion().state();
}

void steps(World& world, int count)
{
    for (int k = 0; k < count; ++k) ASSERT_TRUE(world.step(h).done);
}

// ---- who meets whom

TEST(CollisionFilter, BothSidesMustAgree)
{
    const CollisionFilter all = {}, fish{.groups = 2}, passes_fish{.meets = ~std::uint64_t{2}};
    struct Case {
        CollisionFilter a, b;
        bool meet;
    };
    for (const Case& one : {Case{all, all, true}, Case{fish, all, true}, Case{passes_fish, fish, false},
                            Case{fish, passes_fish, false}, Case{passes_fish, passes_fish, true}}) {
        World world({.gravity = still});
        const BodyId a = world.add(framed("a", rigid_box(), Vec3(-0.2, 0, 0), {.velocity = Vec3(1, 0, 0)}));
        const BodyId b = world.add(framed("b", rigid_box(), Vec3(0.2, 0, 0)));
        world.set_filter(a, one.a);
        world.set_filter(b, one.b);
        steps(world, 60);
        EXPECT_EQ(state_of(world, b).v.norm() > 0.1, one.meet);
        EXPECT_EQ(state_of(world, a).v[0] < 0.9, one.meet);
    }
}

TEST(CollisionFilter, HoldsForObstaclesAndForBodiesInFullSpace)
{
    World world;
    const BodyId ground = world.add(test::make_ground());
    const BodyId rigid = world.add(framed("rigid", rigid_box(), Vec3(0, 0.11, 0)));
    const BodyId full = world.add(test::make_soft_cube("full", Vec3(1, 0.11, 0)));
    const BodyId other = world.add(test::make_soft_cube("other", Vec3(2, 0.11, 0)));
    world.set_filter(ground, {.meets = 1});
    world.set_filter(rigid, {.groups = 2});
    world.set_filter(full, {.groups = 2});
    steps(world, 60);
    EXPECT_LT(state_of(world, rigid).frame.translation[1], -1.0);
    EXPECT_LT(world.body(full).motion({}).position[1], -1.0);
    EXPECT_GT(world.body(other).motion({}).position[1], -0.01);
}

TEST(PairRule, ReplacesWhatTheSurfacesSay)
{
    for (const double friction : {0.0, 0.9}) {
        World world({.gravity = Vec3(0.5 * 9.81, -9.81, 0)}); // a slope of 27 degrees
        const BodyId ground = world.add(test::make_ground());
        const BodyId rigid = world.add(framed("box", rigid_box(), Vec3(0, 0.1, 0)));
        const BodyId full = world.add(test::make_soft_cube("full", Vec3(0, 0.1, 3)));
        const double start = world.body(full).motion({}).position[0];
        for (const BodyId body : {rigid, full}) world.set_pair(ground, body, {.friction = friction});
        steps(world, 60);
        const double slides = friction > 0.0 ? 0.0 : 0.5 * 0.5 * 9.81 * 0.25;
        EXPECT_NEAR(state_of(world, rigid).frame.translation[0], slides, 0.02);
        EXPECT_NEAR(world.body(full).motion({}).position[0] - start, slides, 0.03);
    }
}

TEST(PairRule, GivesRestitutionAndLetsPass)
{
    for (const PairRule& rule : {PairRule{}, PairRule{.restitution = 1.0}, PairRule{.collides = false}}) {
        World world({.gravity = still});
        const BodyId a = world.add(framed("a", rigid_box(), Vec3(-0.2, 0, 0), {.velocity = Vec3(1, 0, 0)}));
        const BodyId b = world.add(framed("b", rigid_box(), Vec3(0.2, 0, 0)));
        world.set_pair(b, a, rule);
        steps(world, 60);
        const double v = !rule.collides ? 0.0 : rule.restitution ? 1.0 : 0.5;
        EXPECT_NEAR(state_of(world, b).v[0], v, 1e-2);
    }
    World world;
    const BodyId a = world.add(framed("a", rigid_box(), still)),
                 b = world.add(framed("b", rigid_box(), Vec3(1, 0, 0)));
    EXPECT_NE(test::message_of([&] { world.set_pair(a, b, {.friction = -1.0}); }).find("friction"),
              std::string::npos);
    EXPECT_NE(test::message_of([&] { world.set_pair(a, b, {.restitution = 1.5}); }).find("[0, 1]"),
              std::string::npos);
    world.remove(b);
    EXPECT_THROW(world.set_filter(b, {}), InputError);
}

// ---- what happened

TEST(ContactEvents, TellOfAnImpactWithItsImpulseAndSpeed)
{
    World world({.gravity = still});
    const auto model = rigid_box();
    const BodyId b = world.add(framed("b", model, Vec3(0.2, 0, 0)));
    const BodyId a = world.add(
        framed("a", model, Vec3(-0.2, 0.03, 0), {.velocity = Vec3(1, 0, 0), .law = {.restitution = 1.0}}));
    std::vector<ContactEvent> seen;
    for (int k = 0; k < 60; ++k) {
        ASSERT_TRUE(world.step(h).done);
        for (const ContactEvent& event : world.contact_events()) seen.push_back(event);
    }
    ASSERT_GE(seen.size(), 2U);
    const ContactEvent& first = seen.front();
    EXPECT_EQ(first.phase, ContactPhase::Begin);
    EXPECT_EQ(first.a, b); // came first
    EXPECT_EQ(first.b, a);
    EXPECT_NEAR(first.normal[0], 1.0, 1e-6);
    EXPECT_NEAR(first.speed, 1.0, 1e-9);
    EXPECT_NEAR(first.place[0], 0.1, 0.01);
    EXPECT_LT(first.depth, 0.0);
    Vec3 sum = still;
    for (const ContactEvent& event : seen) sum += event.impulse;
    const Vec3 gained = model->motion.tensors.mass * state_of(world, b).v;
    EXPECT_LT((sum - gained).norm(), 1e-9 * gained.norm());
    EXPECT_EQ(seen.back().phase, ContactPhase::End);
    EXPECT_TRUE(seen.back().impulse.isZero(0.0));
}

TEST(ContactEvents, GoOnWhileABodyRestsAndEndWhenItLeaves)
{
    World world;
    const BodyId ground = world.add(test::make_ground());
    const auto model = rigid_box();
    const BodyId box = world.add(framed("box", model, Vec3(0, 0.12, 0)));
    steps(world, 60);
    ASSERT_EQ(world.contact_events().size(), 1U);
    const ContactEvent rest = world.contact_events()[0];
    EXPECT_EQ(rest.phase, ContactPhase::Stay);
    EXPECT_EQ(rest.a, ground);
    EXPECT_NEAR(rest.impulse[1], -model->motion.tensors.mass * 9.81 * h, 1e-3);

    // what touches is part of the state
    StateWriter saved;
    world.save(saved);
    StateReader in(saved.bytes());
    world.restore(in);
    EXPECT_TRUE(world.contact_events().empty());
    steps(world, 1);
    ASSERT_EQ(world.contact_events().size(), 1U);
    EXPECT_EQ(world.contact_events()[0].phase, ContactPhase::Stay);

    world.teleport(box, {.translation = Vec3(0, 1, 0)});
    steps(world, 1);
    ASSERT_EQ(world.contact_events().size(), 1U);
    EXPECT_EQ(world.contact_events()[0].phase, ContactPhase::End);
    steps(world, 1);
    EXPECT_TRUE(world.contact_events().empty());
}

/// A platform that goes so far between two times [s].
std::unique_ptr<ObstacleBody> lift(std::vector<double> times, const Vec3& way)
{
    Shown shown;
    shown.name = "lift";
    shown.surface = make_box(Vec3(2, 0.2, 2), 1.0);
    return std::make_unique<ObstacleBody>(ObstacleModel{
        .shape = BoxShape{Vec3(2, 0.2, 2)},
        .shown = shown,
        .path = Keyframes<RigidPose>(std::move(times), {RigidPose{}, RigidPose{.translation = way}})});
}

TEST(WorldContacts, ALiftCarriesAndStops)
{
    World world;
    world.add(lift({0.5, 1.0 + 0.5 * h}, Vec3(0.3, 0.5, 0)));
    const BodyId box = world.add(framed("box", rigid_box(), Vec3(0, 0.2, 0)));
    steps(world, static_cast<int>(std::lround(0.99 / h)));
    EXPECT_NEAR(state_of(world, box).v[1], 1.0, 0.02);
    steps(world, static_cast<int>(std::lround(1.5 / h)));
    EXPECT_LT(state_of(world, box).v.norm(), 1e-3);
    EXPECT_NEAR(state_of(world, box).frame.translation[1], 0.7, 2e-3);
}

// ---- where things are

/// A ball, boxes that turn, and the ground.
World still_life()
{
    World world;
    world.add(test::make_ground());
    Shown shown;
    shown.name = "ball";
    shown.surface = make_box(Vec3::Constant(1.0), 1.0);
    world.add(std::make_unique<ObstacleBody>(ObstacleModel{
        .shape = SphereShape{0.5}, .shown = shown, .path = RigidPose{.translation = Vec3(3, 1, 0)}}));
    const auto soft = free_box({0.3, 0.2, 0.2}, {3, 2, 2}, 5e5, 8), rigid = rigid_box();
    for (int i = 0; i < 4; ++i) {
        FramedBodyOptions options{.velocity = Vec3(0.1 * i, 0, 0), .angular_velocity = Vec3(1, 2, -i)};
        options.placement.rotation = Quat(Eigen::AngleAxisd(0.4 * i, Vec3(1, 0.5, -0.3).normalized()));
        world.add(framed("box " + std::to_string(i), i % 2 ? soft : rigid, Vec3(0.4 * i, 0.8 + 0.1 * i, 0),
                         options));
    }
    world.add(test::make_soft_cube("full", Vec3(-1, 1, 0)));
    return world;
}

TEST(WorldQuery, RaysAndNearestPointsAreExact)
{
    World world;
    world.add(test::make_ground());
    const BodyId box = world.add(framed("box", rigid_box(), Vec3(0, 1, 0)));
    const auto down = world.cast_ray(Vec3(0.03, 3, 0.02), Vec3(0, -2, 0));
    ASSERT_TRUE(down);
    EXPECT_EQ(down->body, box);
    EXPECT_NEAR(down->distance, 1.9, 1e-6);
    EXPECT_NEAR(down->normal[1], 1.0, 1e-9);
    EXPECT_LT((world.body(box).motion(down->point).position - down->position).norm(), 1e-6);
    const Vec3 slanted = Vec3(1, -1, 0).normalized();
    const auto ground = world.cast_ray(Vec3(1, 2, 0), slanted);
    ASSERT_TRUE(ground);
    EXPECT_EQ(ground->body, *world.find("ground"));
    EXPECT_NEAR(ground->distance, 2.0 * std::sqrt(2.0), 1e-9);
    EXPECT_FALSE(world.cast_ray(Vec3(1, 2, 0), slanted, 2.8));
    EXPECT_FALSE(world.cast_ray(Vec3(1, 2, 0), Vec3(1, 0, 0)));
    EXPECT_THROW((void)world.cast_ray(still, still), InputError);

    const auto near = world.closest_point(Vec3(0.4, 1, 0));
    ASSERT_TRUE(near);
    EXPECT_EQ(near->body, box);
    EXPECT_NEAR(near->distance, 0.3, 1e-6);
    EXPECT_NEAR(near->position[0], 0.1, 1e-6);
    EXPECT_NEAR(world.closest_point(Vec3(0.01, 1.07, 0))->distance, -0.03, 1e-6); // inside
    EXPECT_NEAR(world.closest_point(Vec3(5, 0.2, 0))->distance, 0.2, 1e-12);
    EXPECT_FALSE(world.closest_point(Vec3(5, 0.2, 0), 0.1));
}

/// Rays that grow step by step until something is near find the same.
TEST(WorldQuery, RaysAgreeWithDistances)
{
    World world = still_life();
    steps(world, 10);
    Random random(7);
    int hits = 0;
    for (int i = 0; i < 100; ++i) {
        const Vec3 origin(random.uniform(-2, 4), random.uniform(0.1, 3), random.uniform(-1, 1));
        const Vec3 direction =
            Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)).normalized();
        if (world.closest_point(origin)->distance < 0.0) continue;
        const auto hit = world.cast_ray(origin, direction, 5.0);
        double t = 0.0, distance = 1.0;
        while (t < 5.0 && distance > 1e-5) {
            distance = world.closest_point(origin + t * direction)->distance;
            t += distance;
        }
        EXPECT_EQ(hit.has_value(), t < 5.0);
        if (!hit || t >= 5.0) continue;
        ++hits;
        EXPECT_NEAR(hit->distance, t, 2e-3);
        EXPECT_NEAR(world.closest_point(hit->position)->distance, 0.0, 1e-7);
    }
    EXPECT_GT(hits, 20);
}

TEST(WorldQuery, ChangesNothing)
{
    World asked = still_life(), left = still_life();
    for (int k = 0; k < 60; ++k) {
        for (int i = 0; i < 3; ++i) {
            (void)asked.cast_ray(Vec3(0.2 * i, 3, 0), Vec3(0.1, -1, 0));
            (void)asked.closest_point(Vec3(0.3, 0.3 * i, 0));
        }
        (void)asked.overlaps();
        steps(asked, 1);
        steps(left, 1);
    }
    EXPECT_EQ(asked.state_hash(), left.state_hash());
}

// ---- from outside

TEST(World, TeleportsAndSetsVelocities)
{
    World world({.gravity = still});
    const BodyId a = world.add(framed("a", free_box({0.3, 0.2, 0.2}, {3, 2, 2}, 5e5, 8), Vec3(1, 0, 0),
                                      {.velocity = Vec3(1, 0, 0), .angular_velocity = Vec3(0, 0, 2)}));
    const BodyId full = world.add(test::make_soft_cube("full", Vec3(0, 0, 1), Vec3(1, 0, 0)));
    const BodyId ground = world.add(test::make_ground());
    const RigidPose motion{Quat(Eigen::AngleAxisd(std::numbers::pi / 2.0, Vec3::UnitZ())), Vec3(0, 0, 3)};
    for (const BodyId id : {a, full}) {
        const PointMotion before = world.body(id).motion({});
        world.teleport(id, motion);
        const PointMotion after = world.body(id).motion({});
        EXPECT_LT((after.position - motion.apply(before.position)).norm(), 1e-12);
        EXPECT_LT((after.velocity - motion.rotation * before.velocity).norm(), 1e-12);
        const Mechanics rest = [&] {
            world.set_velocity(id, Vec3(0, 2, 0), Vec3(1, 0, 0));
            return world.body(id).mechanics(still);
        }();
        EXPECT_LT((rest.linear_momentum - rest.mass * Vec3(0, 2, 0)).norm(), 1e-9);
        world.set_velocity(id, Vec3(0, 2, 0));
        EXPECT_NEAR(world.body(id).mechanics(still).kinetic, 0.5 * rest.mass * 4.0, 1e-9);
    }
    EXPECT_NE(test::message_of([&] { world.teleport(ground, motion); }).find("held"), std::string::npos);
    EXPECT_NE(test::message_of([&] {
                  world.teleport(a, {.translation = Vec3(not_a_number, 0, 0)});
              }).find("not finite"),
              std::string::npos);
    EXPECT_NE(
        test::message_of([&] { world.teleport(a, {.rotation = Quat(2, 0, 0, 0)}); }).find("unit length"),
        std::string::npos);
    EXPECT_NE(test::message_of([&] { world.set_velocity(a, Vec3(0, not_a_number, 0)); }).find("not finite"),
              std::string::npos);
    steps(world, 1);
}

TEST(World, PartsBodiesThatOverlapAtTheStartGently)
{
    for (const Index rank : {0, 6}) {
        World world({.gravity = still});
        const auto model = free_box(Vec3::Constant(0.2), {2, 2, 2}, 1e6, rank);
        const BodyId a = world.add(framed("a", model, still)),
                     b = world.add(framed("b", model, Vec3(0.15, 0.02, 0.01)));
        world.add(framed("c", model, Vec3(1, 0, 0)));
        const auto found = world.overlaps();
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].a, a);
        EXPECT_EQ(found[0].b, b);
        EXPECT_NEAR(found[0].depth, 0.05, 0.011);
        double energy = 0.0;
        for (int k = 0; k < 60; ++k) {
            ASSERT_TRUE(world.step(h).done);
            const Mechanics now = world.mechanics();
            energy = std::max(energy, now.kinetic + now.elastic);
        }
        EXPECT_LT(energy, 1e-3 * model->motion.tensors.mass * 9.81 * 0.2);
        EXPECT_LT(world.step(h).penetration, 2e-3);
    }
}

// ---- rest

/// A tower of boxes that may sleep, and a ball far above.
struct SleepyTower {
    explicit SleepyTower(bool sleeps = true)
        : world(
              {.contact = {.impulses = {.tolerance = 1e-5, .max_sweeps = 200}}, .sleep = {.enabled = sleeps}})
    {
        world.add(test::make_ground());
        const auto box = free_box({0.4, 0.2, 0.3}, {2, 1, 2}, 2e6, 4);
        for (int i = 0; i < 10; ++i)
            boxes.push_back(
                world.add(framed("box " + std::to_string(i), box, Vec3(0.01 * (i % 2), 0.1 + 0.2 * i, 0))));
    }
    double seconds_of(int count)
    {
        const Stopwatch watch;
        steps(world, count);
        return watch.seconds();
    }
    int asleep()
    {
        int count = 0;
        for (const BodyId id : boxes) count += world.body(id).asleep();
        return count;
    }
    BodyId throw_ball()
    {
        const auto model = free_box(Vec3::Constant(0.2), {2, 2, 2}, 1e7, 0);
        return world.add(framed("ball", model, Vec3(-1.5, 1.5, 0), {.velocity = Vec3(6, 1, 0)}));
    }

    World world;
    std::vector<BodyId> boxes;
};

TEST(Sleep, ATowerFallsAsleepAndCostsNothing)
{
    SleepyTower tower;
    const double awake = tower.seconds_of(60);
    steps(tower.world, 180);
    ASSERT_EQ(tower.asleep(), 10);
    const std::uint64_t before = tower.world.mechanics().kinetic == 0.0 ? tower.world.state_hash() : 0;
    const Vec3 place = state_of(tower.world, tower.boxes.back()).frame.translation;
    const double asleep = tower.seconds_of(60);
    EXPECT_LT(10.0 * asleep, awake);
    EXPECT_EQ(state_of(tower.world, tower.boxes.back()).frame.translation, place);
    EXPECT_NE(before, 0U);
    EXPECT_TRUE(tower.world.contact_events().empty()); // what sleeps goes on without events

    SleepyTower never(false);
    steps(never.world, 240);
    EXPECT_EQ(never.asleep(), 0);
}

TEST(Sleep, ABallWakesTheTowerAndNoMomentumIsMade)
{
    SleepyTower tower;
    steps(tower.world, 240);
    ASSERT_EQ(tower.asleep(), 10);
    const BodyId ball = tower.throw_ball();
    const double weight = tower.world.mechanics().mass * 9.81 * h;
    int since = 0;
    for (int k = 0; k < 120 && since < 5; ++k) {
        const Mechanics before = tower.world.mechanics();
        ASSERT_TRUE(tower.world.step(h).done);
        if (tower.asleep() == 10) continue;
        EXPECT_EQ(tower.asleep(), 0); // an island wakes as one
        ++since;
        // sideways the ground can only take as much as its friction holds of the weight
        const Mechanics after = tower.world.mechanics();
        EXPECT_LT(std::abs(after.linear_momentum[0] - before.linear_momentum[0]), weight);
        EXPECT_LT(after.kinetic + after.elastic + after.potential,
                  before.kinetic + before.elastic + before.potential + 1e-6 * before.potential);
    }
    EXPECT_EQ(since, 5);
    EXPECT_LT(state_of(tower.world, ball).v[0], 5.0);
}

/// As if it had never slept, but for what it did not move meanwhile.
TEST(Sleep, AWokenTowerStands)
{
    SleepyTower tower;
    steps(tower.world, 240);
    const Vec3 place = state_of(tower.world, tower.boxes.back()).frame.translation;
    tower.world.wake(tower.boxes[4]);
    EXPECT_EQ(tower.asleep(), 0);
    steps(tower.world, 30);
    EXPECT_EQ(tower.asleep(), 0); // it has to rest anew
    EXPECT_LT((state_of(tower.world, tower.boxes.back()).frame.translation - place).norm(), 1e-3);
    EXPECT_LT(tower.world.mechanics().kinetic, 1e-4);
}

TEST(Sleep, EndsByPushesTeleportsAndLostSupport)
{
    const auto disturbed = [](const std::function<void(SleepyTower&)>& act) {
        SleepyTower tower;
        steps(tower.world, 240);
        EXPECT_EQ(tower.asleep(), 10);
        act(tower);
        steps(tower.world, 1);
        return tower.asleep() == 0;
    };
    EXPECT_TRUE(disturbed([](SleepyTower& t) { t.world.push({{.body = t.boxes[9]}}, Vec3(0.1, 0, 0)); }));
    EXPECT_TRUE(
        disturbed([](SleepyTower& t) { t.world.teleport(t.boxes[9], {.translation = Vec3(0, 1, 0)}); }));
    EXPECT_TRUE(disturbed([](SleepyTower& t) { t.world.set_velocity(t.boxes[0], Vec3(0, 0, 1)); }));
    EXPECT_TRUE(disturbed([](SleepyTower& t) { t.world.remove(*t.world.find("ground")); }));
    EXPECT_FALSE(disturbed([](SleepyTower&) {}));
}

TEST(Sleep, EndsWhenAnObstacleMoves)
{
    World world({.sleep = {.enabled = true}});
    world.add(lift({2.0, 3.0}, Vec3(0, -2, 0)));
    const BodyId box = world.add(framed("box", rigid_box(), Vec3(0, 0.2, 0)));
    steps(world, 230);
    EXPECT_TRUE(world.body(box).asleep());
    steps(world, 60);
    EXPECT_FALSE(world.body(box).asleep());
    EXPECT_LT(state_of(world, box).frame.translation[1], 0.0);
}

TEST(Sleep, JointedBodiesSleepAndWakeTogether)
{
    World world({.sleep = {.enabled = true}});
    world.add(test::make_ground());
    std::vector<BodyId> links;
    for (int i = 0; i < 4; ++i)
        links.push_back(
            world.add(framed("link " + std::to_string(i), free_box({0.3, 0.1, 0.1}, {3, 1, 1}, 1e6, 0),
                             Vec3(0.4 * i, 0.06, 0))));
    for (std::size_t i = 0; i + 1 < links.size(); ++i)
        (void)world.add_joint(links[i], links[i + 1],
                              {.place = Vec3(0.2 + 0.4 * static_cast<double>(i), 0.06, 0)});
    steps(world, 240);
    for (const BodyId id : links) EXPECT_TRUE(world.body(id).asleep());
    const StepReport report = world.step(h);
    EXPECT_EQ(report.asleep, 4);
    world.push({{.body = links[3]}}, Vec3(0, 0.5, 0));
    steps(world, 1);
    for (const BodyId id : links) EXPECT_FALSE(world.body(id).asleep());
}

TEST(Sleep, IsPartOfTheStateAndTheSameForAnyNumberOfThreads)
{
    const auto hashes_with = [](int threads, bool restore) {
        const ThreadLimit limit(threads);
        SleepyTower tower;
        (void)tower.throw_ball();
        tower.world.teleport(*tower.world.find("ball"), {.translation = Vec3(-18, 0, 0)});
        tower.world.set_velocity(*tower.world.find("ball"), still);
        steps(tower.world, 240);
        EXPECT_EQ(tower.asleep(), 10);
        if (restore) {
            StateWriter saved;
            tower.world.save(saved);
            SleepyTower other;
            (void)other.throw_ball();
            StateReader in(saved.bytes());
            other.world.restore(in);
            EXPECT_EQ(other.asleep(), 10);
            EXPECT_EQ(other.world.state_hash(), tower.world.state_hash());
            tower = std::move(other);
        }
        tower.world.teleport(*tower.world.find("ball"), {.translation = Vec3(18, 1, 0)});
        tower.world.set_velocity(*tower.world.find("ball"), Vec3(6, 1, 0));
        steps(tower.world, 60);
        EXPECT_LT(tower.asleep(), 10);
        return tower.world.state_hash();
    };
    const std::uint64_t one = hashes_with(1, false);
    EXPECT_EQ(hashes_with(4, false), one);
    EXPECT_EQ(hashes_with(2, true), one);
}

} // namespace
} // namespace lithe
