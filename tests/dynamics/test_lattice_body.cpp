#include "lithe/dynamics/lattice_body.hpp"

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/world/obstacle_body.hpp"
#include "lithe/world/world.hpp"
#include "support/framed_bodies.hpp"
#include "support/lattice_beams.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

constexpr double h = 1.0 / 60.0; ///< [s]
const Vec3 down(0.0, -9.81, 0.0);

test::LatticeBeam flesh_beam()
{
    return {.across = 2, .along = 6, .cell = 0.1, .young = 2e4, .levels = 1, .integration_levels = 2};
}

std::shared_ptr<const LatticeSystem> flesh()
{
    static const auto system = test::system_of(test::flesh_in(flesh_beam(), 0.05));
    return system;
}

/// The upper bone nods by half a radian, twice a second.
Clip nodding()
{
    Track<Quat> turn;
    for (int k = 0; k <= 8; ++k) {
        turn.times.push_back(0.0625 * k);
        turn.values.emplace_back(Eigen::AngleAxisd(0.5 * std::sin(0.7853981633974483 * k), Vec3::UnitX()));
    }
    Clip clip{.name = "nod"};
    clip.joints = {{.joint = 1, .rotation = turn}};
    return clip;
}

std::unique_ptr<LatticeBody> body(LatticeBodyOptions options = {})
{
    return std::make_unique<LatticeBody>(flesh(), std::move(options));
}

const LatticeBody& lattice_body(const World& world, BodyId id)
{
    return dynamic_cast<const LatticeBody&>(world.body(id));
}

TEST(LatticeModel, MassIsThatOfTheBodyAndRegionsSumToOne)
{
    const auto system = flesh();
    const double exact = 1000.0 * volume(system->model->shown.rest);
    EXPECT_NEAR(system->mass, exact, 0.02 * exact);
    VecX sum = VecX::Zero(system->count());
    for (const RegionSpace& region : system->regions)
        for (std::size_t k = 0; k < region.functions.size(); ++k)
            sum[region.functions[k]] += region.weights[k];
    for (int f = 0; f < static_cast<int>(system->count()); ++f)
        if (system->in_body(f)) {
            EXPECT_NEAR(sum[f], 1.0, 1e-12);
        }
}

