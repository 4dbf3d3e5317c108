// Characters of deformable bones: the skin, what impulses do to it, and whole runs with joints and contacts.
#include "lithe/dynamics/articulated_body.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/fem/stress.hpp"
#include "lithe/world/world.hpp"
#include "support/articulated_bodies.hpp"
#include "support/bodies.hpp"
#include "support/framed_bodies.hpp"

namespace lithe {
namespace {

using test::bone_bar;
using test::BoneBar;

constexpr double h = 1.0 / 60.0;

std::unique_ptr<ArticulatedBody> bar_at(const Vec3& at, ArticulatedOptions options = {},
                                        const BoneBar& bar = {})
{
    options.placement.translation = at;
    return std::make_unique<ArticulatedBody>(bone_bar(bar), std::move(options));
}

BodyPoint skin_point(int triangle, const Vec3& weights = Vec3(0.2, 0.3, 0.5))
{
    return {triangle, weights, BodySurface::Collision};
}

double total(const Mechanics& m)
{
    return m.kinetic + m.elastic + m.potential;
}

/// A bar that tumbles and vibrates: bones turned, bent and moving, as no joint would leave them.
void disturb(ArticulatedBody& body, std::uint64_t seed)
{
    StateWriter out;
    Random random(seed);
    out.write(std::int64_t{body.model().bone_count()});
    for (int k = 0; k < body.model().bone_count(); ++k) {
        const FramedState& at = body.bone(k).state();
        const Index r = at.q.size();
        const auto some = [&](Index n, double size) {
            VecX v(n);
            for (double& x : v) x = size * (2.0 * random.uniform() - 1.0);
            return v;
        };
        out.write(std::int64_t{r});
        const VecX q = some(r, 0.1), qdot = some(r, 1.0);
        const Vec3 t = at.frame.translation + Vec3(some(3, 0.02)), v = some(3, 1.0), L = some(3, 1.0);
        const Quat R = exp_quat(Vec3(some(3, 0.3)));
        for (const VecX& part : {q, qdot, VecX(t), VecX(v), VecX(L), VecX(R.coeffs())})
            for (const double x : part) out.write(x);
    }
    StateReader in(out.bytes());
    body.restore(in);
}

// ---- the skin

TEST(ArticulatedBody, AtRestTheSkinIsTheSurface)
{
    const auto body = bar_at(Vec3(1, 2, 3));
    Published now;
    body->publish(now);
    const Points x = surface_in_world(body->shown(), now);
    const Points X = body->model().prepared->shown.rest.vertices;
    EXPECT_LT((x - (X.colwise() + Vec3(1, 2, 3))).cwiseAbs().maxCoeff(), 1e-12);
    const SweptSurface* swept = body->sweep();
    EXPECT_LT((swept->start - x).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(swept->start, swept->end);
}

/// Of a bone of the bar as a body of its own tets, where it is in the world: von Mises stress at places that it has.
VecX stress_alone(const ArticulatedBody& body, int k, const Points& places)
{
    const BoneBar bar;
    TetMesh mesh = test::box_tets({bar.cells, 2, 2}, bar.cell * Vec3(bar.cells, 2, 2));
    mesh.vertices.colwise() += Vec3(bar.start(k), 0, 0);
    const FemModel fem = make_fem_model(mesh, Corotational({bar.young, BoneBar::poisson}), bar.density);
    const PreparedBone& bone = body.model().prepared->bones[static_cast<std::size_t>(k)];
    const FramedState& at = body.bone(k).state();
    Points x = mesh.vertices.colwise() - bone.tensors.centre;
    x += (bone.volume->U * at.q).reshaped(3, x.cols());
    return surface_stress(fem.elements, in_world(at.frame, x), embed(places, mesh));
}

TEST(ArticulatedBody, StressIsThatOfItsBonesTakenAlone)
{
    const auto body = bar_at(Vec3(1, 2, 3));
    ASSERT_EQ(body->fields().size(), 1u);
    EXPECT_EQ(body->fields()[0].unit, "Pa");
    EXPECT_LT(body->field(0).maxCoeff(), 1e-6 * BoneBar().young);
    disturb(*body, 3);
    const VecX stress = body->field(0);
    EXPECT_GT(stress.maxCoeff(), 0.01 * BoneBar().young);

    const BoneSurface& shown = body->model().prepared->shown;
    VecX expected = VecX::Zero(shown.rest.vertex_count());
    for (int k = 0; k < body->model().bone_count(); ++k) {
        const SkinBone& skin = shown.skin[static_cast<std::size_t>(k)];
        const VecX alone = stress_alone(*body, k, shown.rest.vertices(Eigen::all, skin.vertices));
        int only = 0;
        for (Index i = 0; i < alone.size(); ++i) {
            const int v = skin.vertices[static_cast<std::size_t>(i)];
            expected[v] += skin.weights[i] * alone[i];
            if (skin.weights[i] < 1.0 - 1e-12) continue;
            EXPECT_NEAR(stress[v], alone[i], 1e-9 * stress.maxCoeff());
            ++only;
        }
        EXPECT_GT(only, 10) << k;
    }
    EXPECT_LT((stress - expected).cwiseAbs().maxCoeff(), 1e-9 * stress.maxCoeff());
}

TEST(ArticulatedBody, RigidBonesHaveNoStress)
{
    EXPECT_TRUE(bar_at(Vec3::Zero(), {}, {.rank = 0})->fields().empty());
}

TEST(ArticulatedBody, PointsAreWhereTheSkinIs)
{
    const auto body = bar_at(Vec3::Zero());
    disturb(*body, 3);
    const SweptSurface* swept = body->sweep();
    const Box3 bounds = body->swept_bounds();
    for (int t = 0; t < body->model().collision.triangles.cols(); ++t) {
        const BodyPoint point = skin_point(t);
        Vec3 x = Vec3::Zero();
        for (int c = 0; c < 3; ++c)
            x += point.weights[c] * swept->start.col(body->model().collision.triangles(c, t));
        EXPECT_LT((body->motion(point).position - x).norm(), 1e-7); // rows of the basis are floats
        EXPECT_TRUE(bounds.contains(x));
    }
}

TEST(ArticulatedBody, MovesAsOneAtTheStart)
{
    const Vec3 v(1, 2, 3), w(0.3, -0.5, 0.2);
    const auto body = bar_at(Vec3(1, 1, 1), {.velocity = v, .angular_velocity = w});
    const Vec3 centre = Vec3(1, 1, 1) + body->model().centre;
    for (const int t : {0, 7, 30}) {
        const PointMotion at = body->motion(skin_point(t));
        EXPECT_LT((at.velocity - v - w.cross(at.position - centre)).norm(), 1e-6);
    }
    const Mechanics m = body->mechanics(Vec3::Zero());
    EXPECT_NEAR(m.mass, body->model().mass, 1e-9);
    EXPECT_LT((m.linear_momentum - m.mass * v).norm(), 1e-9 * m.mass);
}

// ---- impulses

/// Solves for what one impulse does, and gives it to the body.
Vec3 push(ArticulatedBody& body, const Touch& touch, const Vec3& j, ResponseKind kind)
{
    ImpulseProblem problem;
    body.join(std::span(&touch, 1), kind, problem);
    body.prepare_answers();
    problem.add_joint({});
    const Vec3 u = body.couple(0, 1.0, problem);
    for (int mover = 0; mover < problem.body_count(); ++mover)
        (void)body.take(mover, problem.block(mover).transpose() * j);
    return u;
}

TEST(ArticulatedBody, AnImpulseOnTheSkinChangesTheMomentaByItself)
{
    Random random(11);
    for (int trial = 0; trial < 10; ++trial) {
        const auto body = bar_at(Vec3(0.5, 1, -2));
        disturb(*body, 20 + static_cast<std::uint64_t>(trial));
        (void)body->predict({.t = 0.0, .h = h});
        const BodyPoint point = skin_point(4 * trial);
        const Vec3 place =
            body->motion(point).position + 0.01 * Vec3(random.uniform(), random.uniform(), random.uniform());
        const Vec3 j(1.0 + trial, -2.0, 0.5);
        const Mechanics before = body->mechanics(Vec3::Zero());
        (void)push(*body, {point, place}, j, ResponseKind::Bare);
        const Mechanics after = body->mechanics(Vec3::Zero());
        EXPECT_LT((after.linear_momentum - before.linear_momentum - j).norm(), 1e-11 * j.norm());
        const double scale = before.angular_momentum.norm() + place.cross(j).norm();
        EXPECT_LT((after.angular_momentum - before.angular_momentum - place.cross(j)).norm(), 1e-11 * scale);
    }
}

/// The kinetic energy rises by j.(u- + u+)/2: that binds the response to the mass.
TEST(ArticulatedBody, AnImpulseDoesTheWorkOfItsMeanVelocity)
{
    // modes slower than the step answer with their bare mass
    const auto body = bar_at(Vec3::Zero(), {}, {.young = 1e3});
    disturb(*body, 5);
    (void)body->predict({.t = 0.0, .h = 1e-4});
    const BodyPoint point = skin_point(33);
    const Touch touch{point, body->motion(point).position};
    const Vec3 j(3, -2, 1);
    const double before = body->mechanics(Vec3::Zero()).kinetic;
    const Vec3 u_before = push(*body, touch, j, ResponseKind::Bare);
    const double after = body->mechanics(Vec3::Zero()).kinetic;
    const Vec3 u_after = body->motion(point).velocity;
    EXPECT_NEAR(after - before, 0.5 * j.dot(u_before + u_after), 1e-6 * std::abs(after - before));
}

/// A contact of two points on the same bones: without what one side does to the other, a third of the speed would be left.
TEST(ArticulatedBody, TwoPointsOfOneSkinAreStopped)
{
    const auto body = bar_at(Vec3::Zero());
    disturb(*body, 8);
    (void)body->predict({.t = 0.0, .h = h});
    const BodyPoint a = skin_point(40), b = skin_point(60);
    const Vec3 place = 0.5 * (body->motion(a).position + body->motion(b).position);
    const std::vector<Touch> touches{{a, place}, {b, place}};
    const auto relative = [&](const Vec3& j) {
        ImpulseProblem problem;
        body->join(touches, ResponseKind::Implicit, problem);
        body->prepare_answers();
        problem.add_joint({});
        const Vec3 u = body->couple(0, 1.0, problem) - body->couple(1, -1.0, problem);
        Mat3 K = Mat3::Zero();
        for (int mover = 0; mover < problem.body_count(); ++mover)
            K += problem.block(mover) * problem.block(mover).transpose();
        for (int mover = 0; mover < problem.body_count(); ++mover)
            (void)body->take(mover, problem.block(mover).transpose() * j);
        return std::pair(u, K);
    };
    const auto [u, K] = relative(Vec3::Zero());
    (void)relative(-K.ldlt().solve(u));
    EXPECT_LT(relative(Vec3::Zero()).first.norm(), 1e-9 * u.norm());
}

// ---- runs

TEST(ArticulatedBody, OneBoneMovesAsAFramedBodyDoes)
{
    const BoneBar bar{.bones = 1, .overlap = 0};
    World world;
    const BodyId id =
        world.add(bar_at(Vec3::Zero(), {.velocity = {1, 2, 0}, .angular_velocity = {0, 1, 3}}, bar));
    const auto& body = dynamic_cast<const ArticulatedBody&>(world.body(id));
    FramedMotion alone(body.model().bones[0], body.bone(0).state());
    for (int k = 0; k < 30; ++k) {
        ASSERT_TRUE(world.step(h).done);
        (void)alone.predict(h, {.force = body.model().mass * world.gravity()});
        (void)alone.advance();
    }
    EXPECT_LT((body.bone(0).state().frame.translation - alone.state().frame.translation).norm(), 1e-13);
    EXPECT_LT((body.bone(0).state().q - alone.state().q).norm(), 1e-13);
}

TEST(ArticulatedBody, KeepsItsMomentaAndItsJointsInFreeFlight)
{
    for (const Index rank : {0, 6}) {
        World world({.gravity = Vec3::Zero()});
        const BodyId id =
            world.add(bar_at(Vec3(-0.6, 0, 0), {.velocity = {0.1, 0, 0}, .angular_velocity = {1, 2, 3}},
                             {.bones = 4, .rank = rank}));
        const Mechanics first = world.mechanics();
        const auto& body = dynamic_cast<const ArticulatedBody&>(world.body(id));
        double gap = 0.0;
        for (int k = 0; k < 240; ++k) {
            const StepReport report = world.step(h);
            ASSERT_TRUE(report.done);
            for (const InnerJoint& joint : body.inner_joints())
                gap = std::max(gap, (body.motion(joint.a).position - body.motion(joint.b).position).norm());
        }
        const Mechanics last = world.mechanics();
        EXPECT_LT((last.linear_momentum - first.linear_momentum).norm(), 1e-11 * first.linear_scale);
        EXPECT_LT((last.angular_momentum - first.angular_momentum).norm(), 1e-11 * first.angular_scale);
        EXPECT_LT(gap, 1e-7 * 1.8);
        EXPECT_LT(total(last), 1.0001 * total(first));
        EXPECT_GT(total(last), 0.5 * total(first));
    }
}

/// Bones that turn so far in a step that the matrix of its start says little about its end.
TEST(ArticulatedBody, HoldsTogetherHoweverFarItsBonesTurnInAStep)
{
    for (const double spin : {10.0, 20.0, 30.0}) {
        World world({.gravity = Vec3::Zero()});
        const BodyId id = world.add(bar_at(Vec3::Zero(), {}, {.young = 1e7}));
        auto& body = dynamic_cast<ArticulatedBody&>(world.body(id));
        disturb(body, 5);
        (void)world.step(h); // it comes together
        world.set_velocity(id, Vec3::Zero(), spin * Vec3(0.2, 0.6, 0.8));
        const Mechanics before = world.mechanics();
        for (int i = 0; i < 30; ++i) {
            const StepReport report = world.step(h);
            ASSERT_TRUE(report.done);
            EXPECT_LT(report.joint_gap, 1e-7) << spin << " rad/s, step " << i;
        }
        const Mechanics after = world.mechanics();
        EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-10 * before.angular_scale);
        EXPECT_LE(after.kinetic + after.elastic, before.kinetic + before.elastic);
    }
}

/// Joints of three points whose bodies have hardly a mode for what the points ask of them, hit so hard that no impulses would bring
/// all points together at the end of the step.
TEST(ArticulatedBody, NearlyHoldsTogetherWhereJointsCannotMeet)
{
    for (const BoneBar& bar : {BoneBar{.young = 1e7, .rank = 6}, BoneBar{.young = 1e6, .rank = 3}}) {
        World world({.gravity = Vec3::Zero()});
        world.add(bar_at(Vec3::Zero(), {}, bar));
        const auto box = test::free_box(Vec3::Constant(0.2), {1, 1, 1}, 1e5, 0, {}, 2e4);
        world.add(test::framed("hammer", box, Vec3(1.3, 0.32, 0.1), {.velocity = Vec3(0, -44, 0)}));
        const Mechanics before = world.mechanics();
        double gap = 0.0;
        for (int i = 0; i < 30; ++i) {
            const StepReport report = world.step(h);
            ASSERT_TRUE(report.done);
            gap = std::max(gap, report.joint_gap);
        }
        EXPECT_GT(gap, 1e-6) << "they can meet: not what is tested here";
        EXPECT_LT(gap, 0.01 * bar.length()); // 0.09 m each without softer impulses
        const Mechanics after = world.mechanics();
        EXPECT_LT((after.angular_momentum - before.angular_momentum).norm(), 1e-10 * before.angular_scale);
        EXPECT_LE(total(after), total(before));
    }
}

TEST(ArticulatedBody, FallsAndComesToRest)
{
    World world;
    world.add(test::make_ground());
    world.add(bar_at(Vec3(0, 0.3, 0), {.angular_velocity = {0, 0, 1}}));
    double energy = total(world.mechanics()), rise = 0.0;
    const double first = energy;
    for (int k = 0; k < 240; ++k) {
        ASSERT_TRUE(world.step(h).done);
        const double now = total(world.mechanics());
        rise = std::max(rise, now - energy);
        energy = now;
    }
    EXPECT_LT(rise, 1e-4 * first);
    EXPECT_LT(world.mechanics().kinetic, 1e-3 * first);
    const Body& bar = world.body(world.bodies()[1]);
    Published now;
    bar.publish(now);
    EXPECT_GT(surface_in_world(bar.shown(), now).row(1).minCoeff(), -0.002);
}

TEST(ArticulatedBody, TheSameBitsForAnyNumberOfThreadsAndAfterRestore)
{
    const auto run = [](int threads, bool restored) {
        const ThreadLimit limit(threads);
        const auto make = [] {
            auto world = std::make_unique<World>();
            world->add(test::make_ground());
            world->add(bar_at(Vec3(0, 0.25, 0), {.name = "a", .self_contact = true}));
            world->add(bar_at(Vec3(0.3, 0.6, 0.05), {.name = "b", .angular_velocity = {0, 2, 0}}));
            return world;
        };
        auto world = make();
        for (int k = 0; k < 50; ++k) {
            if (restored && k == 25) {
                StateWriter out;
                world->save(out);
                world = make();
                StateReader in(out.bytes());
                world->restore(in);
            }
            EXPECT_TRUE(world->step(h).done);
        }
        return world->state_hash();
    };
    const std::uint64_t once = run(1, false);
    EXPECT_EQ(run(2, false), once);
    EXPECT_EQ(run(4, false), once);
    EXPECT_EQ(run(2, true), once);
}

// ---- led bones and muscles

TEST(ArticulatedBody, HangsFromABoneThatIsHeld)
{
    World world;
    const BodyId id = world.add(bar_at(Vec3(0, 0, 0), {.led = {{.bone = 0}}}, {.young = 1e6}));
    const auto& body = dynamic_cast<const ArticulatedBody&>(world.body(id));
    const RigidPose before = body.bone(0).state().frame;
    for (int k = 0; k < 120; ++k) ASSERT_TRUE(world.step(h).done);
    EXPECT_EQ(body.bone(0).state().frame.translation, before.translation);
    EXPECT_GT(body.bone(0).state().q.norm(), 1e-6); // it carries the others, and bends
    EXPECT_LT(body.bone(2).state().frame.translation[1], before.translation[1] - 1e-3);
    EXPECT_GT(body.bone(2).state().frame.translation[1], before.translation[1] - 0.5);
}

TEST(ArticulatedBody, FollowsABoneThatIsLed)
{
    const Keyframes<RigidPose> path({0.0, 1.0}, {RigidPose(), RigidPose{Quat::Identity(), Vec3(0, 0, 1)}});
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(bar_at(Vec3::Zero(), {.led = {{.bone = 1, .path = path}}}, {.young = 1e6}));
    const auto& body = dynamic_cast<const ArticulatedBody&>(world.body(id));
    for (int k = 0; k < 240; ++k) ASSERT_TRUE(world.step(h).done);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(body.bone(k).state().frame.translation[2], 1.1, 0.1);
    EXPECT_DOUBLE_EQ(body.bone(1).state().frame.translation[2], 1.1);
}

/// The bar as a rig: a joint where each bone begins, in the middle of the bar. The clip bends it at the second and sways it.
struct BarRig {
    explicit BarRig(const BoneBar& bar)
    {
        const double middle = bar.cell;
        for (int k = 0; k < bar.bones; ++k) {
            const double step = k == 0 ? 0.0 : bar.start(k) - bar.start(k - 1);
            skeleton.joints.push_back(
                {.name = "bone" + std::to_string(k),
                 .parent = k - 1,
                 .rest = {.translation = k == 0 ? Vec3(0, middle, middle) : Vec3(step, 0, 0)}});
        }
        const Quat bent(Eigen::AngleAxisd(0.4, Vec3::UnitY())),
            swayed(Eigen::AngleAxisd(-0.5, Vec3::UnitZ()));
        clip.joints = {
            {.joint = 0,
             .rotation = Track<Quat>{.times = {0.0, 0.5, 1.5},
                                     .values = {Quat::Identity(), swayed, Quat::Identity()}}},
            {.joint = 1, .rotation = Track<Quat>{.times = {0.0, 1.0}, .values = {Quat::Identity(), bent}}}};
    }
    Bone bone(int k) const
    {
        return {.joint = k,
                .inverse_bind =
                    world_transforms(skeleton, rest_pose(skeleton))[static_cast<std::size_t>(k)].inverse()};
    }
    Affine3 motion(int k, double t) const
    {
        return world_transforms(skeleton, pose_at(skeleton, clip, t))[static_cast<std::size_t>(k)] *
               bone(k).inverse_bind;
    }