TEST(LatticeModel, TheSkinLiesOnTheRestSurface)
{
    const auto system = flesh();
    Points x;
    follow(system->shown, system->rest, x);
    EXPECT_LE((x - system->model->shown.rest.vertices).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(LatticeBody, PlaysAClipWithItsFlesh)
{
    World world({.gravity = down});
    const BodyId id = world.add(body({.clip = nodding()}));
    const auto& flesh_body = lattice_body(world, id);
    double most = 0.0;
    for (int k = 0; k < 120; ++k) {
        ASSERT_TRUE(world.step(h).done);
        const std::vector<RigidPose> joints = flesh_body.joints_at(world.time());
        for (const LatticeHold& hold : flesh_body.system().holds)
            EXPECT_LE((flesh_body.state().x.col(hold.function) - target(hold, joints)).norm(), 1e-12);
        Published now;
        flesh_body.publish(now);
        ASSERT_TRUE(now.positions.allFinite());
        most =
            std::max(most, (now.positions - flesh_body.shown().surface.vertices).colwise().norm().maxCoeff());
    }
    EXPECT_GT(most, 0.1);
    EXPECT_LT(most, 0.4);
}

TEST(LatticeBody, RestsOnAFloor)
{
    World world({.gravity = down});
    ObstacleModel floor{.shape = PlaneShape{}, .shown = {.name = "floor", .rigid = true}};
    floor.path = RigidPose{Quat::Identity(), Vec3(0.0, -0.075, 0.0)};
    world.add(std::make_unique<ObstacleBody>(std::move(floor)));
    const BodyId id = world.add(body());
    for (int k = 0; k < 60; ++k) ASSERT_TRUE(world.step(h).done);
    Published now;
    world.body(id).publish(now);
    EXPECT_GT(now.positions.row(1).minCoeff(), -0.0755); // its underside is at -0.08 when nothing lifts it
}

TEST(LatticeBody, PushesAnotherKindOfBodyAside)
{
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(body({.clip = nodding()}));
    const BodyId box = world.add(
        test::framed("box", test::free_box(Vec3::Constant(0.1), {1, 1, 1}, 1e6, 0), Vec3(0.0, -0.25, 0.5)));
    for (int k = 0; k < 60; ++k) ASSERT_TRUE(world.step(h).done);
    EXPECT_GT(world.body(box).motion({}).velocity.norm(), 0.1);
    Published now;
    world.body(id).publish(now);
    EXPECT_TRUE(now.positions.allFinite());
}

TEST(LatticeBody, JointsPullAtItsFlesh)
{
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(body());
    const Vec3 place(0.0, 0.07, 0.55);
    const BodyPoint point = world.body(id).attach(place);
    EXPECT_LE((world.body(id).motion(point).position - place).norm(), 1e-12);
    world.push({{.body = id, .point = point}}, Vec3(0.0, 1.0, 0.0));
    ASSERT_TRUE(world.step(h).done);
    EXPECT_GT(world.body(id).motion(point).velocity.y(), 0.0);
}

TEST(LatticeBody, GoesOnFromASavedStateBitForBit)
{
    auto first = body({.clip = nodding()}), second = body({.clip = nodding()});
    double t = 0.0;
    const auto advance = [&](LatticeBody& which, double at) {
        ASSERT_TRUE(which.predict({.t = at, .h = h, .gravity = 5.0 * down}).solved);
        which.finish();
    };
    for (int k = 0; k < 20; ++k, t += h) advance(*first, t);
    StateWriter out;
    first->save(out);
    StateReader in(out.bytes());
    second->restore(in);
    EXPECT_TRUE(in.at_end());
    for (int k = 0; k < 20; ++k, t += h) {
        advance(*first, t);
        advance(*second, t);
    }
    EXPECT_EQ(first->state().x, second->state().x);
    EXPECT_EQ(first->state().active, second->state().active);
}

TEST(LatticeBody, PinsHoldAndLoadsPull)
{
    const TriangleMesh& collision = flesh()->model->collision.rest;
    Index top = 0;
    (collision.vertices.row(2) + collision.vertices.row(1)).maxCoeff(&top);
    const auto vertex = static_cast<int>(top);
    LedVertices pin{.vertices = {vertex}};
    pin.motion = RigidPose{Quat::Identity(), Vec3(0.0, 0.05, 0.0)};
    auto pinned = body({.pins = {pin}});
    ASSERT_TRUE(pinned->predict({.t = 0.0, .h = h}).solved);
    pinned->finish();
    Points x;
    follow(pinned->system().collision, pinned->state().x, x);
    EXPECT_LE((x.col(vertex) - collision.vertices.col(vertex) - Vec3(0.0, 0.05, 0.0)).norm(), 1e-10);

    TimedLoad pull{.load = ForceLoad{Vec3(0.0, 5.0, 0.0)}, .vertices = {vertex}};
    auto pulled = body({.loads = {pull}});
    ASSERT_TRUE(pulled->predict({.t = 0.0, .h = h}).solved);
    pulled->finish();
    EXPECT_GT((pulled->state().v * pulled->system().first).y(), 0.0);
}

TEST(LatticeBody, ClipsOfOtherSkeletonsAreRefused)
{
    Clip clip = nodding();
    clip.joints[0].joint = 7;
    EXPECT_EQ(test::message_of([&] { body({.clip = clip}); }),
              "body 'flesh': the clip 'nod' is that of another skeleton: it moves joint 7, but there are 2");
}

/// Bones beside all edges are held at points along them.
TEST(LatticeBody, HeldBonesAreWhereTheJointsBringThem)
{
    const test::LatticeBeam beam = flesh_beam();
    LatticeDescription d = test::flesh_in(beam, 0.05);
    d.lattice.bones.clear();
    d.bone_joints.clear();
    const Vec3 joint(0.0, 0.0, 0.3); // where they meet; off the edges everywhere else
    d.held_bones = {{"lower", 0, {0.013, 0.02, 0.05}, joint}, {"upper", 1, joint, {0.013, 0.02, 0.55}}};
    World world({.gravity = down});
    const BodyId id =
        world.add(std::make_unique<LatticeBody>(test::system_of(d), LatticeBodyOptions{.clip = nodding()}));
    const auto& held = lattice_body(world, id);
    for (int k = 0; k < 60; ++k) {
        ASSERT_TRUE(world.step(h).done);
        const std::vector<RigidPose> joints = held.joints_at(world.time());
        for (std::size_t p = 0; p < held.system().held_points.size(); ++p) {
            const LatticePoint& point = held.system().held_points[p];
            Vec3 x = Vec3::Zero();
            for (std::size_t f = 0; f < point.functions.size(); ++f)
                x += point.weights[f] * held.state().x.col(point.functions[f]);
            EXPECT_LE((x - target(held.system().held_targets[p], joints)).norm(), 1e-6 * 0.25);
        }
    }
    EXPECT_LT(held.state().x.cwiseAbs().maxCoeff(), 1.0);
}

/// Bent by a right angle, all at once: the regions come near the nonlinear lattice, the linear one does not.
TEST(LatticeBody, RegionsAreNearTheReferenceAndOneLinearMaterialIsNot)
{
    Clip bend = nodding();
    for (Quat& turn : bend.joints[0].rotation->values)
        turn = Quat(Eigen::AngleAxisd(0.5 * 3.141592653589793, Vec3::UnitX()));
    const auto bent_by = [&](LatticeScheme scheme) {
        auto flesh_body = body({.clip = bend, .scheme = scheme});
        for (int k = 0; k < 4; ++k) {
            EXPECT_TRUE(flesh_body->predict({.t = h * k, .h = h, .gravity = down}).solved);
            flesh_body->finish();
        }
        Published now;
        flesh_body->publish(now);
        return now.positions;
    };
    const Points reference = bent_by(LatticeScheme::Nonlinear);
    const auto error = [&](LatticeScheme scheme) { return (bent_by(scheme) - reference).norm(); };
    const double linear = error(LatticeScheme::Linear);
    EXPECT_LT(error(LatticeScheme::Blended), 0.5 * linear);
    EXPECT_LT(error(LatticeScheme::Corotated), 0.5 * linear);
}

TEST(LatticeBody, ReferencesKnowNoPins)
{
    EXPECT_EQ(test::message_of([&] {
                  (void)body({.name = "cow", .pins = {{.vertices = {0}}}, .scheme = LatticeScheme::Linear});
              }),
              "body 'cow': the linear and nonlinear schemes have no loads and pins");
}

// ---- adaptation

/// Pulls a corner of the flesh away for some steps, then lets it go.
class PulledFlesh {
public:
    PulledFlesh() : motion_(flesh()), state_(rest_state(*flesh(), test::bent(flesh_beam(), 0.0))) {}

    void step(double pull)
    {
        const test::LatticeBeam beam = flesh_beam();
        const int corner = beam.vertex(2, 2, 6);
        const std::vector<LatticeTarget> targets = {
            {{{corner}, {1.0}}, system().rest.col(corner) + Vec3(0.0, pull, 0.0)}};
        const std::vector<RigidPose> joints = test::bent(beam, 0.0);
        LatticeLoading loading{.h = h};
        if (pull > 0.0) loading.targets = targets;
        LatticeState next;
        motion_.step(state_, {joints, joints}, loading, next);
        state_ = next;
    }
    bool adapt_now() { return adapt(system(), state_); }
    const LatticeSystem& system() const { return motion_.system(); }
    LatticeState& state() { return state_; }

private:
    LatticeMotion motion_;
    LatticeState state_;
};

TEST(LatticeAdaptation, ComesWithStrainWithoutAPopAndGoesAgain)
{
    PulledFlesh flesh_now;
    const int coarse = active_count(flesh_now.state());
    int most = coarse;
    std::vector<int> last_change(flesh_now.state().active.size(), -1000);
    for (int k = 0; k < 200; ++k) {
        flesh_now.step(k < 60 ? 0.1 : 0.0);
        const LatticeState before = flesh_now.state();
        Points skin_before, skin_after;
        follow(flesh_now.system().shown, before.x, skin_before);
        flesh_now.adapt_now();
        const LatticeState& after = flesh_now.state();
        follow(flesh_now.system().shown, after.x, skin_after);
        most = std::max(most, active_count(after));
        bool left = false;
        for (std::size_t f = 0; f < after.active.size(); ++f) {
            left = left || (before.active[f] == Leaving && after.active[f] == Inactive);
            const bool came = before.active[f] == Inactive && after.active[f] == Active;
            const bool leaves = before.active[f] == Active && after.active[f] == Leaving;
            if (!came && !leaves) continue;
            EXPECT_GE(k - last_change[f], 10);
            last_change[f] = k;
        }
        if (!left) {
            EXPECT_LE((skin_after - skin_before).cwiseAbs().maxCoeff(), 1e-14);
        }
        EXPECT_LE((skin_after - skin_before).cwiseAbs().maxCoeff(), 1e-3 * 0.05 * 8);
    }
    EXPECT_GT(most, coarse);
    EXPECT_LE(most, 2 * static_cast<int>(flesh_now.system().coarse_count()));
    EXPECT_EQ(active_count(flesh_now.state()), coarse); // all gone again
}

TEST(LatticeAdaptation, KeepsToItsBudget)
{
    LatticeModel model = *flesh()->model;
    model.settings.most_functions = 70;
    const auto system = std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(std::move(model))));
    LatticeState state = rest_state(*system, test::bent(flesh_beam(), 0.0));
    for (Index f = 0; f < system->coarse_count(); ++f) state.x(1, f) *= 2.0; // strained everywhere
    for (int k = 0; k < 10; ++k) adapt(*system, state);
    EXPECT_EQ(active_count(state), 70);
}

} // namespace
} // namespace lithe