    Skeleton skeleton;
    Clip clip;
};

double widest_gap(const ArticulatedBody& body)
{
    double gap = 0.0;
    for (const InnerJoint& joint : body.inner_joints())
        gap = std::max(gap, (body.motion(joint.a).position - body.motion(joint.b).position).norm());
    return gap;
}

TEST(ArticulatedBody, SomeBonesPlayAClipAndTheOthersTrail)
{
    const BoneBar bar{.bones = 4, .young = 1e7};
    const BarRig rig(bar);
    const auto clip = std::make_shared<const Clip>(rig.clip);
    const Vec3 at(1, 2, 3);
    World world;
    const BodyId id = world.add(
        bar_at(at,
               {.led = {{.bone = 0, .path = JointPath(rig.skeleton, clip, rig.bone(0), {.loop = false})},
                        {.bone = 1, .path = JointPath(rig.skeleton, clip, rig.bone(1), {.loop = false})}}},
               bar));
    const auto& body = dynamic_cast<const ArticulatedBody&>(world.body(id));
    const auto centre = [&](int k) { return body.model().bones[static_cast<std::size_t>(k)].tensors.centre; };
    for (int k = 0; k < 150; ++k) {
        ASSERT_TRUE(world.step(h).done);
        for (const int led : {0, 1}) {
            const Affine3 motion = rig.motion(led, std::min(world.time(), rig.clip.end()));
            const RigidPose& frame = body.bone(led).state().frame;
            EXPECT_LT((frame.translation - at - motion * centre(led)).norm(), 1e-9);
            EXPECT_LT((frame.rotation.toRotationMatrix() - motion.linear()).norm(), 1e-9);
        }
        EXPECT_LT(widest_gap(body), 1e-7 * bar.length()) << k;
    }
    // the end hangs about where the clip leads it, and bends under its weight
    const Affine3 last = rig.motion(1, rig.clip.end());
    for (const int live : {2, 3}) {
        const Vec3 led_to = at + last * centre(live);
        EXPECT_LT((body.bone(live).state().frame.translation - led_to).norm(), 0.15 * bar.length());
        EXPECT_GT((body.bone(live).state().frame.translation - led_to).norm(), 1e-4 * bar.length());
    }
}

TEST(ArticulatedBody, BendsByItsMuscles)
{
    const auto model = bone_bar({.bones = 1, .cells = 10, .overlap = 0});
    const double angle = 0.3;
    const VecX q = bent_coordinates(*model->prepared, 0, Vec3::UnitZ(), angle);
    const SkinBone& skin = model->prepared->shown.skin[0];
    // a chord over the ends of a circle's arc rises by length * angle / 8 in the middle
    double middle = 0.0, end = 0.0;
    const Vec3 low = skin.rest.rowwise().minCoeff();
    for (Index i = 0; i < skin.rest.cols(); ++i) {
        const double up = skin.basis.middleRows<3>(3 * i).row(1).cast<double>() * q;
        if (skin.rest(1, i) != low[1] || skin.rest(2, i) != low[2]) continue;
        if (std::abs(skin.rest(0, i)) < 1e-9) middle = up;
        if (skin.rest(0, i) == low[0]) end = up;
    }
    EXPECT_NEAR(std::abs(end - middle), 1.0 * angle / 8.0, 0.15 * angle / 8.0);

    World world({.gravity = Vec3::Zero()});
    const VecX force = model->bones[0].rest_stiffness * q;
    const BodyId id = world.add(std::make_unique<ArticulatedBody>(
        model, ArticulatedOptions{.actuations = {{.bone = 0, .force = force, .period = 2.0}}}));
    double widest = 0.0;
    for (int k = 0; k < 120; ++k) {
        ASSERT_TRUE(world.step(h).done);
        const VecX& now = dynamic_cast<const ArticulatedBody&>(world.body(id)).bone(0).state().q;
        widest = std::max(widest, now.norm());
    }
    EXPECT_GT(widest, 0.8 * q.norm());
    const Mechanics m = world.mechanics();
    EXPECT_LT(m.linear_momentum.norm(), 1e-9); // it only bends
    EXPECT_LT(m.angular_momentum.norm(), 1e-9);
}

// ---- loads

/// All of the surface, or one end of it.
TimedLoad load_on(const ArticulatedModel& model, const Load& load, double from_x)
{
    TimedLoad out{.load = load, .vertices = {}, .faces = {}};
    const TriangleMesh& rest = model.prepared->collision.rest;
    for (int v = 0; v < rest.vertex_count(); ++v)
        if (rest.vertices(0, v) >= from_x) out.vertices.push_back(v);
    if (!std::holds_alternative<ForceLoad>(load)) out.faces = rest.triangles;
    return out;
}

TEST(ArticulatedBody, AForceOnTheSkinChangesTheMomentaByItself)
{
    const auto model = bone_bar({.bones = 4});
    const Vec3 f(3.0, -20.0, 5.0);
    const TimedLoad load = load_on(*model, ForceLoad{f}, 1.2);
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(std::make_unique<ArticulatedBody>(
        model, ArticulatedOptions{.velocity = {0, 1, 0}, .angular_velocity = {1, 2, 0}, .loads = {load}}));
    Body& body = world.body(id);
    Mechanics before = world.mechanics();
    for (int k = 0; k < 60; ++k) {
        Vec3 place = Vec3::Zero();
        for (const int v : load.vertices)
            place += body.sweep()->start.col(v) / static_cast<double>(load.vertices.size());
        ASSERT_TRUE(world.step(h).done);
        const Mechanics after = world.mechanics();
        EXPECT_LT((after.linear_momentum - before.linear_momentum - h * f).norm(),
                  1e-10 * before.linear_scale);
        EXPECT_LT((after.angular_momentum - before.angular_momentum - h * place.cross(f)).norm(),
                  1e-8 * before.angular_scale); // rows of the basis are floats
        before = after;
    }
}

/// The ram pressure on the faces that meet the air, from the side and while it flies along.
TEST(ArticulatedBody, WindPushesTheFacesThatMeetIt)
{
    const auto model = bone_bar({.bones = 4});
    const WindLoad wind{.velocity = {0, 0, 12.0}, .air_density = 1.2, .drag = 1.1};
    for (const double along : {0.0, 5.0}) {
        World world({.gravity = Vec3::Zero()});
        (void)world.add(std::make_unique<ArticulatedBody>(
            model, ArticulatedOptions{.velocity = {0, 0, along}, .loads = {load_on(*model, wind, -1.0)}}));
        const Vec3 before = world.mechanics().linear_momentum;
        ASSERT_TRUE(world.step(h).done);
        const double relative = 12.0 - along, side = 0.2 * BoneBar{.bones = 4}.length();
        const Vec3 force(0, 0, 0.5 * 1.2 * 1.1 * side * relative * relative);
        EXPECT_LT((world.mechanics().linear_momentum - before - h * force).norm(), 1e-6 * h * force.norm());
    }
}

TEST(ArticulatedBody, PressureAllAroundMovesNothing)
{
    const auto model = bone_bar();
    World world({.gravity = Vec3::Zero()});
    const BodyId id = world.add(std::make_unique<ArticulatedBody>(
        model, ArticulatedOptions{.loads = {load_on(*model, PressureLoad{500.0}, -1.0)}}));
    for (int k = 0; k < 30; ++k) ASSERT_TRUE(world.step(h).done);
    EXPECT_GT(dynamic_cast<const ArticulatedBody&>(world.body(id)).bone(1).state().q.norm(), 1e-9);
    EXPECT_LT(world.mechanics().linear_momentum.norm(), 1e-6);
}

TEST(ArticulatedBody, NeverSleepsWhileSomethingDrivesIt)
{
    const auto model = bone_bar();
    const Keyframes<RigidPose> path({0.0, 9.0}, {RigidPose(), RigidPose{Quat::Identity(), Vec3(0, 0, 1)}});
    TimedLoad rising = load_on(*model, ForceLoad{Vec3(0, 1, 0)}, 0.0);
    const auto speed = [&](ArticulatedOptions options) {
        return ArticulatedBody(model, std::move(options)).speed();
    };
    EXPECT_EQ(speed({}), 0.0);
    EXPECT_EQ(speed({.led = {{.bone = 0}}, .loads = {rising}}), 0.0);
    rising.factor = Keyframes<double>({0.0, 9.0}, {0.0, 1.0});
    const VecX force = VecX::Ones(model->bones[0].rank());
    EXPECT_TRUE(std::isinf(speed({.loads = {rising}})));
    EXPECT_TRUE(std::isinf(speed({.led = {{.bone = 0, .path = path}}})));
    EXPECT_TRUE(std::isinf(speed({.actuations = {{.bone = 0, .force = force}}})));
}

// ---- from outside

TEST(ArticulatedBody, IsPutElsewhereWithItsVelocities)
{
    const auto body = bar_at(Vec3::Zero(), {.velocity = {1, 0, 0}, .angular_velocity = {0, 2, 0}});
    const PointMotion before = body->motion(skin_point(5));
    const RigidPose motion{exp_quat(Vec3(0, 0, 1)), Vec3(3, 4, 5)};
    body->teleport(motion);
    const PointMotion after = body->motion(skin_point(5));
    EXPECT_LT((after.position - motion.apply(before.position)).norm(), 1e-12);
    EXPECT_LT((after.velocity - motion.rotation * before.velocity).norm(), 1e-12);
}

TEST(ArticulatedBody, RefusesWhatDoesNotFit)
{
    EXPECT_THROW(bar_at(Vec3::Zero(), {.led = {{.bone = 7}}}), InputError);
    EXPECT_THROW(bar_at(Vec3::Zero(), {.led = {{.bone = 1}, {.bone = 1}}}), InputError);
    EXPECT_THROW(bar_at(Vec3::Zero(), {.loads = {{.load = ForceLoad{}, .vertices = {100000}}}}), InputError);
    EXPECT_THROW(bar_at(Vec3::Zero(), {.law = {.friction = -1.0}}), InputError);
    EXPECT_THROW(bar_at(Vec3::Zero(), {.actuations = {{.bone = 0, .force = VecX::Zero(2)}}}), InputError);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(bar_at(Vec3::Zero(), {.velocity = {nan, 0, 0}}), InputError);
}

} // namespace
} // namespace lithe
